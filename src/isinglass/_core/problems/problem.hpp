// One estimation problem: rows, a penalty, the current point and what is known about it. Either all pairs of the table
// at once (joint) or one node's regression on all other columns.
//
// F(Theta) = sum_s loss_s + alpha sum omega_st |theta_st|; notation as in docs/math.md.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "lasso/screen.hpp"
#include "problems/memory.hpp"
#include "tuning.hpp"

namespace isinglass {

// How a path is followed.
struct PathOptions {
    // Of the KKT residual, which is at most a share of alpha in any case, and of the duality gap relative to the null
    // model's loss.
    double tol;
    int max_iter;  // Newton steps per alpha
    // Share of the strong rule's threshold from which pairs are kept: 1 is the rule, 0 keeps every pair.
    double strictness;
};

class PathSolver {
 public:
    enum class Kind { joint, one_node };
    PathSolver(Rows& rows, const Penalty& penalty, Pool& pool, Kind kind);

    Newton& newton() { return newton_; }
    // Working sets that do not fit are refused.
    void set_budget(const MemoryBudget& budget) { budget_ = budget; }
    // The null model; one_node: of this node, whichever was solved before.
    void start(int node);
    // Largest |g| / omega over the penalized pairs at the current point, the null model: where a path begins.
    double alpha_max();
    // Goes to a point, such as the solution of another table at this alpha; follows alpha_max().
    void place(double alpha, const State& point);
    // The certified solution at alpha, from the one before on the path; `next` is the alpha to come. Where that start
    // leads to no certificate, once more from the null model.
    State follow(double alpha, double next, const PathOptions& options);
    PairList gradient_above(double threshold) { return screen_.above(threshold); }
    std::vector<double> gradient(const std::vector<Pair>& pairs) { return screen_.gradient(pairs); }
    // The pairs without a penalty, which the null model has beside the fields; it is fitted, if there are any.
    std::vector<Pair> free_pairs() const { return newton_.penalty().free_pairs(kind_ == Kind::joint ? -1 : node_); }
    std::optional<State> fit_null(double tol, int max_iter);
    // Minimizes F over the given pairs and the current support from the current point.
    State solve(const std::vector<Pair>& pairs, double alpha, const Tolerances& tolerances);
    void set_largest_reference(size_t pairs) { screen_.set_largest_reference(pairs); }

 private:
    // Where the next alpha starts from.
    enum class From { null_model, placed_point, path };
    void begin(From from, double reached, size_t n_edges);
    State descend(double alpha, double next, const PathOptions& options);
    void find_first(double first_stop, const PathOptions& options);
    State solve_roughly(const std::vector<Pair>& pairs, double alpha, const PathOptions& options);
    State solve_checked(double alpha, double next, double steepest, const PathOptions& options);
    PairList every_pair() const;
    void look(double alpha, double next, double strictness);
    std::vector<Pair> violators(double alpha) const;

    const Kind kind_;
    const int n_features_;
    Newton newton_;
    Screen screen_;
    int node_ = 0;
    double top_ = 0;  // alpha_max
    From from_ = From::null_model;
    double reached_ = 0;     // the smallest alpha so far
    bool is_dense_ = false;  // the last solution
    PairList found_;         // the pairs to begin the next alpha with
    MemoryBudget budget_;
};

// Rows of this computer.
std::unique_ptr<Rows> make_rows(std::shared_ptr<const Table> table, Holds holds, Pool& pool);

// The joint problem with everything it needs.
class Problem {
 public:
    // On this computer. penalty points to n_features^2 doubles that outlive the problem (matrix), else it is null.
    Problem(const TableView& given, Penalty::Kind kind, const double* penalty, int n_threads, size_t most_bytes);
    Problem(std::unique_ptr<Rows> rows, int n_distinct, Penalty::Kind kind, const double* penalty, int n_threads);

    int n_features() const { return n_features_; }
    int n_distinct() const { return n_distinct_; }
    PathSolver& solver() {
        poll_.begin();
        return *solver_;
    }

 private:
    void begin(Penalty::Kind kind, const double* penalty);

    const int n_features_;
    int n_distinct_ = 0;
    Poll poll_;
    std::unique_ptr<Pool> pool_;
    std::unique_ptr<Rows> rows_;
    std::vector<double> inverse_widths_;
    std::unique_ptr<Penalty> penalty_;
    std::unique_ptr<PathSolver> solver_;
};

}  // namespace isinglass
