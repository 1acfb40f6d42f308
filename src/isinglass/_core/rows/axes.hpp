// The columns beside a node with an order as numbers on a line: (cell - origin) step. A column without an order is one
// such axis of 0 and 1 for each of its categories.
#pragma once

#include "rows/category_rows.hpp"

namespace isinglass {

class Axes {
 public:
    void list(const CategoryState& state, const NeighborColumns& neighbors) {
        axes_.clear(), cells_.clear(), columns_.clear();
        for (int k = 0; k < neighbors.count; ++k)
            for (const Axis& axis : state.axes[neighbors.column[k]]) {
                axes_.push_back(&axis), cells_.push_back(axis.cells), columns_.push_back(neighbors.column[k]);
            }
    }
    int count() const { return static_cast<int>(axes_.size()); }
    const std::vector<int>& columns() const { return columns_; }  // whose axes they are
    ColumnList cells(int n_rows) const { return {cells_.data(), count(), n_rows}; }
    double step(int j) const { return axes_[j]->step; }
    // A sum over rows of numbers times the axis, less its mean: from that with cells, and from the numbers alone.
    double centered(int j, double with_cells, double alone) const {
        return (with_cells - axes_[j]->mean * alone) * axes_[j]->step;
    }
    // Adds the axes times their coefficients to one number per row.
    void add(const double* coefficient, int n_rows, double* eta) {
        double offset = 0;
        scaled_.resize(axes_.size());
        for (int j = 0; j < count(); ++j) {
            scaled_[j] = coefficient[j] * step(j);
            offset -= scaled_[j] * axes_[j]->origin;
        }
        if (count() > 0) kernels().add_columns(cells(n_rows), scaled_.data(), offset, eta);
    }
    // The same for every axis; sum: of the numbers a.
    void dots(const double* a, int n_rows, double sum, double* out) const {
        kernels().dots(cells(n_rows), a, out);
        for (int j = 0; j < count(); ++j) out[j] = centered(j, out[j], sum);
    }

 private:
    std::vector<const Axis*> axes_;
    std::vector<const uint8_t*> cells_;
    std::vector<int> columns_;
    std::vector<double> scaled_;
};

// What the losses of nodes with an order share: the columns beside a node are axes, and its fields follow their
// coefficients.
class LineLoss : public NodeLoss {
 public:
    void add_columns(const Move& task, bool afresh, int worker) override {
        if (!afresh) follow(task);
        axes_of(task.moved, worker).add(task.coefficient, stride_, state_.lines.eta(task.node));
    }
    void collect(int node, const NeighborColumns& asked, double* out, int worker) override {
        axes_of(asked, worker).dots(state_.view(node).wr, stride_, state_.shift[node][0], out);
    }

 protected:
    explicit LineLoss(CategoryState& state)
        : state_(state), stride_(state.stride), responses_(state.columns.size()), axes_(state.workers.scratch.size()) {}

    Axes& axes_of(const NeighborColumns& neighbors, int worker) {
        axes_[worker].list(state_, neighbors);
        return axes_[worker];
    }

    // The fields to where the last block expects them after a move. Scores have a range of 1, so that no difference of
    // two fields follows a coefficient by more than twice its change.
    void follow(const Move& task) {
        const auto& [known, values] = responses_[task.node];
        std::vector<double>& fields = state_.fields[task.node];
        size_t j = 0;
        const double* coefficient = task.coefficient;
        for (int i = 0; i < task.moved.count; ++i) {  // both lists have the order of the slots
            const int t = task.moved.column[i];
            while (j < known.size() && known[j] != t) ++j;
            if (j == known.size()) return;
            for (int l = 0; l < state_.columns[t].width(); ++l, ++j, ++coefficient)
                for (size_t k = 1; k < fields.size(); ++k)
                    fields[k] -= *coefficient * std::clamp(values[(k - 1) * known.size() + j], -2.0, 2.0);
        }
    }

    // A block of cells as one of scores.
    static void scale(const Block& task, const Axes& axes) {
        const int d = axes.count();
        std::fill(task.b, task.b + d, 0.0f);  // the fields follow by themselves
        for (int i = 0; i < d; ++i)
            for (int j = 0; j < d; ++j)
                task.G[static_cast<size_t>(i) * task.stride + j] *= static_cast<float>(axes.step(i) * axes.step(j));
    }

    // How the fields follow their neighbors' coefficients, to first order: for each category but the first, a
    // number for every axis of a node's last block.
    struct Response {
        std::vector<int> columns;
        std::vector<double> values;
    };

    CategoryState& state_;
    const int stride_;
    std::vector<Response> responses_;

 private:
    std::vector<Axes> axes_;  // of every thread
};

}  // namespace isinglass
