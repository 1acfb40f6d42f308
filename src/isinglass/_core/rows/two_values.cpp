// Columns of 0 and 1 in a table with categories: the kernels of tables of two values serve, the difference of the two
// fields being an offset. Where the neighbors have two values as well, rows are merged into patterns.
#include "rows/axes.hpp"

namespace isinglass {
namespace {

class TwoValues final : public LineLoss {
 public:
    explicit TwoValues(CategoryState& state) : LineLoss(state), working_(state.workers.scratch.size()) {}

    void add_columns(const Move& task, bool afresh, int worker) override {
        if (!move_merged(task, afresh, worker)) return LineLoss::add_columns(task, afresh, worker);
        if (!afresh) follow(task);
    }

    const CategorySums& pass(int node, int worker) override {
        const NodeView view = isinglass::pass(view_with_fields(node, state_.lines.is_merged(node), worker));
        state_.lines.passed(node);
        state_.lines.sums(node) = view.sums;
        CategorySums& sums = working_[worker].sums;
        sums.given = {0, view.sums.zeros, view.sums.ones, 0};
        sums.products = {0, 0, view.sums.unbounded, 0};
        sums.loss = view.sums.loss, sums.curve = view.sums.curve;
        return sums;
    }

    Odds odds(int node, int worker) override {
        const NodeView view = view_with_fields(node, state_.lines.is_merged(node), worker);
        for (int n = 0; n < view.rows.n; ++n)
            if (!view.rows.x[n]) view.eta[n] = -view.eta[n];
        return {view.rows, view.eta};
    }

    void collect(int node, const NeighborColumns& asked, double* out, int worker) override {
        if (!state_.lines.holds(node, asked)) return LineLoss::collect(node, asked, out, worker);
        const NodeView view = state_.lines.view_patterns(node);
        kernels().dots(view.source->list(asked, state_.workers.scratch[worker].columns), view.wr, out);
        for (int k = 0; k < asked.count; ++k) out[k] -= state_.columns[asked.column[k]].center * state_.shift[node][0];
    }

    void block(const Block& task, Curvature curvature, int worker) override {
        const int node = task.node;
        const bool is_own = curvature == Curvature::own;
        *task.curve = is_own ? state_.lines.sums(node).curve : 0.25;
        if (task.inner.count == 0) return;
        Scratch& scratch = state_.workers.scratch[worker];
        const bool is_merged = hold(node, task.inner, worker);
        const NodeView view = view_with_fields(node, is_merged, worker);
        const Axes& axes = axes_of(task.inner, worker);
        const int d = axes.count();
        kernels().gram(is_merged ? view.source->list(task.inner, scratch.columns) : axes.cells(stride_),
                       curvatures(view, !is_own, scratch),
                       {task.G, task.stride, task.b, space(scratch.panels, gram_scratch(d))});
        if (is_own) {
            std::vector<double> mean(d);
            for (int j = 0; j < d; ++j) mean[j] = axes.centered(j, task.b[j], *task.curve) / *task.curve;
            responses_[node] = {axes.columns(), std::move(mean)};
        }
        scale(task, axes);
    }

 private:
    // What a thread keeps of the node it works on.
    struct Working {
        CategorySums sums{2};
        Buffer<double> eta;  // with the fields
    };

    bool have_two_values(const NeighborColumns& columns) const {
        return std::all_of(columns.column, columns.column + columns.count,
                           [&](int t) { return state_.columns[t].has_two_values(); });
    }

    // The predictor with the fields, of patterns or of all rows.
    NodeView view_with_fields(int node, bool is_merged, int worker) {
        NodeView view = is_merged ? state_.lines.view_patterns(node) : state_.lines.view_predictors(node);
        double* eta = room(working_[worker].eta, stride_);
        const double field = state_.fields[node][1] - state_.fields[node][0];
        for (int n = 0; n < view.rows.n; ++n) eta[n] = view.eta[n] + field;
        view.eta = eta;
        return view;
    }

    // Moves a node's predictor together with its recipe; false if the columns are still to be added to it.
    bool move_merged(const Move& task, bool afresh, int worker) {
        if (!have_two_values(task.moved)) {
            state_.lines.give_up(task.node, afresh, worker);
            return false;
        }
        Move centered = task;
        centered.offset = 0;
        for (int k = 0; k < task.moved.count; ++k)
            centered.offset -= task.coefficient[k] * state_.columns[task.moved.column[k]].center;
        if (!have_two_values(task.asked)) centered.asked = {};
        return state_.lines.move(centered, afresh, worker) != MergedLines::Moved::nowhere;
    }

    // Whether patterns have all these columns, or can have them.
    bool hold(int node, const NeighborColumns& columns, int worker) {
        MergedLines& lines = state_.lines;
        if (!lines.is_merged(node) || !have_two_values(columns)) return false;
        if (lines.extend(node, columns, worker)) isinglass::pass(view_with_fields(node, true, worker));
        return lines.holds(node, columns);
    }

    std::vector<Working> working_;  // of every thread
};

}  // namespace

std::unique_ptr<NodeLoss> two_value_loss(CategoryState& state) {
    return std::make_unique<TwoValues>(state);
}

}  // namespace isinglass
