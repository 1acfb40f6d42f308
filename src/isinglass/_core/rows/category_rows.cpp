#include "rows/category_rows.hpp"

namespace isinglass {

using namespace tuning::rows;

namespace {

std::vector<CategoryColumn> describe(const Table& table) {
    std::vector<CategoryColumn> columns;
    columns.reserve(table.n_features);
    for (int s = 0; s < table.n_features; ++s) columns.emplace_back(table, s);
    return columns;
}

std::vector<int> leads(const std::vector<CategoryColumn>& columns) {
    std::vector<int> found(columns.size());
    std::transform(columns.begin(), columns.end(), found.begin(), [](const auto& column) { return column.lead(); });
    return found;
}

constexpr double NARROWED = 2.5e-7;  // gradients or norms of at most 2, rounded to single precision
constexpr int POWERS_ROUNDED = 4;    // times as much as probabilities without powers

// The loss of a covariate: zero, with derivatives that are zero.
class NoLoss final : public NodeLoss {
 public:
    explicit NoLoss(const CategoryState& state) : state_(state) {}
    void add_columns(const Move&, bool, int) override {}
    const CategorySums& pass(int, int) override { return none_; }
    Odds odds(int, int) override { return {}; }
    void collect(int node, const NeighborColumns& asked, double* out, int) override {
        std::fill(out, out + numbers(node, asked), 0.0);
    }
    void block(const Block& task, Curvature, int) override {
        *task.curve = 0;
        const size_t count = numbers(task.node, task.inner);
        std::fill(task.b, task.b + count, 0.0f);
        if (!task.G)
            std::fill(task.diagonal, task.diagonal + count, 0.0f);
        else
            std::fill(task.G, task.G + count * task.stride, 0.0f);
    }
    void product(const Product& task, int) override {
        std::fill(task.Hd, task.Hd + numbers(task.node, task.inner), 0.0f);
    }

 private:
    size_t numbers(int node, const NeighborColumns& neighbors) const {
        size_t sum = 0;
        for (int k = 0; k < neighbors.count; ++k) sum += state_.columns[neighbors.column[k]].width();
        return sum * state_.columns[node].width();
    }

