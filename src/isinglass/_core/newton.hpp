// Proximal Newton on a working set: blocks, quadratic model, line search, certificate.
#pragma once

#include <vector>

#include "problem.hpp"
#include "quadratic.hpp"

namespace isinglass {

class Newton {
 public:
    explicit Newton(Problem& problem);
    // The working set: these pairs and the current support. Buffers are kept from one set to the next.
    void adopt(std::vector<Pair> pairs);
    State run(double alpha, const Tolerances& tolerances);

 private:
    void release_nodes();
    void evaluate(int node);
    void complete_gradient(bool inner_too);
    void gather_gradient();
    bool widen(double alpha, double share);
    void rearrange();
    double violation(size_t e, double alpha) const;
    double inner_residual(double alpha) const;
    double kkt_residual(double alpha) const;
    bool has_free(double alpha) const;

    void assemble(bool majorise);
    bool step(double alpha, double inner_tolerance, bool free_only);
    void profile_gradient();
    void find_field_steps();
    double predicted_change(double alpha) const;
    double penalty(double alpha) const;
    void shift(double length);
    void finish(double alpha, double tolerance);
    void rebuild_predictors();
    void polish(double alpha);
    void polish_field(int node);
    double scale(double alpha) const;
    double duality_gap(double alpha, double c);
    double proof_gap(double alpha, double gap) const;
    State record(double alpha, double kkt, double gap, int n_iter);

    Problem& problem_;
    WorkingSet set_;
    Quadratic model_;
    std::vector<double> field_steps_;
    std::vector<double> travel_;  // how far a node's predictor has been moved since it was computed, at most
    std::vector<Buffer<float>> scratch_;  // one per thread
    Buffer<float> quarter_w_;
    Buffer<float> made_from_;  // the curvatures the blocks were made from
    bool majorised_ = false;
};

}  // namespace isinglass
