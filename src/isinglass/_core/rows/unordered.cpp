// Categories without an order: each is a corner of a regular simplex with edge length 1.
//
// The corners are written as e_k / sqrt 2 in as many dimensions as there are categories. A block of coefficients then
// is a table with an entry per category, and its norm is that of coordinates in the simplex: fields are free and
// probabilities add up to 1, hence gradients, and all that is made of them, add up to zero over a side without an
// order. Categories that do not occur are left out.
//
// A node's predictor has one number per category, row after row. What a neighbor adds is the row of a small table that
// its category selects; gradients and products with the Hessian are collected in such tables. No block of second
// derivatives is ever stored. Of a neighbor with two values, the rows with the rarer one are
// listed: the other rows follow from the sum over all, which is known.
#include "rows/neighbor_tables.hpp"

namespace isinglass {
namespace {

class Unordered final : public NodeLoss {
 public:
    Unordered(CategoryState& state, Holds holds)
        : state_(state),
          stride_(state.stride),
          nodes_(state.columns.size()),
          w_(stride_),
          scratch_(state.workers.pool.size()) {
        size_t most = 4, n_probabilities = 0;
        for (size_t s = 0; s < nodes_.size(); ++s) {
            const CategoryColumn& column = state_.columns[s];
            if (column.is_ordered()) continue;
            most = std::max<size_t>(most, column.ld());
            const size_t own = static_cast<size_t>(stride_) * column.ld();
            if (holds == Holds::all_nodes) nodes_[s].begin = n_probabilities;
            n_probabilities = holds == Holds::all_nodes ? n_probabilities + own : std::max(n_probabilities, own);
        }
        P_.resize(n_probabilities);
        for (int n = 0; n < stride_; ++n) w_[n] = static_cast<float>(state_.table->w[n]);
        for (Working& scratch : scratch_) {
            scratch.P.resize(most * stride_), scratch.z.resize(most * stride_);
            scratch.margin.resize(stride_), scratch.weights.resize(stride_);
        }
    }

    void add_columns(const Move& task, bool afresh, int worker) override {
        Working& scratch = scratch_[worker];
        NeighborTables<double>& tables = scratch.wide;
        tables.lay_out(state_, task.node, task.moved);
        tables.fill(task.coefficient);
        const Node& node = nodes_[task.node];
        double* eta = state_.lines.eta(task.node);
        if (afresh || node.L.empty() || node.is_majorized) return tables.gather(kernels().gather, eta);
        const size_t size = state_.lines.size(task.node);
        std::fill(scratch.P.data(), scratch.P.data() + size, 0.0);
        tables.gather(kernels().gather, scratch.P.data());
        for (size_t i = 0; i < size; ++i) eta[i] += scratch.P[i];
        kernels().narrow(scratch.P.data(), size, scratch.z.data());
        follow(task.node, scratch);
    }

    // Probabilities, residuals, margins and sums at the node's predictor and fields.
    const CategorySums& pass(int node, int worker) override {
        Working& scratch = scratch_[worker];
        const int q = state_.columns[node].q(), ld = state_.columns[node].ld();
        const NodeView view = state_.view(node);
        NodeRows rows = view.rows;
        rows.x = state_.codes(node);
        scratch.fields = state_.fields[node], scratch.fields.resize(ld, NOWHERE);
        const Space<double> P{scratch.P.data(), static_cast<size_t>(stride_) * ld},
            given = space(scratch.given, static_cast<size_t>(q) * ld),
            products = space(scratch.products, static_cast<size_t>(q) * ld);
        CategorySums& sums = scratch.sums;
        sums.resize(q);
        sums.loss = kernels().softmax({q, ld, scratch.fields.data()}, rows, view.eta,
                                      {view.wr, scratch.margin.data(), P, given, products});
        sums.curve = 0;
        for (int k = 0; k < q; ++k)
            for (int l = 0; l < q; ++l) {
                sums.given[q * k + l] = given.data[k * ld + l];
                if (l < k) sums.curve += sums.products[q * k + l] = products.data[k * ld + l];
            }
        return sums;
    }

    Odds odds(int node, int worker) override {
        pass(node, worker);
        return {state_.table->rows(node), scratch_[worker].margin.data()};
    }

