// The quadratic model of one Newton step on a working set,
//   m(d) = g^T d + d^T H d / 2 + alpha sum_e omega_e |theta_e + d_e|,
// minimised over the inner edges by coordinate descent and by conjugate gradients on the face of the current
// signs; the other edges stay where they are, at zero.
#pragma once

#include <vector>

#include "kernels.hpp"
#include "table.hpp"
#include "working_set.hpp"

namespace isinglass {

class Quadratic {
 public:
    Quadratic(const WorkingSet& set, const Kernels& kernels) : set_(set), kernels_(kernels) {}

    std::vector<double> gradient;  // profiled gradient at d = 0, to be filled by the caller
    std::vector<double> d;         // the minimiser

    void reset();  // forgets d; sizes everything for the working set
    // Until no coordinate's optimality condition is violated by more than tolerance.
    void minimise(double alpha, double tolerance);
    // Only the unpenalised edges (alpha omega = 0) move; the others stay where they are.
    void minimise_free(double alpha, double tolerance);

 private:
    double slope(int e) const;  // of the smooth part
    void move(int e, double change);
    double visit(int e, double alpha);
    double sweep(double alpha);
    double sweep_active(double alpha);
    void face_step(double alpha, double tolerance);
    void solve_face(double tolerance);
    void multiply(const std::vector<double>& x, std::vector<double>& Hx);
    void rebuild_slopes();
    double value(double alpha) const;

    const WorkingSet& set_;
    const Kernels& kernels_;
    Buffer<float> slope_, coefficient_, product_;  // per slot: G_s d_s, and scratch for products
    std::vector<double> curvature_;
    std::vector<int> face_;  // edges on the face
    std::vector<double> x_, residual_, direction_, product_face_;
    std::vector<const float*> rows_;
    std::vector<float> factors_;
};

}  // namespace isinglass
