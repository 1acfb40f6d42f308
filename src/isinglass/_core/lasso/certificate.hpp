// How far a point is from the optimum, at most: a bound that holds in floating point, docs/math.md.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "lasso/working_set.hpp"
#include "tuning.hpp"

namespace isinglass {

// The parameters of a problem's nodes and what follows from them; the coefficients are in the working set.
struct Point {
    std::vector<double> fields;
    std::vector<NodeSums> sums;
    std::vector<char> is_isolated;  // no edge: the predictor is constant
    std::vector<double> travel;     // how far a predictor has been moved since it was computed, at most

    double loss() const;
};

struct Certificate {
    double scale = 1;           // of the residuals, after balancing: the dual point
    double gap = 0;             // F at the point minus its minimum is at most this
    double moment_error = 0;    // no moment of the dual point is above scale (|g| + 2 moment_error)
    double gradient_error = 0;  // by which a gradient may differ from that of the returned parameters
};

double penalty_of(const WorkingSet& set, double alpha, Chunks& chunks);
// Needs the complete gradient; tight where fields and free edges are stationary. top: no covariance, twice if both ends
// of a pair count, is larger than this times the pair's penalty weight.
Certificate certify(Rows& rows, const WorkingSet& set, const Point& point, double alpha, double top, Chunks& chunks);
// Without edges the gradient of a node's loss is the covariance of two columns: a bound on its error, without the part
// relative to itself.
double covariance_error(const Rows& rows, const NodeSums& node, int column, double rounding);
// Whether a pair is zero in every optimum: with |g| at most `gradient`, the columns' standard deviations and the
// penalty.
bool is_zero(const Certificate& certificate, double gradient, const std::pair<double, double>& sd, double limit);
// How many edges of the working set are zero in every optimum; slack_share: how many at most rows that count for
// themselves may have found, with limits larger by this share and no moment error.
int64_t count_certified(const WorkingSet& set, const Margins& margins, const Certificate& certificate, double alpha,
                        double slack_share = 0);

}  // namespace isinglass
