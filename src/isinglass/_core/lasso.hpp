// Small pieces that every solver of a penalised quadratic model needs.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace isinglass {

inline double sign(double z) {
    return (z > 0) - (z < 0);
}

inline double soft_threshold(double z, double limit) {
    return z > limit ? z - limit : (z < -limit ? z + limit : 0.0);
}

// How much the optimality condition of a coefficient with gradient g and penalty limit |theta| is violated.
inline double kkt_violation(double theta, double g, double limit) {
    return theta == 0.0 ? std::max(std::abs(g) - limit, 0.0) : std::abs(g + limit * sign(theta));
}

// Single precision must not make a block indefinite, and its diagonal divides: a ridge a few roundings above
// zero. (With a tenth of it, badly conditioned tables stall; measured.)
inline void add_ridge(float* G, int d, int ld) {
    for (int i = 0; i < d; ++i) {
        float& diagonal = G[static_cast<size_t>(i) * (ld + 1)];
        diagonal = diagonal * (1 + 1e-6f) + 1e-30f;
    }
}

}  // namespace isinglass
