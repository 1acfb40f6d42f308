#include "rows/ordinal_rows.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "rows/fields.hpp"
#include "tuning.hpp"

namespace isinglass {

using namespace tuning::rows;

namespace {

constexpr int LANES = 8;  // divides ROW_ALIGN
constexpr double EPSILON = std::numeric_limits<double>::epsilon();

}  // namespace

OrdinalRows::OrdinalRows(std::shared_ptr<const Table> table, const uint8_t* ranges, Holds holds, Pool& pool)
    : CategoryRows(std::move(table), holds, pool), responses_(table_->n_features), quarter_w_(stride_) {
    for (int n = 0; n < stride_; ++n) quarter_w_[n] = static_cast<float>(table_->w[n] / 4);
    for (int s = 0; s < table_->n_features; ++s) {
        Levels levels = read(*table_, s);
        unit_.push_back(1.0 / ranges[s]);
        for (double value : levels.value) levels.score.push_back((value - levels.center) * unit_[s]);
        add_column(std::move(levels));
    }
    make_lines(std::vector<int>(table_->n_features, 1));
    make_room();
}

void OrdinalRows::make_room() {
    int most = 2, all = 0;
    for (const Levels& levels : levels_) most = std::max(most, levels.q()), all += levels.q();
    is_kept_ = holds_ == Holds::one_node || sizeof(double) * all * stride_ <= KEPT_PROBABILITY_BYTES;
    passed_.resize(is_kept_ ? n_lines() : scratch_.size());
    for (size_t k = 0; k < passed_.size(); ++k) {
        const bool is_of_node = is_kept_ && holds_ == Holds::all_nodes;
        const size_t q = is_of_node ? levels_[k].q() : most;
        passed_[k].P.resize(q * stride_);
        passed_[k].wv.resize(stride_);
        passed_[k].sums.resize((2 * q * q + 2) * 8);
    }
}

// As for 0 and 1 (binary_rows.cpp), with a sum over the categories in every row.
double OrdinalRows::rounding() const {
    return (2.0 / kernels_.lanes * stride_ + sum_over_categories()) * EPSILON / 2;
}

// The covariance of two columns as a difference of sums of one sign.
std::vector<Overlap> OrdinalRows::overlaps(std::span<const Pair> pairs) {
    std::vector<Overlap> found(pairs.size());
    pool_.each(pairs.size(), [&](int k, int) {
        const auto [s, t] = pairs[k];
        const uint8_t *x = table_->column(s), *y = table_->column(t);
        long double up = 0, down = 0;
        for (int n = 0; n < table_->n_distinct; ++n) {
            const double product = score(s, x[n]) * score(t, y[n]);
            (product > 0 ? up : down) += table_->w[n] * std::abs(product);
        }
        found[k] = {static_cast<double>(up), static_cast<double>(down), 1.0, 1.0};
    });
    return found;
}

// Residuals, curvatures, margins, probabilities and sums at the node's predictor and fields.
void OrdinalRows::run(int node, int worker, double* margin) {
    const Levels& levels = levels_[node];
    Passed& passed = this->passed(node, worker);
    kernels_.category_pass({levels.q(), fields_[node].data(), levels.score.data(), levels.value.data()}, eta(node),
                           table_->column(node), table_->w.data(), stride_, wr(node), passed.wv.data(), margin,
                           passed.P.data(), passed.sums.data());
}

// The fields to where the last block expects them after a move. Scores have a range of 1, so that no difference of two
// fields follows a coefficient by more than twice its change.
void OrdinalRows::follow(const Move& task) {
    const auto& [known, values] = responses_[task.node];
    std::vector<double>& fields = fields_[task.node];
    size_t j = 0;
    for (int i = 0; i < task.moved.count; ++i) {  // both lists have the order of the slots
        while (j < known.size() && known[j] != task.moved.column[i]) ++j;
        if (j == known.size()) return;
        for (size_t k = 1; k < fields.size(); ++k)
            fields[k] -= task.coefficient[i] * std::clamp(values[j * (fields.size() - 1) + k - 1], -2.0, 2.0);
    }
}

void OrdinalRows::add_columns(const Move& task, bool afresh, int worker) {
    if (!afresh) follow(task);
    const int count = task.moved.count;
    double offset = 0, *coefficients = room(scratch_[worker].numbers, count);
    for (int i = 0; i < count; ++i) {
        const int column = task.moved.column[i];
        coefficients[i] = task.coefficient[i] * unit_[column];
        offset -= coefficients[i] * levels_[column].center;
    }
    kernels_.add_columns(eta(task.node), offset, columns(*table_, task.moved, worker), coefficients, count, stride_);
}

// sum_n a_n score_t for the columns asked for; sum: of a.
void OrdinalRows::dots(const double* a, double sum, const NeighborColumns& asked, double* out, int worker) {
    kernels_.dots(a, columns(*table_, asked, worker), asked.count, stride_, out);
    for (int k = 0; k < asked.count; ++k) {
        const int column = asked.column[k];
        out[k] = (out[k] - levels_[column].center * sum) * unit_[column];
    }
}

void OrdinalRows::collect(const NodeView& view, int node, const NeighborColumns& asked, double* out, int worker) {
    dots(view.wr, shift_[node][0], asked, out, worker);
}

void OrdinalRows::blocks(std::span<const Block> tasks, Curvature curvature) {
    const bool is_own = curvature == Curvature::own;
    make_panels(tasks);
    pool_.each(tasks.size(), [&](int k, int worker) {
        const Block& task = tasks[k];
        const int q = levels_[task.node].q(), d = task.inner.count;
        Passed& passed = this->passed(task.node, worker);
        if (is_own && !is_kept_) pass(task.node, worker);
        *task.curve = is_own ? passed.sums[2 * q * q + 1] : 0.25;
        if (d == 0) return;
        kernels_.gram(is_own ? passed.wv.data() : quarter_w_.data(), columns(*table_, task.inner, worker), d, stride_,
                      task.G, task.stride, task.b, scratch_[worker].panels.data());
        std::fill(task.b, task.b + d, 0.0f);  // the fields follow by themselves
        for (int i = 0; i < d; ++i)
            for (int j = 0; j < d; ++j)
                task.G[static_cast<size_t>(i) * task.stride + j] *=
                    static_cast<float>(unit_[task.inner.column[i]] * unit_[task.inner.column[j]]);
        if (is_own && q > 2) profile(task, worker);
    });
}

// Takes the fields out of a block. Centering has done so for the direction of the scores; of B S^-1 B^T, with S the
// curvature of the fields and B their mixed derivatives, it remains to subtract what is orthogonal.
void OrdinalRows::profile(const Block& task, int worker) {
    const Passed& passed = this->passed(task.node, worker);
    const Levels& levels = levels_[task.node];
    const int q = levels.q(), m = q - 1, d = task.inner.count;
    std::vector<double> L = field_curvature(passed.sums.data() + q * q, q), B(static_cast<size_t>(m) * d);
    factorize(L, m);
    const double *r = wr(task.node), *w = table_->w.data(), *inverse_w = table_->inverse_w.data();
    const uint8_t* x = table_->column(task.node);
    double *line = room(scratch_[worker].line, stride_), *mean = room(scratch_[worker].wide.line, stride_);
    for (int n = 0; n < stride_; ++n) mean[n] = score(task.node, x[n]) + r[n] * inverse_w[n];
    for (int k = 1; k < q; ++k) {
        const double *P = passed.P.data() + static_cast<size_t>(k) * stride_, own = levels.score[k];
        double sums[LANES] = {};  // side by side, in a fixed order
        for (int n = 0; n < stride_; n += LANES)
            for (int i = 0; i < LANES; ++i) sums[i] += line[n + i] = w[n + i] * P[n + i] * (own - mean[n + i]);
        const double sum = std::accumulate(sums, sums + LANES, 0.0);
        dots(line, sum, task.inner, B.data() + static_cast<size_t>(k - 1) * d, worker);
    }
    std::vector<double> direction(m), y(m);
    double norm = 0;
    for (int i = 0; i < m; ++i) {  // L^T score
        for (int k = i; k < m; ++k) direction[i] += L[k * m + i] * (levels.score[k + 1] - levels.score[0]);
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
            const double floor = i == j ? SMALLEST_PROFILED * entry : -std::numeric_limits<double>::infinity();
            entry = static_cast<float>(std::max(entry - less, floor));
        }
}

const double* OrdinalRows::own_odds(int node, int worker) {
    double* margin = room(scratch_[worker].line, stride_);
    run(node, worker, margin);
    return margin;
}

double OrdinalRows::all_pairs(int first, int last, float* band) {
    const int p = table_->n_features, wide = p - first;
    std::vector<int> every(wide);
    std::iota(every.begin(), every.end(), first);
    std::vector<double> C(static_cast<size_t>(wide) * wide);
    pool_.each(wide, [&](int k, int worker) {
        dots(wr(first + k), shift_[first + k][0], {every.data(), wide}, C.data() + static_cast<size_t>(k) * wide,
             worker);
    });
    for (int s = 0; s < last - first; ++s)
        for (int t = s + 1; t < wide; ++t)
            *band++ = static_cast<float>(C[static_cast<size_t>(s) * wide + t] + C[static_cast<size_t>(t) * wide + s]);
    return 2.5e-7;  // sums of at most 2, rounded to single precision
}

}  // namespace isinglass
