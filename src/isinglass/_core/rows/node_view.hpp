// What every kind of rows on this computer is made of: views of a node, and lines that keep predictors and residuals.
#pragma once

#include <vector>

#include "rows/pool.hpp"
#include "rows/sums.hpp"

namespace isinglass {

// The threads, and what each of them needs.
struct Workers {
    explicit Workers(Pool& given) : pool(given), scratch(given.size()) {}
    Pool& pool;
    std::vector<Scratch> scratch;
};

// A node's predictor and residuals, and the rows they belong to: all that a pass over them needs. What it points to
// stays until the node changes or, where it is made when it is needed, until the thread views another node.
struct NodeView {
    NodeRows rows;
    double *eta, *wr;
    NodeSums sums;
    const ColumnSource* source;  // of columns on these rows
    int width = 1;               // numbers of eta and wr for each row
};

// The residuals from the predictor of a view, for two values.
inline NodeView pass(NodeView view) {
    view.sums = kernels().node_pass(view.rows, view.eta, view.wr);
    return view;
}

double largest_predictor(const NodeView& view);
// w sigma (1 - sigma) of every row of a view, or its bound w / 4.
const float* curvatures(const NodeView& view, bool majorized, Scratch& scratch);

// Predictor, residuals and sums of nodes, of all of them or of the one placed last.
class Lines {
 public:
    // widths: how many numbers a row of each node has.
    Lines(int stride, std::vector<int> widths, Holds holds);

    size_t count() const { return sums_.size(); }
    size_t index(int node) const { return holds_ == Holds::one_node ? 0 : node; }
    size_t size(int node) const { return static_cast<size_t>(stride_) * width_[node]; }
    double* eta(int node) { return eta_.data() + begin_[node]; }
    double* wr(int node) { return wr_.data() + begin_[node]; }
    NodeSums& sums(int node) { return sums_[index(node)]; }
    NodeView view(int node, const Table& table) {
        return {.rows = table.rows(node),
                .eta = eta(node),
                .wr = wr(node),
                .sums = sums(node),
                .source = &table,
                .width = width_[node]};
    }
    // Remembers residuals in single precision. make_reference comes first, on one thread.
    void make_reference();
    void remember(int node);
    const float* reference(int node) const { return reference_.data() + begin_[node]; }

 private:
    const int stride_;
    const Holds holds_;
    const std::vector<int> width_;
    std::vector<size_t> begin_;
    std::vector<NodeSums> sums_;
    Buffer<double> eta_, wr_;
    Buffer<float> reference_;
};

}  // namespace isinglass
