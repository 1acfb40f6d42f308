// Ordered categories: a category is a point on a line, and the conditional distribution of a node is
// softmax_k(field_k + score_k eta). Binary columns are the case of two categories.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "rows/neighbor_tables.hpp"

namespace isinglass {

using namespace tuning::rows;

namespace {

constexpr int LANES = 8;  // sums side by side in a fixed order; divides ROW_ALIGN

class Ordered final : public NodeLoss {
 public:
    Ordered(CategoryState& state, Holds holds)
        : state_(state),
          stride_(state.stride),
          responses_(state.columns.size()),
          many_(state.columns.size()),
          by_place_(state.workers.scratch.size()),
          points_(state.workers.scratch.size()),
          quarter_w_(stride_) {
        for (int n = 0; n < stride_; ++n) quarter_w_[n] = static_cast<float>(state_.table->w[n] / 4);
        size_t most = 2, few = 2, all = 0;
        for (size_t s = 0; s < state_.columns.size(); ++s) {
            if (!is_own(s)) continue;
            const size_t q = state_.columns[s].q();
            most = std::max(most, q);
            if (q > FEW_CATEGORIES)
                lay_out_many(static_cast<int>(s));
            else
                few = std::max(few, q), all += has_two_values(static_cast<int>(s)) ? 0 : q;
        }
        is_kept_ = holds == Holds::one_node || sizeof(double) * all * stride_ <= KEPT_PROBABILITY_BYTES;
        passed_.resize(is_kept_ ? state_.lines.count() : state.workers.scratch.size());
        for (size_t k = 0; k < passed_.size(); ++k) {
            const bool is_of_node = is_kept_ && holds == Holds::all_nodes;
            if (is_of_node && !is_own(k)) continue;
            const size_t q = is_of_node ? state_.columns[k].q() : most, n_kept = is_of_node ? q : few;
            passed_[k].sums.resize(2 * q * q + 2);
            if (is_of_node && has_two_values(static_cast<int>(k))) continue;
            passed_[k].wv.resize(stride_);
            if (n_kept <= FEW_CATEGORIES) passed_[k].P.resize(n_kept * stride_);
        }
    }

    void add_columns(const Move& task, bool afresh, int worker) override {
        if (!afresh) follow(task);
        if (has_two_values(task.node) && move_merged(task, afresh, worker)) return;
        add_points(task.node, task.moved, task.coefficient, state_.lines.eta(task.node), worker);
    }

    const double* pass(int node, int worker) override { return run(node, worker, nullptr); }

    FieldPasses passes(int node, int worker) override {
        if (!has_many(node)) return NodeLoss::passes(node, worker);
        return {[this, node, worker] { return pass(node, worker); },
                [this, node, worker] { complete(node, worker, Axes(), nullptr); }, &many_[node].factor};
    }

    Odds odds(int node, int worker) override {
        double* margin = room(state_.workers.scratch[worker].line, stride_);
        run(node, worker, margin);
        return {state_.lines.is_merged(node) ? state_.lines.view_patterns(node).rows : state_.table->rows(node),
                margin};
    }

    void collect(int node, const NeighborColumns& asked, double* out, int worker) override {
        if (!state_.lines.holds(node, asked))
            return dots(node, state_.view(node).wr, state_.shift[node][0], asked, out, worker);
        const NodeView view = state_.lines.view_patterns(node);
        kernels().dots(view.source->list(asked, state_.workers.scratch[worker].columns), view.wr, out);
        for (int k = 0; k < asked.count; ++k) out[k] -= state_.columns[asked.column[k]].center * state_.shift[node][0];
    }

    void prepare_blocks(std::span<const Block> tasks) override {
        int widest = 0;
        for (const Block& task : tasks)
            if (task.G) widest = std::max(widest, task.stride);
        for (Scratch& each : state_.workers.scratch) room(each.panels, gram_scratch(widest));
    }

