// The quadratic model of one Newton step on a working set,
//   m(d) = g^T d + d^T H d / 2 + alpha sum_e omega_e |theta_e + d_e|,
// minimized over the inner edges; the other edges stay where they are, at zero. With a block for every node: coordinate
// descent, and conjugate gradients on the face of the current signs. Where a node is an operator a coordinate step
// would cost a product, and faces do all the work (face.hpp). Groups of coefficients: see groups.hpp.
#pragma once

#include <vector>

#include "lasso/face.hpp"
#include "lasso/groups.hpp"

namespace isinglass {

class Quadratic {
 public:
    Quadratic(const WorkingSet& set, Rows& rows, Pool& pool)
        : set_(set),
          poll_(pool.poll()),
          chunks_(pool),
          hessian_(set, rows),
          face_(set, hessian_, pool),
          groups_(set, rows, pool) {}

    std::vector<double> gradient;  // profiled gradient at d = 0, to be filled by the caller
    std::vector<double> d;         // the minimizer
    int64_t n_products() const { return hessian_.n_products + n_group_products_; }  // with H, so far
    // Operators have taken so many products for one minimization that blocks would have been cheaper.
    bool is_exhausted() const { return is_exhausted_; }

    void start() { groups_.reach = 1; }  // of another problem
    void reset();                        // forgets d; sizes everything for the working set
    // Until no coordinate's optimality condition is violated by more than tolerance.
    void minimize(double alpha, double tolerance);
    // Only the unpenalized edges (alpha omega = 0) move; the others stay where they are.
    void minimize_free(double alpha, double tolerance);

 private:
    double slope(int e) const;  // of the smooth part
    void move(int e, double change);
    double visit(int e, double alpha);
    double sweep(double alpha, bool only_active);
    void minimize_by_sweeps(double alpha, double tolerance);
    void minimize_by_faces(double alpha, double tolerance);
    bool gradient_step(double alpha);
    void form_face(double alpha, bool with_violators);
    void solve_face(double tolerance, bool may_change);
    void keep();
    double stop_at_zero(double length);
    bool face_step(double alpha, double tolerance);
    bool violator_step(double alpha, double tolerance);
    template <class Body>
    void each_inner(Body body) {
        chunks_.each_entry(set_.inner().size(), [&](size_t k) { body(set_.inner()[k]); });
    }
    void rebuild_slopes() { hessian_.multiply(d, slope_.data()); }
    double value(double alpha);

    const WorkingSet& set_;
    Poll& poll_;
    Chunks chunks_;
    Hessian hessian_;
    Face face_;
    GroupModel groups_;
    Buffer<float> slope_;            // of d: H_s d_s per slot
    std::vector<double> kept_;       // d before a step that may be shortened or taken back
    std::vector<double> curvature_;  // of every edge: the diagonal of H
    int64_t before_ = 0;             // products up to the last reset
    int64_t n_group_products_ = 0;
    bool is_exhausted_ = false;
    bool is_rough_ = true;  // products of conjugate gradients: these steps have got somewhere so far
};

}  // namespace isinglass
