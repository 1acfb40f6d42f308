// A table with few ones as lists of them instead of cells.
//
// A row in which neither a node nor one of its neighbors is 1 says nothing about that node but its offset: all such
// rows are one row with their summed weight. The others, few where ones are rare, are the node's local table, a small
// one that the kernels work on as on any other. All calls cost as much as the ones that they touch, and no call as much
// as the cells.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "rows/recipe_storage.hpp"

namespace isinglass {

using namespace tuning::rows;

namespace {

constexpr double SINGLE = 6e-8;  // relative rounding of a number in single precision

class OnesCells {
 public:
    OnesCells(Workers& workers, const Table& table)
        : workers_(workers),
          margins_(table.margins),
          n_rows_(table.n_distinct),
          w_(table.w.data(), table.w.data() + n_rows_),
          inverse_w_(table.inverse_w.data(), table.inverse_w.data() + n_rows_),
          total_(table.total),
          is_equal_(std::all_of(w_.begin(), w_.end(), [&](double w) { return w == w_[0]; })),
          column_begin_(1, 0),
          row_begin_(static_cast<size_t>(n_rows_) + 1, 0),
          local_(workers.pool.size()) {
        for (int t = 0; t < table.n_features; ++t) {
            const uint8_t* column = table.column(t);
            for (int n = 0; n < n_rows_; ++n)
                if (column[n]) rows_.push_back(n), ++row_begin_[n + 1];
            column_begin_.push_back(rows_.size());
        }
        rows_.shrink_to_fit();
        std::partial_sum(row_begin_.begin(), row_begin_.end(), row_begin_.begin());
        columns_.resize(rows_.size());
        std::vector<size_t> next(row_begin_.begin(), row_begin_.end() - 1);
        for (int t = 0; t < table.n_features; ++t)
            for (int n : ones(t)) columns_[next[n]++] = t;
        for (LocalTable& local : local_) {
            local.owner = this;
            local.where.assign(n_rows_, -1);
            local.moments.resize(table.n_features);
        }
    }

    const Margins& margins() const { return margins_; }
    double total() const { return total_; }
    // Sums run one after the other, and the weight of all others is at worst a difference of two such sums.
    double rounding() const { return (2.0 * n_rows_ + 32) * std::numeric_limits<double>::epsilon() / 2; }

    NodeView make(int node, const Recipe& recipe, const NeighborColumns& also, int worker) {
        look(local_[worker], node, {recipe.columns(), also});
        return pass_local(local_[worker], recipe);
    }

    NodeView view(int node, const Recipe& recipe, const NeighborColumns& also, int worker) {
        return make(node, recipe, also, worker);
    }

    // What is asked for costs less without being on the node's rows.
    NodeView renew(int node, const Recipe& recipe, const NeighborColumns&, int worker) {
        return make(node, recipe, {}, worker);
    }

    void collect(const NodeView&, int, const Recipe&, const NeighborColumns& asked, double* out, int worker) const {
        for (int j = 0; j < asked.count; ++j) out[j] = moment(local_[worker], asked.column[j]);
    }

    void gradient(int node, const Recipe& recipe, const NeighborColumns& asked, double* out, int worker) {
        collect(make(node, recipe, {}, worker), node, recipe, asked, out, worker);
    }

    static void sums(const NodeView& view, const double* a, const NeighborColumns& asked, double* out,
                     Scratch& scratch) {
        kernels().dots(view.source->list(asked, scratch.columns), a, out);
    }

    ResidualDrift drift(int node, const Recipe& now, const Recipe& before, int worker) {
        LocalTable& local = local_[worker];
        look(local, node, {now.columns(), before.columns()});
        float* reference = room(local.reference, local.size);
        kernels().narrow(pass_local(local, before).wr, local.size, reference);
        const NodeView view = pass_local(local, now);
        ResidualDrift moved;
        kernels().distance(view.rows, view.wr, reference, &moved.square, &moved.sum);
        return moved;
    }

    // Some nodes at a time: their moments with all columns, which every line then takes its share of.
    double all_pairs(const std::vector<Recipe>& now, int first, int last, float* band) {
        const int p = static_cast<int>(margins_.mean.size());
        std::fill(band, band + (first_of_row(last, p) - first_of_row(first, p)), 0.0f);
        std::vector<float> moments(static_cast<size_t>(SPARSE_NODES_AT_ONCE) * p);
        for (int begin = first; begin < p; begin += SPARSE_NODES_AT_ONCE) {
            const int end = std::min(begin + SPARSE_NODES_AT_ONCE, p);
            const auto of = [&](int node) { return moments.data() + static_cast<size_t>(node - begin) * p; };
            workers_.pool.each(end - begin, [&](int k, int worker) {
                make(begin + k, now[begin + k], {}, worker);
                sum_moments(local_[worker], of(begin + k));
            });
            workers_.pool.each(std::min(last, end) - first, [&](int k, int) {
                const int s = first + k;
                float* line = band + (first_of_row(s, p) - first_of_row(first, p)) - (s + 1);
                if (s >= begin)
                    for (int t = s + 1; t < p; ++t) line[t] += of(s)[t];
                for (int t = std::max(begin, s + 1); t < end; ++t) line[t] += of(t)[s];
            });
        }
        return 8 * SINGLE * total_;  // two roundings of a half, one of their sum; the halves are at most total_
    }

