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
    : state_(state),
      responses_(state.columns.size()),
      operators_(state.lines.count()),
      many_(state.columns.size()),
      by_place_(state.workers.scratch.size()),
      points_(state.workers.scratch.size()),
      quarter_w_(state.stride) {
    for (int n = 0; n < state_.stride; ++n) quarter_w_[n] = static_cast<float>(state_.table->w[n] / 4);
    size_t most = 2, few = 2, all = 0;
    for (size_t s = 0; s < state_.columns.size(); ++s) {
        const CategoryColumn& column = state_.columns[s];
        if (!column.is_ordered() || !column.is_modelled) continue;
        const size_t q = column.q();
        most = std::max(most, q);
        if (q > FEW_CATEGORIES)
            lay_out_many(static_cast<int>(s));
        else
            few = std::max(few, q), all += q;
    }
    size_t expanded = 0;
    for (const CategoryColumn& column : state_.columns) expanded += column.is_ordered() ? 0 : column.q();
    uint8_t* next = room(indicators_, expanded * state_.stride);
    for (size_t s = 0; s < state_.columns.size(); ++s) {
        const CategoryColumn& column = state_.columns[s];
        const uint8_t* cells = state_.table->column(static_cast<int>(s));
        first_.push_back(next);
        for (int k = 0; k < column.q() && !column.is_ordered(); ++k, next += state_.stride)
            for (int n = 0; n < state_.stride; ++n) next[n] = cells[n] == column.value[k];
    }
    is_kept_ = holds == Holds::one_node || sizeof(double) * all * state_.stride <= KEPT_PROBABILITY_BYTES;
    passed_.resize(is_kept_ ? state_.lines.count() : state.workers.scratch.size());
    for (size_t k = 0; k < passed_.size(); ++k) {
        const bool is_of_node = is_kept_ && holds == Holds::all_nodes;
        if (is_of_node && !(state_.columns[k].is_ordered() && state_.columns[k].is_modelled)) continue;
        const size_t q = is_of_node ? state_.columns[k].q() : most, n_kept = is_of_node ? q : few;
        passed_[k].wv.resize(state_.stride);
        passed_[k].sums.resize(std::max(2 * q * q + 2, n_kept > FEW_CATEGORIES ? 0 : (2 * n_kept * n_kept + 2) * 8));
        if (n_kept <= FEW_CATEGORIES) passed_[k].P.resize(n_kept * state_.stride);
    }
}

// Residuals, curvatures, margins, probabilities and sums at the node's predictor and fields.
const double* Ordered::run(int node, int worker, double* margin) {
    const CategoryColumn& column = state_.columns[node];
    Passed& passed = this->passed(node, worker);
    const NodeView view = state_.view(node);
    if (has_many(node)) {
        const Many& many = many_[node];
        const Places at = places(node);
        const int q = column.q();
        double *given = room(by_place_[worker], static_cast<size_t>(at.ld) * at.ld), *sums = passed.sums.data();
        kernels().places_pass(at, view.rows, view.eta, {view.wr, passed.wv.data(), margin, given, sums + 2 * q * q});
        for (int j = 0; j < q; ++j) {
            for (int k = 0; k < q; ++k) sums[q * j + k] = given[many.spot[j] * at.ld + many.spot[k]];
            sums[q * j + j] = 0;
        }
        return sums;
    }
    kernels().category_pass({column.q(), state_.fields[node].data(), column.score.data(), column.value.data()},
                            view.rows, view.eta,
                            {view.wr, passed.wv.data(), margin, passed.P.data(), passed.sums.data()});
    return passed.sums.data();
}

// A place for every step from the lowest category on where these are not many more than there are categories, else one
// for every category.
void Ordered::lay_out_many(int node) {
    const CategoryColumn& column = state_.columns[node];
    const int steps = static_cast<int>(column.value.back() - column.value[0]) + 1;
    Many& many = many_[node];
    many.in_steps = steps <= SPREAD_STEPS * column.q();
    const int count = many.in_steps ? steps : column.q();
    many.number.resize((count + 7) / 8 * 8);
    std::iota(many.number.begin(), many.number.end(), 0.0);
    many.place.resize(256);
    for (int k = 0; k < column.q(); ++k) {
        const double number = column.value[k] - column.value[0];
        many.spot.push_back(many.in_steps ? static_cast<int>(number) : k);
        many.number[many.spot[k]] = number;
        many.place[static_cast<int>(column.value[k])] = static_cast<uint8_t>(many.spot[k]);
    }
}

