// Ordered categories: a category is a point on a line, and the conditional distribution of a node is
// softmax_k(field_k + score_k eta). Binary columns are the case of two categories.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "rows/node_places.hpp"

namespace isinglass {

using namespace tuning::rows;

namespace {

constexpr int LANES = 8;  // sums side by side in a fixed order; divides ROW_ALIGN

class Ordered final : public NodeLoss {
 public:
    explicit Ordered(CategoryState& state)
        : state_(state),
          stride_(state.stride),
          responses_(state.columns.size()),
          places_(state.columns.size()),
          working_(state.workers.scratch.size()),
          quarter_w_(stride_) {
        for (int n = 0; n < stride_; ++n) quarter_w_[n] = static_cast<float>(state_.table->w[n] / 4);
        for (size_t s = 0; s < places_.size(); ++s)
            if (const CategoryColumn& column = state_.columns[s]; column.is_ordered() && column.q() > FEW_CATEGORIES)
                places_[s] = std::make_unique<NodePlaces>(column);
    }

    void add_columns(const Move& task, bool afresh, int worker) override {
        if (!afresh) follow(task);
        if (has_two_values(task.node) && move_merged(task, afresh, worker)) return;
        axes_of(task.moved, worker).add(task.coefficient, stride_, state_.lines.eta(task.node));
    }

    const CategorySums& pass(int node, int worker) override { return run(node, worker, nullptr); }

    FieldPasses passes(int node, int worker) override {
        if (!places_[node]) return NodeLoss::passes(node, worker);
        return {[this, node, worker]() -> const CategorySums& { return pass(node, worker); },
                [this, node, worker] { complete(node, worker, nullptr); }, &places_[node]->factor};
    }

    Odds odds(int node, int worker) override {
        double* margin = room(working_[worker].margin, stride_);
        run(node, worker, margin);
        return {state_.lines.is_merged(node) ? state_.lines.view_patterns(node).rows : state_.table->rows(node),
                margin};
    }

    void collect(int node, const NeighborColumns& asked, double* out, int worker) override {
        const double shift = state_.shift[node][0];
        if (!state_.lines.holds(node, asked))
            return axes_of(asked, worker).dots(state_.view(node).wr, stride_, shift, out);
        const NodeView view = state_.lines.view_patterns(node);
        kernels().dots(view.source->list(asked, state_.workers.scratch[worker].columns), view.wr, out);
        for (int k = 0; k < asked.count; ++k) out[k] -= state_.columns[asked.column[k]].center * shift;
    }

    void block(const Block& task, Curvature curvature, int worker) override {
        const bool is_own = curvature == Curvature::own;
        const int node = task.node;
        if (is_own && !has_two_values(node)) pass(node, worker);
        *task.curve = !is_own                ? 0.25
                      : has_two_values(node) ? state_.lines.sums(node).curve
                                             : working_[worker].sums.curve;
        if (task.inner.count == 0) return;
        Scratch& scratch = state_.workers.scratch[worker];
        const Axes& axes = axes_of(task.inner, worker);
        const bool is_merged = hold(node, task.inner, worker);
        const float* wv = has_two_values(node) ? curvatures(view_two_values(node, is_merged, worker), !is_own, scratch)
                          : is_own             ? working_[worker].wv.data()
                                               : quarter_w_.data();
        const int d = axes.count();
        kernels().gram(is_merged ? state_.lines.view_patterns(node).source->list(task.inner, scratch.columns)
                                 : axes.cells(stride_),
                       wv, {task.G, task.stride, task.b, space(scratch.panels, gram_scratch(d))});
        if (is_own && has_two_values(node)) {
            std::vector<double> mean(d);
            for (int j = 0; j < d; ++j) mean[j] = axes.centered(j, task.b[j], *task.curve) / *task.curve;
            responses_[node] = {axes.columns(), std::move(mean)};
        }
        std::fill(task.b, task.b + d, 0.0f);  // the fields follow by themselves
        for (int i = 0; i < d; ++i)
            for (int j = 0; j < d; ++j)
                task.G[static_cast<size_t>(i) * task.stride + j] *= static_cast<float>(axes.step(i) * axes.step(j));
        if (is_own && !has_two_values(node)) profile(task, axes, worker);
    }

 private:
    // How the fields follow their neighbors' coefficients, to first order: for each category but the first, a
    // number for every axis of a node's last block.
    struct Response {
        std::vector<int> columns;
        std::vector<double> values;
    };
    // What a thread keeps of the node it works on: the columns beside it, and what a pass leaves.
    struct Working {
        Axes axes;
        CategorySums sums;
        Buffer<double> P, places;
        Buffer<float> wv;
        Buffer<double> eta;     // of two values, with their fields
        Buffer<double> margin;  // log odds of the observed category
        Buffer<double> mixed;   // derivatives of one field and the predictor
    };

    bool has_two_values(int node) const { return state_.columns[node].has_two_values(); }
    bool have_two_values(const NeighborColumns& columns) const {
        return std::all_of(columns.column, columns.column + columns.count, [&](int t) { return has_two_values(t); });
    }
    Axes& axes_of(const NeighborColumns& neighbors, int worker) {
        working_[worker].axes.list(state_, neighbors);
        return working_[worker].axes;
    }