    void block(const Block& task, Curvature curvature, int worker) override {
        const bool is_own = curvature == Curvature::own;
        const int q = state_.columns[task.node].q();
        Passed& passed = this->passed(task.node, worker);
        if (is_own && !is_kept_) pass(task.node, worker);
        *task.curve = is_own ? passed.sums[2 * q * q + 1] : 0.25;
        if (task.inner.count == 0) return;
        const bool is_merged = hold(task.node, task.inner, worker);
        const float* wv = has_two_values(task.node) ? curvatures(view_two_values(task.node, is_merged, worker), !is_own,
                                                                 state_.workers.scratch[worker])
                          : is_own                  ? passed.wv.data()
                                                    : quarter_w_.data();
        const Axes axes = axes_of(task.node, task.inner);
        const int d = axes.count();
        if (is_merged)
            kernels().gram(
                state_.lines.view_patterns(task.node).source->list(task.inner, state_.workers.scratch[worker].columns),
                wv, {task.G, task.stride, task.b, state_.workers.scratch[worker].panels.data()});
        else
            gram(task, axes, wv, worker);
        if (is_own && has_two_values(task.node)) {
            std::vector<double> mean(d);
            for (int j = 0; j < d; ++j) mean[j] = (task.b[j] / *task.curve - axes.center[j]) * axes.step[j];
            respond(task, std::move(mean));
        }
        std::fill(task.b, task.b + d, 0.0f);  // the fields follow by themselves
        for (int i = 0; i < d; ++i)
            for (int j = 0; j < d; ++j)
                task.G[static_cast<size_t>(i) * task.stride + j] *= static_cast<float>(axes.step[i] * axes.step[j]);
        if (is_own && q > 2) profile(task, axes, worker);
    }

 private:
    // How the fields follow their neighbors' coefficients, to first order: for each category but the first, a
    // number for every column of a node's last block.
    struct Response {
        std::vector<int> columns;
        std::vector<double> values;
    };
    // What a pass over a node's rows leaves for its block: probabilities, curvatures, sums.
    struct Passed {
        Buffer<double> P, sums;
        Buffer<float> wv;
    };
    // Of a node with many categories: its places (kernels.hpp), those of its categories, and the factor of the fields'
    // curvature at some point before.
    struct Many {
        std::vector<double> field, number;
        std::vector<uint8_t> place;
        std::vector<int> spot;
        bool in_steps = false;
        FieldFactor factor;
    };
    // Scratch: columns beside a node, with tables for those without an order.
    struct Points {
        NeighborTables<double> tables;
        Buffer<float> gram, sums;
    };
    // The columns of a block: a line's own, or that of every category without an order, 0 and 1; and what a step of
    // their cells and their mean are.
    struct Axes {
        Buffer<uint8_t> indicators;
        std::vector<const uint8_t*> cells;
        std::vector<double> step, center;
        int count() const { return static_cast<int>(cells.size()); }
    };

    bool is_own(size_t column) const {
        return state_.columns[column].is_ordered() && state_.columns[column].is_modelled;
    }
    bool has_many(int node) const { return !many_[node].spot.empty(); }
    bool has_two_values(int node) const { return state_.columns[node].has_two_values(); }
    bool have_two_values(const NeighborColumns& columns) const {
        return std::all_of(columns.column, columns.column + columns.count, [&](int t) { return has_two_values(t); });
    }
    Passed& passed(int node, int worker) { return passed_[is_kept_ ? state_.lines.index(node) : worker]; }

    // Residuals, curvatures, margins, probabilities and sums at the node's predictor and fields.
    const double* run(int node, int worker, double* margin) {
        const CategoryColumn& column = state_.columns[node];
        Passed& passed = this->passed(node, worker);
        double* sums = passed.sums.data();
        const int q = column.q();
        if (has_two_values(node)) {
            const NodeView shifted = isinglass::pass(view_two_values(node, state_.lines.is_merged(node), worker));
            state_.lines.passed(node);
            const NodeSums& of = shifted.sums;
            const double found[] = {0, of.zeros, of.ones, 0, 0, 0, of.unbounded, 0, of.loss, of.curve};
            std::copy(std::begin(found), std::end(found), sums);
            for (int n = 0; n < shifted.rows.n && margin; ++n)
                margin[n] = shifted.rows.x[n] ? shifted.eta[n] : -shifted.eta[n];
            return sums;
        }
        const NodeView view = state_.view(node);
        if (!has_many(node)) {
            kernels().category_pass({q, state_.fields[node].data(), column.score.data(), column.value.data()},
                                    view.rows, view.eta, {view.wr, passed.wv.data(), margin, passed.P.data(), sums});
            return sums;
        }
        const std::vector<int>& spot = many_[node].spot;
        const Places at = places(node);
        double* given = room(by_place_[worker], static_cast<size_t>(at.ld) * at.ld);
        kernels().places_pass(at, view.rows, view.eta, {view.wr, passed.wv.data(), margin, given, sums + 2 * q * q});
        for (int j = 0; j < q; ++j) {
            for (int k = 0; k < q; ++k) sums[q * j + k] = given[spot[j] * at.ld + spot[k]];
            sums[q * j + j] = 0;
        }
        return sums;
    }