 private:
    // Of one node: its rows, those where it is 1 first, and after them all others as one row.
    struct LocalTable final : ColumnSource {
        // As bytes on these rows, which have all of the columns' ones.
        ColumnList list(const NeighborColumns& neighbors, std::vector<const uint8_t*>& found) const override {
            const size_t all = static_cast<size_t>(neighbors.count) * size;
            uint8_t* next = room(cells, all);
            std::fill(next, next + all, 0);
            found.resize(neighbors.count);
            for (int j = 0; j < neighbors.count; ++j, next += size) {
                for (int n : owner->ones(neighbors.column[j])) next[where[n]] = 1;
                found[j] = next;
            }
            return {found.data(), neighbors.count, size};
        }
        NodeRows node_rows() const { return {x.data(), w.data(), inverse_w.data(), size, n_equal}; }
        size_t others() const { return rows.size(); }
        const OnesCells* owner = nullptr;
        std::vector<int> rows;
        std::vector<int> where;  // of every row of the table: its place among them, or -1
        int size = 0;            // with the row of all others, padded
        int n_equal = 0;
        Buffer<double> eta, wr, w, inverse_w;
        Buffer<float> reference;
        Buffer<uint8_t> x;
        mutable Buffer<uint8_t> cells;
        std::vector<double> moments;  // of all columns
    };

    std::span<const int> ones(int column) const {
        return {rows_.data() + column_begin_[column], rows_.data() + column_begin_[column + 1]};
    }

    std::span<const int> ones_of(int row) const {
        return {columns_.data() + row_begin_[row], columns_.data() + row_begin_[row + 1]};
    }

    void look(LocalTable& local, int node, std::initializer_list<NeighborColumns> neighbors) const {
        for (int n : local.rows) local.where[n] = -1;
        local.rows.clear();
        const auto take = [&](int column) {
            for (int n : ones(column))
                if (local.where[n] < 0) {
                    local.where[n] = static_cast<int>(local.rows.size());
                    local.rows.push_back(n);
                }
        };
        take(node);
        const size_t n_own = local.rows.size();
        for (const NeighborColumns& each : neighbors)
            for (int k = 0; k < each.count; ++k) take(each.column[k]);
        const size_t seen = local.rows.size();
        local.size = static_cast<int>(seen / ROW_ALIGN + 1) * ROW_ALIGN;
        local.n_equal = is_equal_ ? static_cast<int>(seen / ROW_ALIGN) * ROW_ALIGN : 0;
        double *w = room(local.w, local.size), *inverse = room(local.inverse_w, local.size), inside = 0;
        uint8_t* x = room(local.x, local.size);
        for (size_t k = 0; k < seen; ++k) {
            w[k] = w_[local.rows[k]], inverse[k] = inverse_w_[local.rows[k]];
            inside += w[k];
        }
        std::fill(w + seen, w + local.size, 0.0);
        std::fill(inverse + seen, inverse + local.size, 0.0);
        std::fill(x, x + n_own, 1);
        std::fill(x + n_own, x + local.size, 0);
        w[seen] = weight_outside(local, inside);
        inverse[seen] = w[seen] > 0 ? 1 / w[seen] : 0;
    }

    double weight_outside(const LocalTable& local, double inside) const {
        const size_t n_outside = n_rows_ - local.rows.size();
        if (n_outside == 0) return 0;
        if (is_equal_) return static_cast<double>(n_outside) * w_[0];
        if (2 * inside <= total_) return total_ - inside;
        double sum = 0;  // the difference would lose digits
        for (int n = 0; n < n_rows_; ++n)
            if (local.where[n] < 0) sum += w_[n];
        return sum;
    }

    // The predictor on the rows of the local, which has all columns of the recipe, and what follows from it.
    NodeView pass_local(LocalTable& local, const Recipe& recipe) const {
        double *eta = room(local.eta, local.size), *wr = room(local.wr, local.size);
        std::fill(eta, eta + local.size, recipe.offset);
        for (size_t k = 0; k < recipe.column.size(); ++k)
            for (int n : ones(recipe.column[k])) eta[local.where[n]] += recipe.coefficient[k];
        return pass({local.node_rows(), eta, wr, {}, &local});
    }

    // sum_n w r x of one column.
    double moment(const LocalTable& local, int column) const {
        double inside = 0, outside = 0;
        for (int n : ones(column)) {
            const int k = local.where[n];
            (k < 0 ? outside : inside) += k < 0 ? w_[n] : local.wr[k];
        }
        return inside + local.wr[local.others()] * local.inverse_w[local.others()] * outside;
    }

    // The same of all columns at once, by the rows of the local: to single precision, because what the other rows give
    // is a difference.
    void sum_moments(LocalTable& local, float* out) const {
        const double other = local.wr[local.others()] * local.inverse_w[local.others()];
        double* moments = local.moments.data();
        for (size_t t = 0; t < local.moments.size(); ++t) moments[t] = other * margins_.mean[t];
        for (size_t k = 0; k < local.rows.size(); ++k) {
            const double more = local.wr[k] - other * local.w[k];
            for (int t : ones_of(local.rows[k])) moments[t] += more;
        }
        std::copy(moments, moments + local.moments.size(), out);
    }

    Workers& workers_;
    const Margins margins_;
    const int n_rows_;
    std::vector<double> w_, inverse_w_;
    const double total_;
    const bool is_equal_;  // all weights are
    std::vector<size_t> column_begin_, row_begin_;
    std::vector<int> rows_, columns_;  // the ones, by column and by row
    std::vector<LocalTable> local_;    // one per thread
};

}  // namespace

RecipeRows ones_rows(Pool& pool, const Table& table) {
    return RecipeRows::of<OnesCells>(true, pool, table);
}

double share_of_ones(const Table& table) {
    size_t n_ones = 0;
    for (int t = 0; t < table.n_features; ++t)
        n_ones += std::accumulate(table.column(t), table.column(t) + table.n_distinct, size_t{0});
    return static_cast<double>(n_ones) / (static_cast<double>(table.n_distinct) * table.n_features);
}

}  // namespace isinglass