    // Residuals, curvatures, margins, probabilities and sums at the node's predictor and fields.
    const CategorySums& run(int node, int worker, double* margin) {
        const CategoryColumn& column = state_.columns[node];
        Working& own = working_[worker];
        CategorySums& sums = own.sums;
        const int q = column.q();
        if (sums.q != q) sums.resize(q);
        if (has_two_values(node)) {
            run_two_values(node, worker, margin, sums);
            return sums;
        }
        const NodeView view = state_.view(node);
        const std::vector<double>& fields = state_.fields[node];
        room(own.wv, stride_);
        if (places_[node]) {
            places_[node]->pass(view, fields, own.wv.data(), margin, sums, own.places);
            return sums;
        }
        const size_t square = sums.given.size();
        const auto [loss, curve] =
            kernels().category_pass({q, fields.data(), column.score.data(), column.value.data()}, view.rows, view.eta,
                                    {view.wr,
                                     own.wv.data(),
                                     margin,
                                     space(own.P, static_cast<size_t>(q) * stride_),
                                     {sums.given.data(), square},
                                     {sums.products.data(), square}});
        sums.loss = loss, sums.curve = curve;
        return sums;
    }

    void run_two_values(int node, int worker, double* margin, CategorySums& sums) {
        const NodeView view = isinglass::pass(view_two_values(node, state_.lines.is_merged(node), worker));
        state_.lines.passed(node);
        state_.lines.sums(node) = view.sums;
        sums.given = {0, view.sums.zeros, view.sums.ones, 0};
        sums.products = {0, 0, view.sums.unbounded, 0};
        sums.loss = view.sums.loss, sums.curve = view.sums.curve;
        for (int n = 0; n < view.rows.n && margin; ++n) margin[n] = view.rows.x[n] ? view.eta[n] : -view.eta[n];
    }

    // The predictor with the fields of two values, of patterns or of all rows.
    NodeView view_two_values(int node, bool is_merged, int worker) {
        NodeView view = is_merged ? state_.lines.view_patterns(node) : state_.lines.view_predictors(node);
        double* eta = room(working_[worker].eta, stride_);
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

    // The products of the sums of the last pass, and the mixed derivatives of all fields but the first and these axes.
    std::vector<double> complete(int node, int worker, const Axes* axes) {
        Working& own = working_[worker];
        return places_[node]->complete(state_.view(node), state_.fields[node], axes, own.sums, own.places);
    }

    // w Cov(category k, score) of every row at the last pass; returns their sum.
    double mixed(int node, int k, int worker, double* line) {
        const CategoryColumn& column = state_.columns[node];
        const NodeView view = state_.view(node);
        const double *P = working_[worker].P.data() + static_cast<size_t>(k) * stride_, *w = view.rows.w;
        double sums[LANES] = {};
        for (int n = 0; n < stride_; n += LANES)
            for (int i = n; i < n + LANES; ++i) {
                const double mean = column.point(view.rows.x[i]) + view.wr[i] * view.rows.inverse_w[i];
                sums[i - n] += line[i] = w[i] * P[i] * (column.score[k] - mean);
            }
        return std::accumulate(sums, sums + LANES, 0.0);
    }

    // The mixed derivatives of all fields but the first and the axes of a block.
    std::vector<double> mixed_with(int node, const Axes& axes, int worker) {
        if (places_[node]) return complete(node, worker, &axes);
        const int m = state_.columns[node].q() - 1, d = axes.count();
        std::vector<double> B(static_cast<size_t>(m) * d);
        double* line = room(working_[worker].mixed, stride_);
        for (int k = 0; k < m; ++k) {
            const double sum = mixed(node, k + 1, worker, line);
            axes.dots(line, stride_, sum, B.data() + static_cast<size_t>(k) * d);
        }
        return B;
    }

    // Takes the fields out of a block. Centering has done so for the direction of the scores; of B S^-1 B^T, with S the
    // curvature of the fields and B their mixed derivatives, it remains to subtract what is orthogonal.
    void profile(const Block& task, const Axes& axes, int worker) {
        const CategorySums& sums = working_[worker].sums;
        const CategoryColumn& column = state_.columns[task.node];
        const int q = column.q(), m = q - 1, d = axes.count();
        std::vector<double> Y = mixed_with(task.node, axes, worker), L = field_curvature(sums);
        factorize(L, m);
        if (places_[task.node]) places_[task.node]->factor = FieldFactor(sums.products, q);
        std::vector<double> direction(m), along(d);
        double norm = 0;
        for (int i = 0; i < m; ++i) {  // L^T score
            for (int k = i; k < m; ++k) direction[i] += L[k * m + i] * (column.score[k + 1] - column.score[0]);
            norm += direction[i] * direction[i];
        }
        solve_lower(L, m, Y.data(), d);
        std::vector<double> values = Y;
        solve_upper(L, m, values.data(), d);
        responses_[task.node] = {axes.columns(), std::move(values)};
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
    std::vector<std::unique_ptr<NodePlaces>> places_;  // null: few categories
    std::vector<Working> working_;                     // of every thread
    Buffer<float> quarter_w_;
};

}  // namespace

std::unique_ptr<NodeLoss> ordered_loss(CategoryState& state) {
    return std::make_unique<Ordered>(state);
}

}  // namespace isinglass
