// The loss of columns of 0 and 1, on any storage of their rows.
#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <limits>
#include <memory>
#include <numeric>

#include "rows/node_view.hpp"

namespace isinglass {

// What a storage has: the table and the nodes' predictors in some form, of which it gives views.
template <class Storage>
concept StoresTwoValues =
    requires(Storage& storage, const Move& move, const Block& block, const Product& product, const NodeView& view,
             const NeighborColumns& columns, const float* curves, double* out, float* band,
             std::span<const Block> blocks, std::span<const int> nodes, int node, int worker) {
        { storage.margins() } -> std::convertible_to<const Margins&>;
        { storage.total() } -> std::same_as<double>;  // the weight of all rows
        { storage.rounding() } -> std::same_as<double>;
        // A view, with columns that will be asked for on the same rows, and one after the predictor has moved.
        { storage.view(node, columns, worker) } -> std::same_as<NodeView>;
        { storage.move(move, true, worker) } -> std::same_as<NodeView>;
        // sum_n w r x of some columns, at a view or at the predictor as it is.
        storage.collect(view, node, columns, out, worker);
        storage.gradient(node, columns, out, worker);
        // Before views of these nodes are taken for second derivatives; true: majorized.
        storage.begin_blocks(blocks, true);
        storage.diagonal(block, view, curves, worker);  // what goes beside products with these curvatures
        { storage.has_rough() } -> std::same_as<bool>;  // see ProductRows
        storage.product(product, worker);
        storage.remember(nodes);
        { storage.drift(node, worker) } -> std::same_as<ResidualDrift>;
        { storage.all_pairs(node, node, band) } -> std::same_as<double>;
    };

template <StoresTwoValues Storage>
class TwoValueRows final : public Rows, public ProductRows {
 public:
    template <class... Given>
    explicit TwoValueRows(Pool& pool, Given&&... given)
        : workers_(pool), storage_(workers_, std::forward<Given>(given)...) {}

    Storage& storage() { return storage_; }
    const Margins& margins() const override { return storage_.margins(); }
    double rounding() const override { return storage_.rounding(); }
    ProductRows* products() override { return this; }
    bool has_precise_blocks() const override { return true; }

    void move(std::span<const Move> tasks, bool afresh) override {
        workers_.pool.each(tasks.size(), [&](int k, int worker) {
            const Move& task = tasks[k];
            const NodeView view = storage_.move(task, afresh, worker);
            *task.sums = view.sums;
            storage_.collect(view, task.node, task.asked, task.gradient, worker);
        });
    }
    void gradients(std::span<const Gradient> tasks) override {
        workers_.pool.each(tasks.size(), [&](int k, int worker) {
            const Gradient& task = tasks[k];
            if (task.asked.count == 0) return;
            storage_.gradient(task.node, task.asked, task.gradient, worker);
        });
    }
    void blocks(std::span<const Block> tasks, Curvature curvature) override;
    void multiply(std::span<const Product> tasks, const Fill& fill) override {
        workers_.pool.each(tasks.size(), [&](int k, int worker) {
            fill(k);
            if (tasks[k].inner.count > 0) storage_.product(tasks[k], worker);
        });
    }
    bool has_rough() const override { return storage_.has_rough(); }
    double divergence(std::span<const int> nodes, double c) override {
        const std::vector<double> parts = workers_.pool.map(nodes, [&](int node, int worker) {
            const NodeView view = storage_.view(node, {}, worker);
            return kernels().divergence(view.rows, view.eta, c);
        });
        return std::accumulate(parts.begin(), parts.end(), 0.0);
    }
    double largest_predictor(std::span<const int> nodes) override {
        const std::vector<double> parts = workers_.pool.map(
            nodes, [&](int node, int worker) { return isinglass::largest_predictor(storage_.view(node, {}, worker)); });
        return parts.empty() ? 0.0 : *std::max_element(parts.begin(), parts.end());
    }
    std::vector<double> gram(int node, const NeighborColumns& neighbors) override;
    PreciseBlock precise_block(int node, const NeighborColumns& neighbors) override;
    void remember(std::span<const int> nodes) override { storage_.remember(nodes); }
    std::vector<ResidualDrift> drift(std::span<const int> nodes) override {
        return workers_.pool.map(nodes, [&](int node, int worker) { return storage_.drift(node, worker); });
    }
    double all_pairs(int first, int last, float* band) override { return storage_.all_pairs(first, last, band); }