    const CategoryState& state_;
    const CategorySums none_;
};

}  // namespace

CategoryColumn::CategoryColumn(const Table& table, int column)
    : unit(table.ranges[column] > 0 ? 1.0 : std::sqrt(0.5)),
      is_modelled(table.modelled.empty() || table.modelled[column]) {
    double weight[256] = {};
    for (int n = 0; n < table.n_distinct; ++n) weight[table.column(column)[n]] += table.w[n];
    for (int k = 0; k < 256; ++k) {
        if (weight[k] == 0.0) continue;
        value.push_back(k);
        share.push_back(weight[k]);
        center += weight[k] * k;
    }
    if (table.ranges[column] == 0) return;
    step = 1.0 / table.ranges[column];
    for (double each : value) score.push_back(point(each));
}

CategoryState::CategoryState(std::shared_ptr<const Table> given, Holds holds, Pool& pool)
    : table(std::move(given)),
      stride(table->stride),
      workers(pool),
      columns(describe(*table)),
      lines(*table, leads(columns), holds, workers,
            std::any_of(columns.begin(), columns.end(), [](const auto& column) { return column.has_two_values(); })),
      fields(columns.size()),
      shift(columns.size()),
      numbers(has_order() ? 0 : static_cast<size_t>(stride) * columns.size()),
      axes(columns.size()),
      rare(columns.size()) {
    make_axes();
    if (numbers.size() == 0) return;
    for (size_t s = 0; s < columns.size(); ++s) {
        const CategoryColumn& column = columns[s];
        uint8_t number[256] = {};
        for (int k = 0; k < column.q(); ++k) number[static_cast<int>(column.value[k])] = static_cast<uint8_t>(k);
        const uint8_t* cells = table->column(static_cast<int>(s));
        for (int n = 0; n < stride; ++n) numbers[s * stride + n] = number[cells[n]];
        if (!column.is_ordered() || column.q() != 2) continue;
        const int rarer = column.share[1] <= column.share[0];
        rare[s].score = column.score[rarer], rare[s].other = column.score[1 - rarer];
        for (int n = 0; n < table->n_distinct; ++n)
            if (numbers[s * stride + n] == rarer) rare[s].rows.push_back(n);
    }
}

void CategoryState::make_axes() {
    size_t count = 0;
    for (const CategoryColumn& column : columns) count += column.is_ordered() ? 0 : column.q();
    indicators.resize(count * stride);
    uint8_t* next = indicators.data();
    for (size_t s = 0; s < columns.size(); ++s) {
        const uint8_t* cells = table->column(static_cast<int>(s));
        if (columns[s].is_ordered()) axes[s].push_back({cells, columns[s].step, columns[s].center, columns[s].center});
        for (int k = 0; k < columns[s].q() && !columns[s].is_ordered(); ++k, next += stride) {
            axes[s].push_back({next, columns[s].unit, 0.0, columns[s].share[k]});
            for (int n = 0; n < stride; ++n) next[n] = cells[n] == columns[s].value[k];
        }
    }
}

CategoryRows::CategoryRows(std::shared_ptr<const Table> table, Holds holds, Pool& pool)
    : state_(std::move(table), holds, pool), pool_(pool), ones_(state_.stride) {
    std::fill(ones_.data(), ones_.data() + state_.stride, uint8_t{1});
    for (const CategoryColumn& column : state_.columns) {
        double size = 0, square = 0;
        for (int k = 0; k < column.q(); ++k)
            if (column.is_ordered())
                size += column.share[k] * std::abs(column.score[k]),
                    square += column.share[k] * column.score[k] * column.score[k];
            else
                for (int l = 0; l < k; ++l) size = square += column.share[k] * column.share[l];
        margins_.mean.push_back(size);
        margins_.sd.push_back(std::sqrt(square));
        if (column.is_modelled && column.q() < 2) throw std::invalid_argument("a column must take two values");
        if (column.has_two_values() && !two_values_) two_values_ = two_value_loss(state_);
        if (column.is_ordered() && !column.has_two_values() && !ordered_) ordered_ = ordered_loss(state_);
        if (!column.is_ordered() && !unordered_) unordered_ = unordered_loss(state_, holds);
        if (!column.is_modelled && !none_) none_ = std::make_unique<NoLoss>(state_);
    }
}

// As for 0 and 1, with the roundings of probabilities and of a sum over them in every row; without an order sums run
// over the rows one after the other. A power has three roundings for every step, of which there may be twice as many as
// categories.
double CategoryRows::rounding() const {
    int most = 0;
    for (const CategoryColumn& column : state_.columns)
        most = std::max(most, (column.is_ordered() && column.q() > FEW_CATEGORIES ? POWERS_ROUNDED : 1) * column.q());
    const double of_rows = 2.0 / (unordered_ ? 1 : kernels().lanes) * state_.stride, of_row = 32 + 2 * most;
    return (of_rows + of_row) * std::numeric_limits<double>::epsilon() / 2;
}

void CategoryRows::move(std::span<const Move> tasks, bool afresh) {
    pool_.each(tasks.size(), [&](int k, int worker) {
        const Move& task = tasks[k];
        if (afresh)
            std::fill(state_.lines.eta(task.node), state_.lines.eta(task.node) + state_.lines.size(task.node), 0.0);
        if (task.moved.count > 0 || afresh) loss(task.node).add_columns(task, afresh, worker);
        if (afresh) choose_fields(task.node, task.moved.count > 0, worker);
        *task.sums = settle(task.node, worker);
        if (task.asked.count > 0) loss(task.node).collect(task.node, task.asked, task.gradient, worker);
    });
}

// Where to look for the fields from: those of a node without neighbors or, beside large coefficients, those it has if
// they are better.
void CategoryRows::choose_fields(int node, bool has_neighbors, int worker) {
    const std::vector<double>& share = state_.columns[node].share;
    std::vector<double> null(share.size());
    for (size_t k = 0; k < null.size(); ++k) null[k] = std::log(share[k] / share[0]);
    std::vector<double>& fields = state_.fields[node];
    const bool is_known = has_neighbors && !fields.empty() && state_.columns[node].is_modelled;
    const double of_known = is_known ? loss(node).pass(node, worker).loss : 0;
    fields.swap(null);
    if (is_known && of_known < loss(node).pass(node, worker).loss) fields.swap(null);
}

NodeSums CategoryRows::settle(int node, int worker) {
    if (!state_.columns[node].is_modelled) return {};
    const std::vector<double>& score = state_.columns[node].score;
    std::vector<double>& fields = state_.fields[node];
    Settled settled = settle_fields(fields, loss(node).passes(node, worker));
    std::vector<double>& slopes = settled.slopes.of;
    NodeSums found = summarize_fields(settled);
    for (double field : fields) found.largest_field = std::max(found.largest_field, std::abs(field));
    if (score.empty())
        state_.shift[node] = std::move(slopes);
    else
        state_.shift[node].assign(1, std::inner_product(slopes.begin(), slopes.end(), score.begin(), 0.0));
    return found;
}

void CategoryRows::gradients(std::span<const Gradient> tasks) {
    pool_.each(tasks.size(), [&](int k, int worker) {
        if (tasks[k].asked.count > 0)
            loss(tasks[k].node).collect(tasks[k].node, tasks[k].asked, tasks[k].gradient, worker);
    });
}

void CategoryRows::blocks(std::span<const Block> tasks, Curvature curvature) {
    pool_.each(tasks.size(), [&](int k, int worker) { loss(tasks[k].node).block(tasks[k], curvature, worker); });
}

void CategoryRows::multiply(std::span<const Product> tasks, const Fill& fill) {
    pool_.each(tasks.size(), [&](int k, int worker) {
        fill(k);
        loss(tasks[k].node).product(tasks[k], worker);
    });
}

void CategoryRows::find_probabilities(int node, int row, std::vector<double>& P) {
    const CategoryColumn& own = state_.columns[node];
    const double* eta = state_.lines.eta(node) + static_cast<size_t>(row) * own.lead();
    P = state_.fields[node];
    for (int k = 0; k < own.q(); ++k) P[k] += own.is_ordered() ? own.score[k] * *eta : eta[k];
    const double top = *std::max_element(P.begin(), P.end());
    for (double& each : P) each = std::exp(each - top);
    const double sum = std::accumulate(P.begin(), P.end(), 0.0);
    for (double& each : P) each /= sum;
}

// A number of the block belongs to an axis of the node (its score, or one of its categories) and is multiplied by the
// point of a neighbor.
PreciseBlock CategoryRows::precise_block(int node, const NeighborColumns& neighbors) {
    struct Number {
        int axis, column, category;
    };
    const CategoryColumn& own = state_.columns[node];
    std::vector<Number> numbers;
    for (int j = 0; j < neighbors.count; ++j) {
        const int t = neighbors.column[j], size = width(t);
        for (int i = 0; i < own.width() * size; ++i)
            numbers.push_back(node < t ? Number{i / size, t, i % size} : Number{i % own.width(), t, i / own.width()});
    }
    const size_t d = numbers.size(), q = own.q(), n_axes = own.width();
    std::vector<double> H(d * d), mixed(d * q), products(q * q), along(q * n_axes), square(n_axes * n_axes), z(d), P(q);
    const Table& table = *state_.table;
    state_.lines.view_predictors(node);
    for (int n = 0; n < table.n_distinct && own.is_modelled; ++n) {
        if (static_cast<size_t>(n) % tuning::ROWS_PER_POLL == 0) pool_.poll()();
        find_probabilities(node, n, P);
        // Covariances of an axis with the categories, and with the axes, as sums over what two categories share.
        std::fill(along.begin(), along.end(), 0.0);
        for (size_t k = 0; k < q; ++k)
            for (size_t l = 0; l < q; ++l) {
                if (l == k) continue;
                const double shared = table.w[n] * P[k] * P[l];
                if (l < k) products[q * k + l] += shared;
                if (own.is_ordered())
                    along[k] += shared * (own.score[k] - own.score[l]);
                else
                    along[q * k + k] += shared * own.unit, along[q * l + k] -= shared * own.unit;
            }
        if (own.is_ordered())
            square[0] = std::inner_product(along.begin(), along.end(), own.score.begin(), 0.0);
        else
            std::transform(along.begin(), along.end(), square.begin(), [&](double each) { return each * own.unit; });
        for (size_t i = 0; i < d; ++i) {
            const CategoryColumn& other = state_.columns[numbers[i].column];
            const double x = table.column(numbers[i].column)[n];
            z[i] = other.is_ordered() ? other.point(x) : x == other.value[numbers[i].category] ? other.unit : 0.0;
            if (z[i] == 0.0) continue;
            for (size_t k = 0; k < q; ++k) mixed[i * q + k] += z[i] * along[numbers[i].axis * q + k];
            for (size_t j = 0; j <= i; ++j)
                H[i * d + j] += z[i] * z[j] * square[numbers[i].axis * n_axes + numbers[j].axis];
        }
    }
    const FieldFactor factor(products, static_cast<int>(q));
    for (size_t i = 0; i < d; ++i) {
        const std::vector<double> follow = factor.step({mixed.begin() + i * q, mixed.begin() + (i + 1) * q});
        for (size_t j = 0; j <= i; ++j)
            H[j * d + i] = H[i * d + j] -= std::inner_product(follow.begin(), follow.end(), mixed.begin() + j * q, 0.0);
    }
    return {std::move(H), {}};
}

// Numbers that add up to zero over either side without an order.
void CategoryRows::project(const Pair& pair, double* block) const {
    const int s = std::min(pair.s, pair.t), t = std::max(pair.s, pair.t), rows = width(s), size = width(t);
    if (!state_.columns[t].is_ordered())
        for (int k = 0; k < rows; ++k) {
            double* row = block + static_cast<size_t>(k) * size;
            const double mean = std::accumulate(row, row + size, 0.0) / size;
            for (int l = 0; l < size; ++l) row[l] -= mean;
        }
    if (state_.columns[s].is_ordered()) return;
    std::vector<double> mean(size);
    for (int k = 0; k < rows; ++k)
        for (int l = 0; l < size; ++l) mean[l] += block[static_cast<size_t>(k) * size + l] / rows;
    for (int k = 0; k < rows; ++k)
        for (int l = 0; l < size; ++l) block[static_cast<size_t>(k) * size + l] -= mean[l];
}

// As for two categories, of which the one was observed.
double CategoryRows::divergence(std::span<const int> nodes, double c) {
    const std::vector<double> parts = pool_.map(nodes, [&](int node, int worker) {
        if (!state_.columns[node].is_modelled) return 0.0;
        auto [rows, odds] = loss(node).odds(node, worker);
        rows.x = ones_.data();
        return kernels().divergence(rows, odds, c);
    });
    return std::accumulate(parts.begin(), parts.end(), 0.0);
}

void CategoryRows::remember(std::span<const int> nodes) {
    state_.lines.make_reference();
    pool_.each(nodes.size(), [&](int k, int) {
        state_.view(nodes[k]);
        state_.lines.remember(nodes[k]);
    });
}

// Residuals times centered points: sums of residuals do not matter.
std::vector<ResidualDrift> CategoryRows::drift(std::span<const int> nodes) {
    return pool_.map(nodes, [&](int node, int) {
        const NodeView view = state_.view(node);
        const float* reference = state_.lines.reference(node);
        const double unit = state_.columns[node].unit;
        ResidualDrift moved;
        double sum;
        if (view.width == 1)
            kernels().distance(view.rows, view.wr, reference, &moved.square, &sum);
        else
            moved.square = kernels().row_distance(view.rows, view.wr, reference, view.width) * unit * unit;
        return moved;
    });
}

double CategoryRows::all_pairs(int first, int last, float* band) {
    const double error = ordered_ || two_values_ ? gradients_on_lines(first, last, band) : 0.0;
    if (unordered_) norms_of_groups(first, last, band);
    return error + NARROWED;
}

// Pairs of columns with an order, as for two values: residuals over the step of their scores times cells, and then
// times both steps. Points are centered, so that what is left of the sums of residuals is an error. Returns a bound of
// all.
double CategoryRows::gradients_on_lines(int first, int last, float* band) {
    const int p = state_.table->n_features;
    pool_.each(p - first, [&](int k, int) { state_.view(first + k); });
    const auto residuals = [&](int node, int row, int rows, float* out) {
        if (!is_on_line(node)) return std::fill(out, out + rows, 0.0f);
        kernels().narrow(state_.lines.wr(node) + row, rows, out);
        const float scale = static_cast<float>(1 / state_.columns[node].step);
        if (scale != 1.0f) std::transform(out, out + rows, out, [&](float each) { return scale * each; });
    };
    PairTiles tiles(*state_.table, first, last, pool_);
    tiles.add(0, state_.stride, residuals, band);
    const double slack = tiles.slack();
    double error = slack;
    for (int s = first; s < p; ++s)
        if (is_on_line(s) && state_.columns[s].is_modelled)
            error = std::max(error, slack + 2 * std::abs(state_.shift[s][0]));
    for (int s = first; s < last; ++s)
        for (int t = s + 1; t < p; ++t, ++band) {
            *band *= static_cast<float>(state_.columns[s].step * state_.columns[t].step);
            if (unordered_) *band = std::abs(*band);  // a norm
        }
    return error;
}

// The other pairs, some lines [begin, end) at a time. Every node is asked for its half of the pairs with those of these
// lines that are before it and, if it is one of them, with all columns beyond it.
void CategoryRows::norms_of_groups(int first, int last, float* band) {
    const int p = state_.table->n_features;
    const auto is_group = [&](int s, int t) { return !is_on_line(s) || !is_on_line(t); };
    std::vector<std::vector<double>> halves(p);
    for (int begin = first; begin < last; begin += LINES_AT_ONCE) {
        const int end = std::min(begin + LINES_AT_ONCE, last);
        pool_.each(p - begin, [&](int k, int worker) {
            const int node = begin + k;
            std::vector<int> wanted;
            for (int s = begin; s < std::min(end, node); ++s)
                if (is_group(s, node)) wanted.push_back(s);
            for (int t = node + 1; node < end && t < p; ++t)
                if (is_group(node, t)) wanted.push_back(t);
            size_t numbers = 0;
            for (int t : wanted) numbers += static_cast<size_t>(width(node)) * width(t);
            halves[node].resize(numbers);
            if (!wanted.empty())
                loss(node).collect(node, {wanted.data(), static_cast<int>(wanted.size())}, halves[node].data(), worker);
        });
        std::vector<const double*> next(p);  // halves come in the order in which they are wanted
        for (int t = begin; t < p; ++t) next[t] = halves[t].data();
        for (int s = begin; s < end; ++s)
            for (int t = s + 1; t < p; ++t, ++band) {
                if (!is_group(s, t)) continue;
                const int size = width(s) * width(t);
                double square = 0;
                for (int i = 0; i < size; ++i) {
                    const double g = next[s][i] + next[t][i];
                    square += g * g;
                }
                *band = static_cast<float>(std::sqrt(square));
                next[s] += size, next[t] += size;
            }
    }
}

std::vector<double> CategoryRows::category_fields(int first, int last) const {
    std::vector<double> all;
    for (int node = first; node < last; ++node)
        all.insert(all.end(), state_.fields[node].begin(), state_.fields[node].end());
    return all;
}

void CategoryRows::set_category_fields(int first, std::span<const double> fields) {
    const double* next = fields.data();
    for (int node = first; next < fields.data() + fields.size(); ++node)
        for (double& field : state_.fields[node]) field = *next++;
}

size_t category_bytes(const Table& table, int n_threads) {
    size_t rows = 0, widest = 0;
    for (int s = 0; s < table.n_features; ++s) {
        const CategoryColumn column(table, s);
        const size_t ld = column.ld();
        rows += ld * sizeof(float) + column.lead() * (2 * sizeof(double) + sizeof(float)) + 1 + column.width();
        // The rows of the rarer value are listed, and patterns are kept.
        if (column.is_ordered() && column.q() == 2) rows += sizeof(int) / 2 + sizeof(uint16_t);
        widest = std::max(widest, ld);
    }
    return table.stride * (rows + n_threads * widest * (sizeof(double) + sizeof(float)));
}

}  // namespace isinglass
