// Proximal Newton on a working set: quadratic model, line search, certificate. One object is one problem: all nodes
// with shared coefficients (joint), or one node with coefficients of its own.
#pragma once

#include <algorithm>
#include <vector>

#include "lasso/certificate.hpp"
#include "lasso/lasso.hpp"
#include "lasso/precise_face.hpp"
#include "lasso/quadratic.hpp"

namespace isinglass {

// The point after one alpha, with its certificate over the working set.
struct State {
    double alpha;
    std::vector<double> fields, category_fields;  // see Rows
    std::vector<Pair> edges = {};
    std::vector<double> values = {};  // of every edge: one coefficient or a group (see Rows::has_groups)
    double loss = 0, objective = 0, kkt_residual = 0, duality_gap = 0;
    bool converged = false;  // to the tolerances of the run; of a point of a path, to those of the path
    // Over the nodes with edges, if one is free: a hint that an unpenalized optimum is at infinity.
    double largest_eta = 0;
    int64_t certified_zeros = 0;  // in the working set
    size_t n_working = 0;
    int64_t n_products = 0;  // with the Hessian, since the problem began
    int n_iter = 0;
};

struct Tolerances {
    double kkt;  // absolute
    double gap;  // relative to the null model's objective; infinity: no certificate is wanted
    int max_iter;
};

class Newton {
 public:
    Newton(Rows& rows, const Penalty& penalty, Pool& pool, int n_nodes, bool is_shared);
    // Nodes with a wider neighborhood become operators (see Quadratic).
    void set_widest_block(int width) { set_.set_widest_block(width); }
    // The model without edges, of the nodes from this one on.
    void start(int first_node);
    // The current point is the null model: fields and free edges fitted, nothing else.
    void mark_null() { null_objective_ = point_.loss(); }
    double null_objective() const { return null_objective_; }
    // The largest gap within a tolerance.
    double largest_gap(double tol) const { return tol * std::max(null_objective_, tuning::newton::SMALLEST_NULL); }
    const Penalty& penalty() const { return penalty_; }
    // From this alpha on the model without edges is the optimum, for certain.
    void set_top(double alpha) { top_ = alpha; }

    // Goes to a point: these edges, in order, with their coefficients, and all fields: of nodes, or of
    // their categories where the rows keep them (see Rows::has_categories). Forbidden pairs are left out.
    void place(const std::vector<Pair>& edges, const std::vector<double>& values, const std::vector<double>& fields);
    std::vector<double> fields_of_categories() const;  // of all nodes, one after the other; none without categories
    void clear() { place({}, {}, {}); }                // no edges
    // The working set: these pairs and the current support. Buffers are kept from one set to the next.
    void adopt(std::vector<Pair> pairs);
    size_t coefficients_of(const std::vector<Pair>& pairs) const;
    // How many coefficients the working set would have with these pairs, at most.
    size_t coefficients_with(const std::vector<Pair>& pairs) const {
        return last_.values.size() + coefficients_of(pairs);
    }
    State run(double alpha, const Tolerances& tolerances);
    // With the complete gradient, at the end of a run.
    const WorkingSet& set() const { return set_; }
    const Certificate& certificate() const { return certificate_; }
    const NodeSums& sums_of(int column) const { return point_.sums[column - set_.first_node()]; }
    bool has_edges() const;                       // that are not zero
    double alpha() const { return last_.alpha; }  // of the last run

 private:
    // Of second derivatives. untried: single, until a run has nothing else left to try; twofold: PreciseFace.
    enum class Precision { untried, single, twofold };
    struct Run {
        double alpha, tolerance, target, gap_target;
        int max_iter;
        Precision precision;
        double kkt = 0, best = 0;
        int n_iter = 0, since_best = 0;
        int slow_steps = 0;        // in a row
        bool has_widened = false;  // the set of inner edges, at the last look
        bool is_stuck = false;     // no step decreases F any more
        bool is_reached = false;   // the tolerance, at the last certificate

        bool is_over() const;
        bool has_target() const { return kkt <= target; }
    };
    struct Parameters {
        std::vector<double> theta, fields, category_fields;  // see Rows
    };
    // One step after the other.
    void descend(Run& run);
    void look(Run& run);
    void take_step(Run& run);
    void note_progress(Run& run);
    void choose_precision(Run& run, bool is_precise, bool is_accepted);
    void choose_blocks(Run& run);
    void majorize();
    bool try_precise(Run& run);
    void certify_point(Run& run);
    State record(const Run& run);

    // The step.
    void make_matrices(const std::vector<int>& nodes, Curvature curvature);
    double inner_tolerance(const Run& run) const;
    void find_step(double alpha, double tolerance, bool is_free = false);
    bool find_precise_step(Run& run);
    void profile_gradient();
    void find_field_steps();
    double predicted_change(double alpha);
    bool search(double alpha);
    void extrapolate(double alpha);

    // The gradient and what it says.
    void complete_gradient();
    bool widen(double alpha);
    double field_residual() const;
    double inner_residual(double alpha);
    double kkt_residual(double alpha);
    double objective(double alpha) { return point_.loss() + penalty_of(set_, alpha, chunks_); }

    // The point.
    size_t group_size(const Pair& pair) const;
    void reset_nodes(const std::vector<int>& nodes);
    Parameters here() const;
    void go_to(const Parameters& parameters);
    template <class Value>
    Move move_of(int node, double offset, bool afresh, Value value);
    template <class Task>
    void each_index(size_t count, Task task);
    template <class Plan>
    void move_nodes(const std::vector<int>& nodes, bool afresh, Plan plan);
    void shift(double length);
    void rebuild(const std::vector<int>& nodes);
    void finish(double alpha, double tolerance);
    void project(std::vector<int>& changed);
    void keep_better(const Parameters& start, double alpha);
    void polish_fields();
    void polish_free(double alpha);

    Rows& rows_;
    const Penalty& penalty_;
    Pool& pool_;
    Poll& poll_;
    Chunks chunks_;
    WorkingSet set_;
    Quadratic model_;
    Point point_;
    Certificate certificate_;
    std::vector<Pair> adopted_;  // the working set, sorted
    struct Solved {
        double alpha = 0;         // 0: a point that was placed
        std::vector<Pair> edges;  // sorted; those that are not zero
        std::vector<double> values, fields;
    };
    Solved last_, before_;  // of the path, for the start of the next alpha
    bool is_whole_ = true;  // no change of the point has ended by an exception
    double null_objective_ = 0;
    double top_ = 0;  // the model without edges is the optimum from this alpha on; infinite: not known
    // What the matrices of the nodes are: to be made, second derivatives of the loss near this point, or their bound.
    enum class Matrices { stale, own, majorized } matrices_ = Matrices::stale;
    std::vector<double> field_steps_;
    double needed_ = 1;          // the residual that the gap asked for at the last certificate
    std::vector<double> moved_;  // how far a node's predictor has moved since its matrix was made, on average
    std::vector<int> known_;     // leading slots of a node whose gradient is that of the current point
    std::vector<Move> moves_;
    std::vector<int> moved_columns_;
    std::vector<double> moved_values_, moved_group_;
    std::vector<double> search_start_;  // theta where a line search began
};

}  // namespace isinglass
