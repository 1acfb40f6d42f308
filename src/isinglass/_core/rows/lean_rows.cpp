#include "rows/lean_rows.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace isinglass {
namespace {

constexpr size_t SLAB = size_t{1} << 24;  // residuals of all nodes that exist at a time for all pairs

}  // namespace

LeanRows::LeanRows(std::shared_ptr<const Table> table, Pool& pool, int n_kept)
    : kernels_(kernels()),
      table_(std::move(table)),
      pool_(pool),
      n_kept_(std::clamp(n_kept, 0, table_->n_features)),
      state_(table_->n_features),
      eta_(place(n_kept_)),
      wr_(place(n_kept_)),
      curve_(n_kept_),
      reference_(place(n_kept_)),
      quarter_w_(table_->stride),
      scratch_(pool.size()) {
    for (int n = 0; n < table_->stride; ++n) {
        quarter_w_[n] = static_cast<float>(table_->w[n] / 4);
        quarter_ += table_->w[n] / 4;
    }
    for (Scratch& scratch : scratch_) {
        scratch.where.assign(table_->n_features, -1);
        scratch.eta.resize(table_->stride);
        scratch.wr.resize(table_->stride);
        scratch.line.resize(table_->stride);
        scratch.curves.resize(table_->stride);
        scratch.reference.resize(table_->stride);
    }
}

void LeanRows::restore(Recipes state) {
    state_ = std::move(state);
    pool_.each(n_kept_, [&](int node, int worker) {
        double *eta = eta_.data() + place(node), *wr = wr_.data() + place(node);
        make(node, state_.remembered[node], eta, wr, worker);
        kernels_.narrow(wr, table_->stride, reference_.data() + place(node));
        curve_[node] = make(node, state_.now[node], eta, wr, worker).curve;
    });
}

// --- predictors from recipes

// The predictor of some rows, a multiple of ROW_ALIGN.
void LeanRows::add(const Recipe& recipe, int row, int rows, double* eta, int worker) {
    std::fill(eta, eta + rows, recipe.offset);
    const int count = static_cast<int>(recipe.column.size());
    if (count == 0) return;
    std::vector<const uint8_t*>& columns = scratch_[worker].sums.columns;
    list_columns(*table_, {recipe.column.data(), count}, columns);
    for (const uint8_t*& column : columns) column += row;
    kernels_.add_columns(eta, 0.0, columns.data(), recipe.coefficient.data(), count, rows);
}

NodeSums LeanRows::make(int node, const Recipe& recipe, double* eta, double* wr, int worker) {
    add(recipe, 0, table_->stride, eta, worker);
    return kernels_.node_pass(eta, table_->column(node), table_->w.data(), table_->stride, table_->n_equal,
                              wr);
}

LeanRows::Line LeanRows::line(int node, int worker) {
    if (is_kept(node)) return {eta_.data() + place(node), wr_.data() + place(node), curve_[node]};
    Scratch& scratch = scratch_[worker];
    const NodeSums sums = make(node, state_.now[node], scratch.eta.data(), scratch.wr.data(), worker);
    return {scratch.eta.data(), scratch.wr.data(), sums.curve};
}

LeanRows::Line LeanRows::modeled_line(int node, int worker) {
    Scratch& scratch = scratch_[worker];
    const NodeSums sums = make(node, state_.modeled[node], scratch.eta.data(), scratch.wr.data(), worker);
    return {scratch.eta.data(), scratch.wr.data(), sums.curve};
}

// --- sums

void LeanRows::move(std::span<const Move> tasks, bool afresh) {
    pool_.each(tasks.size(), [&](int k, int worker) {
        const Move& task = tasks[k];
        Recipe& recipe = state_.now[task.node];
        if (afresh) recipe = {};
        recipe.change(task, scratch_[worker].where);
        const bool kept = is_kept(task.node);
        Scratch& scratch = scratch_[worker];
        double* eta = kept ? eta_.data() + place(task.node) : scratch.eta.data();
        double* wr = kept ? wr_.data() + place(task.node) : scratch.wr.data();
        *task.sums = make(task.node, recipe, eta, wr, worker);
        if (kept) curve_[task.node] = task.sums->curve;
        column_sums(*table_, wr, task.asked, task.gradient, scratch.sums);
    });
}

void LeanRows::gradients(std::span<const Gradient> tasks) {
    pool_.each(tasks.size(), [&](int k, int worker) {
        if (tasks[k].asked.count == 0) return;
        const Line made = line(tasks[k].node, worker);
        column_sums(*table_, made.wr, tasks[k].asked, tasks[k].gradient, scratch_[worker].sums);
    });
}

const float* LeanRows::curvatures(int node, bool majorized, const Line& made, int worker) {
    if (majorized) return quarter_w_.data();
    float* curves = scratch_[worker].curves.data();
    kernels_.curvatures(made.eta, table_->column(node), table_->w.data(), table_->inverse_w.data(), made.wr,
                        table_->stride, curves);
    return curves;
}

void LeanRows::blocks(std::span<const Block> tasks, Curvature curvature) {
    const bool majorized = curvature == Curvature::majorized;
    int widest = 0;
    for (const Block& task : tasks)
        if (task.G) widest = std::max(widest, task.inner.count);
    for (Scratch& scratch : scratch_) room(scratch.panels, gram_scratch(widest));
    pool_.each(tasks.size(), [&](int k, int worker) {
        const Block& task = tasks[k];
        const Line made = majorized ? Line{nullptr, nullptr, quarter_} : line(task.node, worker);
        const float* curves = curvatures(task.node, majorized, made, worker);
        *task.curve = made.curve;
        if (!task.G) {
            state_.modeled[task.node] = state_.now[task.node];
            state_.majorized[task.node] = majorized;
        }
        if (task.inner.count == 0) return;
        Scratch& scratch = scratch_[worker];
        if (task.G)
            kernels_.gram(curves, list_columns(*table_, task.inner, scratch.sums.columns), task.inner.count,
                          table_->stride, task.G, task.stride, task.b, scratch.panels.data());
        else
            diagonal(task, curves, worker);
    });
}

