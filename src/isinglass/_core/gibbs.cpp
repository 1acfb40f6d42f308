#include "gibbs.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "pool.hpp"

namespace isinglass {
namespace {

class Chain {
 public:
    Chain(const Network& network, const Chains& chains, int index)
        : network_(network),
          words_(chains.words + 4 * static_cast<size_t>(index)),
          state_(chains.states + static_cast<size_t>(index) * network.n_nodes),
          generator_(words_),
          x_(state_, state_ + network.n_nodes) {}

    void sweep(int64_t n_sweeps) {
        for (int64_t k = 0; k < n_sweeps; ++k)
            for (int s = 0; s < network_.n_nodes; ++s) visit(s);
    }
    void write(uint8_t* row) const {
        for (int s = 0; s < network_.n_nodes; ++s) row[s] = x_[s] != 0.0;
    }
    void save() const {
        generator_.save(words_);
        write(state_);
    }

 private:
    // The sum is made afresh at every visit. Rejected: keeping all sums and changing them at every flip,
    // which saves little where neighbours are few and lets rounding errors pile up over a long run.
    double logit(int s) const {
        const int64_t end = network_.start[s + 1];
        int64_t k = network_.start[s];
        double even = network_.fields[s],
               odd = 0;  // two sums, so that an addition need not wait for the last
        for (; k + 1 < end; k += 2) {
            even += network_.couplings[k] * x_[network_.neighbours[k]];
            odd += network_.couplings[k + 1] * x_[network_.neighbours[k + 1]];
        }
        if (k < end) even += network_.couplings[k] * x_[network_.neighbours[k]];
        return even + odd;
    }
    // u < 1 / (1 + exp(-eta)) without the division; where exp overflows the product is inf or NaN, and x is
    // 0.
    void visit(int s) { x_[s] = generator_.uniform() * (1.0 + std::exp(-logit(s))) < 1.0; }

    const Network& network_;
    uint64_t* words_;
    uint8_t* state_;
    Generator generator_;
    std::vector<double> x_;  // 0.0 or 1.0: no conversion in the inner loop
};

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

void sweep(const Network& network, const Chains& chains, int64_t n_sweeps, int n_threads) {
    Pool pool(std::min(n_threads, chains.count));
    pool.each(chains.count, [&](int c, int) {
        Chain chain(network, chains, c);
        chain.sweep(n_sweeps);
        chain.save();
    });
}

void record(const Network& network, const Chains& chains, int64_t thin, const int64_t* offsets, int64_t first,
            int64_t last, uint8_t* rows, int n_threads) {
    Pool pool(std::min(n_threads, chains.count));
    pool.each(chains.count, [&](int c, int) {
        Chain chain(network, chains, c);
        const int64_t end = std::min(last, offsets[c + 1] - offsets[c]);
        for (int64_t k = first; k < end; ++k) {
            chain.sweep(thin);
            chain.write(rows + static_cast<size_t>(offsets[c] + k) * network.n_nodes);
        }
        chain.save();
    });
}

}  // namespace isinglass
