#include "rows/unordered.hpp"

#include "rows/fields.hpp"

namespace isinglass {

using namespace tuning::rows;

namespace {

// Of `count` tables with so many bytes in all, how many the cache holds.
int at_once(int count, size_t bytes) {
    return static_cast<int>(std::max<size_t>(TABLE_CACHE_BYTES * count / std::max<size_t>(bytes, 1), 1));
}

}  // namespace

Unordered::Unordered(CategoryState& state, Holds holds)
    : state_(state),
      nodes_(state.columns.size()),
      codes_(static_cast<size_t>(state.stride) * state.columns.size()),
      w_(state.stride),
      tabled_(state.workers.pool.size()) {
    const int stride = state_.stride;
    int most = 4;
    for (size_t s = 0; s < nodes_.size(); ++s) {
        const CategoryColumn& column = state_.columns[s];
        if (!column.is_ordered()) most = std::max(most, column.ld());
        const size_t own = column.is_ordered() ? 0 : static_cast<size_t>(stride) * column.ld();
        if (holds == Holds::all_nodes) nodes_[s].begin = n_probabilities_;
        n_probabilities_ = holds == Holds::all_nodes ? n_probabilities_ + own : std::max(n_probabilities_, own);
        uint8_t number[256] = {};
        for (int k = 0; k < column.q(); ++k) number[static_cast<int>(column.value[k])] = static_cast<uint8_t>(k);
        const uint8_t* cells = state_.table->column(static_cast<int>(s));
        for (int n = 0; n < stride; ++n) codes_[s * stride + n] = number[cells[n]];
    }
    for (int n = 0; n < stride; ++n) w_[n] = static_cast<float>(state_.table->w[n]);
    for (Tabled& scratch : tabled_) {
        scratch.P.resize(static_cast<size_t>(most) * stride);
        scratch.z.resize(scratch.P.size());
        scratch.margin.resize(stride);
        scratch.weights.resize(stride);
        scratch.room.resize(static_cast<size_t>(2) * most * most);
    }
}

// Where the entry (k, l) of the block of a node and a neighbor is: that of a pair has the first column's categories for
// rows.
int Unordered::index(int s, int t, int k, int l) const {
    return s < t ? k * width(t) + l : l * width(s) + k;
}

// What a neighbor's categories add to a node's predictor.
template <class T, class U>
void Unordered::fill_table(int node, int t, const U* block, T* table) const {
    const CategoryColumn &own = column(node), &other = column(t);
    const int lead = own.lead(), width = own.width();
    for (int l = 0; l < other.q(); ++l)
        for (int k = 0; k < width; ++k) {
            const double value = !other.is_ordered() ? other.unit * block[index(node, t, k, l)]
                                                     : other.score[l] * block[index(node, t, k, 0)];
            table[l * lead + k] = static_cast<T>(own.unit * value);
        }
}

// The other way: from sums over the rows of every category to a block. shift: the sums over all rows, which should be
// zero, times the neighbor's mean point, are taken off.
template <class T, class U>
void Unordered::read_table(int node, int t, const T* table, const double* shift, U* block) const {
    const CategoryColumn &own = column(node), &other = column(t);
    const int lead = own.lead(), width = own.width();
    for (int k = 0; k < width; ++k) {
        double along = 0;
        for (int l = 0; l < other.q(); ++l) {
            const double value = table[l * lead + k];
            if (!other.is_ordered()) {
                const double off = shift ? value - other.share[l] * shift[k] : value;
                block[index(node, t, k, l)] = static_cast<U>(own.unit * other.unit * off);
            } else {
                along += other.score[l] * value;
            }
        }
        if (other.is_ordered()) block[index(node, t, k, 0)] = static_cast<U>(own.unit * along);
    }
}

// Tables for these neighbors, all zero, and where their blocks begin.
template <class T>
void Unordered::lay_out(int node, const NeighborColumns& neighbors, Tabled& scratch, Tables<T>& tables) const {
    scratch.codes.clear(), scratch.begin.clear(), tables.of.clear();
    const auto size = [&](int j) { return static_cast<size_t>(column(neighbors.column[j]).q()) * column(node).lead(); };
    tables.numbers = 0;
    for (int j = 0; j < neighbors.count; ++j) tables.numbers += size(j);
    T* data = room(tables.data, tables.numbers);
    std::fill(data, data + tables.numbers, T{});
    size_t first = 0;
    for (int j = 0; j < neighbors.count; ++j) {
        scratch.codes.push_back(codes(neighbors.column[j]));
        scratch.begin.push_back(first);
        tables.of.push_back(data);
        first += static_cast<size_t>(width(node)) * width(neighbors.column[j]);
        data += size(j);
    }
}

template <class T>
CodeTables<T> Unordered::tables_of(int node, const Tabled& scratch, const Tables<T>& tables) const {
    return {scratch.codes.data(), tables.of.data(), static_cast<int>(tables.of.size()), column(node).lead(),
            state_.stride};
}

template <class T, class Gather>
void Unordered::gather(int node, const Tabled& scratch, const Tables<T>& tables, Gather kernel, T* out) const {
    const int count = static_cast<int>(tables.of.size()), together = at_once(count, tables.numbers * sizeof(T));
    for (int j = 0; j < count; j += together)
        kernel({scratch.codes.data() + j, tables.of.data() + j, std::min(together, count - j), column(node).lead(),
                state_.stride},
               out);
}

// Probabilities, residuals, margins and sums at the node's predictor and fields.
const double* Unordered::pass(int node, int worker) {
    Tabled& scratch = tabled_[worker];
    const CategoryColumn& own = column(node);
    const int q = own.q(), ld = own.ld();
    const NodeView view = state_.view(node);
    NodeRows rows = view.rows;
    rows.x = codes(node);
    scratch.fields = state_.fields[node], scratch.fields.resize(ld, NOWHERE);
    const double loss = kernels().softmax({q, ld, scratch.fields.data()}, rows, view.eta,
                                          {view.wr, scratch.margin.data(), scratch.P.data(), scratch.room.data()});
    scratch.sums.assign(2 * q * q + 2, 0.0);
    double* sums = scratch.sums.data();
    for (int j = 0; j < 2 * q; ++j)
        for (int k = 0; k < q; ++k) sums[j * q + k] = scratch.room[static_cast<size_t>(j) * ld + k];
    double curve = 0;
    for (int k = 0; k < q; ++k)
        for (int l = 0; l < k; ++l) curve += sums[q * (q + k) + l];
    sums[2 * q * q] = loss, sums[2 * q * q + 1] = curve;
    return sums;
}

void Unordered::add_columns(const Move& task, bool, int worker) {
    Tabled& scratch = tabled_[worker];
    lay_out(task.node, task.moved, scratch, scratch.wide);
    for (int j = 0; j < task.moved.count; ++j)
        fill_table(task.node, task.moved.column[j], task.coefficient + scratch.begin[j], scratch.wide.of[j]);
    gather(task.node, scratch, scratch.wide, kernels().gather, state_.lines.eta(task.node));
}

void Unordered::collect(int node, const NeighborColumns& asked, double* out, int worker) {
    Tabled& scratch = tabled_[worker];
    Tables<double>& tables = scratch.wide;
    lay_out(node, asked, scratch, tables);
    kernels().scatter(tables_of(node, scratch, tables), state_.lines.wr(node));
    for (int j = 0; j < asked.count; ++j)
        read_table(node, asked.column[j], tables.of[j], state_.shift[node].data(), out + scratch.begin[j]);
}

Curve Unordered::curve(int node, Tabled& scratch) {
    const CategoryColumn& own = column(node);
    const int stride = state_.stride;
    const float* w = w_.data();
    if (nodes_[node].is_majorized) {
        const float scale = static_cast<float>(own.q()) / 2;
        for (int n = 0; n < stride; ++n) scratch.weights[n] = scale * w_[n];
        w = scratch.weights.data();
    }
    return {own.ld(), stride, probabilities(node), w, nodes_[node].likeliest.data()};
}

// Of rows predicted wrongly with confidence, whose probabilities have no curvature left: the observed category gets as
// much as gives that of two values (bound_curvature in kernels_impl.hpp).
void Unordered::bound_curvature(int node, Tabled& scratch) const {
    const int q = column(node).q(), ld = column(node).ld();
    const double* w = state_.table->w.data();
    double* products = scratch.sums.data() + static_cast<size_t>(q) * q;
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
        P[codes(node)[n]] += share;
        add_products(w[n]);
    }
}

