// The quadratic model of one Newton step on a working set,
//   m(d) = g^T d + d^T H d / 2 + alpha sum_e omega_e |theta_e + d_e|,
// minimized over the inner edges; the other edges stay where they are, at zero. With a block for every node: coordinate
// descent, and conjugate gradients on the face of the current signs. Where a node is an operator a coordinate step
// would cost a product, and faces do all the work. Groups of coefficients: see groups.hpp.
#pragma once

#include <vector>

#include "lasso/groups.hpp"
#include "lasso/working_set.hpp"
#include "rows/pool.hpp"

namespace isinglass {

class Quadratic {
 public:
    Quadratic(const WorkingSet& set, Rows& rows, Pool& pool)
        : set_(set), rows_(rows), pool_(pool), poll_(pool.poll()), kernels_(kernels()), groups_(set, rows, pool) {}

    std::vector<double> gradient;  // profiled gradient at d = 0, to be filled by the caller
    std::vector<double> d;         // the minimizer
    int64_t n_products = 0;        // with H, so far
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
    double stop_at_zero(double alpha, const std::vector<double>& kept, double length);
    bool face_step(double alpha, double tolerance);
    bool violator_step(double alpha, double tolerance);
    bool leaves_face(double alpha) const;
    void solve_face(double tolerance, double alpha);
    void index_face();
    void factorize_face();
    double precondition();
    template <class Body>
    const std::vector<double>& each_chunk(size_t m, Body body);
    template <class Body>
    double sum_over(size_t m, Body body);
    template <class Body>
    double largest_over(size_t m, Body body);
    template <class Place>
    void apply_operators(const std::vector<double>& v, Place place, bool is_rough, float* out);
    double multiply(const std::vector<double>& v, bool is_rough);
    double renew_residual();
    void rebuild_slopes();
    double value(double alpha);

    const WorkingSet& set_;
    Rows& rows_;
    Pool& pool_;
    Poll& poll_;
    const Kernels& kernels_;
    Buffer<float> slope_, product_;  // per slot: G_s d_s, and scratch for products
    std::vector<double> curvature_;
    int64_t before_ = 0;  // products up to the last reset
    bool is_exhausted_ = false;
    bool is_rough_ = true;  // products of conjugate gradients: these steps have got somewhere so far

    struct FaceNode {
        int node, begin, end, reach;  // its part of the lists of slots; slots to compute
    };
    std::vector<int> face_;                      // edges on the face
    std::vector<double> side_;                   // the sign they are to keep
    std::vector<int> face_of_;                   // per edge: its place on the face, or the size of the face
    std::vector<int> place_of_;                  // the same per slot, where the node is an operator
    std::vector<FaceNode> face_nodes_;           // nodes with a block...
    std::vector<int> face_slots_, face_places_;  // ...and their slots on the face, node after node
    std::vector<const float*> face_rows_;
    std::vector<double> x_, residual_, start_, scaled_, direction_, product_face_, inverse_, parts_;
    std::vector<float> factors_, single_, slot_factors_;
    std::vector<Product> operators_;
    std::vector<const float*> rows_of_;
    GroupModel groups_;
    Buffer<float> factor_;   // U with U^T U = H on the face, row by row
    int factor_stride_ = 0;  // 0: no factor, the diagonal serves instead
};

}  // namespace isinglass
