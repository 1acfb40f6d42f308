#include "rows/nominal_rows.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "rows/fields.hpp"
#include "tuning.hpp"

namespace isinglass {

using namespace tuning::rows;

namespace {

constexpr double EPSILON = std::numeric_limits<double>::epsilon();
constexpr double NOWHERE = -1e30;  // field of the padding

int padded(int q) {
    return q <= 4 ? 4 : (q + 7) / 8 * 8;
}

double norm(const std::vector<double>& values) {
    return std::sqrt(std::inner_product(values.begin(), values.end(), values.begin(), 0.0));
}

}  // namespace

size_t NominalRows::bytes(const Table& table, const uint8_t* ranges, int n_threads) {
    size_t rows = 0, widest = 0;
    for (int s = 0; s < table.n_features; ++s) {
        const size_t ld = padded(read(table, s).q());
        const size_t lead = ranges[s] ? 1 : ld;
        rows += ld * sizeof(float) + lead * (2 * sizeof(double) + sizeof(float)) + 1;
        widest = std::max(widest, ld);
    }
    return table.stride * (rows + n_threads * widest * (sizeof(double) + sizeof(float)));
}

NominalRows::NominalRows(std::shared_ptr<const Table> table, const uint8_t* ranges, Holds holds, Pool& pool)
    : CategoryRows(std::move(table), holds, pool),
      nodes_(table_->n_features),
      codes_(static_cast<size_t>(stride_) * table_->n_features),
      w_(stride_),
      tabled_(pool.size()) {
    std::vector<int> leads;
    int most = 4;
    for (int s = 0; s < table_->n_features; ++s) {
        columns_.push_back(describe(s, ranges[s]));
        leads.push_back(columns_[s].lead);
        most = std::max(most, columns_[s].ld);
        const size_t own = static_cast<size_t>(stride_) * columns_[s].ld;
        if (holds_ == Holds::all_nodes) columns_[s].wide = n_wide_;
        n_wide_ = holds_ == Holds::all_nodes ? n_wide_ + own : std::max(n_wide_, own);
    }
    make_lines(std::move(leads));
    for (int n = 0; n < stride_; ++n) w_[n] = static_cast<float>(table_->w[n]);
    for (Tabled& scratch : tabled_) {
        scratch.P.resize(static_cast<size_t>(most) * stride_);
        scratch.z.resize(scratch.P.size());
        scratch.margin.resize(stride_);
        scratch.weights.resize(stride_);
        scratch.room.resize(static_cast<size_t>(2) * most * most);
    }
}

// Its categories that occur, in the order of their values; their numbers go into codes_.
NominalRows::Column NominalRows::describe(int column, int range) {
    Levels levels = read(*table_, column);
    const int q = levels.q(), ld = padded(q);
    uint8_t number[256] = {};
    for (int k = 0; k < q; ++k) {
        number[static_cast<int>(levels.value[k])] = static_cast<uint8_t>(k);
        if (range > 0) levels.score.push_back((levels.value[k] - levels.center) / range);
    }
    uint8_t* codes = codes_.data() + static_cast<size_t>(column) * stride_;
    for (int n = 0; n < stride_; ++n) codes[n] = number[table_->column(column)[n]];
    Column described{q, q, ld, ld, std::sqrt(0.5), levels.share, levels.score, {}, 0};
    if (range > 0) {
        described.width = described.lead = 1, described.unit = 1.0;
        described.score.resize(ld, 0.0);
        described.single_score.assign(described.score.begin(), described.score.end());
    }
    add_column(std::move(levels));
    return described;
}

// Sums run over the rows one after the other.
double NominalRows::rounding() const {
    return (2.0 * stride_ + sum_over_categories()) * EPSILON / 2;
}

// Where the entry (k, l) of the block of a node and a neighbor is: that of a pair has the first column's categories for
// rows.
int NominalRows::index(int s, int t, int k, int l) const {
    return s < t ? k * columns_[t].width + l : l * columns_[s].width + k;
}

// Numbers that add up to zero over either side that is nominal.
void NominalRows::project(const Pair& pair, double* block) const {
    const int s = std::min(pair.s, pair.t), t = std::max(pair.s, pair.t);
    const int rows = columns_[s].width, width = columns_[t].width;
    if (columns_[t].score.empty())
        for (int k = 0; k < rows; ++k) {
            double* row = block + static_cast<size_t>(k) * width;
            const double mean = std::accumulate(row, row + width, 0.0) / width;
            for (int l = 0; l < width; ++l) row[l] -= mean;
        }
    if (!columns_[s].score.empty()) return;
    std::vector<double> mean(width);
    for (int k = 0; k < rows; ++k)
        for (int l = 0; l < width; ++l) mean[l] += block[static_cast<size_t>(k) * width + l] / rows;
    for (int k = 0; k < rows; ++k)
        for (int l = 0; l < width; ++l) block[static_cast<size_t>(k) * width + l] -= mean[l];
}

// What a neighbor's categories add to a node's predictor.
template <class T, class U>
void NominalRows::fill_table(int node, int t, const U* block, T* table) const {
    const Column &own = columns_[node], &other = columns_[t];
    for (int l = 0; l < other.q; ++l)
        for (int k = 0; k < own.width; ++k) {
            const double value = other.score.empty() ? other.unit * block[index(node, t, k, l)]
                                                     : other.score[l] * block[index(node, t, k, 0)];
            table[l * own.lead + k] = static_cast<T>(own.unit * value);
        }
}

// The other way: from sums over the rows of every category to a block. shift: the sums over all rows, which should be
// zero, times the neighbor's mean point, are taken off.
template <class T, class U>
void NominalRows::read_table(int node, int t, const T* table, const double* shift, U* block) const {
    const Column &own = columns_[node], &other = columns_[t];
    for (int k = 0; k < own.width; ++k) {
        double along = 0;
        for (int l = 0; l < other.q; ++l) {
            const double value = table[l * own.lead + k];
            if (other.score.empty()) {
                const double off = shift ? value - other.share[l] * shift[k] : value;
                block[index(node, t, k, l)] = static_cast<U>(own.unit * other.unit * off);
            } else {
                along += other.score[l] * value;
            }
        }
        if (!other.score.empty()) block[index(node, t, k, 0)] = static_cast<U>(own.unit * along);
    }
}

// Tables for these neighbors, all zero, and where their blocks begin.
template <class T>
void NominalRows::lay_out(int node, const NeighborColumns& neighbors, Tabled& scratch, Tables<T>& tables) const {
    scratch.codes.clear(), scratch.begin.clear(), tables.of.clear();
    const auto size = [&](int j) { return static_cast<size_t>(columns_[neighbors.column[j]].q) * columns_[node].lead; };
    tables.numbers = 0;
    for (int j = 0; j < neighbors.count; ++j) tables.numbers += size(j);
    if (tables.data.size() < tables.numbers) tables.data.resize(tables.numbers + tables.numbers / 4);
    T* data = tables.data.data();
    std::fill(data, data + tables.numbers, T{});
    size_t first = 0;
    for (int j = 0; j < neighbors.count; ++j) {
        scratch.codes.push_back(codes(neighbors.column[j]));
        scratch.begin.push_back(first);
        tables.of.push_back(data);
        first += static_cast<size_t>(columns_[node].width) * columns_[neighbors.column[j]].width;
        data += size(j);
    }
}

namespace {

// Of `count` tables with so many bytes in all, how many the cache holds.
int at_once(int count, size_t bytes) {
    return static_cast<int>(std::max<size_t>(TABLE_CACHE_BYTES * count / std::max<size_t>(bytes, 1), 1));
}

}  // namespace

// Probabilities, residuals, margins and sums at the node's predictor and fields.
void NominalRows::pass(int node, int worker) {
    Tabled& scratch = tabled_[worker];
    const Column& column = columns_[node];
    const int q = column.q, ld = column.ld;
    std::vector<double>& fields = scratch.padded;
    fields = fields_[node];
    fields.resize(ld, NOWHERE);
    const Softmax softmax{q, ld, fields.data(), column.score.empty() ? nullptr : column.score.data()};
    const double loss = kernels_.softmax(softmax, eta(node), codes(node), table_->w.data(), stride_, wr(node),
                                         scratch.margin.data(), scratch.P.data(), scratch.room.data());
    scratch.sums.assign(2 * q * q + 2, 0.0);
    double* sums = scratch.sums.data();
    for (int j = 0; j < 2 * q; ++j)
        for (int k = 0; k < q; ++k) sums[j * q + k] = scratch.room[static_cast<size_t>(j) * ld + k];
    double curve = 0;
    for (int k = 0; k < q; ++k)
        for (int l = 0; l < k; ++l) {
            const double apart = column.score.empty() ? 1 : column.score[k] - column.score[l];
            curve += sums[q * (q + k) + l] * apart * apart;
        }
    sums[2 * q * q] = loss, sums[2 * q * q + 1] = curve;
}

const double* NominalRows::sums(int node, int worker) {
    const size_t q = columns_[node].q;
    tabled_[worker].sums.resize(2 * q * q + 2);
    return tabled_[worker].sums.data();
}

void NominalRows::add_columns(const Move& task, bool, int worker) {
    Tabled& scratch = tabled_[worker];
    const int count = task.moved.count, lead = columns_[task.node].lead;
    Tables<double>& tables = scratch.wide;
    lay_out(task.node, task.moved, scratch, tables);
    for (int j = 0; j < count; ++j)
        fill_table(task.node, task.moved.column[j], task.coefficient + scratch.begin[j], tables.of[j]);
    const int together = at_once(count, tables.numbers * sizeof(double));
    for (int j = 0; j < count; j += together)
        kernels_.gather(scratch.codes.data() + j, tables.of.data() + j, std::min(together, count - j), lead, stride_,
                        eta(task.node));
}

void NominalRows::collect(const NodeView& view, int node, const NeighborColumns& asked, double* out, int worker) {
    Tabled& scratch = tabled_[worker];
    Tables<double>& tables = scratch.wide;
    lay_out(node, asked, scratch, tables);
    kernels_.scatter(view.wr, scratch.codes.data(), asked.count, columns_[node].lead, stride_, tables.of.data());
    for (int j = 0; j < asked.count; ++j)
        read_table(node, asked.column[j], tables.of[j], shift_[node].data(), out + scratch.begin[j]);
}

Curve NominalRows::curve(int node, Tabled& scratch) {
    const Column& column = columns_[node];
    const float* w = w_.data();
    if (nodes_[node].is_majorized) {
        const float scale = static_cast<float>(column.q) / 2;
        for (int n = 0; n < stride_; ++n) scratch.weights[n] = scale * w_[n];
        w = scratch.weights.data();
    }
    return {column.ld, probabilities(node), w, column.score.empty() ? nullptr : column.single_score.data(),
            nodes_[node].likeliest.data()};
}

// Of rows predicted wrongly with confidence, whose probabilities have no curvature left: the observed category gets as
// much as gives that of two values (bound_curvature in kernels_impl.hpp).
void NominalRows::bound_curvature(int node, Tabled& scratch) const {
    const Column& column = columns_[node];
    double* products = scratch.sums.data() + static_cast<size_t>(column.q) * column.q;
    for (int n = 0; n < table_->n_distinct; ++n) {
        if (scratch.margin[n] > -tuning::BADLY_PREDICTED) continue;
        double* P = scratch.P.data() + static_cast<size_t>(n) * column.ld;
        const double share = -0.5 / scratch.margin[n];
        const auto add_products = [&](double weight) {
            for (int k = 1; k < column.q; ++k)
                for (int l = 0; l < k; ++l) products[column.q * k + l] += weight * P[k] * P[l];
        };
        add_products(-table_->w[n]);
        for (int k = 0; k < column.q; ++k) P[k] *= 1 - share;
        P[codes(node)[n]] += share;
        add_products(table_->w[n]);
    }
}

// Keeps the probabilities for products, and returns the diagonal. The bound of a curvature is that of equal
// probabilities, q / 2 times: (I - 1 1^T / q) / 2.
void NominalRows::make_curvature(const Block& task, Curvature curvature, int worker) {
    Tabled& scratch = tabled_[worker];
    const Column& column = columns_[task.node];
    Node& node = nodes_[task.node];
    const int q = column.q;
    float* P = probabilities(task.node);
    node.is_majorized = curvature == Curvature::majorized;
    if (node.is_majorized) {
        scratch.sums.assign(2 * q * q + 2, 0.5 / q);
        for (int n = 0; n < stride_; ++n)
            for (int k = 0; k < column.ld; ++k)
                P[static_cast<size_t>(n) * column.ld + k] = k < q ? 1.0f / static_cast<float>(q) : 0.0f;
    } else {
        pass(task.node, worker);
        bound_curvature(task.node, scratch);
        kernels_.narrow(scratch.P.data(), stride_ * column.ld, P);
    }
    node.likeliest.resize(stride_);
    for (int n = 0; n < stride_; ++n) {
        const float* row = P + static_cast<size_t>(n) * column.ld;
        node.likeliest[n] = static_cast<uint8_t>(std::max_element(row, row + q) - row);
    }
    node.L = field_curvature(scratch.sums.data() + q * q, q);
    factorize(node.L, q - 1);
    *task.curve = scratch.sums[2 * q * q + 1];
    if (task.inner.count == 0) return;
    kernels_.variances(curve(task.node, scratch), stride_, scratch.z.data());
    lay_out(task.node, task.inner, scratch, scratch.single);
    kernels_.scatter_single(scratch.z.data(), scratch.codes.data(), task.inner.count, column.lead, stride_,
                            scratch.single.of.data());
    read_diagonal(task, scratch);
}

// As read_table, with the squares of scores.
void NominalRows::read_diagonal(const Block& task, Tabled& scratch) const {
    const Column& own = columns_[task.node];
    for (int j = 0; j < task.inner.count; ++j) {
        const int t = task.inner.column[j];
        const Column& other = columns_[t];
        float* out = task.diagonal + scratch.begin[j];
        for (int k = 0; k < own.width; ++k) {
            double along = 0;
            for (int l = 0; l < other.q; ++l) {
                const double value = own.unit * own.unit * scratch.single.of[j][l * own.lead + k];
                if (other.score.empty())
                    out[index(task.node, t, k, l)] = static_cast<float>(other.unit * other.unit * value);
                else
                    along += other.score[l] * other.score[l] * value;
            }
            if (!other.score.empty()) out[index(task.node, t, k, 0)] = static_cast<float>(along);
        }
    }
}

void NominalRows::blocks(std::span<const Block> tasks, Curvature curvature) {
    if (P_.size() == 0) P_.resize(n_wide_);
    pool_.each(tasks.size(), [&](int k, int worker) { make_curvature(tasks[k], curvature, worker); });
}

void NominalRows::products(std::span<const Product> tasks) {
    pool_.each(tasks.size(), [&](int k, int worker) { multiply(tasks[k], tabled_[worker]); });
}

// Predictors of d, fields that follow, curvatures, sums over the rows of every category.
void NominalRows::multiply(const Product& task, Tabled& scratch) {
    const Column& own = columns_[task.node];
    const int q = own.q, count = task.inner.count;
    Tables<float>& tables = scratch.single;
    lay_out(task.node, task.inner, scratch, tables);
    for (int j = 0; j < count; ++j)
        fill_table(task.node, task.inner.column[j], task.d + scratch.begin[j], tables.of[j]);
    float* z = scratch.z.data();
    std::fill(z, z + cells(task.node), 0.0f);
    const int together = at_once(count, tables.numbers * sizeof(float));
    for (int j = 0; j < count; j += together)
        kernels_.gather_single(scratch.codes.data() + j, tables.of.data() + j, std::min(together, count - j), own.lead,
                               stride_, z);
    const Curve curvature = curve(task.node, scratch);
    std::vector<double>& sums = scratch.padded;
    sums.assign(own.ld, 0.0);
    kernels_.curve(curvature, z, nullptr, stride_, sums.data(), nullptr);
    solve_lower(nodes_[task.node].L, q - 1, sums.data() + 1);
    solve_upper(nodes_[task.node].L, q - 1, sums.data() + 1);
    float follow[256] = {};
    for (int k = 1; k < q; ++k) follow[k] = static_cast<float>(-sums[k]);
    kernels_.curve(curvature, z, follow, stride_, nullptr, z);
    std::fill(tables.of[0], tables.of[0] + tables.numbers, 0.0f);
    kernels_.scatter_single(z, scratch.codes.data(), count, own.lead, stride_, tables.of.data());
    for (int j = 0; j < count; ++j)
        read_table(task.node, task.inner.column[j], tables.of[j], nullptr, task.Hd + scratch.begin[j]);
}

const double* NominalRows::own_odds(int node, int worker) {
    pass(node, worker);
    return tabled_[worker].margin.data();
}

// The covariance of two columns, every entry a difference of sums of one sign.
std::vector<Overlap> NominalRows::overlaps(std::span<const Pair> pairs) {
    std::vector<Overlap> found(pairs.size());
    pool_.each(pairs.size(), [&](int i, int) {
        const auto [s, t] = pairs[i];
        const Column &a = columns_[s], &b = columns_[t];
        std::vector<double> weight(static_cast<size_t>(a.q) * b.q);
        for (int n = 0; n < table_->n_distinct; ++n) weight[codes(s)[n] * b.q + codes(t)[n]] += table_->w[n];
        std::vector<double> up(static_cast<size_t>(a.width) * b.width), down(up.size());
        const auto add = [&](size_t place, double value) { (value > 0 ? up : down)[place] += std::abs(value); };
        for (int k = 0; k < a.q; ++k)
            for (int l = 0; l < b.q; ++l) {
                const size_t place = index(s, t, a.score.empty() ? k : 0, b.score.empty() ? l : 0);
                const double unit = (a.score.empty() ? a.unit : a.score[k]) * (b.score.empty() ? b.unit : b.score[l]);
                add(place, unit * weight[k * b.q + l]);
                add(place, -unit * a.share[k] * b.share[l]);
            }
        std::vector<double> apart(up.size()), together(up.size());
        for (size_t k = 0; k < up.size(); ++k) apart[k] = up[k] - down[k], together[k] = up[k] + down[k];
        const double size = norm(apart), terms = norm(together);
        found[i] = {(terms + size) / 2, (terms - size) / 2, 1.0, 1.0};
    });
    return found;
}

// Residuals times centered points: sums of residuals do not matter.
std::vector<ResidualDrift> NominalRows::drift(std::span<const int> nodes) {
    std::vector<ResidualDrift> moved(nodes.size());
    pool_.each(nodes.size(), [&](int k, int) {
        const Column& column = columns_[nodes[k]];
        const double square =
            kernels_.row_distance(wr(nodes[k]), reference(nodes[k], 0), table_->inverse_w.data(), column.lead, stride_);
        moved[k].square = square * column.unit * column.unit;
    });
    return moved;
}

// The columns whose pairs with a node are wanted from it: for lines [begin, end) those beyond the node, if it is one of
// them, and the lines before it.
size_t NominalRows::halves_of(int node, int begin, int end, std::vector<int>& columns) const {
    columns.clear();
    for (int s = begin; s < std::min(end, node); ++s) columns.push_back(s);
    if (node >= begin && node < end)
        for (int t = node + 1; t < table_->n_features; ++t) columns.push_back(t);
    size_t numbers = 0;
    for (int t : columns) numbers += static_cast<size_t>(columns_[node].width) * columns_[t].width;
    return numbers;
}

double NominalRows::all_pairs(int first, int last, float* band) {
    const int p = table_->n_features;
    std::vector<std::vector<double>> halves(p);
    std::vector<std::vector<int>> wanted(p);
    for (int begin = first; begin < last; begin += NOMINAL_LINES_AT_ONCE) {
        const int end = std::min(begin + NOMINAL_LINES_AT_ONCE, last);
        pool_.each(p - begin, [&](int k, int worker) {
            const int node = begin + k;
            halves[node].resize(halves_of(node, begin, end, wanted[node]));
            const NeighborColumns asked{wanted[node].data(), static_cast<int>(wanted[node].size())};
            collect(view(node, {}, worker), node, asked, halves[node].data(), worker);
        });
        std::vector<const double*> next(p);  // halves come in the order in which they are wanted
        for (int t = begin; t < p; ++t) next[t] = halves[t].data();
        for (int s = begin; s < end; ++s)
            for (int t = s + 1; t < p; ++t) {
                const int size = columns_[s].width * columns_[t].width;
                double square = 0;
                for (int i = 0; i < size; ++i) {
                    const double g = next[s][i] + next[t][i];
                    square += g * g;
                }
                next[s] += size, next[t] += size;
                *band++ = static_cast<float>(std::sqrt(square));
            }
    }
    return 2.5e-7;  // norms of at most 2, rounded to single precision
}

}  // namespace isinglass