Places Ordered::places(int node) {
    Many& many = many_[node];
    many.field.assign(many.number.size(), NOWHERE);
    for (size_t k = 0; k < many.spot.size(); ++k) many.field[many.spot[k]] = state_.fields[node][k];
    return {static_cast<int>(many.number.size()),
            many.field.data(),
            many.number.data(),
            state_.columns[node].step,
            many.place.data(),
            many.in_steps};
}

// The second derivatives of many categories at the last pass, with what PlaceProducts has beside them.
void Ordered::complete(int node, int worker, const Axes& axes, double* mixed, float* lines) {
    const Places at = places(node);
    const NodeView view = state_.view(node);
    const int q = state_.columns[node].q();
    const std::vector<int>& spot = many_[node].spot;
    double *products = room(by_place_[worker], static_cast<size_t>(at.ld) * at.ld),
           *sums = passed(node, worker).sums.data() + static_cast<size_t>(q) * q;
    kernels().places_products(at, view.rows, view.eta,
                              {{axes.cells.data(), axes.count(), state_.stride}, products, mixed, lines});
    for (int k = 0; k < q; ++k)
        for (int l = 0; l < k; ++l) sums[q * k + l] = products[spot[k] * at.ld + spot[l]];
}

FieldPasses Ordered::passes(int node, int worker) {
    if (!has_many(node)) return NodeLoss::passes(node, worker);
    return {[this, node, worker] { return pass(node, worker); },
            [this, node, worker] { complete(node, worker, {}, nullptr, nullptr); }, &many_[node].factor};
}

// The fields to where the last block expects them after a move. Scores have a range of 1, so that no difference of two
// fields follows a coefficient by more than twice its change.
void Ordered::follow(const Move& task) {
    const auto& [known, values] = responses_[task.node];
    std::vector<double>& fields = state_.fields[task.node];
    size_t j = 0;
    const double* coefficient = task.coefficient;
    for (int i = 0; i < task.moved.count; ++i) {  // both lists have the order of the slots
        const int t = task.moved.column[i];
        while (j < known.size() && known[j] != t) ++j;
        if (j == known.size()) return;
        for (int l = 0; l < state_.columns[t].width(); ++l, ++j, ++coefficient)
            for (size_t k = 1; k < fields.size(); ++k)
                fields[k] -= *coefficient * std::clamp(values[(k - 1) * known.size() + j], -2.0, 2.0);
    }
}

void Ordered::add_columns(const Move& task, bool afresh, int worker) {
    if (!afresh) follow(task);
    add_points(task.moved, task.coefficient, state_.lines.eta(task.node), worker);
}

const Ordered::Points& Ordered::split(const NeighborColumns& neighbors, int worker) {
    Points& points = points_[worker];
    points.lines.clear(), points.line_spot.clear(), points.others.clear(), points.spot.clear();
    size_t spot = 0;
    for (int k = 0; k < neighbors.count; ++k) {
        const int t = neighbors.column[k];
        const bool is_ordered = state_.columns[t].is_ordered();
        (is_ordered ? points.lines : points.others).push_back(t);
        (is_ordered ? points.line_spot : points.spot).push_back(spot);
        spot += state_.columns[t].width();
    }
    make_tables(points, points.others);
    return points;
}

// A table for each of these columns, all zero.
void Ordered::make_tables(Points& points, const std::vector<int>& columns) const {
    const auto size = [&](int t) { return static_cast<size_t>(state_.columns[t].value.back()) + 1; };
    size_t numbers = 0;
    for (int t : columns) numbers += size(t);
    double* next = room(points.data, numbers);
    std::fill(next, next + numbers, 0.0);
    points.codes.clear(), points.tables.clear();
    for (int t : columns) {
        points.codes.push_back(state_.table->column(t));
        points.tables.push_back(next);
        next += size(t);
    }
}

