#include "rows/binary_rows.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "tuning.hpp"

namespace isinglass {

using namespace tuning::rows;

BinaryRows::BinaryRows(const std::shared_ptr<const Table>& table, Holds holds, Pool& pool)
    : KeptRows(table, table->margins, holds, pool),
      most_columns_(Patterns::most_columns(*table)),
      recipes_(merges() ? n_lines() : 0),
      is_known_(recipes_.size()),
      patterns_(recipes_.size()),
      spread_(recipes_.size()),
      where_(merges() ? pool.size() : 0, std::vector<int>(table->n_features, -1)),
      packed_(n_lines()),
      made_from_(n_lines()),
      single_(pool.size()) {
    make_lines(std::vector<int>(table_->n_features, 1));
}

NodeView BinaryRows::view(int node, const NeighborColumns& also, int worker) {
    if (!is_merged(node)) return view_rows(node, worker);
    Patterns& patterns = patterns_[line(node)];
    if (!patterns.hold(also) && merge(node, also) && patterns.hold(also)) pass(node, worker);
    if (patterns.hold(also)) {
        return {patterns.eta.data(),
                patterns.wr.data(),
                patterns.x.data(),
                patterns.w.data(),
                patterns.inverse_w.data(),
                patterns.size,
                1,
                sums_[line(node)],
                &patterns};
    }
    const NodeView rows = view_rows(node, worker);
    if (spread_[line(node)] != Spread::predictors_too)
        patterns.spread(patterns.eta.data(), nullptr, 0, stride_, eta(node));
    spread_[line(node)] = Spread::predictors_too;
    return rows;
}

// All rows; of a node that is merged, only its residuals need be there.
NodeView BinaryRows::view_rows(int node, int worker) {
    if (is_merged(node) && spread_[line(node)] == Spread::nothing) {
        const Patterns& patterns = patterns_[line(node)];
        patterns.spread(patterns.residuals().data(), table_->w.data(), 0, stride_, wr(node));
        spread_[line(node)] = Spread::residuals;
    }
    return KeptRows::view(node, {}, worker);
}

// The columns that are packed for the node, then the rest.
void BinaryRows::collect(const NodeView& view, int node, const NeighborColumns& asked, double* out, int worker) {
    if (view.source != table_.get()) {
        if (patterns_[line(node)].hold(asked))
            kernels_.dots(view.wr, columns(*view.source, asked, worker), asked.count, view.size, out);
        else
            collect(view_rows(node, worker), node, asked, out, worker);
        return;
    }
    const PackedColumns& packed = packed_[line(node)];
    const int known = packed.leads(asked.column, asked.count) ? packed.size() : 0;
    SumScratch& scratch = scratch_[worker].wide;
    if (known > 0) {
        double* sums = room(scratch.sums, packed.lanes());
        packed.sums(padded(view.wr, stride_, table_->bits().n_words, scratch.line), sums, kernels_);
        std::copy(sums, sums + known, out);
    }
    column_sums(*table_, view.wr, {asked.column + known, asked.count - known}, out + known, scratch);
}

void BinaryRows::add_columns(const Move& task, double offset, int worker) {
    const PackedColumns& packed = packed_[line(task.node)];
    const bool is_packed = task.moved.count > 0 && packed.holds(task.moved.column, task.moved.count);
    kernels_.add_columns(eta(task.node), offset, columns(*table_, task.moved, worker), task.coefficient,
                         is_packed ? 0 : task.moved.count, stride_);
    if (!is_packed) return;
    double* coefficients = room(scratch_[worker].numbers, 32 * packed.groups());
    std::copy(task.coefficient, task.coefficient + packed.size(), coefficients);
    std::fill(coefficients + packed.size(), coefficients + 32 * packed.groups(), 0.0);
    packed.add(coefficients, stride_, eta(task.node), kernels_);
}

// The predictor as its recipe says, on these rows.
void BinaryRows::predict(int node, const ColumnSource& source, double* eta, int size, int worker) {
    const Recipe& recipe = recipes_[line(node)];
    std::fill(eta, eta + size, recipe.offset);
    kernels_.add_columns(eta, 0.0, columns(source, recipe.columns(), worker), recipe.coefficient.data(),
                         recipe.columns().count, size);
}

// Keeps a node's recipe up; false where that is in vain: with many columns, until it starts afresh.
bool BinaryRows::track(const Move& task, bool afresh, int worker) {
    if (!merges()) return false;
    Recipe& recipe = recipes_[line(task.node)];
    uint8_t& is_known = is_known_[line(task.node)];
    if (afresh) recipe = {};
    if (!afresh && !is_known) return false;
    recipe.change(task, where_[worker]);
    is_known = recipe.columns().count <= HOPELESS_RECIPE * (most_columns_ + 1);
    return true;
}

// Merges the rows of a node by the columns of its recipe, and by those that are asked for if they fit in; false if
// there are too many.
bool BinaryRows::merge(int node, const NeighborColumns& asked) {
    Recipe& recipe = recipes_[line(node)];
    Patterns& patterns = patterns_[line(node)];
    if (is_merged(node) && patterns.hold(recipe.columns()) && patterns.hold(asked)) return true;
    recipe.forget_zeros();
    if (recipe.columns().count > most_columns_) return false;
    std::vector<int> wanted = recipe.column;
    for (int k = 0; k < asked.count; ++k)
        if (std::find(recipe.column.begin(), recipe.column.end(), asked.column[k]) == recipe.column.end())
            wanted.push_back(asked.column[k]);
    if (static_cast<int>(wanted.size()) > most_columns_) wanted = recipe.column;
    const NeighborColumns neighbors{wanted.data(), static_cast<int>(wanted.size())};
    if (!is_merged(node) || !patterns.hold(neighbors)) patterns.make(*table_, node, neighbors);
    is_known_[line(node)] = 1;
    return true;
}

// Over the patterns of a node that is merged.
NodeSums BinaryRows::pass(int node, int worker) {
    Patterns& rows = patterns_[line(node)];
    predict(node, rows, rows.eta.data(), rows.size, worker);
    return kernels_.node_pass(rows.eta.data(), rows.x.data(), rows.w.data(), rows.size, 0, rows.wr.data());
}

// Over all rows, if they have the same predictor.
NodeSums BinaryRows::pass_constant(int node, double eta) {
    const double y = std::exp(-std::abs(eta)), large = 1 / (1 + y), small = y / (1 + y);
    const double sigma = eta >= 0 ? large : small, rest = eta >= 0 ? small : large;
    const double zeros = margins_.rest[node], ones = margins_.mean[node];
    const uint8_t* x = table_->column(node);
    const double* w = table_->w.data();
    double* residuals = wr(node);
    for (int n = 0; n < stride_; ++n) residuals[n] = w[n] * (x[n] ? -rest : sigma);
    return {(zeros + ones) * std::log1p(y) + (eta >= 0 ? zeros : ones) * std::abs(eta), zeros * sigma - ones * rest,
            (zeros + ones) * sigma * rest, zeros * sigma, ones * rest};
}

void BinaryRows::unmerge(int node, int worker) {
    patterns_[line(node)].clear();
    predict(node, *table_, eta(node), stride_, worker);
}

void BinaryRows::move(std::span<const Move> tasks, bool afresh) {
    pool_.each(tasks.size(), [&](int k, int worker) {
        const Move& task = tasks[k];
        const size_t own = line(task.node);
        NodeSums& sums = sums_[own];
        const bool was_merged = is_merged(task.node);
        if (track(task, afresh, worker) && merge(task.node, task.asked)) {
            sums = pass(task.node, worker);
            spread_[own] = Spread::nothing;
        } else {
            double* e = eta(task.node);
            if (was_merged) {
                unmerge(task.node, worker);
            } else {
                if (afresh) std::fill(e, e + stride_, task.offset);
                if (!afresh || task.moved.count > 0) add_columns(task, afresh ? 0.0 : task.offset, worker);
            }
            const bool is_constant = afresh && task.moved.count == 0 && std::abs(task.offset) < tuning::BADLY_PREDICTED;
            sums = is_constant ? pass_constant(task.node, task.offset)
                               : kernels_.node_pass(e, table_->column(task.node), table_->w.data(), stride_,
                                                    table_->n_equal, wr(task.node));
        }
        *task.sums = sums;
        collect(view(task.node, {}, worker), task.node, task.asked, task.gradient, worker);
    });
}

// Products are for all rows.
void BinaryRows::blocks(std::span<const Block> tasks, Curvature curvature) {
    for (const Block& task : tasks) {
        if (task.G || task.inner.count == 0 || !is_merged(task.node)) continue;
        view_rows(task.node, 0);
        unmerge(task.node, 0);
    }
    LocalRows::blocks(tasks, curvature);
}

void BinaryRows::diagonal(const Block& task, const NodeView&, const float* curves, int worker) {
    PackedColumns& packed = packed_[line(task.node)];
    const int d = task.inner.count;
    if (!packed.holds(task.inner.column, d)) packed.pack(table_->bits(), task.inner.column, d, kernels_);
    const int rows = 32 * table_->bits().n_words;
    double* a = room(scratch_[worker].wide.line, rows);
    double* sums = room(scratch_[worker].wide.sums, packed.lanes());
    Buffer<float>& made_from = made_from_[line(task.node)];
    if (made_from.size() == 0) made_from.resize(stride_);
    std::copy(curves, curves + stride_, made_from.data());
    std::copy(curves, curves + stride_, a);
    std::fill(a + stride_, a + rows, 0.0);
    packed.sums(a, sums, kernels_);
    write_diagonal(task, sums, std::accumulate(a, a + stride_, 0.0));
}

void BinaryRows::products(std::span<const Product> tasks) {
    pool_.each(tasks.size(), [&](int k, int worker) {
        if (static_cast<size_t>(k) + 1 < tasks.size()) packed_[line(tasks[k + 1].node)].expect_add();
        multiply(tasks[k], worker);
    });
}

void BinaryRows::multiply(const Product& task, int worker) {
    const PackedColumns& packed = packed_[line(task.node)];
    const int d = task.inner.count;
    if (d == 0) return;
    if (packed.size() != d) throw std::logic_error("a product needs its diagonal first");
    Single& scratch = single_[worker];
    const int rows = 32 * table_->bits().n_words;
    float *z = room(scratch.line, rows), *coefficients = room(scratch.coefficients, 32 * packed.groups());
    float* sums = room(scratch.sums, packed.lanes());
    std::copy(task.d, task.d + d, coefficients);
    std::fill(coefficients + d, coefficients + 32 * packed.groups(), 0.0f);
    std::fill(z, z + stride_, static_cast<float>(-task.center));
    std::fill(z + stride_, z + rows, 0.0f);
    packed.expect_sums();
    packed.add(coefficients, stride_, z, kernels_);
    kernels_.scale(made_from_[line(task.node)].data(), stride_, z);
    packed.sums(z, sums, kernels_);
    std::copy(sums, sums + d, task.Hd);
}

double BinaryRows::all_pairs(int first, int last, float* band) {
    pool_.each(table_->n_features - first, [&](int k, int worker) { view_rows(first + k, worker); });
    PairTiles tiles(*table_, first, last, pool_);
    const auto residuals = [this](int node, int row, int rows, float* out) {
        kernels_.narrow(wr(node) + row, rows, out);
    };
    tiles.add(0, stride_, residuals, band);
    return tiles.slack();
}

}  // namespace isinglass