// Keeps the probabilities for products, and returns the diagonal. The bound of a curvature is that of equal
// probabilities, q / 2 times: (I - 1 1^T / q) / 2.
void Unordered::block(const Block& task, Curvature curvature, int worker) {
    Tabled& scratch = tabled_[worker];
    Node& node = nodes_[task.node];
    const int q = column(task.node).q(), ld = column(task.node).ld(), stride = state_.stride;
    float* P = probabilities(task.node);
    node.is_majorized = curvature == Curvature::majorized;
    if (node.is_majorized) {
        scratch.sums.assign(2 * q * q + 2, 0.5 / q);
        for (int n = 0; n < stride; ++n)
            for (int k = 0; k < ld; ++k)
                P[static_cast<size_t>(n) * ld + k] = k < q ? 1.0f / static_cast<float>(q) : 0.0f;
    } else {
        pass(task.node, worker);
        bound_curvature(task.node, scratch);
        kernels().narrow(scratch.P.data(), stride * ld, P);
    }
    node.likeliest.resize(stride);
    for (int n = 0; n < stride; ++n) {
        const float* row = P + static_cast<size_t>(n) * ld;
        node.likeliest[n] = static_cast<uint8_t>(std::max_element(row, row + q) - row);
    }
    node.L = field_curvature(scratch.sums.data() + q * q, q);
    factorize(node.L, q - 1);
    *task.curve = scratch.sums[2 * q * q + 1];
    if (task.inner.count == 0) return;
    kernels().variances(curve(task.node, scratch), scratch.z.data());
    lay_out(task.node, task.inner, scratch, scratch.single);
    kernels().scatter_single(tables_of(task.node, scratch, scratch.single), scratch.z.data());
    read_diagonal(task, scratch);
}