// Adds the points of columns times their coefficients to one number per row.
void Ordered::add_points(const NeighborColumns& neighbors, const double* coefficient, double* eta, int worker) {
    const Points& points = split(neighbors, worker);
    Scratch& scratch = state_.workers.scratch[worker];
    const int count = static_cast<int>(points.lines.size()), n_others = static_cast<int>(points.others.size());
    double offset = 0, *coefficients = room(scratch.numbers, count);
    for (int i = 0; i < count; ++i) {
        const CategoryColumn& column = state_.columns[points.lines[i]];
        coefficients[i] = coefficient[points.line_spot[i]] * column.step;
        offset -= coefficients[i] * column.center;
    }
    if (count > 0)
        kernels().add_columns(state_.table->list({points.lines.data(), count}, scratch.columns), coefficients, offset,
                              eta);
    for (int j = 0; j < n_others; ++j) {
        const CategoryColumn& column = state_.columns[points.others[j]];
        for (int l = 0; l < column.q(); ++l)
            points.tables[j][static_cast<int>(column.value[l])] = column.unit * coefficient[points.spot[j] + l];
    }
    if (n_others > 0) kernels().gather({points.codes.data(), points.tables.data(), n_others, 1, state_.stride}, eta);
}

// sum_n a_n times the points of the columns asked for, less their mean; sum: of a.
template <class T>
void Ordered::dots(const double* a, double sum, const NeighborColumns& asked, T* out, int worker) {
    const Points& points = split(asked, worker);
    Scratch& scratch = state_.workers.scratch[worker];
    const int count = static_cast<int>(points.lines.size()), n_others = static_cast<int>(points.others.size());
    double* sums = room(scratch.numbers, count);
    kernels().dots(state_.table->list({points.lines.data(), count}, scratch.columns), a, sums);
    for (int i = 0; i < count; ++i) {
        const CategoryColumn& column = state_.columns[points.lines[i]];
        out[points.line_spot[i]] = static_cast<T>((sums[i] - column.center * sum) * column.step);
    }
    kernels().scatter({points.codes.data(), points.tables.data(), n_others, 1, state_.stride}, a);
    for (int j = 0; j < n_others; ++j) {
        const CategoryColumn& column = state_.columns[points.others[j]];
        for (int l = 0; l < column.q(); ++l) {
            const double along = points.tables[j][static_cast<int>(column.value[l])];
            out[points.spot[j] + l] = static_cast<T>(column.unit * (along - column.share[l] * sum));
        }
    }
}

Ordered::Axes Ordered::axes_of(const NeighborColumns& neighbors) const {
    Axes axes;
    for (int k = 0; k < neighbors.count; ++k) {
        const int t = neighbors.column[k];
        const CategoryColumn& column = state_.columns[t];
        if (column.is_ordered()) {
            axes.cells.push_back(state_.table->column(t));
            axes.step.push_back(column.step);
            axes.center.push_back(column.center);
            continue;
        }
        for (int l = 0; l < column.q(); ++l) {
            axes.cells.push_back(first_[t] + static_cast<size_t>(l) * state_.stride);
            axes.step.push_back(column.unit);
            axes.center.push_back(column.share[l]);
        }
    }
    return axes;
}

void Ordered::prepare_blocks(std::span<const Block> tasks) {
    int widest = 0;
    for (const Block& task : tasks)
        if (task.G) widest = std::max(widest, task.stride);
    for (Scratch& each : state_.workers.scratch) room(each.panels, gram_scratch(widest));
}

void Ordered::block(const Block& task, Curvature curvature, int worker) {
    const bool is_own = curvature == Curvature::own;
    const int q = state_.columns[task.node].q();
    Passed& passed = this->passed(task.node, worker);
    if (is_own && !is_kept_) pass(task.node, worker);
    *task.curve = is_own ? passed.sums[2 * q * q + 1] : 0.25;
    if (task.inner.count == 0) return;
    Scratch& scratch = state_.workers.scratch[worker];
    const float* wv = is_own ? passed.wv.data() : quarter_w_.data();
    if (!task.G) return make_operator(task, wv, is_own && q > 2, worker);
    const Axes axes = axes_of(task.inner);
    const int d = axes.count();
    kernels().gram({axes.cells.data(), d, state_.stride}, wv, {task.G, task.stride, task.b, scratch.panels.data()});
    std::fill(task.b, task.b + d, 0.0f);  // the fields follow by themselves
    for (int i = 0; i < d; ++i)
        for (int j = 0; j < d; ++j)
            task.G[static_cast<size_t>(i) * task.stride + j] *= static_cast<float>(axes.step[i] * axes.step[j]);
    if (is_own && q > 2) profile(task, axes, worker);
}

