// Gibbs sampling over sparse couplings: independent chains, each with a generator of its own.
//
// A sweep visits the nodes in order and draws x_s = 1 with probability 1 / (1 + exp(-eta_s)), where
// eta_s = theta_ss + sum_t theta_st x_t (docs/math.md). A visit uses exactly one number of the generator.
#pragma once

#include <cstddef>
#include <cstdint>

namespace isinglass {

// xoshiro256++ of Blackman and Vigna (2019, public domain): period 2^256 - 1, equidistributed in 4 dimensions.
class Generator {
 public:
    explicit Generator(const uint64_t* words) : s_{words[0], words[1], words[2], words[3]} {}
    uint64_t next() {
        const uint64_t result = rotate(s_[0] + s_[3], 23) + s_[0], t = s_[1] << 17;
        s_[2] ^= s_[0];
        s_[3] ^= s_[1];
        s_[1] ^= s_[2];
        s_[0] ^= s_[3];
        s_[2] ^= t;
        s_[3] = rotate(s_[3], 45);
        return result;
    }
    static double uniform(uint64_t word) { return static_cast<double>(word >> 11) * 0x1.0p-53; }  // in [0, 1)
    void save(uint64_t* words) const {
        for (int k = 0; k < 4; ++k) words[k] = s_[k];
    }

 private:
    static uint64_t rotate(uint64_t x, int k) { return (x << k) | (x >> (64 - k)); }
    uint64_t s_[4];
};

// Symmetric couplings in compressed rows: node s has the neighbors start[s] ... start[s + 1] - 1.
struct Network {
    const int64_t* start;
    const int32_t* neighbors;
    const double* couplings;
    const double* fields;
    int n_nodes;
};

// What the chains carry from one call to the next: chain c owns 4 words and one row of states.
struct Chains {
    uint64_t* words;
    uint8_t* states;
    int count;
};

// Sets every state to fair coin flips.
void flip_coins(const Chains& chains, int n_nodes);

// Writes the rows offsets[c] ... offsets[c + 1] - 1 of every chain c, `thin` sweeps before each, after `burn_in`
// sweeps.
void record(const Network& network, const Chains& chains, int64_t burn_in, int64_t thin, const int64_t* offsets,
            uint8_t* rows, int n_threads);

// Cells to be drawn while all others are held: chain c visits nodes[start[c]] ... nodes[start[c + 1] - 1].
struct Cells {
    const int64_t* start;
    const int32_t* nodes;
};

void redraw(const Network& network, const Chains& chains, const Cells& cells, int64_t n_sweeps, int n_threads);

// Sweeps at every beta but the first, where the exponent is (1 - beta) a(x) + beta b(x): a has the fields `base` and no
// couplings, b is the network. Writes to sums[c] what chain c has added up, (b - a)(x) times the step to the next beta.
void anneal(const Network& network, const Chains& chains, const double* base, const double* betas, int64_t n_betas,
            double* sums, int n_threads);

}  // namespace isinglass
