#include "rows/ordered.hpp"

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

}  // namespace

Ordered::Ordered(CategoryState& state, Holds holds)
    : state_(state), responses_(state.columns.size()), quarter_w_(state.stride) {
    for (int n = 0; n < state_.stride; ++n) quarter_w_[n] = static_cast<float>(state_.table->w[n] / 4);
    int most = 2, all = 0;
    for (const CategoryColumn& column : state_.columns) most = std::max(most, column.q()), all += column.q();
    is_kept_ = holds == Holds::one_node || sizeof(double) * all * state_.stride <= KEPT_PROBABILITY_BYTES;
    passed_.resize(is_kept_ ? state_.lines.count() : state.workers.scratch.size());
    for (size_t k = 0; k < passed_.size(); ++k) {
        const bool is_of_node = is_kept_ && holds == Holds::all_nodes;
        const size_t q = is_of_node ? state_.columns[k].q() : most;
        passed_[k].P.resize(q * state_.stride);
        passed_[k].wv.resize(state_.stride);
        passed_[k].sums.resize((2 * q * q + 2) * 8);
    }
}

// Residuals, curvatures, margins, probabilities and sums at the node's predictor and fields.
const double* Ordered::run(int node, int worker, double* margin) {
    const CategoryColumn& column = state_.columns[node];
    Passed& passed = this->passed(node, worker);
    const NodeView view = state_.view(node);
    kernels().category_pass({column.q(), state_.fields[node].data(), column.score.data(), column.value.data()},
                            view.rows, view.eta,
                            {view.wr, passed.wv.data(), margin, passed.P.data(), passed.sums.data()});
    return passed.sums.data();
}

// The fields to where the last block expects them after a move. Scores have a range of 1, so that no difference of two
// fields follows a coefficient by more than twice its change.
void Ordered::follow(const Move& task) {
    const auto& [known, values] = responses_[task.node];
    std::vector<double>& fields = state_.fields[task.node];
    size_t j = 0;
    for (int i = 0; i < task.moved.count; ++i) {  // both lists have the order of the slots
        while (j < known.size() && known[j] != task.moved.column[i]) ++j;
        if (j == known.size()) return;
        for (size_t k = 1; k < fields.size(); ++k)
            fields[k] -= task.coefficient[i] * std::clamp(values[j * (fields.size() - 1) + k - 1], -2.0, 2.0);
    }
}

void Ordered::add_columns(const Move& task, bool afresh, int worker) {
    if (!afresh) follow(task);
    const int count = task.moved.count;
    Scratch& scratch = state_.workers.scratch[worker];
    double offset = 0, *coefficients = room(scratch.numbers, count);
    for (int i = 0; i < count; ++i) {
        const CategoryColumn& column = state_.columns[task.moved.column[i]];
        coefficients[i] = task.coefficient[i] * column.step;
        offset -= coefficients[i] * column.center;
    }
    kernels().add_columns(state_.table->list(task.moved, scratch.columns), coefficients, offset,
                          state_.lines.eta(task.node));
}

// sum_n a_n score_t for the columns asked for; sum: of a.
void Ordered::dots(const double* a, double sum, const NeighborColumns& asked, double* out, int worker) {
    kernels().dots(state_.table->list(asked, state_.workers.scratch[worker].columns), a, out);
    for (int k = 0; k < asked.count; ++k) {
        const CategoryColumn& column = state_.columns[asked.column[k]];
        out[k] = (out[k] - column.center * sum) * column.step;
    }
}

void Ordered::block(const Block& task, Curvature curvature, int worker) {
    const bool is_own = curvature == Curvature::own;
    const int q = state_.columns[task.node].q(), d = task.inner.count;
    Passed& passed = this->passed(task.node, worker);
    if (is_own && !is_kept_) pass(task.node, worker);
    *task.curve = is_own ? passed.sums[2 * q * q + 1] : 0.25;
    if (d == 0) return;
    Scratch& scratch = state_.workers.scratch[worker];
    kernels().gram(state_.table->list(task.inner, scratch.columns), is_own ? passed.wv.data() : quarter_w_.data(),
                   {task.G, task.stride, task.b, scratch.panels.data()});
    std::fill(task.b, task.b + d, 0.0f);  // the fields follow by themselves
    const auto step = [&](int k) { return state_.columns[task.inner.column[k]].step; };
    for (int i = 0; i < d; ++i)
        for (int j = 0; j < d; ++j)
            task.G[static_cast<size_t>(i) * task.stride + j] *= static_cast<float>(step(i) * step(j));
    if (is_own && q > 2) profile(task, worker);
}

// Takes the fields out of a block. Centering has done so for the direction of the scores; of B S^-1 B^T, with S the
// curvature of the fields and B their mixed derivatives, it remains to subtract what is orthogonal.
void Ordered::profile(const Block& task, int worker) {
    const Passed& passed = this->passed(task.node, worker);
    const CategoryColumn& column = state_.columns[task.node];
    const int q = column.q(), stride = state_.stride, m = q - 1, d = task.inner.count;
    std::vector<double> L = field_curvature(passed.sums.data() + q * q, q), B(static_cast<size_t>(m) * d);
    factorize(L, m);
    const NodeView view = state_.view(task.node);
    const double* w = view.rows.w;
    Scratch& scratch = state_.workers.scratch[worker];
    double *line = room(scratch.line, stride), *mean = room(scratch.words, stride);
    for (int n = 0; n < stride; ++n) mean[n] = column.point(view.rows.x[n]) + view.wr[n] * view.rows.inverse_w[n];
    for (int k = 1; k < q; ++k) {
        const double *P = passed.P.data() + static_cast<size_t>(k) * stride, own = column.score[k];
        double sums[LANES] = {};  // side by side, in a fixed order
        for (int n = 0; n < stride; n += LANES)
            for (int i = 0; i < LANES; ++i) sums[i] += line[n + i] = w[n + i] * P[n + i] * (own - mean[n + i]);
        const double sum = std::accumulate(sums, sums + LANES, 0.0);
        dots(line, sum, task.inner, B.data() + static_cast<size_t>(k - 1) * d, worker);
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
            const double floor = i == j ? SMALLEST_PROFILED * entry : -std::numeric_limits<double>::infinity();
            entry = static_cast<float>(std::max(entry - less, floor));
        }
}

const double* Ordered::odds(int node, int worker) {
    double* margin = room(state_.workers.scratch[worker].line, state_.stride);
    run(node, worker, margin);
    return margin;
}

}  // namespace isinglass
