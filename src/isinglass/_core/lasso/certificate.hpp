// How far a point is from the optimum, at most: the duality gap of the point itself, docs/math.md.
#pragma once

#include <cstdint>
#include <vector>

#include "lasso/working_set.hpp"

namespace isinglass {

constexpr double STATIONARY = 1e-13;  // |g| of fields and free edges for a feasible dual point

// The parameters of a problem's nodes and what follows from them; the coefficients are in the working set.
struct Point {
    std::vector<double> fields;
    std::vector<NodeSums> sums;
    std::vector<char> is_isolated;  // no edge: the predictor is constant

    double loss() const;
};

struct Certificate {
    double scale = 1;      // the largest c <= 1 for which c r is feasible in the dual
    double gap = 0;        // NaN: no bound is known
    double proof_gap = 0;  // the gap with what rounding may have taken from it
};

double penalty_of(const WorkingSet& set, double alpha);
// Needs stationary fields and the complete gradient.
Certificate certify(Rows& rows, const WorkingSet& set, const Point& point, double alpha);
// How many edges of the working set are zero in every optimum.
int64_t count_certified(const WorkingSet& set, const Margins& margins, const Certificate& certificate,
                        double alpha);

}  // namespace isinglass