void LeanRows::diagonal(const Block& task, const float* curves, int worker) {
    Scratch& scratch = scratch_[worker];
    const int d = task.inner.count;
    std::copy(curves, curves + table_->stride, scratch.line.data());
    const double all = std::accumulate(scratch.line.data(), scratch.line.data() + table_->stride, 0.0);
    double* sums = room(scratch.coefficients, d);
    column_sums(*table_, scratch.line.data(), task.inner, sums, scratch.sums);
    write_diagonal(task, sums, all);
}

void LeanRows::products(std::span<const Product> tasks) {
    pool_.each(tasks.size(), [&](int k, int worker) { multiply(tasks[k], worker); });
}

void LeanRows::multiply(const Product& task, int worker) {
    Scratch& scratch = scratch_[worker];
    const bool majorized = state_.majorized[task.node];
    const Line made = majorized ? Line{nullptr, nullptr, quarter_} : modeled_line(task.node, worker);
    const float* curves = curvatures(task.node, majorized, made, worker);
    const int d = task.inner.count;
    double *z = scratch.line.data(), *numbers = room(scratch.coefficients, d);
    std::copy(task.d, task.d + d, numbers);
    std::fill(z, z + table_->stride, -task.center);
    kernels_.add_columns(z, 0.0, list_columns(*table_, task.inner, scratch.sums.columns), numbers, d,
                         table_->stride);
    for (int n = 0; n < table_->stride; ++n) z[n] *= curves[n];
    column_sums(*table_, z, task.inner, numbers, scratch.sums);
    std::copy(numbers, numbers + d, task.Hd);
}

double LeanRows::divergence(std::span<const int> nodes, double c) {
    const double log_c = std::log(c), log_rest = std::log1p(-c);
    std::vector<double> parts(nodes.size());
    pool_.each(nodes.size(), [&](int k, int worker) {
        parts[k] = kernels_.divergence(line(nodes[k], worker).eta, table_->column(nodes[k]), table_->w.data(),
                                       table_->stride, c, log_c, log_rest);
    });
    return std::accumulate(parts.begin(), parts.end(), 0.0);
}

double LeanRows::largest_predictor(std::span<const int> nodes) {
    std::vector<double> parts(nodes.size());
    pool_.each(nodes.size(), [&](int k, int worker) {
        const double* eta = line(nodes[k], worker).eta;
        for (int n = 0; n < table_->n_distinct; ++n) parts[k] = std::max(parts[k], std::abs(eta[n]));
    });
    return parts.empty() ? 0.0 : *std::max_element(parts.begin(), parts.end());
}

std::vector<double> LeanRows::gram(int node, const Beside& beside, int most) {
    return sum_gram(*table_, line(node, 0).wr, beside, most, pool_);
}

void LeanRows::remember(std::span<const int> nodes) {
    pool_.each(nodes.size(), [&](int k, int) {
        const int node = nodes[k];
        state_.remembered[node] = state_.now[node];
        if (is_kept(node))
            kernels_.narrow(wr_.data() + place(node), table_->stride, reference_.data() + place(node));
    });
}

std::vector<Moved> LeanRows::drift(std::span<const int> nodes) {
    std::vector<Moved> moved(nodes.size());
    pool_.each(nodes.size(), [&](int k, int worker) {
        const int node = nodes[k];
        Scratch& scratch = scratch_[worker];
        const float* reference = reference_.data() + (is_kept(node) ? place(node) : 0);
        if (!is_kept(node)) {
            make(node, state_.remembered[node], scratch.eta.data(), scratch.wr.data(), worker);
            kernels_.narrow(scratch.wr.data(), table_->stride, scratch.reference.data());
            reference = scratch.reference.data();
        }
        kernels_.distance(line(node, worker).wr, reference, table_->inverse_w.data(), table_->stride,
                          &moved[k].square, &moved[k].sum);
    });
    return moved;
}

double LeanRows::all_pairs(int first, int last, float* band) {
    const int count = table_->n_features - first, stride = table_->stride;
    const size_t chunks = std::max<size_t>(SLAB / (static_cast<size_t>(count) * PairTiles::CHUNK), 1);
    const int slab = std::min(static_cast<size_t>(stride), chunks * PairTiles::CHUNK);
    Buffer<float> residuals(static_cast<size_t>(count) * slab);
    PairTiles tiles(*table_, first, last, pool_);
    for (int begin = 0; begin < stride; begin += slab) {
        const int rows = std::min(slab, stride - begin), equal = std::clamp(table_->n_equal - begin, 0, rows);
        pool_.each(count, [&](int k, int worker) {
            Scratch& scratch = scratch_[worker];
            const int node = first + k;
            const double* wr = is_kept(node) ? wr_.data() + place(node) + begin : scratch.wr.data();
            if (!is_kept(node)) {
                add(state_.now[node], begin, rows, scratch.eta.data(), worker);
                kernels_.node_pass(scratch.eta.data(), table_->column(node) + begin, table_->w.data() + begin,
                                   rows, equal, scratch.wr.data());
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
