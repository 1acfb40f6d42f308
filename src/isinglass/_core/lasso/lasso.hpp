// What every solver of a penalized quadratic model knows about the penalty.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "rows/table.hpp"
#include "tuning.hpp"

namespace isinglass {

constexpr double INFINITE = std::numeric_limits<double>::infinity();
constexpr double UNIT = std::numeric_limits<double>::epsilon() / 2;  // of rounding

inline double sign(double z) {
    return (z > 0) - (z < 0);
}

inline double soft_threshold(double z, double limit) {
    return z > limit ? z - limit : (z < -limit ? z + limit : 0.0);
}

// Of the coefficients of a pair, one or a group of them.
inline double norm(const double* values, size_t size) {
    if (size == 1) return std::abs(*values);
    double sum = 0;
    for (size_t i = 0; i < size; ++i) sum += values[i] * values[i];
    return std::sqrt(sum);
}

// How much the optimality condition of a coefficient with gradient g and penalty limit |theta| is violated.
inline double kkt_violation(double theta, double g, double limit) {
    return theta == 0.0 ? std::max(std::abs(g) - limit, 0.0) : std::abs(g + limit * sign(theta));
}
// The same for a group with penalty limit ||theta||.
inline double kkt_violation(const double* theta, const double* g, size_t size, double limit) {
    if (size == 1) return kkt_violation(*theta, *g, limit);
    const double length = norm(theta, size);
    if (length == 0.0) return std::max(norm(g, size) - limit, 0.0);
    double sum = 0;
    for (size_t i = 0; i < size; ++i) {
        const double off = g[i] + limit * theta[i] / length;
        sum += off * off;
    }
    return std::sqrt(sum);
}

// The weight omega of a pair's penalty: 0 is free, infinity forbidden.
class Penalty {
 public:
    enum class Kind { equal, standardized, matrix, per_column, product };
    // values: the columns' standard deviations, a matrix row by row, one weight per column (the second of
    // a pair), or one whose products are the weights; they outlive this object.
    Penalty(Kind kind, const double* values, int n_features) : kind_(kind), values_(values), n_features_(n_features) {}

    double operator()(int s, int t) const {
        switch (kind_) {
            case Kind::equal:
                return 1.0;
            case Kind::standardized:
                return values_[s] + values_[t];
            case Kind::per_column:
                return values_[t];
            case Kind::product:
                return values_[s] * values_[t];
            default:
                return values_[static_cast<size_t>(s) * n_features_ + t];
        }
    }
    // factor * omega of the pairs (s, first), (s, first + 1), ..., less what bounds in single precision may lack;
    // forbidden: infinite, whatever the factor.
    void fill_limits(int s, int first, double factor, float* limits) const {
        factor *= tuning::screen::LIMIT_SHARE;
        if (kind_ == Kind::equal) {
            std::fill(limits, limits + n_features_ - first, static_cast<float>(factor));
            return;
        }
        for (int t = first; t < n_features_; ++t) {
            const double omega = (*this)(s, t);
            limits[t - first] = static_cast<float>(std::isfinite(omega) ? factor * omega : omega);
        }
    }
    bool is_matrix() const { return kind_ == Kind::matrix; }  // which alone may forbid pairs
    // The free pairs of all nodes, or (node not negative) of one, in order.
    std::vector<Pair> free_pairs(int node = -1) const {
        std::vector<Pair> pairs;
        if (!is_matrix() && kind_ != Kind::per_column) return pairs;
        const int first = std::max(node, 0), last = node < 0 ? n_features_ : node + 1;
        for (int s = first; s < last; ++s)
            for (int t = node < 0 ? s + 1 : 0; t < n_features_; ++t)
                if (t != s && (*this)(s, t) == 0.0) pairs.push_back({s, t});
        return pairs;
    }
    bool has_free() const {
        return kind_ == Kind::per_column ? std::find(values_, values_ + n_features_, 0.0) != values_ + n_features_
                                         : !free_pairs().empty();
    }

 private:
    Kind kind_;
    const double* values_;
    int n_features_;
};

}  // namespace isinglass
