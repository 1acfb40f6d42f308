// One estimation problem: the table, the penalty weights, the current point and what is known about it.
//
// F(Theta) = sum_s loss_s + alpha sum_{s<t} omega_st |theta_st|; notation as in docs/math.md.
// Seam with Python: alpha_max, gradient_above, gradient, solve, certified_outside. All else is private.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "kernels.hpp"
#include "pool.hpp"
#include "table.hpp"
#include "working_set.hpp"

namespace isinglass {

constexpr int MAX_FEATURES = 40000;  // p^2 is counted in int

struct Pair {
    int s, t;  // s < t
};

// The point after one alpha, with its certificate over the working set.
struct State {
    double alpha;
    std::vector<double> fields;
    std::vector<Pair> edges;
    std::vector<double> values;
    double objective, kkt_residual, duality_gap;
    double
        largest_eta;  // over the nodes of the working set: a hint that an unpenalised optimum is at infinity
    int64_t certified_zeros;  // in the working set
    size_t n_working;
    int n_iter;
};

struct Tolerances {
    double kkt;  // absolute
    double gap;  // relative to the null model's objective; infinity: no certificate is wanted
    int max_iter;
};

class Newton;

enum class PenaltyKind { equal, standardized, matrix };

class Problem {
 public:
    // penalty points to n_features^2 doubles that outlive the problem (matrix), else it is null.
    Problem(const uint8_t* X, const double* weights, size_t n_rows, int n_features, PenaltyKind kind,
            const double* penalty, int n_threads);
    ~Problem();

    int n_features() const { return table_.n_features; }
    int n_distinct() const { return table_.n_distinct; }
    double null_objective() const { return null_objective_; }
    void mark_null();  // the current point is the null model: fields and free edges fitted, nothing else

    // Largest |g| / omega over the penalised pairs at the current point.
    double alpha_max();
    // All pairs with |g| >= threshold * omega (omega finite) and their |g| / omega (infinite for free pairs),
    // in double precision.
    void gradient_above(double threshold, std::vector<Pair>& pairs, std::vector<double>& values);
    std::vector<double> gradient(const std::vector<Pair>& pairs);
    // Minimises F over the given pairs and the current support, alpha after alpha, from the current point.
    std::vector<State> solve(std::vector<Pair> pairs, const std::vector<double>& alphas,
                             Tolerances tolerances);
    // Pairs outside the last working set proved zero in every optimum at alpha, the last one solved; to be
    // asked after gradient_above at that point.
    int64_t certified_outside(double alpha);
    std::vector<Pair> free_pairs() const;

 private:
    friend class Newton;
    double omega(int s, int t) const;
    double* eta(int s) { return eta_.data() + static_cast<size_t>(s) * table_.stride; }
    double* wr(int s) { return wr_.data() + static_cast<size_t>(s) * table_.stride; }
    float* wv(int s) { return wv_.data() + static_cast<size_t>(s) * table_.stride; }
    void isolate(int s);
    void pass(int s) {
        sums_[s] = kernels_.node_pass(eta(s), table_.column(s), table_.w.data(), table_.stride,
                                      table_.n_equal, wr(s), wv(s));
    }
    double smooth_loss() const;
    double divergence(double c);  // sum over all nodes

    void take_reference();
    void fill_reference_block(int top, int left, float* scratch);
    void measure_drift();
    Drift drift(int s) const;
    void fill_limits(int s, double factor, float* limits) const;
    const float* reference_row(int s) const;  // of the pairs (s, s + 1), (s, s + 2), ...
    float* reference_row(int s);
    std::vector<Pair> candidates(double threshold);

    const Kernels& kernels_;
    Table table_;
    PenaltyKind kind_;
    const double* penalty_;
    Pool pool_;

    Buffer<double> eta_, wr_;
    Buffer<float> wv_;
    std::vector<double> fields_;
    std::vector<NodeSums> sums_;
    std::vector<char> is_isolated_;  // no edge: eta is constant
    std::vector<Pair> support_;      // sorted
    std::vector<double> support_values_;
    double null_objective_ = 0;
    std::unique_ptr<Newton> newton_;

    // The last working set, for the certificate of the pairs outside it.
    std::vector<Pair> last_pairs_;
    double last_scale_ = 1, last_gap_ = 0;

    // The last full gradient, in single precision, and how far the residuals have moved since.
    Buffer<float> reference_, reference_wr_;
    bool has_reference_ = false;
    std::vector<float> drift_norm_, drift_shift_, sd_, mean_;
};

}  // namespace isinglass
