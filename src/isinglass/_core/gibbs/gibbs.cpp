#include "gibbs/gibbs.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <span>
#include <vector>

#include "rows/pool.hpp"

namespace isinglass {
namespace {

// Where the logit of a uniform number u lies, without a logarithm: between the logits of the two multiples of 1 / COUNT
// around u. x_s = [u < 1 / (1 + exp(-eta))] = [eta > logit(u)] is then decided by two comparisons that wait for nothing
// but eta; one draw in COUNT falls between them and needs the exponential.
class Brackets {
 public:
    static constexpr int BITS = 10, COUNT = 1 << BITS;
    Brackets() noexcept {
        for (int k = 0; k <= COUNT; ++k) {
            const double u = static_cast<double>(k) / COUNT, logit = std::log(u) - std::log1p(-u);
            // Widened by more than rounding, so that the quick answer is the exact one. Infinite at both ends.
            below_[k] = logit - 1e-9;
            above_[k] = logit + 1e-9;
        }
    }
    double below(uint64_t word) const { return below_[word >> (64 - BITS)]; }
    double above(uint64_t word) const { return above_[(word >> (64 - BITS)) + 1]; }

 private:
    double below_[COUNT + 1], above_[COUNT + 1];
};

const Brackets brackets;

class Chain {
 public:
    Chain(const Network& network, const Chains& chains, int index)
        : network_(network),
          words_(chains.words + 4 * static_cast<size_t>(index)),
          state_(chains.states + static_cast<size_t>(index) * network.n_nodes),
          generator_(words_),
          masks_(network.n_nodes) {
        for (int s = 0; s < network.n_nodes; ++s) masks_[s] = mask(state_[s]);
    }

    void sweep(std::span<const int32_t> nodes, int64_t n_sweeps, Poll& poll) {
        for (int64_t k = 0; k < n_sweeps; ++k, poll())
            for (int s : nodes) draw(s, logit(s));
    }
    double anneal(const double* base, const double* betas, int64_t n_betas, Poll& poll) {
        double difference = 0, sum = 0;  // of (b - a)(x), which changes by a logit where x does
        for (int s = 0; s < network_.n_nodes; ++s)
            if (masks_[s]) difference += 0.5 * (network_.fields[s] + logit(s)) - base[s];
        for (int64_t k = 1; k < n_betas; ++k, poll()) {
            sum += (betas[k] - betas[k - 1]) * difference;
            for (int s = 0; s < network_.n_nodes; ++s) {
                const int64_t before = static_cast<int64_t>(masks_[s]);  // 0 or -1
                const double change = logit(s) - base[s];
                draw(s, base[s] + betas[k] * change);
                difference += static_cast<double>(before - static_cast<int64_t>(masks_[s])) * change;
            }
        }
        return sum;
    }
    void write(uint8_t* row) const {
        for (int s = 0; s < network_.n_nodes; ++s) row[s] = masks_[s] & 1;
    }
    void save() const {
        generator_.save(words_);
        write(state_);
    }

 private:
    // The sum is made afresh at every visit. Rejected: keeping all sums and changing them at every flip, which saves
    // little where neighbors are few and lets rounding errors pile up over a long run.
    double logit(int s) const {
        const int64_t end = network_.start[s + 1];
        int64_t k = network_.start[s];
        // Four sums, so that an addition need not wait for the last one.
        double sums[4] = {network_.fields[s], 0, 0, 0};
        for (; k + 3 < end; k += 4)
            for (int j = 0; j < 4; ++j) sums[j] += term(k + j);
        for (int j = 1; k < end; ++k, ++j) sums[j] += term(k);
        return (sums[0] + sums[1]) + (sums[2] + sums[3]);
    }
    double term(int64_t k) const {
        return std::bit_cast<double>(std::bit_cast<uint64_t>(network_.couplings[k]) & masks_[network_.neighbors[k]]);
    }
    static uint64_t mask(bool one) { return -static_cast<uint64_t>(one); }
    void draw(int s, double eta) {
        const uint64_t word = generator_.next();
        bool one = eta > brackets.above(word);
        // u < 1 / (1 + exp(-eta)) without the division; where exp overflows, the product is inf or NaN and x is 0.
        if (one != (eta > brackets.below(word))) [[unlikely]]
            one = Generator::uniform(word) * (1.0 + std::exp(-eta)) < 1.0;
        masks_[s] = mask(one);
    }

    const Network& network_;
    uint64_t* words_;
    uint8_t* state_;
    Generator generator_;
    std::vector<uint64_t> masks_;  // all bits of x_s: theta_st x_t is then one bitwise operation
};

// run(chain, its number, poll) for every chain, which is saved afterwards.
template <class Run>
void each_chain(const Network& network, const Chains& chains, int n_threads, Run run) {
    Poll poll;
    Pool pool(std::min(n_threads, chains.count), poll);
    pool.each(chains.count, [&](int c, int) {
        Chain chain(network, chains, c);
        run(chain, c, poll);
        chain.save();
    });
}

}  // namespace

void flip_coins(const Chains& chains, int n_nodes) {
    for (int c = 0; c < chains.count; ++c) {
        uint64_t* words = chains.words + 4 * static_cast<size_t>(c);
        Generator generator(words);
        uint8_t* state = chains.states + static_cast<size_t>(c) * n_nodes;
        for (int s = 0; s < n_nodes; ++s) state[s] = generator.next() >> 63;
        generator.save(words);
    }
}

void record(const Network& network, const Chains& chains, int64_t burn_in, int64_t thin, const int64_t* offsets,
            uint8_t* rows, int n_threads) {
    std::vector<int32_t> all(network.n_nodes);
    std::iota(all.begin(), all.end(), 0);
    each_chain(network, chains, n_threads, [&](Chain& chain, int c, Poll& poll) {
        chain.sweep(all, burn_in, poll);
        for (int64_t row = offsets[c]; row < offsets[c + 1]; ++row) {
            chain.sweep(all, thin, poll);
            chain.write(rows + static_cast<size_t>(row) * network.n_nodes);
        }
    });
}

void redraw(const Network& network, const Chains& chains, const Cells& cells, int64_t n_sweeps, int n_threads) {
    each_chain(network, chains, n_threads, [&](Chain& chain, int c, Poll& poll) {
        chain.sweep({cells.nodes + cells.start[c], cells.nodes + cells.start[c + 1]}, n_sweeps, poll);
    });
}

void anneal(const Network& network, const Chains& chains, const double* base, const double* betas, int64_t n_betas,
            double* sums, int n_threads) {
    each_chain(network, chains, n_threads,
               [&](Chain& chain, int c, Poll& poll) { sums[c] = chain.anneal(base, betas, n_betas, poll); });
}

}  // namespace isinglass
