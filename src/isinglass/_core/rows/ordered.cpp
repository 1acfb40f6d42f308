// Ordered categories: a category is a point on a line, and the conditional distribution of a node is
// softmax_k(field_k + score_k eta).
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "rows/node_places.hpp"

namespace isinglass {

using namespace tuning::rows;

namespace {

constexpr int LANES = 8;  // sums side by side in a fixed order; divides ROW_ALIGN

class Ordered final : public LineLoss {
 public:
    explicit Ordered(CategoryState& state)
        : LineLoss(state), places_(state.columns.size()), working_(state.workers.scratch.size()), quarter_w_(stride_) {
        for (int n = 0; n < stride_; ++n) quarter_w_[n] = static_cast<float>(state_.table->w[n] / 4);
        for (size_t s = 0; s < places_.size(); ++s)
            if (const CategoryColumn& column = state_.columns[s]; column.is_ordered() && column.q() > FEW_CATEGORIES)
                places_[s] = std::make_unique<NodePlaces>(column);
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
        return {state_.table->rows(node), margin};
    }

    void block(const Block& task, Curvature curvature, int worker) override {
        const bool is_own = curvature == Curvature::own;
        *task.curve = is_own ? pass(task.node, worker).curve : 0.25;
        if (task.inner.count == 0) return;
        const Axes& axes = axes_of(task.inner, worker);
        kernels().gram(
            axes.cells(stride_), is_own ? working_[worker].wv.data() : quarter_w_.data(),
            {task.G, task.stride, task.b, space(state_.workers.scratch[worker].panels, gram_scratch(axes.count()))});
        scale(task, axes);
        if (is_own) profile(task, axes, worker);
    }

 private:
    // What a pass leaves.
    struct Working {
        CategorySums sums;
        Buffer<double> P, places;
        Buffer<float> wv;
        Buffer<double> margin;  // log odds of the observed category
        Buffer<double> mixed;   // derivatives of one field and the predictor
    };

    // Residuals, curvatures, margins, probabilities and sums at the node's predictor and fields.
    const CategorySums& run(int node, int worker, double* margin) {
        const CategoryColumn& column = state_.columns[node];
        Working& own = working_[worker];
        CategorySums& sums = own.sums;
        const int q = column.q();
        if (sums.q != q) sums.resize(q);
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

    std::vector<std::unique_ptr<NodePlaces>> places_;  // null: few categories
    std::vector<Working> working_;                     // of every thread
    Buffer<float> quarter_w_;
};

}  // namespace

std::unique_ptr<NodeLoss> ordered_loss(CategoryState& state) {
    return std::make_unique<Ordered>(state);
}

}  // namespace isinglass
