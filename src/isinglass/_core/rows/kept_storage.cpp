// The table as bytes and a line of predictors and residuals for every node, or one line for the node placed last.
//
// Nodes may be merged (merged_lines.hpp). The columns of a node that is an operator are packed into bits.
#include <stdexcept>

#include "rows/merged_lines.hpp"
#include "rows/packed.hpp"
#include "rows/two_value_rows.hpp"

namespace isinglass {

using namespace tuning::rows;

namespace {

class KeptStorage {
 public:
    KeptStorage(Workers& workers, std::shared_ptr<const Table> table, Holds holds)
        : workers_(workers),
          table_(std::move(table)),
          stride_(table_->stride),
          lines_(*table_, std::vector<int>(table_->n_features, 1), holds, workers),
          operators_(lines_.count()),
          single_(workers.pool.size()) {}

    const Margins& margins() const { return table_->margins; }
    double total() const { return table_->total; }
    double rounding() const { return rounding_of(*table_); }

    NodeView view(int node, const NeighborColumns& also, int worker) {
        if (!lines_.is_merged(node)) return lines_.view(node, *table_);
        if (lines_.extend(node, also, worker)) pass(lines_.view_patterns(node));
        return lines_.holds(node, also) ? lines_.view_patterns(node) : lines_.view_predictors(node);
    }

    NodeView move(const Move& task, bool afresh, int worker) {
        const int node = task.node;
        const MergedLines::Moved moved = lines_.move(task, afresh, worker);
        if (moved == MergedLines::Moved::patterns) {
            lines_.sums(node) = pass(lines_.view_patterns(node)).sums;
            return lines_.view_patterns(node);
        }
        if (moved == MergedLines::Moved::nowhere) {
            if (afresh) std::fill(lines_.eta(node), lines_.eta(node) + stride_, task.offset);
            if (!afresh || task.moved.count > 0) add_columns(task, afresh ? 0.0 : task.offset, worker);
        }
        const bool is_constant = afresh && task.moved.count == 0 && std::abs(task.offset) < tuning::BADLY_PREDICTED;
        const NodeView view = lines_.view(node, *table_);
        lines_.sums(node) = is_constant ? pass_constant(node, task.offset) : pass(view).sums;
        return lines_.view(node, *table_);
    }

    // The columns that are packed for the node, then the rest.
    void collect(const NodeView& view, int node, const NeighborColumns& asked, double* out, int worker) {
        Scratch& scratch = workers_.scratch[worker];
        if (view.source != table_.get()) {
            if (lines_.holds(node, asked))
                kernels().dots(view.source->list(asked, scratch.columns), view.wr, out);
            else
                collect(lines_.view_rows(node), node, asked, out, worker);
            return;
        }
        const PackedColumns& packed = operator_of(node).columns;
        const int known = packed.leads(asked.column, asked.count) ? packed.size() : 0;
        if (known > 0) {
            double* sums = room(scratch.word_sums, packed.lanes());
            packed.sums(padded(view.wr, stride_, table_->bits().n_words, scratch.words), sums);
            std::copy(sums, sums + known, out);
        }
        column_sums(*table_, view.wr, {asked.column + known, asked.count - known}, out + known, scratch);
    }

    void gradient(int node, const NeighborColumns& asked, double* out, int worker) {
        collect(view(node, {}, worker), node, asked, out, worker);
    }

    // Products are for all rows. Where columns of a node need more words than it has, all nodes get others.
    void begin_blocks(std::span<const Block> tasks, bool) {
        std::vector<const Block*> found;
        for (const Block& task : tasks) {
            if (task.G || task.inner.count == 0) continue;
            found.push_back(&task);
            if (!lines_.is_merged(task.node)) continue;
            lines_.view_rows(task.node);
            lines_.unmerge(task.node, 0);
        }
        const auto needed = [&](const Block* task) { return PackedColumns::words(table_->bits(), task->inner.count); };
        if (std::ranges::all_of(found,
                                [&](auto task) { return needed(task) <= operator_of(task->node).columns.room(); }))
            return;
        for (Operator& each : operators_) each.columns.place({});
        size_t total = 0;
        for (const Block* task : found) total += with_spare(needed(task));
        if (packed_.size() < total) packed_.resize(total + total / 4);
        uint32_t* next = packed_.data();
        for (const Block* task : found) {
            const size_t size = with_spare(needed(task));
            operator_of(task->node).columns.place({next, size});
            next += size;
        }
    }

    void diagonal(const Block& task, const NodeView&, const float* curves, int worker) {
        auto& [packed, kept] = operator_of(task.node);
        const int d = task.inner.count;
        if (!packed.holds(task.inner.column, d)) packed.pack(table_->bits(), task.inner.column, d);
        const int rows = 32 * table_->bits().n_words;
        double* a = room(workers_.scratch[worker].words, rows);
        double* sums = room(workers_.scratch[worker].word_sums, packed.lanes());
        if (kept.size() == 0) kept.resize(rows);
        std::copy(curves, curves + stride_, kept.data());
        std::copy(curves, curves + stride_, a);
        std::fill(a + stride_, a + rows, 0.0);
        packed.sums(a, sums);
        write_diagonal(task, sums, std::accumulate(a, a + stride_, 0.0));
    }

