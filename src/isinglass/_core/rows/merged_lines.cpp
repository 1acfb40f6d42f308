#include "rows/merged_lines.hpp"

namespace isinglass {

using namespace tuning::rows;

MergedLines::MergedLines(const Table& table, std::vector<int> widths, Holds holds, Workers& workers, bool can_merge)
    : Lines(table.stride, std::move(widths), holds),
      table_(table),
      workers_(workers),
      most_columns_(can_merge ? Patterns::most_columns(table, ROWS_PER_PATTERN) : -1),
      merged_(merges() ? count() : 0),
      where_(merges() ? workers.pool.size() : 0, std::vector<int>(table.n_features, -1)) {}

MergedLines::Moved MergedLines::move(const Move& task, bool afresh, int worker) {
    const bool was_merged = is_merged(task.node);
    if (track(task, afresh, worker) && merge(task.node, task.asked)) {
        predict(task.node, worker);
        merged(task.node).spread = Merged::Spread::nothing;
        return Moved::patterns;
    }
    if (!was_merged) return Moved::nowhere;
    unmerge(task.node, worker);
    return Moved::rows;
}

void MergedLines::give_up(int node, bool afresh, int worker) {
    if (is_merged(node)) afresh ? merged(node).patterns.clear() : unmerge(node, worker);
    if (merges()) merged(node).is_known = false;
}

bool MergedLines::extend(int node, const NeighborColumns& also, int worker) {
    if (holds(node, also) || !merge(node, also) || !holds(node, also)) return false;
    predict(node, worker);
    return true;
}

NodeView MergedLines::view_rows(int node) {
    if (is_merged(node) && merged(node).spread == Merged::Spread::nothing) {
        const Merged& own = merged(node);
        const NodeRows patterns = own.patterns.rows();
        std::vector<double> r(patterns.n);
        for (int i = 0; i < patterns.n; ++i) r[i] = own.wr[i] * patterns.inverse_w[i];
        own.patterns.spread(table_, r.data(), 0, table_.n_distinct, wr(node));
        merged(node).spread = Merged::Spread::residuals;
    }
    return view(node, table_);
}

NodeView MergedLines::view_predictors(int node) {
    const NodeView rows = view_rows(node);
    if (!is_merged(node)) return rows;
    Merged& own = merged(node);
    if (own.spread != Merged::Spread::predictors_too)
        own.patterns.copy(table_, own.eta.data(), 0, table_.n_distinct, rows.eta);
    own.spread = Merged::Spread::predictors_too;
    return rows;
}

// Keeps a node's recipe up; false where that is in vain: with many columns, until it starts afresh.
bool MergedLines::track(const Move& task, bool afresh, int worker) {
    if (!merges()) return false;
    Merged& own = merged(task.node);
    if (afresh) own.recipe = {};
    if (!afresh && !own.is_known) return false;
    own.recipe.change(task, where_[worker]);
    own.is_known = own.recipe.columns().count <= HOPELESS_RECIPE * (most_columns_ + 1);
    return true;
}

// Merges the rows of a node by the columns of its recipe, and by those that are asked for if they fit in; false if
// there are too many.
bool MergedLines::merge(int node, const NeighborColumns& asked) {
    auto& [recipe, is_known, patterns, eta, wr, spread] = merged(node);
    if (is_merged(node) && patterns.hold(recipe.columns()) && patterns.hold(asked)) return true;
    recipe.forget_zeros();
    const std::optional<std::vector<int>> wanted = recipe.merged_by(asked, most_columns_);
    if (!wanted) return false;
    if (!is_merged(node) || !patterns.hold({wanted->data(), static_cast<int>(wanted->size())})) {
        patterns.make(table_, node, *wanted);
        eta.resize(patterns.size()), wr.resize(patterns.size());
    }
    is_known = true;
    return true;
}

// The predictor of the patterns of a node that is merged.
void MergedLines::predict(int node, int worker) {
    Merged& own = merged(node);
    own.recipe.predict(own.patterns, 0, own.patterns.size(), own.eta.data(), workers_.scratch[worker]);
}

void MergedLines::unmerge(int node, int worker) {
    merged(node).patterns.clear();
    merged(node).recipe.predict(table_, 0, table_.stride, eta(node), workers_.scratch[worker]);
}

}  // namespace isinglass