    // The predictor with the fields of two values, of patterns or of all rows.
    NodeView view_two_values(int node, bool is_merged, int worker) {
        NodeView view = is_merged ? state_.lines.view_patterns(node) : state_.lines.view_predictors(node);
        double* eta = room(state_.workers.scratch[worker].words, stride_);
        const double field = state_.fields[node][1] - state_.fields[node][0];
        for (int n = 0; n < view.rows.n; ++n) eta[n] = view.eta[n] + field;
        view.eta = eta;
        return view;
    }

    // Moves a node's predictor together with its recipe; false if the columns are still to be added to it.
    bool move_merged(const Move& task, bool afresh, int worker) {
        if (!have_two_values(task.moved)) {
            state_.lines.give_up(task.node, afresh, worker);
            return false;
        }
        Move centered = task;
        centered.offset = 0;
        for (int k = 0; k < task.moved.count; ++k)
            centered.offset -= task.coefficient[k] * state_.columns[task.moved.column[k]].center;
        if (!have_two_values(task.asked)) centered.asked = {};
        return state_.lines.move(centered, afresh, worker) != MergedLines::Moved::nowhere;
    }

    // Whether patterns have all these columns, or can have them.
    bool hold(int node, const NeighborColumns& columns, int worker) {
        MergedLines& lines = state_.lines;
        if (!lines.is_merged(node) || !have_two_values(columns)) return false;
        if (lines.extend(node, columns, worker)) isinglass::pass(view_two_values(node, true, worker));
        return lines.holds(node, columns);
    }

