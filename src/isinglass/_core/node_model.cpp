#include "node_model.hpp"

#include <algorithm>
#include <cmath>

#include "lasso.hpp"

namespace isinglass {
namespace {

constexpr int MAX_ROUNDS = 60;      // of sweeps and face steps; the outer line search copes with what is left
constexpr int ACTIVE_SWEEPS = 3;    // before the face step is tried
constexpr double SLOW = 0.2;        // a sweep that leaves more than this share of the violation is slow
constexpr int MAX_PRODUCTS = 200;   // of one face step
constexpr int PATIENCE = 6;         // products before the matrix of the face is factorised
constexpr size_t MAX_FACTOR = 400;  // coefficients on a face up to which its matrix is factorised
constexpr float SMALLEST_PIVOT = 1e-6f;  // relative to the diagonal: below, single precision has nothing left

}  // namespace

void NodeModel::assemble(const float* wv, const std::vector<const uint8_t*>& columns, int n_rows) {
    size_ = static_cast<int>(columns.size());
    stride_ = (size_ + 15) / 16 * 16;
    const size_t floats = static_cast<size_t>(size_) * stride_;
    if (G_.size() < floats) G_.resize(floats + floats / 2);
    if (panels_.size() < gram_scratch(size_)) panels_.resize(gram_scratch(size_ + size_ / 2));
    if (slope_.size() < static_cast<size_t>(stride_)) {
        slope_.resize(static_cast<size_t>(2) * stride_);
        product_.resize(static_cast<size_t>(2) * stride_);
    }
    b.assign(stride_, 0.0f);
    kernels_.gram(wv, columns.data(), size_, n_rows, G_.data(), stride_, b.data(), panels_.data());
    add_ridge(G_.data(), size_, stride_);
}

void NodeModel::minimise(const std::vector<double>& theta, const std::vector<double>& limit,
                         double tolerance) {
    theta_ = theta.data();
    limit_ = limit.data();
    d.assign(size_, 0.0);
    std::fill(slope_.data(), slope_.data() + stride_, 0.0f);
    for (int round = 0; round < MAX_ROUNDS; ++round) {
        double violation = sweep(false);
        if (violation <= tolerance) return;
        bool slow = false;
        for (int k = 0; k < ACTIVE_SWEEPS && violation > tolerance; ++k) {
            const double next = sweep(true);
            slow = next > SLOW * violation;
            violation = next;
        }
        if (violation > tolerance && slow) face_step(tolerance);
    }
}

// One coordinate to its minimum; returns how much its optimality condition was violated.
double NodeModel::visit(int j) {
    const double z = theta_[j] + d[j], q = gradient[j] + slope_[j], h = row(j)[j];
    if (z == 0.0 && std::abs(q) <= limit_[j]) return 0.0;
    const double target = soft_threshold(z - q / h, limit_[j] / h), change = target - z;
    if (change == 0.0) return 0.0;
    d[j] = target == 0.0 ? -theta_[j] : d[j] + change;  // zero exactly, whatever the rounding of the sum
    const float* r = row(j);
    const float factor = static_cast<float>(change);
    kernels_.add_rows(&r, &factor, 1, slope_.data(), stride_);
    return std::abs(change) * h;
}

double NodeModel::sweep(bool only_active) {
    double violation = 0;
    for (int j = 0; j < size_; ++j)
        if (!only_active || theta_[j] + d[j] != 0.0) violation = std::max(violation, visit(j));
    return violation;
}

// Newton's point on the face of the current signs. Coefficients that would change sign are set to zero; if
// the model does not decrease that way, the step is cut at the first sign change, where it must.
void NodeModel::face_step(double tolerance) {
    face_.clear();
    residual_.clear();
    for (int j = 0; j < size_; ++j) {
        const double z = theta_[j] + d[j];
        if (z == 0.0) continue;
        face_.push_back(j);
        residual_.push_back(-(gradient[j] + slope_[j] + limit_[j] * sign(z)));
    }
    solve_face(0.3 * tolerance);
    const double before = value();
    const std::vector<double> kept = d;
    double longest = 1.0;
    for (size_t k = 0; k < face_.size(); ++k) {
        const int j = face_[k];
        const double z = theta_[j] + d[j];
        if (limit_[j] > 0.0 && z * (z + x_[k]) <= 0.0) {
            longest = std::min(longest, -z / x_[k]);
            d[j] = -theta_[j];
        } else {
            d[j] += x_[k];
        }
    }
    rebuild_slopes();
    if (longest == 1.0 || value() <= before) return;
    d = kept;
    for (size_t k = 0; k < face_.size(); ++k) {
        const int j = face_[k];
        const double z = theta_[j] + d[j] + longest * x_[k];
        // The coefficient that ends the step lands on zero exactly.
        d[j] = std::abs(z) <= 1e-12 * std::abs(x_[k]) ? -theta_[j] : d[j] + longest * x_[k];
    }
    rebuild_slopes();
}

// Cholesky in single precision. On strongly correlated columns it saves dozens of products per face step.
void NodeModel::factorise_face() {
    const int m = static_cast<int>(face_.size());
    factor_stride_ = 0;
    if (face_.size() > MAX_FACTOR) return;
    const int stride = (m + 15) / 16 * 16;
    const size_t floats = static_cast<size_t>(m) * stride;
    if (factor_.size() < floats) factor_.resize(2 * floats);
    for (int i = 0; i < m; ++i) {
        float* u = factor_.data() + static_cast<size_t>(i) * stride;
        std::fill(u, u + stride, 0.0f);
        for (int j = i; j < m; ++j) u[j] = row(face_[i])[face_[j]];
        const int start = i / 16 * 16;  // what is left of the diagonal is never read
        rows_.clear();
        factors_.clear();
        for (int k = 0; k < i; ++k) {
            const float* above = factor_.data() + static_cast<size_t>(k) * stride;
            rows_.push_back(above + start);
            factors_.push_back(-above[i]);
        }
        const float diagonal = u[i];
        kernels_.add_rows(rows_.data(), factors_.data(), i, u + start, stride - start);
        if (!(u[i] > SMALLEST_PIVOT * diagonal)) return;
        const float inverse = 1.0f / std::sqrt(u[i]);
        for (int j = i; j < m; ++j) u[j] *= inverse;
    }
    factor_stride_ = stride;
}

// z = (U^T U)^-1 r, or r over the diagonal of G.
void NodeModel::precondition(const std::vector<double>& r, std::vector<double>& z) const {
    const size_t m = r.size(), stride = factor_stride_;
    if (stride == 0) {
        for (size_t k = 0; k < m; ++k) z[k] = r[k] / row(face_[k])[face_[k]];
        return;
    }
    z = r;
    for (size_t k = 0; k < m; ++k) {
        const float* u = factor_.data() + k * stride;
        z[k] /= u[k];
        for (size_t j = k + 1; j < m; ++j) z[j] -= z[k] * u[j];
    }
    for (size_t k = m; k-- > 0;) {
        const float* u = factor_.data() + k * stride;
        double sum = z[k];
        for (size_t j = k + 1; j < m; ++j) sum -= u[j] * z[j];
        z[k] = sum / u[k];
    }
}

// Conjugate gradients for G x = residual on the face, preconditioned by the diagonal and, if that takes long,
// by a factorisation; leaves x in x_.
void NodeModel::solve_face(double tolerance) {
    const size_t m = face_.size();
    x_.assign(m, 0.0);
    direction_.assign(m, 0.0);
    product_face_.resize(m);
    scaled_.resize(m);
    factor_stride_ = 0;
    double rz = 0;
    for (int step = 0; step < MAX_PRODUCTS; ++step) {
        double largest = 0, next = 0, curvature = 0;
        for (size_t k = 0; k < m; ++k) largest = std::max(largest, std::abs(residual_[k]));
        if (!(largest > tolerance)) return;
        if (step == PATIENCE) factorise_face();
        precondition(residual_, scaled_);
        for (size_t k = 0; k < m; ++k) next += residual_[k] * scaled_[k];
        const double ratio = step == 0 || step == PATIENCE ? 0.0 : next / rz;  // a new metric starts anew
        for (size_t k = 0; k < m; ++k) direction_[k] = scaled_[k] + ratio * direction_[k];
        rz = next;
        multiply(direction_, product_face_);
        for (size_t k = 0; k < m; ++k) curvature += direction_[k] * product_face_[k];
        if (!(curvature > 0)) return;
        const double length = rz / curvature;
        for (size_t k = 0; k < m; ++k) {
            x_[k] += length * direction_[k];
            residual_[k] -= length * product_face_[k];
        }
    }
}

void NodeModel::multiply(const std::vector<double>& x, std::vector<double>& Gx) {
    rows_.clear();
    factors_.clear();
    for (size_t k = 0; k < face_.size(); ++k) {
        rows_.push_back(row(face_[k]));
        factors_.push_back(static_cast<float>(x[k]));
    }
    std::fill(product_.data(), product_.data() + stride_, 0.0f);
    kernels_.add_rows(rows_.data(), factors_.data(), static_cast<int>(rows_.size()), product_.data(),
                      stride_);
    for (size_t k = 0; k < face_.size(); ++k) Gx[k] = product_[face_[k]];
}

void NodeModel::rebuild_slopes() {
    rows_.clear();
    factors_.clear();
    for (int j = 0; j < size_; ++j)
        if (d[j] != 0.0) {
            rows_.push_back(row(j));
            factors_.push_back(static_cast<float>(d[j]));
        }
    std::fill(slope_.data(), slope_.data() + stride_, 0.0f);
    kernels_.add_rows(rows_.data(), factors_.data(), static_cast<int>(rows_.size()), slope_.data(), stride_);
}

double NodeModel::value() const {
    double sum = 0;
    for (int j = 0; j < size_; ++j) {
        // The change of the penalty, not the penalty: no cancellation against what stays.
        const double penalty = std::abs(theta_[j] + d[j]) - std::abs(theta_[j]);
        sum += d[j] * (gradient[j] + 0.5 * slope_[j]) + limit_[j] * penalty;
    }
    return sum;
}

}  // namespace isinglass
