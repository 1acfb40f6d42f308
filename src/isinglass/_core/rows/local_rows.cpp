#include "rows/local_rows.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "tuning.hpp"

namespace isinglass {

using namespace tuning::rows;

// Every lane adds its rows one after the other, packed columns four rows at a time; the terms are products and
// functions with a few roundings of their own.
double LocalRows::rounding() const {
    return (std::max(2.0 / kernels_.lanes, 0.25) * table_->stride + 32) * std::numeric_limits<double>::epsilon() / 2;
}

std::vector<Overlap> LocalRows::overlaps(std::span<const Pair> pairs) {
    std::vector<Overlap> found(pairs.size());
    pool_.each(pairs.size(), [&](int k, int) {
        const uint8_t *s = table_->column(pairs[k].s), *t = table_->column(pairs[k].t);
        long double sums[4] = {};
        for (int n = 0; n < table_->n_distinct; ++n) sums[2 * s[n] + t[n]] += table_->w[n];
        found[k] = {static_cast<double>(sums[3]), static_cast<double>(sums[2]), static_cast<double>(sums[1]),
                    static_cast<double>(sums[0])};
    });
    return found;
}

void LocalRows::collect(const NodeView& view, int, const NeighborColumns& asked, double* out, int worker) {
    column_sums(*table_, view.wr, asked, out, scratch_[worker].wide);
}

void LocalRows::gradients(std::span<const Gradient> tasks) {
    pool_.each(tasks.size(), [&](int k, int worker) {
        const Gradient& task = tasks[k];
        if (task.asked.count == 0) return;
        collect(this->view(task.node, {}, worker), task.node, task.asked, task.gradient, worker);
    });
}

const float* LocalRows::curvatures(const NodeView& view, bool majorized, int worker) {
    float* curves = room(scratch_[worker].curves, view.size);
    if (majorized)
        for (int n = 0; n < view.size; ++n) curves[n] = static_cast<float>(view.w[n] / 4);
    else
        kernels_.curvatures(view.eta, view.x, view.w, view.inverse_w, view.wr, view.size, curves);
    return curves;
}

// Scratch of the widest block, no larger than needed.
void LocalRows::make_panels(std::span<const Block> tasks) {
    int widest = 0;
    for (const Block& task : tasks)
        if (task.G) widest = std::max(widest, task.inner.count);
    for (Scratch& scratch : scratch_)
        if (scratch.panels.size() < gram_scratch(widest)) scratch.panels.resize(gram_scratch(widest));
}

void LocalRows::blocks(std::span<const Block> tasks, Curvature curvature) {
    const bool majorized = curvature == Curvature::majorized;
    make_panels(tasks);
    pool_.each(tasks.size(), [&](int k, int worker) {
        const Block& task = tasks[k];
        const NodeView view = this->view(task.node, task.inner, worker);
        *task.curve = majorized ? total_ / 4 : view.sums.curve;
        const int d = task.inner.count;
        if (d == 0) return;
        const float* curves = curvatures(view, majorized, worker);
        if (task.G)
            kernels_.gram(curves, columns(*view.source, task.inner, worker), d, view.size, task.G, task.stride, task.b,
                          scratch_[worker].panels.data());
        else
            diagonal(task, view, curves, worker);
    });
}

// Double precision: where nearly all weight is on ones, what is left for the zeros is a difference.
void LocalRows::diagonal(const Block& task, const NodeView& view, const float* curves, int worker) {
    const int size = view.size;
    double *line = room(scratch_[worker].line, size), *sums = room(scratch_[worker].numbers, task.inner.count);
    std::copy(curves, curves + size, line);
    sum_columns(line, size, columns(*view.source, task.inner, worker), task.inner, sums, worker);
    write_diagonal(task, sums, std::accumulate(line, line + size, 0.0));
}

void LocalRows::sum_columns(const double* a, int size, const uint8_t* const* x, const NeighborColumns& neighbors,
                            double* out, int worker) {
    if (table_)
        column_sums(*table_, a, neighbors, out, scratch_[worker].wide);
    else
        kernels_.dots(a, x, neighbors.count, size, out);
}

double LocalRows::divergence(std::span<const int> nodes, double c) {
    const double log_c = std::log(c), log_rest = std::log1p(-c);
    std::vector<double> parts(nodes.size());
    pool_.each(nodes.size(), [&](int k, int worker) {
        const NodeView view = view_odds(nodes[k], worker);
        parts[k] = kernels_.divergence(view.eta, view.x, view.w, view.size, c, log_c, log_rest);
    });
    return std::accumulate(parts.begin(), parts.end(), 0.0);
}

double LocalRows::largest_predictor(std::span<const int> nodes) {
    std::vector<double> parts(nodes.size());
    pool_.each(nodes.size(), [&](int k, int worker) {
        const NodeView view = this->view(nodes[k], {}, worker);
        for (size_t i = 0; i < static_cast<size_t>(view.size) * view.width; ++i)
            if (view.w[i / view.width] > 0) parts[k] = std::max(parts[k], std::abs(view.eta[i]));
    });
    return parts.empty() ? 0.0 : *std::max_element(parts.begin(), parts.end());
}

std::vector<double> LocalRows::gram_of(const NodeView& view, const NeighborColumns& neighbors, int most) {
    const int d = neighbors.count, width = d + 1;
    const int rows = std::min(view.size, (most + ROW_ALIGN - 1) / ROW_ALIGN * ROW_ALIGN);
    const uint8_t* const* x = columns(*view.source, neighbors, 0);
    Buffer<double> curve(rows);
    for (int n = 0; n < rows; ++n) {
        const double size = std::abs(view.wr[n]);
        // |r| (1 - |r|), less what rounding may have added.
        curve[n] =
            std::max(size * (1 - size * view.inverse_w[n]) - 8 * std::numeric_limits<double>::epsilon() * size, 0.0);
    }
    std::vector<double> G(static_cast<size_t>(width) * width);
    pool_.each(width, [&](int i, int worker) {
        double *line = room(scratch_[worker].line, rows), sum = 0;
        for (int n = 0; n < rows; ++n) sum += line[n] = i == d || x[i][n] ? curve[n] : 0.0;
        kernels_.dots(line, x, d, rows, G.data() + static_cast<size_t>(i) * width);
        G[static_cast<size_t>(i) * width + d] = sum;
    });
    return G;
}

std::vector<ResidualDrift> LocalRows::drift(std::span<const int> nodes) {
    std::vector<ResidualDrift> moved(nodes.size());
    pool_.each(nodes.size(), [&](int k, int worker) {
        const float* before = reference(nodes[k], worker);
        const NodeView view = view_rows(nodes[k], worker);
        kernels_.distance(view.wr, before, view.inverse_w, view.size, &moved[k].square, &moved[k].sum);
    });
    return moved;
}

KeptRows::KeptRows(std::shared_ptr<const Table> table, Margins margins, Holds holds, Pool& pool)
    : LocalRows(std::move(table), std::move(margins), pool), holds_(holds), stride_(table_->stride), sums_(n_lines()) {}

void KeptRows::make_lines(std::vector<int> widths) {
    width_ = std::move(widths);
    begin_.assign(width_.size(), 0);
    size_t size = 0;
    for (size_t node = 0; node < width_.size(); ++node) {
        const size_t own = cells(static_cast<int>(node));
        if (holds_ == Holds::all_nodes) begin_[node] = size;
        size = holds_ == Holds::all_nodes ? size + own : std::max(size, own);
    }
    eta_.resize(size);
    wr_.resize(size);
}

NodeView KeptRows::view(int node, const NeighborColumns&, int) {
    return {eta(node), wr(node),     table_->column(node), table_->w.data(), table_->inverse_w.data(),
            stride_,   width_[node], sums_[line(node)],    table_.get()};
}

void KeptRows::remember(std::span<const int> nodes) {
    if (reference_wr_.size() < wr_.size()) reference_wr_.resize(wr_.size());
    pool_.each(nodes.size(), [&](int k, int worker) {
        kernels_.narrow(view_rows(nodes[k], worker).wr, static_cast<int>(cells(nodes[k])),
                        reference_wr_.data() + begin_[nodes[k]]);
    });
}

void Recipe::change(const Move& task, std::vector<int>& where) {
    offset += task.offset;
    for (size_t k = 0; k < column.size(); ++k) where[column[k]] = static_cast<int>(k);
    for (int k = 0; k < task.moved.count; ++k) {
        int& found = where[task.moved.column[k]];
        if (found < 0) {
            found = static_cast<int>(column.size());
            column.push_back(task.moved.column[k]);
            coefficient.push_back(0.0);
        }
        coefficient[found] += task.coefficient[k];
    }
    for (int each : column) where[each] = -1;
}

void Recipe::forget_zeros() {
    size_t left = 0;
    for (size_t k = 0; k < column.size(); ++k) {
        if (std::abs(coefficient[k]) <= NEGLIGIBLE_COEFFICIENT) continue;
        column[left] = column[k];
        coefficient[left++] = coefficient[k];
    }
    column.resize(left);
    coefficient.resize(left);
}

RecipeBase::RecipeBase(std::shared_ptr<const Table> table, const Margins& margins, Pool& pool)
    : LocalRows(std::move(table), margins, pool),
      state_(margins_.mean.size()),
      where_(pool.size(), std::vector<int>(margins_.mean.size(), -1)) {}

void RecipeBase::move(std::span<const Move> tasks, bool afresh) {
    pool_.each(tasks.size(), [&](int k, int worker) {
        const Move& task = tasks[k];
        Recipe& recipe = state_.now[task.node];
        if (afresh) recipe = {};
        recipe.change(task, where_[worker]);
        const NodeView view = renew(task.node, worker);
        *task.sums = view.sums;
        collect(view, task.node, task.asked, task.gradient, worker);
    });
}

void RecipeBase::blocks(std::span<const Block> tasks, Curvature curvature) {
    for (const Block& task : tasks) {
        if (task.G) continue;
        state_.modeled[task.node] = state_.now[task.node];
        state_.majorized[task.node] = curvature == Curvature::majorized;
    }
    LocalRows::blocks(tasks, curvature);
}

void RecipeBase::products(std::span<const Product> tasks) {
    pool_.each(tasks.size(), [&](int k, int worker) { multiply(tasks[k], worker); });
}

void RecipeBase::multiply(const Product& task, int worker) {
    const NodeView view = make(task.node, state_.modeled[task.node], task.inner, worker);
    const float* curves = curvatures(view, state_.majorized[task.node], worker);
    const uint8_t* const* x = columns(*view.source, task.inner, worker);
    const int d = task.inner.count;
    double *z = room(scratch_[worker].line, view.size), *numbers = room(scratch_[worker].numbers, d);
    std::copy(task.d, task.d + d, numbers);
    std::fill(z, z + view.size, -task.center);
    kernels_.add_columns(z, 0.0, x, numbers, d, view.size);
    for (int n = 0; n < view.size; ++n) z[n] *= curves[n];
    sum_columns(z, view.size, x, task.inner, numbers, worker);
    std::copy(numbers, numbers + d, task.Hd);
}

void RecipeBase::remember(std::span<const int> nodes) {
    for (int node : nodes) state_.remembered[node] = state_.now[node];
}

}  // namespace isinglass
