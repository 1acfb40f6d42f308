#include "rows/ordinal_rows.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "rows/fields.hpp"

namespace isinglass {
namespace {

constexpr double SMALLEST_PIVOT = 1e-6;  // of a profiled diagonal, relative to what it was
constexpr size_t MOST_KEPT = 16 << 20;   // bytes of probabilities that are kept from a pass to a block
constexpr int LANES = 8;                 // divides ROW_ALIGN
constexpr double EPSILON = std::numeric_limits<double>::epsilon();

}  // namespace

OrdinalRows::OrdinalRows(std::shared_ptr<const Table> table, const uint8_t* ranges, Holds holds, Pool& pool)
    : CategoryRows(std::move(table), holds, pool),
      columns_(table_->n_features),
      shift_(table_->n_features),
      responses_(table_->n_features),
      eta_(static_cast<size_t>(stride_) * n_lines()),
      wr_(eta_.size()),
      quarter_w_(stride_),
      scratch_(pool.size()) {
    for (int n = 0; n < stride_; ++n) quarter_w_[n] = static_cast<float>(table_->w[n] / 4);
    for (int s = 0; s < table_->n_features; ++s) {
        Column& column = columns_[s];
        const std::vector<double> share = shares(*table_, s);
        column.unit = 1.0 / ranges[s];
        column.center = 0;
        for (int value = 0; value < 256; ++value) {
            if (share[value] == 0.0) continue;
            column.value.push_back(value);
            column.share.push_back(share[value]);
            column.center += share[value] * value;
        }
        double size = 0, square = 0;
        for (size_t k = 0; k < column.value.size(); ++k) {
            column.score.push_back((column.value[k] - column.center) * column.unit);
            size += column.share[k] * std::abs(column.score[k]);
            square += column.share[k] * column.score[k] * column.score[k];
        }
        add_margins(size, square);
    }
    make_room();
}

void OrdinalRows::make_room() {
    size_t most = 2, all = 0;
    for (const Column& column : columns_) {
        most = std::max(most, column.value.size());
        all += column.value.size();
    }
    is_kept_ = holds_ == Holds::one_node || all * stride_ * sizeof(double) <= MOST_KEPT;
    passed_.resize(is_kept_ ? n_lines() : scratch_.size());
    for (size_t k = 0; k < passed_.size(); ++k) {
        const bool is_of_node = is_kept_ && holds_ == Holds::all_nodes;
        const size_t q = is_of_node ? columns_[k].value.size() : most;
        passed_[k].P.resize(q * stride_);
        passed_[k].wv.resize(stride_);
        passed_[k].sums.resize((2 * q * q + 2) * 8);
    }
    for (Scratch& scratch : scratch_) {
        scratch.margin.resize(stride_);
        scratch.line.resize(stride_);
    }
}

// As for 0 and 1 (cpu_rows.cpp), with the roundings of logits and of their exponentials.
double OrdinalRows::rounding() const {
    return (2.0 / kernels_.lanes * stride_ + 256) * EPSILON / 2;
}

const uint8_t* const* OrdinalRows::columns(const Beside& beside, Scratch& scratch) const {
    scratch.columns.resize(beside.count);
    for (int k = 0; k < beside.count; ++k) scratch.columns[k] = table_->column(beside.column[k]);
    return scratch.columns.data();
}

// The covariance of two columns as a difference of sums of one sign.
std::vector<Overlap> OrdinalRows::overlaps(std::span<const Pair> pairs) {
    std::vector<Overlap> found(pairs.size());
    pool_.each(pairs.size(), [&](int k, int) {
        const Column &s = columns_[pairs[k].s], &t = columns_[pairs[k].t];
        const uint8_t *x = table_->column(pairs[k].s), *y = table_->column(pairs[k].t);
        long double up = 0, down = 0;
        for (int n = 0; n < table_->n_distinct; ++n) {
            const double product = (x[n] - s.center) * s.unit * ((y[n] - t.center) * t.unit);
            (product > 0 ? up : down) += table_->w[n] * std::abs(product);
        }
        found[k] = {static_cast<double>(up), static_cast<double>(down), 1.0, 1.0};
    });
    return found;
}

// Residuals, curvatures, margins, probabilities and sums at the node's predictor and fields.
void OrdinalRows::pass(int node, int worker, double* margin) {
    const Column& column = columns_[node];
    Passed& passed = this->passed(node, worker);
    const Categories categories{static_cast<int>(column.value.size()), fields_[node].data(),
                                column.score.data(), column.value.data()};
    kernels_.category_pass(categories, eta(node), table_->column(node), table_->w.data(), stride_, wr(node),
                           passed.wv.data(), margin, passed.P.data(), passed.sums.data());
}

// The fields to where the last block expects them after a move.
void OrdinalRows::follow(const Move& task) {
    const auto& [known, values] = responses_[task.node];
    std::vector<double>& fields = fields_[task.node];
    size_t j = 0;
    for (int i = 0; i < task.moved.count; ++i) {  // both lists have the order of the slots
        while (j < known.size() && known[j] != task.moved.column[i]) ++j;
        if (j == known.size()) return;
        for (size_t k = 1; k < fields.size(); ++k)
            fields[k] -= task.coefficient[i] * values[j * (fields.size() - 1) + k - 1];
    }
}

NodeSums OrdinalRows::settle(int node, int worker) {
    const double* sums = passed(node, worker).sums.data();
    const std::vector<double> slopes = settle_fields(fields_[node], sums, [&] { pass(node, worker); });
    shift_[node] = 0;
    for (size_t k = 0; k < slopes.size(); ++k) shift_[node] += slopes[k] * columns_[node].score[k];
    return summarize_fields(slopes, sums);
}

void OrdinalRows::move(std::span<const Move> tasks, bool afresh) {
    pool_.each(tasks.size(), [&](int k, int worker) {
        const Move& task = tasks[k];
        Scratch& scratch = scratch_[worker];
        double* e = eta(task.node);
        if (afresh) {
            std::fill(e, e + stride_, 0.0);
            start_fields(task.node, columns_[task.node].share);
        }
        if (task.moved.count > 0) {
            if (!afresh) follow(task);
            double offset = 0;
            scratch.coefficients.assign(task.coefficient, task.coefficient + task.moved.count);
            for (int i = 0; i < task.moved.count; ++i) {
                const Column& column = columns_[task.moved.column[i]];
                scratch.coefficients[i] *= column.unit;
                offset -= scratch.coefficients[i] * column.center;
            }
            kernels_.add_columns(e, offset, columns(task.moved, scratch), scratch.coefficients.data(),
                                 task.moved.count, stride_);
        }
        *task.sums = settle(task.node, worker);
        dots(wr(task.node), shift_[task.node], task.asked, task.gradient, scratch);
    });
}

// sum_n a_n score_t for the columns asked for; sum: of a.
void OrdinalRows::dots(const double* a, double sum, const Beside& asked, double* out,
                       Scratch& scratch) const {
    kernels_.dots(a, columns(asked, scratch), asked.count, stride_, out);
    for (int k = 0; k < asked.count; ++k) {
        const Column& column = columns_[asked.column[k]];
        out[k] = (out[k] - column.center * sum) * column.unit;
    }
}

void OrdinalRows::gradients(std::span<const Gradient> tasks) {
    pool_.each(tasks.size(), [&](int k, int worker) {
        const Gradient& task = tasks[k];
        dots(wr(task.node), shift_[task.node], task.asked, task.gradient, scratch_[worker]);
    });
}

void OrdinalRows::blocks(std::span<const Block> tasks, Curvature curvature) {
    const bool is_own = curvature == Curvature::own;
    int widest = 0;
    for (const Block& task : tasks) widest = std::max(widest, task.inner.count);
    for (Scratch& scratch : scratch_)
        if (scratch.panels.size() < gram_scratch(widest)) scratch.panels.resize(gram_scratch(widest));
    pool_.each(tasks.size(), [&](int k, int worker) {
        const Block& task = tasks[k];
        Scratch& scratch = scratch_[worker];
        const int q = static_cast<int>(columns_[task.node].value.size()), d = task.inner.count;
        Passed& passed = this->passed(task.node, worker);
        if (is_own && !is_kept_) pass(task.node, worker);
        *task.curve = is_own ? passed.sums[2 * q * q + 1] : 0.25;
        if (d == 0) return;
        kernels_.gram(is_own ? passed.wv.data() : quarter_w_.data(), columns(task.inner, scratch), d, stride_,
                      task.G, task.stride, task.b, scratch.panels.data());
        std::fill(task.b, task.b + d, 0.0f);  // the fields follow by themselves
        for (int i = 0; i < d; ++i)
            for (int j = 0; j < d; ++j)
                task.G[static_cast<size_t>(i) * task.stride + j] *= static_cast<float>(
                    columns_[task.inner.column[i]].unit * columns_[task.inner.column[j]].unit);
        if (is_own && q > 2) profile(task, worker);
    });
}

// Takes the fields out of a block. Centering has done so for the direction of the scores; of B S^-1 B^T, with
// S the curvature of the fields and B their mixed derivatives, it remains to subtract what is orthogonal.
void OrdinalRows::profile(const Block& task, int worker) {
    const Passed& passed = this->passed(task.node, worker);
    Scratch& scratch = scratch_[worker];
    const Column& column = columns_[task.node];
    const int q = static_cast<int>(column.value.size()), m = q - 1, d = task.inner.count;
    std::vector<double> L = field_curvature(passed.sums.data() + q * q, q), B(static_cast<size_t>(m) * d);
    factorize(L, m);
    const double *r = wr(task.node), *w = table_->w.data(), *inverse_w = table_->inverse_w.data();
    const uint8_t* x = table_->column(task.node);
    double *line = scratch.line.data(), *mean = scratch.margin.data();
    for (int n = 0; n < stride_; ++n) mean[n] = (x[n] - column.center) * column.unit + r[n] * inverse_w[n];
    for (int k = 1; k < q; ++k) {
        const double *P = passed.P.data() + static_cast<size_t>(k) * stride_, score = column.score[k];
        double sums[LANES] = {};  // side by side, in a fixed order
        for (int n = 0; n < stride_; n += LANES)
            for (int i = 0; i < LANES; ++i)
                sums[i] += line[n + i] = w[n + i] * P[n + i] * (score - mean[n + i]);
        const double sum = std::accumulate(sums, sums + LANES, 0.0);
        dots(line, sum, task.inner, B.data() + static_cast<size_t>(k - 1) * d, scratch);
    }
    std::vector<double> direction(m), y(m);
    double norm = 0;
    for (int i = 0; i < m; ++i) {  // L^T score
        for (int k = i; k < m; ++k) direction[i] += L[k * m + i] * (column.score[k + 1] - column.score[0]);
        norm += direction[i] * direction[i];
    }
    std::vector<double> Y(static_cast<size_t>(d) * m);
    Response& response = responses_[task.node];
    response.columns.assign(task.inner.column, task.inner.column + d);
    response.values.resize(Y.size());
    for (int j = 0; j < d; ++j) {
        for (int k = 0; k < m; ++k) y[k] = B[static_cast<size_t>(k) * d + j];
        solve_lower(L, m, y.data());
        const double along = std::inner_product(y.begin(), y.end(), direction.begin(), 0.0) / norm;
        for (int k = 0; k < m; ++k) Y[static_cast<size_t>(j) * m + k] = y[k] - along * direction[k];
        solve_upper(L, m, y.data());
        std::copy(y.begin(), y.end(), response.values.begin() + static_cast<std::ptrdiff_t>(j) * m);
    }
    for (int i = 0; i < d; ++i)
        for (int j = 0; j < d; ++j) {
            const double* y_i = Y.data() + static_cast<size_t>(i) * m;
            float& entry = task.G[static_cast<size_t>(i) * task.stride + j];
            const double less = std::inner_product(y_i, y_i + m, Y.data() + static_cast<size_t>(j) * m, 0.0);
            const double floor = i == j ? SMALLEST_PIVOT * entry : -std::numeric_limits<double>::infinity();
            entry = static_cast<float>(std::max(entry - less, floor));
        }
}

const double* OrdinalRows::own_odds(int node, int worker) {
    double* margin = scratch_[worker].margin.data();
    pass(node, worker, margin);
    return margin;
}

double OrdinalRows::largest_predictor(std::span<const int> nodes) {
    double largest = 0;
    for (int node : nodes)
        for (int n = 0; n < table_->n_distinct; ++n) largest = std::max(largest, std::abs(eta(node)[n]));
    return largest;
}

void OrdinalRows::remember(std::span<const int> nodes) {
    if (reference_wr_.size() < wr_.size()) reference_wr_.resize(wr_.size());
    pool_.each(nodes.size(), [&](int k, int) {
        kernels_.narrow(wr(nodes[k]), stride_, reference_wr_.data() + place(nodes[k]));
    });
}

std::vector<Moved> OrdinalRows::drift(std::span<const int> nodes) {
    std::vector<Moved> moved(nodes.size());
    pool_.each(nodes.size(), [&](int k, int) {
        kernels_.distance(wr(nodes[k]), reference_wr_.data() + place(nodes[k]), table_->inverse_w.data(),
                          stride_, &moved[k].square, &moved[k].sum);
    });
    return moved;
}

double OrdinalRows::all_pairs(int first, int last, float* band) {
    const int p = table_->n_features, wide = p - first;
    std::vector<int> every(wide);
    std::iota(every.begin(), every.end(), first);
    std::vector<double> C(static_cast<size_t>(wide) * wide);
    pool_.each(wide, [&](int k, int worker) {
        dots(wr(first + k), shift_[first + k], {every.data(), wide}, C.data() + static_cast<size_t>(k) * wide,
             scratch_[worker]);
    });
    for (int s = 0; s < last - first; ++s)
        for (int t = s + 1; t < wide; ++t)
            *band++ = static_cast<float>(C[static_cast<size_t>(s) * wide + t] +
                                         C[static_cast<size_t>(t) * wide + s]);
    return 2.5e-7;  // sums of at most 2, rounded to single precision
}

}  // namespace isinglass
