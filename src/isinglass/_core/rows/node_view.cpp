#include "rows/node_view.hpp"

#include <algorithm>
#include <cmath>

namespace isinglass {

double largest_predictor(const NodeView& view) {
    double largest = 0;
    for (int n = 0; n < view.rows.n; ++n)
        if (view.rows.w[n] > 0) largest = std::max(largest, std::abs(view.eta[n]));
    return largest;
}

const float* curvatures(const NodeView& view, bool majorized, Scratch& scratch) {
    float* curves = room(scratch.curves, view.rows.n);
    if (majorized)
        for (int n = 0; n < view.rows.n; ++n) curves[n] = static_cast<float>(view.rows.w[n] / 4);
    else
        kernels().curvatures(view.rows, view.eta, view.wr, curves);
    return curves;
}

Lines::Lines(int stride, std::vector<int> widths, Holds holds)
    : stride_(stride),
      holds_(holds),
      width_(std::move(widths)),
      begin_(width_.size()),
      sums_(holds == Holds::one_node ? 1 : width_.size()) {
    size_t numbers = 0;
    for (size_t node = 0; node < width_.size(); ++node) {
        const size_t own = size(static_cast<int>(node));
        if (holds_ == Holds::all_nodes) begin_[node] = numbers;
        numbers = holds_ == Holds::all_nodes ? numbers + own : std::max(numbers, own);
    }
    eta_.resize(numbers);
    wr_.resize(numbers);
}

void Lines::make_reference() {
    if (reference_.size() < wr_.size()) reference_.resize(wr_.size());
}

void Lines::remember(int node) {
    kernels().narrow(wr(node), size(node), reference_.data() + begin_[node]);
}

}  // namespace isinglass
