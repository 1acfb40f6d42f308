#include "rows/category_rows.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "rows/fields.hpp"

namespace isinglass {

CategoryRows::CategoryRows(std::shared_ptr<const Table> table, Holds holds, Pool& pool)
    : KeptRows(std::move(table), {}, holds, pool),
      fields_(table_->n_features),
      shift_(table_->n_features),
      ones_(stride_) {
    std::fill(ones_.data(), ones_.data() + stride_, uint8_t{1});
}

CategoryRows::Levels CategoryRows::read(const Table& table, int column) {
    double share[256] = {};
    for (int n = 0; n < table.n_distinct; ++n) share[table.column(column)[n]] += table.w[n];
    Levels found;
    for (int value = 0; value < 256; ++value) {
        if (share[value] == 0.0) continue;
        found.value.push_back(value);
        found.share.push_back(share[value]);
        found.center += share[value] * value;
    }
    return found;
}

int CategoryRows::sum_over_categories() const {
    int most = 0;
    for (const Levels& levels : levels_) most = std::max(most, levels.q());
    return 32 + 2 * most;
}

// What a column is above the seam: the mean distance of its points from their center, which is how far a coefficient
// moves the predictor, in place of shares, and the mean square. There are no odds.
void CategoryRows::add_column(Levels levels) {
    double size = 0, square = 0;
    for (int k = 0; k < levels.q(); ++k) {
        const double share = levels.share[k], score = levels.score.empty() ? 0 : levels.score[k];
        size += share * std::abs(score);
        square += share * score * score;
    }
    if (levels.score.empty())  // corners of a simplex
        for (int k = 0; k < levels.q(); ++k)
            for (int l = 0; l < k; ++l) size = square += levels.share[k] * levels.share[l];
    margins_.mean.push_back(size);
    margins_.rest.push_back(size);
    margins_.sd.push_back(std::sqrt(square));
    levels_.push_back(std::move(levels));
}

void CategoryRows::move(std::span<const Move> tasks, bool afresh) {
    pool_.each(tasks.size(), [&](int k, int worker) {
        const Move& task = tasks[k];
        if (afresh) {  // the fields of a node without neighbors
            std::fill(eta(task.node), eta(task.node) + cells(task.node), 0.0);
            const std::vector<double>& share = levels_[task.node].share;
            fields_[task.node].clear();
            for (double part : share) fields_[task.node].push_back(std::log(part / share[0]));
        }
        if (task.moved.count > 0) add_columns(task, afresh, worker);
        *task.sums = settle(task.node, worker);
        collect(view(task.node, {}, worker), task.node, task.asked, task.gradient, worker);
    });
}

NodeSums CategoryRows::settle(int node, int worker) {
    const std::vector<double>& score = levels_[node].score;
    const double* left = sums(node, worker);
    std::vector<double> slopes = settle_fields(fields_[node], left, [&] { pass(node, worker); });
    NodeSums found = summarize_fields(slopes, left);
    for (double field : fields_[node]) found.largest_field = std::max(found.largest_field, std::abs(field));
    if (score.empty())
        shift_[node] = std::move(slopes);
    else
        shift_[node].assign(1, std::inner_product(slopes.begin(), slopes.end(), score.begin(), 0.0));
    return found;
}

// As for two categories, of which the one was observed.
NodeView CategoryRows::view_odds(int node, int worker) {
    return {own_odds(node, worker), nullptr, ones_.data(), table_->w.data(), nullptr, stride_, 1, {}, table_.get()};
}

std::vector<double> CategoryRows::category_fields(int first, int last) const {
    std::vector<double> all;
    for (int node = first; node < last; ++node) all.insert(all.end(), fields_[node].begin(), fields_[node].end());
    return all;
}

}  // namespace isinglass
