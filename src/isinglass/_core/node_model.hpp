// The quadratic model of one Newton step of a logistic lasso,
//   m(d) = g^T d + d^T G d / 2 + sum_j limit_j |theta_j + d_j|,
// with the intercept profiled out of G, minimised by coordinate descent and by conjugate gradients on the
// face of the current signs. One node's twin of Quadratic: every coefficient has one slot, nothing is shared.
#pragma once

#include <vector>

#include "kernels.hpp"
#include "table.hpp"

namespace isinglass {

class NodeModel {
 public:
    explicit NodeModel(const Kernels& kernels) : kernels_(kernels) {}

    std::vector<double> gradient;  // profiled gradient at d = 0, to be filled by the caller
    std::vector<double> d;         // the minimiser
    std::vector<float> b;          // X^T (w v), the coupling of coefficients and intercept

    // G = X^T diag(w v) X - b b^T / S over the given columns.
    void assemble(const float* wv, const std::vector<const uint8_t*>& columns, int n_rows);
    // Until no coordinate's optimality condition is violated by more than tolerance.
    void minimise(const std::vector<double>& theta, const std::vector<double>& limit, double tolerance);

 private:
    const float* row(int j) const { return G_.data() + static_cast<size_t>(j) * stride_; }
    double visit(int j);
    double sweep(bool only_active);
    void face_step(double tolerance);
    void factorise_face();
    void precondition(const std::vector<double>& r, std::vector<double>& z) const;
    void solve_face(double tolerance);
    void multiply(const std::vector<double>& x, std::vector<double>& Gx);
    void rebuild_slopes();
    double value() const;

    const Kernels& kernels_;
    int size_ = 0, stride_ = 0;  // coefficients; the same padded for the kernels
    Buffer<float> G_, panels_, slope_, product_;
    const double *theta_ = nullptr, *limit_ = nullptr;
    std::vector<int> face_;
    std::vector<double> x_, residual_, direction_, product_face_, scaled_;
    Buffer<float> factor_;   // U with U^T U = G on the face, row by row
    int factor_stride_ = 0;  // 0: no factor, the diagonal serves instead
    std::vector<const float*> rows_;
    std::vector<float> factors_;
};

}  // namespace isinglass
