// The gradient over all pairs of a problem: a full reference in single precision now and then, rigorous bounds in
// between, and exact values for the pairs that could matter. Where the reference would be too large it is computed band
// by band each time; rows that can look at all pairs themselves do.
#pragma once

#include <cstdint>
#include <vector>

#include "lasso/newton.hpp"
#include "rows/pool.hpp"
#include "tuning.hpp"

namespace isinglass {

// Pairs in lexicographic order with a number each: |g| / omega, infinite for free pairs.
struct PairList {
    std::vector<Pair> pairs;
    std::vector<double> values;
};

class Screen {
 public:
    // Of all pairs, or (is_shared false) of one node with every other column.
    Screen(Rows& rows, const Newton& newton, const Penalty& penalty, Pool& pool, bool is_shared);

    void forget() { has_reference_ = false; }
    void start(int node);  // forgets; the node whose pairs count from now on, if not all do
    // Exact, of groups the norm; for one node the first of each pair is that node.
    std::vector<double> gradient(const std::vector<Pair>& pairs) { return gradient(pairs, is_shared_ ? 2 : 1); }
    // All pairs with |g| >= threshold * omega (omega finite), in double precision. The moment error of the certificate
    // is added to |g| for either end: it may keep the residuals from being feasible in the dual.
    PairList above(double threshold) { return reaching(threshold, find(threshold)); }
    // Largest |g| / omega over the penalized pairs, as an upper bound; 0 where no pair is above rounding.
    double alpha_max();
    // What alpha_max was asked about last, rounding never taken for zero.
    double top() const { return top_; }
    // Pairs outside the working set proved zero in every optimum; to be asked after above() at that point.
    int64_t certified_outside();
    // The most pairs that a reference is kept of.
    void set_largest_reference(size_t pairs) { largest_reference_ = pairs; }

 private:
    int n_lines() const { return is_shared_ ? n_features_ - 1 : 1; }
    int left(int line) const { return is_shared_ ? line : node_; }
    int first(int line) const { return is_shared_ ? line + 1 : 0; }
    bool is_always_fresh() const;
    bool keeps_reference() const;
    const float* reference(int line) const;
    void take_reference();
    template <class Look>
    void each_band(Look look);
    void measure_drift();
    Drift drift(int line) const;
    void fill_limits(int line, double factor, float* limits) const;
    std::vector<Pair> candidates(double threshold);
    std::vector<Pair> find(double threshold);
    std::vector<double> gradient(const std::vector<Pair>& pairs, int halves);
    std::vector<double> known_or_exact(const std::vector<Pair>& pairs);
    PairList reaching(double threshold, const std::vector<Pair>& possible);
    double reached();
    int64_t count_certified(int first, int last);
    int64_t count_certified(const std::vector<double>& gradients) const;
    void find_allowed();

    Rows& rows_;
    const Newton& newton_;  // the working set, the certificate and the alpha of the current point
    const Penalty& penalty_;
    Pool& pool_;
    const bool is_shared_;
    const int n_features_;
    int node_ = 0;
    std::vector<int> nodes_;
    Buffer<float> reference_;
    bool has_reference_ = false;
    int first_line_ = 0;  // of the band that the reference holds
    size_t largest_reference_ = tuning::screen::MAX_REFERENCE_PAIRS;
    std::vector<Pair> allowed_;  // where these are few, and looked at one by one
    int64_t certified_ = 0;      // outside the working set, where no reference is kept
    double top_ = 0;
    double slack_ = 0;                 // of the reference, and of what may be missing from |g|
    std::vector<float> norm_, shift_;  // of every node: how far its residuals have moved
    std::vector<float> sd_, mean_, zeros_;
    std::vector<std::vector<float>> limits_;  // scratch of every thread
    std::vector<std::vector<int>> positions_;
};

}  // namespace isinglass