    bool has_rough() const { return kernels().rough_product != nullptr; }

    void product(const Product& task, int worker) {
        const auto& [packed, curves] = operator_of(task.node);
        const int d = task.inner.count;
        if (packed.size() != d) throw std::logic_error("a product needs its diagonal first");
        Single& scratch = single_[worker];
        const int rows = 32 * table_->bits().n_words, width = 32 * packed.groups();
        float *z = room(scratch.line, rows), *coefficients = room(scratch.coefficients, width);
        float* sums = room(scratch.sums, packed.lanes());
        std::copy(task.d, task.d + d, coefficients);
        std::fill(coefficients + d, coefficients + width, 0.0f);
        if (task.is_rough && has_rough() && d <= MAX_SHORT_COLUMNS) {
            const RoughSizes sizes = rough_sizes(rows, width);
            BitMatrix X = packed.matrix();
            X.line = space(scratch.line, sizes.line);
            X.shorts = space(scratch.shorts, sizes.shorts), X.sums = space(scratch.short_sums, sizes.sums);
            kernels().rough_product(X, coefficients, curves.data(), static_cast<float>(task.center), sums);
        } else {
            std::fill(z, z + stride_, static_cast<float>(-task.center));
            std::fill(z + stride_, z + rows, 0.0f);
            packed.add(coefficients, stride_, z);
            kernels().scale(curves.data(), stride_, z);
            packed.sums(z, sums);
        }
        std::copy(sums, sums + d, task.Hd);
    }

    void remember(std::span<const int> nodes) {
        lines_.make_reference();
        workers_.pool.each(nodes.size(), [&](int k, int) {
            lines_.view_rows(nodes[k]);
            lines_.remember(nodes[k]);
        });
    }

    ResidualDrift drift(int node, int) {
        const NodeView view = lines_.view_rows(node);
        ResidualDrift moved;
        kernels().distance(view.rows, view.wr, lines_.reference(node), &moved.square, &moved.sum);
        return moved;
    }

    double all_pairs(int first, int last, float* band) {
        workers_.pool.each(table_->n_features - first, [&](int k, int) { lines_.view_rows(first + k); });
        PairTiles tiles(*table_, first, last, workers_.pool);
        const auto residuals = [this](int node, int row, int rows, float* out) {
            kernels().narrow(lines_.wr(node) + row, rows, out);
        };
        tiles.add(0, stride_, residuals, band);
        return tiles.slack();
    }

 private:
    struct Operator {
        PackedColumns columns;  // beside the node
        Buffer<float> curves;
    };

    static size_t with_spare(size_t words) { return words + words / 8 / 16 * 16; }

    Operator& operator_of(int node) { return operators_[lines_.index(node)]; }

    // Over all rows, if they have the same predictor.
    NodeSums pass_constant(int node, double eta) {
        const double y = std::exp(-std::abs(eta)), large = 1 / (1 + y), small = y / (1 + y);
        const double sigma = eta >= 0 ? large : small, rest = eta >= 0 ? small : large;
        const double zeros = margins().rest[node], ones = margins().mean[node];
        const NodeRows rows = table_->rows(node);
        double* residuals = lines_.wr(node);
        for (int n = 0; n < stride_; ++n) residuals[n] = rows.w[n] * (rows.x[n] ? -rest : sigma);
        return {.loss = (zeros + ones) * std::log1p(y) + (eta >= 0 ? zeros : ones) * std::abs(eta),
                .field = zeros * sigma - ones * rest,
                .curve = (zeros + ones) * sigma * rest,
                .zeros = zeros * sigma,
                .ones = ones * rest};
    }

    void add_columns(const Move& task, double offset, int worker) {
        const PackedColumns& packed = operator_of(task.node).columns;
        const bool is_packed = task.moved.count > 0 && packed.holds(task.moved.column, task.moved.count);
        Scratch& scratch = workers_.scratch[worker];
        ColumnList columns = table_->list(task.moved, scratch.columns);
        if (is_packed) columns.count = 0;
        kernels().add_columns(columns, task.coefficient, offset, lines_.eta(task.node));
        if (!is_packed) return;
        double* coefficients = room(scratch.numbers, 32 * packed.groups());
        std::copy(task.coefficient, task.coefficient + packed.size(), coefficients);
        std::fill(coefficients + packed.size(), coefficients + 32 * packed.groups(), 0.0);
        packed.add(coefficients, stride_, lines_.eta(task.node));
    }

    Workers& workers_;
    const std::shared_ptr<const Table> table_;
    const int stride_;
    MergedLines lines_;
    std::vector<Operator> operators_;
    Buffer<uint32_t> packed_;  // the columns of all operators: of one array, pages are large
    struct Single {
        Buffer<float> line, coefficients, sums;
        Buffer<int16_t> shorts, short_sums;
    };
    std::vector<Single> single_;  // scratch of every thread
};

}  // namespace

std::unique_ptr<Rows> kept_rows(Pool& pool, std::shared_ptr<const Table> table, Holds holds) {
    return std::make_unique<TwoValueRows<KeptStorage>>(pool, std::move(table), holds);
}

}  // namespace isinglass