// w Cov(category k, score) of every row at the last pass; returns their sum.
double Ordered::mixed(int node, int k, int worker, double* line) {
    const CategoryColumn& column = state_.columns[node];
    const NodeView view = state_.view(node);
    const double *P = passed(node, worker).P.data() + static_cast<size_t>(k) * state_.stride, *w = view.rows.w;
    double sums[LANES] = {};  // side by side, in a fixed order
    for (int n = 0; n < state_.stride; n += LANES)
        for (int i = n; i < n + LANES; ++i) {
            const double mean = column.point(view.rows.x[i]) + view.wr[i] * view.rows.inverse_w[i];
            sums[i - n] += line[i] = w[i] * P[i] * (column.score[k] - mean);
        }
    return std::accumulate(sums, sums + LANES, 0.0);
}

// Of two categories, and of bounds of the curvature, the fields follow as a mean does.
void Ordered::make_operator(const Block& task, const float* wv, bool is_profiled, int worker) {
    const int q = state_.columns[task.node].q(), m = is_profiled ? q - 1 : 1, stride = state_.stride;
    Operator& own = operators_[state_.lines.index(task.node)];
    double* line = room(state_.workers.scratch[worker].line, stride);
    own.wv.resize(stride), own.mixed.resize(m);
    std::copy(wv, wv + stride, own.wv.data());
    const bool is_of_many = is_profiled && has_many(task.node);
    const size_t ld = many_[task.node].number.size();
    std::vector<float> lines(is_of_many ? ld * stride : 0);
    if (is_of_many) complete(task.node, worker, {}, nullptr, lines.data());
    for (int k = 0; k < m; ++k) {
        own.mixed[k].resize(stride);
        if (is_of_many) {
            const float* from = lines.data() + many_[task.node].spot[k + 1];
            for (int n = 0; n < stride; ++n) own.mixed[k][n] = from[n * ld];
            continue;
        }
        if (is_profiled) mixed(task.node, k + 1, worker, line);
        is_profiled ? kernels().narrow(line, stride, own.mixed[k].data())
                    : void(std::copy(wv, wv + stride, own.mixed[k].data()));
    }
    std::copy(wv, wv + stride, line);
    own.L = is_profiled ? field_curvature(passed(task.node, worker).sums.data() + q * q, q)
                        : std::vector<double>{std::accumulate(line, line + stride, 0.0)};
    factorize(own.L, m);
    Points& points = points_[worker];
    const std::vector<int> inner(task.inner.column, task.inner.column + task.inner.count);
    make_tables(points, inner);
    kernels().scatter({points.codes.data(), points.tables.data(), task.inner.count, 1, stride}, line);
    float* out = task.diagonal;
    for (size_t j = 0; j < inner.size(); ++j) {
        const CategoryColumn& column = state_.columns[inner[j]];
        double along = 0;
        for (int l = 0; l < column.q(); ++l) {
            const double point = column.is_ordered() ? column.score[l] : column.unit;
            const double square = point * point * points.tables[j][static_cast<int>(column.value[l])];
            if (column.is_ordered())
                along += square;
            else
                *out++ = static_cast<float>(square);
        }
        if (column.is_ordered()) *out++ = static_cast<float>(along);
    }
}

// Predictors of d, fields that follow, curvatures, sums over the rows.
void Ordered::product(const Product& task, int worker) {
    const Operator& own = operators_[state_.lines.index(task.node)];
    const int stride = state_.stride, m = static_cast<int>(own.mixed.size());
    size_t numbers = 0;
    for (int k = 0; k < task.inner.count; ++k) numbers += state_.columns[task.inner.column[k]].width();
    double *z = room(state_.workers.scratch[worker].line, stride), *d = room(points_[worker].values, numbers);
    std::copy(task.d, task.d + numbers, d);
    std::fill(z, z + stride, 0.0);
    add_points(task.inner, d, z, worker);
    std::vector<double> follow(m);
    for (int k = 0; k < m; ++k) {
        double sums[LANES] = {};
        for (int n = 0; n < stride; n += LANES)
            for (int i = 0; i < LANES; ++i) sums[i] += own.mixed[k][n + i] * z[n + i];
        follow[k] = std::accumulate(sums, sums + LANES, 0.0);
    }
    solve_lower(own.L, m, follow.data());
    solve_upper(own.L, m, follow.data());
    for (int n = 0; n < stride; ++n) z[n] *= own.wv[n];
    for (int k = 0; k < m; ++k)
        for (int n = 0; n < stride; ++n) z[n] -= own.mixed[k][n] * follow[k];
    dots(z, std::accumulate(z, z + stride, 0.0), task.inner, task.Hd, worker);
}