    void collect(int node, const NeighborColumns& asked, double* out, int worker) override {
        Working& scratch = scratch_[worker];
        const std::vector<double>& shift = state_.shift[node];
        const auto& listed = split(node, asked, scratch.wide);
        kernels().scatter(scratch.wide.all(), state_.lines.wr(node));
        scratch.wide.read(shift.data(), out);
        const CategoryColumn& own = state_.columns[node];
        double* sum = room(scratch.sum, own.ld());
        for (int j = 0; j < listed.count(); ++j) {
            const RareRows& rare = state_.rare[listed.columns[j]];
            kernels().sum_listed(rare.list(own.ld()), state_.lines.wr(node), sum);
            for (int k = 0; k < own.q(); ++k)
                out[listed.begin[j] + k] = own.unit * (rare.score * sum[k] + rare.other * (shift[k] - sum[k]));
        }
    }

    // Keeps the probabilities for products, and returns the diagonal. The bound of a curvature is that of equal
    // probabilities, q / 2 times: (I - 1 1^T / q) / 2.
    void block(const Block& task, Curvature curvature, int worker) override {
        Working& scratch = scratch_[worker];
        Node& node = nodes_[task.node];
        const int q = state_.columns[task.node].q(), ld = state_.columns[task.node].ld();
        float* P = P_.data() + node.begin;
        node.is_majorized = curvature == Curvature::majorized;
        if (node.is_majorized) {
            scratch.sums.resize(q);
            std::fill(scratch.sums.products.begin(), scratch.sums.products.end(), 0.5 / q);
            scratch.sums.curve = 0.5 / q;
            for (int n = 0; n < stride_; ++n)
                for (int k = 0; k < ld; ++k)
                    P[static_cast<size_t>(n) * ld + k] = k < q ? 1.0f / static_cast<float>(q) : 0.0f;
        } else {
            pass(task.node, worker);
            bound_curvature(task.node, scratch);
            kernels().narrow(scratch.P.data(), static_cast<size_t>(stride_) * ld, P);
        }
        node.likeliest.resize(stride_);
        for (int n = 0; n < stride_; ++n) {
            const float* row = P + static_cast<size_t>(n) * ld;
            node.likeliest[n] = static_cast<uint8_t>(std::max_element(row, row + q) - row);
        }
        node.L = field_curvature(scratch.sums);
        factorize(node.L, q - 1);
        *task.curve = scratch.sums.curve;
        if (task.inner.count == 0) return;
        kernels().variances(curve(task.node, scratch), scratch.z.data());
        const auto& listed = split(task.node, task.inner, scratch.single);
        kernels().scatter_single(scratch.single.all(), scratch.z.data());
        scratch.single.read_squares(task.diagonal);
        if (listed.count() == 0) return;
        std::vector<float> all(ld);
        for (int n = 0; n < stride_; ++n)
            for (int k = 0; k < ld; ++k) all[k] += scratch.z[static_cast<size_t>(n) * ld + k];
        const double unit = state_.columns[task.node].unit;
        float* sum = room(scratch.single_sum, ld);
        for (int j = 0; j < listed.count(); ++j) {
            const RareRows& rare = state_.rare[listed.columns[j]];
            kernels().sum_listed_single(rare.list(ld), scratch.z.data(), sum);
            for (int k = 0; k < q; ++k) {
                const double rest = std::max(all[k] - sum[k], 0.0f);
                task.diagonal[listed.begin[j] + k] = static_cast<float>(
                    unit * unit * (rare.score * rare.score * sum[k] + rare.other * rare.other * rest));
            }
        }
    }

    // Predictors of d, fields that follow, curvatures, sums over the rows of every category.
    void product(const Product& task, int worker) override {
        Working& scratch = scratch_[worker];
        const int node = task.node, q = state_.columns[node].q(), ld = state_.columns[node].ld();
        const double unit = state_.columns[node].unit;
        NeighborTables<float>& tables = scratch.single;
        const auto& listed = split(node, task.inner, tables);
        tables.fill(task.d);
        float *z = scratch.z.data(), *line = room(scratch.single_sum, ld);
        std::fill(line, line + ld, 0.0f);
        for (int j = 0; j < listed.count(); ++j)
            for (int k = 0; k < q; ++k)
                line[k] +=
                    static_cast<float>(unit * state_.rare[listed.columns[j]].other) * task.d[listed.begin[j] + k];
        for (int n = 0; n < stride_; ++n) std::copy(line, line + ld, z + static_cast<size_t>(n) * ld);
        for (int j = 0; j < listed.count(); ++j) {
            const float factor = static_cast<float>(unit * state_.rare[listed.columns[j]].apart());
            for (int k = 0; k < q; ++k) line[k] = factor * task.d[listed.begin[j] + k];
            kernels().add_to_listed(state_.rare[listed.columns[j]].list(ld), line, z);
        }
        tables.gather(kernels().gather_single, z);
        const std::vector<double>& response = find_response(node, scratch);
        float shift[256] = {};
        for (int k = 1; k < q; ++k) shift[k] = static_cast<float>(-response[k]);
        kernels().curve(curve(node, scratch), z, shift, nullptr, z);
        tables.clear();
        kernels().scatter_single(tables.all(), z);
        tables.read(nullptr, task.Hd);
        // The fields follow, so that the sum over all rows is zero.
        for (int j = 0; j < listed.count(); ++j) {
            const float factor = static_cast<float>(unit * state_.rare[listed.columns[j]].apart());
            kernels().sum_listed_single(state_.rare[listed.columns[j]].list(ld), z, line);
            for (int k = 0; k < q; ++k) task.Hd[listed.begin[j] + k] = factor * line[k];
        }
    }