    // A place for every step from the lowest category on where these are not many more than there are categories, else
    // one for every category.
    void lay_out_many(int node) {
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

    Places places(int node) {
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
    void complete(int node, int worker, const Axes& axes, double* mixed) {
        const Places at = places(node);
        const NodeView view = state_.view(node);
        const int q = state_.columns[node].q();
        const std::vector<int>& spot = many_[node].spot;
        double *products = room(by_place_[worker], static_cast<size_t>(at.ld) * at.ld),
               *sums = passed(node, worker).sums.data() + static_cast<size_t>(q) * q;
        kernels().places_products(at, view.rows, view.eta,
                                  {{axes.cells.data(), axes.count(), stride_}, products, mixed});
        for (int k = 0; k < q; ++k)
            for (int l = 0; l < k; ++l) sums[q * k + l] = products[spot[k] * at.ld + spot[l]];
    }

    // The fields to where the last block expects them after a move. Scores have a range of 1, so that no difference of
    // two fields follows a coefficient by more than twice its change.
    void follow(const Move& task) {
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

    // What the next moves expect of the fields.
    void respond(const Block& task, std::vector<double> values) {
        auto& [columns, kept] = responses_[task.node];
        columns.clear();
        for (int k = 0; k < task.inner.count; ++k) {
            const int t = task.inner.column[k];
            columns.insert(columns.end(), state_.columns[t].width(), t);
        }
        kept = std::move(values);
    }

    // Tables for neighbors without an order; the others are listed.
    Points& split(int node, const NeighborColumns& neighbors, int worker) {
        points_[worker].tables.lay_out(state_, node, neighbors, [&](int t) { return state_.columns[t].is_ordered(); });
        return points_[worker];
    }

    // Adds the points of columns times their coefficients to one number per row.
    void add_points(int node, const NeighborColumns& neighbors, const double* coefficient, double* eta, int worker) {
        Points& points = split(node, neighbors, worker);
        Scratch& scratch = state_.workers.scratch[worker];
        const NeighborTables<double>::List& listed = points.tables.listed();
        const int count = listed.count();
        double offset = 0, *coefficients = room(scratch.numbers, count);
        for (int i = 0; i < count; ++i) {
            const CategoryColumn& column = state_.columns[listed.columns[i]];
            coefficients[i] = coefficient[listed.begin[i]] * column.step;
            offset -= coefficients[i] * column.center;
        }
        if (count > 0)
            kernels().add_columns(state_.table->list(listed.neighbors(), scratch.columns), coefficients, offset, eta);
        points.tables.fill(coefficient);
        points.tables.gather(kernels().gather, eta);
    }

    // sum_n a_n times the points of the columns asked for, less their mean; sum: of a.
    void dots(int node, const double* a, double sum, const NeighborColumns& asked, double* out, int worker) {
        const Points& points = split(node, asked, worker);
        Scratch& scratch = state_.workers.scratch[worker];
        const NeighborTables<double>::List& listed = points.tables.listed();
        const int count = listed.count();
        double* sums = room(scratch.numbers, count);
        kernels().dots(state_.table->list(listed.neighbors(), scratch.columns), a, sums);
        for (int i = 0; i < count; ++i) {
            const CategoryColumn& column = state_.columns[listed.columns[i]];
            out[listed.begin[i]] = (sums[i] - column.center * sum) * column.step;
        }
        kernels().scatter(points.tables.all(), a);
        points.tables.read(&sum, out);
    }

    // The centered Gram matrix of the axes, and their sums. Categories without an order exclude each other: sums over
    // the rows of each are all that it needs of them.
    void gram(const Block& task, const Axes& axes, const float* wv, int worker) {
        Points& points = split(task.node, task.inner, worker);
        float* panels = state_.workers.scratch[worker].panels.data();
        const NeighborTables<double>::List &listed = points.tables.listed(), &tabled = points.tables.tabled();
        if (tabled.count() == 0)
            return kernels().gram({axes.cells.data(), axes.count(), stride_}, wv,
                                  {task.G, task.stride, task.b, panels});
        const int m = listed.count(), ld = (m + 15) / 16 * 16;
        float *G = room(points.gram, static_cast<size_t>(m) * ld), *sums = room(points.sums, m);
        const ColumnList cells = state_.table->list(listed.neighbors(), state_.workers.scratch[worker].columns);
        if (m > 0) kernels().gram(cells, wv, {G, ld, sums, panels});
        const auto entry = [&](size_t i, size_t j) -> float& { return task.G[i * task.stride + j]; };
        for (int i = 0; i < m; ++i) {
            task.b[listed.begin[i]] = sums[i];
            for (int j = 0; j < m; ++j) entry(listed.begin[i], listed.begin[j]) = G[static_cast<size_t>(i) * ld + j];
        }
        double total = 0;
        for (int n = 0; n < stride_; ++n) total += wv[n];
        // Of curvatures that underflow nothing is left to see.
        const double divisor = total > 3e-39 ? total : std::numeric_limits<double>::infinity();
        std::vector<std::vector<double>> weight;  // of the categories
        for (size_t a = 0; a < static_cast<size_t>(tabled.count()); ++a) {
            const int s = tabled.columns[a], q = state_.columns[s].q();
            const uint8_t* codes = state_.codes(s);
            const size_t first = tabled.begin[a];
            std::vector<double>& own = weight.emplace_back(q);
            for (int n = 0; n < stride_; ++n) own[codes[n]] += wv[n];
            for (int k = 0; k < q; ++k) {
                task.b[first + k] = static_cast<float>(own[k]);
                for (int l = 0; l < q; ++l)
                    entry(first + k, first + l) =
                        static_cast<float>(own[k] / divisor * (k == l ? total - own[k] : -own[l]));
            }
            const auto put = [&](size_t other, int k, double sum, double of_other) {
                entry(first + k, other) = entry(other, first + k) =
                    static_cast<float>(sum - own[k] / divisor * of_other);
            };
            for (int i = 0; i < m; ++i) {
                std::vector<double> sum(q);
                const std::vector<int>& rare = state_.rare[listed.columns[i]].rows;
                for (int n : rare) sum[codes[n]] += wv[n];
                for (int n = 0; n < stride_ && rare.empty(); ++n) sum[codes[n]] += wv[n] * cells.x[i][n];
                if (!rare.empty()) {
                    const std::vector<double>& value = state_.columns[listed.columns[i]].value;
                    const double rarer = cells.x[i][rare[0]], other = value[rarer == value[0]];
                    for (int k = 0; k < q; ++k) sum[k] = rarer * sum[k] + other * (own[k] - sum[k]);
                }
                for (int k = 0; k < q; ++k) put(listed.begin[i], k, sum[k], sums[i]);
            }
            for (size_t b = 0; b < a; ++b) {
                const int t = tabled.columns[b], r = state_.columns[t].q();
                std::vector<double> sum(static_cast<size_t>(q) * r);
                for (int n = 0; n < stride_; ++n) sum[codes[n] * r + state_.codes(t)[n]] += wv[n];
                for (int k = 0; k < q; ++k)
                    for (int l = 0; l < r; ++l) put(tabled.begin[b] + l, k, sum[k * r + l], weight[b][l]);
            }
        }
    }

    // Cells of columns without an order are made for nodes with many categories alone.
    Axes axes_of(int node, const NeighborColumns& neighbors) const {
        Axes axes;
        size_t expanded = 0;
        for (int k = 0; k < neighbors.count && has_many(node); ++k)
            if (const CategoryColumn& column = state_.columns[neighbors.column[k]]; !column.is_ordered())
                expanded += static_cast<size_t>(column.q()) * stride_;
        axes.indicators.resize(expanded);
        uint8_t* next = axes.indicators.data();
        const auto add = [&](const uint8_t* cells, double step, double center) {
            axes.cells.push_back(cells), axes.step.push_back(step), axes.center.push_back(center);
        };
        for (int k = 0; k < neighbors.count; ++k) {
            const int t = neighbors.column[k];
            const CategoryColumn& column = state_.columns[t];
            if (column.is_ordered()) add(state_.table->column(t), column.step, column.center);
            for (int l = 0; l < column.q() && !column.is_ordered(); ++l) {
                add(next, column.unit, column.share[l]);
                for (int n = 0; n < stride_ && has_many(node); ++n) *next++ = state_.codes(t)[n] == l;
            }
        }
        return axes;
    }

    // w Cov(category k, score) of every row at the last pass; returns their sum.
    double mixed(int node, int k, int worker, double* line) {
        const CategoryColumn& column = state_.columns[node];
        const NodeView view = state_.view(node);
        const double *P = passed(node, worker).P.data() + static_cast<size_t>(k) * stride_, *w = view.rows.w;
        double sums[LANES] = {};
        for (int n = 0; n < stride_; n += LANES)
            for (int i = n; i < n + LANES; ++i) {
                const double mean = column.point(view.rows.x[i]) + view.wr[i] * view.rows.inverse_w[i];
                sums[i - n] += line[i] = w[i] * P[i] * (column.score[k] - mean);
            }
        return std::accumulate(sums, sums + LANES, 0.0);
    }

    // The mixed derivatives of all fields but the first and the columns of a block. Of many categories, second
    // derivatives of the fields are completed with them.
    std::vector<double> mixed_with(const Block& task, const Axes& axes, int worker) {
        const int m = state_.columns[task.node].q() - 1, d = axes.count();
        std::vector<double> B(static_cast<size_t>(m) * d);
        if (has_many(task.node)) {
            const std::vector<int>& spot = many_[task.node].spot;
            const size_t ld = many_[task.node].number.size();
            std::vector<double> sums(ld * (d + 1));
            complete(task.node, worker, axes, sums.data());
            for (int k = 0; k < m; ++k)
                for (int j = 0; j < d; ++j)
                    B[static_cast<size_t>(k) * d + j] =
                        (sums[j * ld + spot[k + 1]] - axes.center[j] * sums[d * ld + spot[k + 1]]) * axes.step[j];
            return B;
        }
        double* line = room(state_.workers.scratch[worker].line, stride_);
        for (int k = 0; k < m; ++k) {
            const double sum = mixed(task.node, k + 1, worker, line);
            dots(task.node, line, sum, task.inner, B.data() + static_cast<size_t>(k) * d, worker);
        }
        return B;
    }

    // Takes the fields out of a block. Centering has done so for the direction of the scores; of B S^-1 B^T, with S the
    // curvature of the fields and B their mixed derivatives, it remains to subtract what is orthogonal.
    void profile(const Block& task, const Axes& axes, int worker) {
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
        std::vector<double> values = Y;
        solve_upper(L, m, values.data(), d);
        respond(task, std::move(values));
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

    CategoryState& state_;
    const int stride_;
    std::vector<Response> responses_;
    std::vector<Many> many_;
    std::vector<Buffer<double>> by_place_;  // of every thread
    std::vector<Points> points_;            // scratch of every thread
    Buffer<float> quarter_w_;
    bool is_kept_ = false;
    std::vector<Passed> passed_;  // one per node if that is little, else one per thread
};

}  // namespace

std::unique_ptr<NodeLoss> ordered_loss(CategoryState& state, Holds holds) {
    return std::make_unique<Ordered>(state, holds);
}

}  // namespace isinglass