// The mixed derivatives of all fields but the first and the columns of a block. Of many categories, second derivatives
// of the fields are completed with them.
std::vector<double> Ordered::mixed_with(const Block& task, const Axes& axes, int worker) {
    const int m = state_.columns[task.node].q() - 1, d = axes.count();
    std::vector<double> B(static_cast<size_t>(m) * d);
    if (has_many(task.node)) {
        const std::vector<int>& spot = many_[task.node].spot;
        const size_t ld = many_[task.node].number.size();
        std::vector<double> sums(ld * (d + 1));
        complete(task.node, worker, axes, sums.data(), nullptr);
        for (int k = 0; k < m; ++k)
            for (int j = 0; j < d; ++j)
                B[static_cast<size_t>(k) * d + j] =
                    (sums[j * ld + spot[k + 1]] - axes.center[j] * sums[d * ld + spot[k + 1]]) * axes.step[j];
        return B;
    }
    double* line = room(state_.workers.scratch[worker].line, state_.stride);
    for (int k = 0; k < m; ++k) {
        const double sum = mixed(task.node, k + 1, worker, line);
        dots(line, sum, task.inner, B.data() + static_cast<size_t>(k) * d, worker);
    }
    return B;
}

// Takes the fields out of a block. Centering has done so for the direction of the scores; of B S^-1 B^T, with S the
// curvature of the fields and B their mixed derivatives, it remains to subtract what is orthogonal.
void Ordered::profile(const Block& task, const Axes& axes, int worker) {
    const Passed& passed = this->passed(task.node, worker);
    const CategoryColumn& column = state_.columns[task.node];
    const int q = column.q(), m = q - 1, d = axes.count();
    std::vector<double> Y = mixed_with(task, axes, worker), L = field_curvature(passed.sums.data() + q * q, q);
    factorize(L, m);
    if (has_many(task.node)) many_[task.node].factor = FieldFactor(passed.sums.data() + q * q, q);
    std::vector<double> direction(m), along(d);
    double norm = 0;
    for (int i = 0; i < m; ++i) {  // L^T score
        for (int k = i; k < m; ++k) direction[i] += L[k * m + i] * (column.score[k + 1] - column.score[0]);
        norm += direction[i] * direction[i];
    }
    solve_lower(L, m, Y.data(), d);
    Response& response = responses_[task.node];
    response.columns.clear();
    for (int k = 0; k < task.inner.count; ++k) {
        const int t = task.inner.column[k];
        response.columns.insert(response.columns.end(), state_.columns[t].width(), t);
    }
    response.values = Y;
    solve_upper(L, m, response.values.data(), d);
    for (int k = 0; k < m; ++k)
        for (int j = 0; j < d; ++j) along[j] += Y[static_cast<size_t>(k) * d + j] * direction[k];
    for (double& each : along) each /= norm;
    for (int k = 0; k < m; ++k)
        for (int j = 0; j < d; ++j) Y[static_cast<size_t>(k) * d + j] -= along[j] * direction[k];
    std::vector<double> less(d);
    for (int i = 0; i < d; ++i) {
        std::fill(less.begin(), less.end(), 0.0);
        for (int k = 0; k < m; ++k) {
            const double* y = Y.data() + static_cast<size_t>(k) * d;
            for (int j = 0; j < d; ++j) less[j] += y[i] * y[j];
        }
        for (int j = 0; j < d; ++j) {
            float& entry = task.G[static_cast<size_t>(i) * task.stride + j];
            const double floor = i == j ? SMALLEST_PROFILED * entry : -std::numeric_limits<double>::infinity();
            entry = static_cast<float>(std::max(entry - less[j], floor));
        }
    }
}

const double* Ordered::odds(int node, int worker) {
    double* margin = room(state_.workers.scratch[worker].line, state_.stride);
    run(node, worker, margin);
    return margin;
}

}  // namespace isinglass