 private:
    // A node's curvature, where its block was made.
    struct Node {
        std::vector<double> L;  // factor of the curvature of the fields
        bool is_majorized = false;
        std::vector<uint8_t> likeliest;  // category of a row, at the probabilities of products
        size_t begin = 0;                // of these
    };
    struct Working {
        Buffer<double> sum;
        Buffer<float> single_sum;
        NeighborTables<double> wide;
        NeighborTables<float> single;
        Buffer<double> P, margin, given, products;
        Buffer<float> z, weights;
        CategorySums sums;
        std::vector<double> fields;
    };

    // Tables for neighbors with more than two values; the others are listed.
    template <class T>
    const typename NeighborTables<T>::List& split(int node, const NeighborColumns& neighbors,
                                                  NeighborTables<T>& tables) const {
        tables.lay_out(state_, node, neighbors, [&](int t) { return !state_.rare[t].rows.empty(); });
        return tables.listed();
    }

    // What the fields of all categories but the first give way by, to first order, where predictors move by scratch.z.
    const std::vector<double>& find_response(int node, Working& scratch) {
        std::vector<double>& sums = scratch.fields;
        const int d = state_.columns[node].q() - 1;
        sums.assign(state_.columns[node].ld(), 0.0);
        kernels().curve(curve(node, scratch), scratch.z.data(), nullptr, sums.data(), nullptr);
        solve_lower(nodes_[node].L, d, sums.data() + 1);
        solve_upper(nodes_[node].L, d, sums.data() + 1);
        return sums;
    }

    // The fields to where the last block expects them after a move.
    void follow(int node, Working& scratch) {
        const std::vector<double>& response = find_response(node, scratch);
        const auto is_far = [](double each) { return !(std::abs(each) <= tuning::fields::LONGEST_STEP); };
        if (std::any_of(response.begin(), response.end(), is_far)) return;
        std::vector<double>& fields = state_.fields[node];
        for (size_t k = 1; k < fields.size(); ++k) fields[k] -= response[k];
    }

    Curve curve(int node, Working& scratch) {
        const CategoryColumn& own = state_.columns[node];
        const float* w = w_.data();
        if (nodes_[node].is_majorized) {
            const float scale = static_cast<float>(own.q()) / 2;
            for (int n = 0; n < stride_; ++n) scratch.weights[n] = scale * w_[n];
            w = scratch.weights.data();
        }
        return {own.ld(), stride_, P_.data() + nodes_[node].begin, w, nodes_[node].likeliest.data()};
    }

    // Of rows predicted wrongly with confidence, whose probabilities have no curvature left: the observed category gets
    // as much as gives that of two values (bound_curvature in kernels_impl.hpp).
    void bound_curvature(int node, Working& scratch) const {
        const int q = state_.columns[node].q(), ld = state_.columns[node].ld();
        const double* w = state_.table->w.data();
        std::vector<double>& products = scratch.sums.products;
        for (int n = 0; n < state_.table->n_distinct; ++n) {
            if (scratch.margin[n] > -tuning::BADLY_PREDICTED) continue;
            double* P = scratch.P.data() + static_cast<size_t>(n) * ld;
            const double share = -0.5 / scratch.margin[n];
            const auto add_products = [&](double weight) {
                for (int k = 1; k < q; ++k)
                    for (int l = 0; l < k; ++l) products[q * k + l] += weight * P[k] * P[l];
            };
            add_products(-w[n]);
            for (int k = 0; k < q; ++k) P[k] *= 1 - share;
            P[state_.codes(node)[n]] += share;
            add_products(w[n]);
        }
    }

    CategoryState& state_;
    const int stride_;
    std::vector<Node> nodes_;
    Buffer<float> P_, w_;           // probabilities at the last blocks; weights
    std::vector<Working> scratch_;  // of every thread
};

}  // namespace

std::unique_ptr<NodeLoss> unordered_loss(CategoryState& state, Holds holds) {
    return std::make_unique<Unordered>(state, holds);
}

}  // namespace isinglass
