#include "rows/lean_rows.hpp"

#include <algorithm>

#include "tuning.hpp"

namespace isinglass {

using namespace tuning::rows;

LeanRows::LeanRows(const std::shared_ptr<const Table>& table, Pool& pool, int n_kept)
    : RecipeBase(table, table->margins, pool),
      n_kept_(std::clamp(n_kept, 0, table_->n_features)),
      kept_{Buffer<double>(place(n_kept_)), Buffer<double>(place(n_kept_)), Buffer<float>(place(n_kept_))},
      sums_(n_kept_),
      lines_(pool.size()) {
    for (Lines& lines : lines_) {
        lines.eta.resize(table_->stride);
        lines.wr.resize(table_->stride);
        lines.reference.resize(table_->stride);
    }
}

void LeanRows::restore(Recipes state) {
    state_ = std::move(state);
    pool_.each(n_kept_, [&](int node, int worker) {
        double* wr = kept_.wr.data() + place(node);
        pass(node, state_.remembered[node], kept_.eta.data() + place(node), wr, worker);
        kernels_.narrow(wr, table_->stride, kept_.reference.data() + place(node));
        renew(node, worker);
    });
}

// The predictor of some rows, a multiple of ROW_ALIGN.
void LeanRows::add(const Recipe& recipe, int row, int rows, double* eta, int worker) {
    std::fill(eta, eta + rows, recipe.offset);
    const int count = static_cast<int>(recipe.column.size());
    if (count == 0) return;
    columns(*table_, recipe.columns(), worker);
    std::vector<const uint8_t*>& listed = scratch_[worker].wide.columns;
    for (const uint8_t*& column : listed) column += row;
    kernels_.add_columns(eta, 0.0, listed.data(), recipe.coefficient.data(), count, rows);
}

NodeView LeanRows::pass(int node, const Recipe& recipe, double* eta, double* wr, int worker) {
    const Table& t = *table_;
    add(recipe, 0, t.stride, eta, worker);
    const NodeSums sums = kernels_.node_pass(eta, t.column(node), t.w.data(), t.stride, t.n_equal, wr);
    return {eta, wr, t.column(node), t.w.data(), t.inverse_w.data(), t.stride, 1, sums, &t};
}

NodeView LeanRows::make(int node, const Recipe& recipe, const NeighborColumns&, int worker) {
    return pass(node, recipe, lines_[worker].eta.data(), lines_[worker].wr.data(), worker);
}

NodeView LeanRows::view(int node, const NeighborColumns& also, int worker) {
    if (!is_kept(node)) return make(node, state_.now[node], also, worker);
    return {kept_.eta.data() + place(node),
            kept_.wr.data() + place(node),
            table_->column(node),
            table_->w.data(),
            table_->inverse_w.data(),
            table_->stride,
            1,
            sums_[node],
            table_.get()};
}

NodeView LeanRows::renew(int node, int worker) {
    if (!is_kept(node)) return view(node, {}, worker);
    const NodeView renewed =
        pass(node, state_.now[node], kept_.eta.data() + place(node), kept_.wr.data() + place(node), worker);
    sums_[node] = renewed.sums;
    return renewed;
}

void LeanRows::remember(std::span<const int> nodes) {
    RecipeBase::remember(nodes);
    pool_.each(nodes.size(), [&](int k, int) {
        const size_t begin = place(nodes[k]);
        if (is_kept(nodes[k])) kernels_.narrow(kept_.wr.data() + begin, table_->stride, kept_.reference.data() + begin);
    });
}

const float* LeanRows::reference(int node, int worker) {
    if (is_kept(node)) return kept_.reference.data() + place(node);
    float* reference = lines_[worker].reference.data();
    kernels_.narrow(make(node, state_.remembered[node], {}, worker).wr, table_->stride, reference);
    return reference;
}

double LeanRows::all_pairs(int first, int last, float* band) {
    const int count = table_->n_features - first, stride = table_->stride;
    const size_t chunks = std::max<size_t>(SLAB_RESIDUALS / (static_cast<size_t>(count) * TILE_ROWS), 1);
    const int slab = std::min(static_cast<size_t>(stride), chunks * TILE_ROWS);
    Buffer<float> residuals(static_cast<size_t>(count) * slab);
    PairTiles tiles(*table_, first, last, pool_);
    for (int begin = 0; begin < stride; begin += slab) {
        const int rows = std::min(slab, stride - begin), equal = std::clamp(table_->n_equal - begin, 0, rows);
        pool_.each(count, [&](int k, int worker) {
            const int node = first + k;
            double *eta = lines_[worker].eta.data(), *wr = lines_[worker].wr.data();
            if (is_kept(node)) {
                wr = kept_.wr.data() + place(node) + begin;
            } else {
                add(state_.now[node], begin, rows, eta, worker);
                kernels_.node_pass(eta, table_->column(node) + begin, table_->w.data() + begin, rows, equal, wr);
            }
            kernels_.narrow(wr, rows, residuals.data() + static_cast<size_t>(k) * slab);
        });
        const auto given = [&](int node, int row, int some, float* out) {
            const float* from = residuals.data() + static_cast<size_t>(node - first) * slab + (row - begin);
            std::copy(from, from + some, out);
        };
        tiles.add(begin, begin + rows, given, band);
    }
    return tiles.slack();
}

}  // namespace isinglass