 private:
    Workers workers_;
    Storage storage_;
};

template <StoresTwoValues Storage>
void TwoValueRows<Storage>::blocks(std::span<const Block> tasks, Curvature curvature) {
    const bool majorized = curvature == Curvature::majorized;
    storage_.begin_blocks(tasks, majorized);
    workers_.pool.each(tasks.size(), [&](int k, int worker) {
        const Block& task = tasks[k];
        const NodeView view = storage_.view(task.node, task.inner, worker);
        *task.curve = majorized ? storage_.total() / 4 : view.sums.curve;
        if (task.inner.count == 0) return;
        Scratch& scratch = workers_.scratch[worker];
        const float* curves = curvatures(view, majorized, scratch);
        if (task.G)
            kernels().gram(view.source->list(task.inner, scratch.columns), curves,
                           {task.G, task.stride, task.b, space(scratch.panels, gram_scratch(task.inner.count))});
        else
            storage_.diagonal(task, view, curves, worker);
    });
}

template <StoresTwoValues Storage>
std::vector<double> TwoValueRows<Storage>::gram(int node, const NeighborColumns& neighbors) {
    const NodeView view = storage_.view(node, neighbors, 0);
    const int d = neighbors.count, width = d + 1;
    const ColumnList columns = view.source->list(neighbors, workers_.scratch[0].columns);
    Buffer<double> curve(columns.n);
    for (int n = 0; n < columns.n; ++n) {
        const double size = std::abs(view.wr[n]);
        // |r| (1 - |r|), less what rounding may have added.
        curve[n] = std::max(
            size * (1 - size * view.rows.inverse_w[n]) - 8 * std::numeric_limits<double>::epsilon() * size, 0.0);
    }
    std::vector<double> G(static_cast<size_t>(width) * width);
    workers_.pool.each(width, [&](int i, int worker) {
        double *line = room(workers_.scratch[worker].line, columns.n), sum = 0;
        for (int n = 0; n < columns.n; ++n) sum += line[n] = i == d || columns.x[i][n] ? curve[n] : 0.0;
        kernels().dots(columns, line, G.data() + static_cast<size_t>(i) * width);
        G[static_cast<size_t>(i) * width + d] = sum;
    });
    return G;
}

// Centered first: differences of uncentered sums cancel where weights differ by orders of magnitude.
template <StoresTwoValues Storage>
PreciseBlock TwoValueRows<Storage>::precise_block(int node, const NeighborColumns& neighbors) {
    const NodeView view = storage_.view(node, neighbors, 0);
    ColumnList columns = view.source->list(neighbors, workers_.scratch[0].columns);
    const size_t d = neighbors.count;
    std::vector<double> H(d * d), mean(d), curve(view.rows.n);
    double total = 0;
    for (int n = 0; n < view.rows.n; ++n) {
        const double odds = std::exp(-std::abs(view.eta[n]));
        total += curve[n] = view.rows.w[n] * odds / ((1 + odds) * (1 + odds));
    }
    workers_.pool.each(d, [&](int i, int) {
        for (int n = 0; n < view.rows.n; ++n) mean[i] += columns.x[i][n] ? curve[n] : 0.0;
        if (total > 0) mean[i] /= total;
    });
    std::vector<double> away(d * tuning::GRAM_ROWS);  // of some rows at a time, row after row
    for (int begin = 0; begin < view.rows.n; begin += tuning::GRAM_ROWS) {
        const int count = std::min(tuning::GRAM_ROWS, view.rows.n - begin);
        for (int n = 0; n < count; ++n)
            for (size_t i = 0; i < d; ++i) away[n * d + i] = columns.x[i][begin + n] - mean[i];
        workers_.pool.each(d, [&](int i, int) {
            for (int n = 0; n < count; ++n) {
                const double *line = away.data() + n * d, factor = curve[begin + n] * line[i];
                for (int j = 0; j <= i; ++j) H[i * d + j] += factor * line[j];
            }
        });
    }
    for (size_t i = 0; i < d; ++i)
        for (size_t j = 0; j < i; ++j) H[j * d + i] = H[i * d + j];
    return {std::move(H), std::move(mean)};
}

// The table as bytes, and a line of predictors and residuals for every node or for the node placed last.
std::unique_ptr<Rows> kept_rows(Pool& pool, std::shared_ptr<const Table> table, Holds holds);

}  // namespace isinglass
