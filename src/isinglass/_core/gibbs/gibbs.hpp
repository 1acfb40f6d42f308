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

// What the chains carry from one call to the next; chain c owns 4 words, one row of states, and the rows offsets[c] ...
// offsets[c + 1] - 1 of a result.
struct Chains {
    uint64_t* words;
    uint8_t* states;
    int count;
};

// Sets every state to fair coin flips.
void flip_coins(const Chains& chains, int n_nodes);

void sweep(const Network& network, const Chains& chains, int64_t n_sweeps, int n_threads);

// Cells to be drawn while all others are held: chain c visits nodes[start[c]] ... nodes[start[c + 1] - 1].
struct Cells {
    const int64_t* start;
    const int32_t* nodes;
};

// Sweeps over these cells alone. Adds the probability of a 1 at each visit to `totals`, one per cell, if not null.
void sweep_cells(const Network& network, const Chains& chains, const Cells& cells, int64_t n_sweeps, double* totals,
                 int n_threads);

// Writes rows first ... last - 1 of every chain (as far as it has them), `thin` sweeps before each.
void record(const Network& network, const Chains& chains, int64_t thin, const int64_t* offsets, int64_t first,
            int64_t last, uint8_t* rows, int n_threads);

}  // namespace isinglass