// As read_table, with the squares of scores.
void Unordered::read_diagonal(const Block& task, Tabled& scratch) const {
    const CategoryColumn& own = column(task.node);
    const int lead = own.lead(), width = own.width();
    for (int j = 0; j < task.inner.count; ++j) {
        const int t = task.inner.column[j];
        const CategoryColumn& other = column(t);
        float* out = task.diagonal + scratch.begin[j];
        for (int k = 0; k < width; ++k) {
            double along = 0;
            for (int l = 0; l < other.q(); ++l) {
                const double value = own.unit * own.unit * scratch.single.of[j][l * lead + k];
                if (!other.is_ordered())
                    out[index(task.node, t, k, l)] = static_cast<float>(other.unit * other.unit * value);
                else
                    along += other.score[l] * other.score[l] * value;
            }
            if (other.is_ordered()) out[index(task.node, t, k, 0)] = static_cast<float>(along);
        }
    }
}

void Unordered::prepare_blocks(std::span<const Block>) {
    if (P_.size() == 0) P_.resize(n_probabilities_);
}

// Predictors of d, fields that follow, curvatures, sums over the rows of every category.
void Unordered::product(const Product& task, int worker) {
    Tabled& scratch = tabled_[worker];
    const int node = task.node, q = column(node).q(), count = task.inner.count;
    Tables<float>& tables = scratch.single;
    lay_out(node, task.inner, scratch, tables);
    for (int j = 0; j < count; ++j) fill_table(node, task.inner.column[j], task.d + scratch.begin[j], tables.of[j]);
    float* z = scratch.z.data();
    std::fill(z, z + state_.lines.size(node), 0.0f);
    gather(node, scratch, tables, kernels().gather_single, z);
    const Curve curvature = curve(node, scratch);
    std::vector<double>& sums = scratch.fields;
    sums.assign(column(node).ld(), 0.0);
    kernels().curve(curvature, z, nullptr, sums.data(), nullptr);
    solve_lower(nodes_[node].L, q - 1, sums.data() + 1);
    solve_upper(nodes_[node].L, q - 1, sums.data() + 1);
    float follow[256] = {};
    for (int k = 1; k < q; ++k) follow[k] = static_cast<float>(-sums[k]);
    kernels().curve(curvature, z, follow, nullptr, z);
    std::fill(tables.of[0], tables.of[0] + tables.numbers, 0.0f);
    kernels().scatter_single(tables_of(node, scratch, tables), z);
    for (int j = 0; j < count; ++j)
        read_table(node, task.inner.column[j], tables.of[j], nullptr, task.Hd + scratch.begin[j]);
}

const double* Unordered::odds(int node, int worker) {
    pass(node, worker);
    return tabled_[worker].margin.data();
}

}  // namespace isinglass
