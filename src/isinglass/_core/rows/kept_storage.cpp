// The table as bytes and a line of predictors and residuals for every node, or one line for the node placed last.
//
// Where there are many rows and few columns beside a node, its rows are merged into patterns. Predictors and residuals
// of all rows are then made from those of the patterns when they are asked for. The columns of a node that is an
// operator are packed into bits.
#include <stdexcept>

#include "rows/packed.hpp"
#include "rows/patterns.hpp"
#include "rows/recipe.hpp"
#include "rows/two_value_rows.hpp"

namespace isinglass {

using namespace tuning::rows;

namespace {

class KeptStorage {
 public:
    KeptStorage(Workers& workers, std::shared_ptr<const Table> table, Holds holds)
        : workers_(workers),
          kernels_(kernels()),
          table_(std::move(table)),
          total_(std::accumulate(table_->w.data(), table_->w.data() + table_->stride, 0.0)),
          stride_(table_->stride),
          most_columns_(Patterns::most_columns(*table_, ROWS_PER_PATTERN)),
          lines_(stride_, std::vector<int>(table_->n_features, 1), holds),
          merged_(merges() ? lines_.count() : 0),
          where_(merges() ? workers.pool.size() : 0, std::vector<int>(table_->n_features, -1)),
          operators_(lines_.count()),
          single_(workers.pool.size()) {}

    const Margins& margins() const { return table_->margins; }
    double total() const { return total_; }
    double rounding() const { return rounding_of(*table_); }

    NodeView view(int node, const NeighborColumns& also, int worker) {
        if (!is_merged(node)) return lines_.view(node, *table_);
        Merged& own = merged(node);
        if (!own.patterns.hold(also) && merge(node, also) && own.patterns.hold(also)) pass_patterns(node, worker);
        if (own.patterns.hold(also)) return view_patterns(node);
        const NodeView rows = view_rows(node);
        if (own.spread != Merged::Spread::predictors_too)
            own.patterns.copy(*table_, own.eta.data(), 0, table_->n_distinct, rows.eta);
        own.spread = Merged::Spread::predictors_too;
        return rows;
    }

    NodeView move(const Move& task, bool afresh, int worker) {
        const int node = task.node;
        const bool was_merged = is_merged(node);
        if (track(task, afresh, worker) && merge(node, task.asked)) {
            lines_.sums(node) = pass_patterns(node, worker);
            merged(node).spread = Merged::Spread::nothing;
            return view_patterns(node);
        }
        if (was_merged) {
            unmerge(node, worker);
        } else {
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
            if (merged(node).patterns.hold(asked))
                kernels_.dots(view.source->list(asked, scratch.columns), view.wr, out);
            else
                collect(view_rows(node), node, asked, out, worker);
            return;
        }
        const PackedColumns& packed = operator_of(node).columns;
        const int known = packed.leads(asked.column, asked.count) ? packed.size() : 0;
        if (known > 0) {
            double* sums = room(scratch.word_sums, packed.lanes());
            packed.sums(padded(view.wr, stride_, table_->bits().n_words, scratch.words), sums, kernels_);
            std::copy(sums, sums + known, out);
        }
        column_sums(*table_, view.wr, {asked.column + known, asked.count - known}, out + known, scratch);
    }

    void gradient(int node, const NeighborColumns& asked, double* out, int worker) {
        collect(view(node, {}, worker), node, asked, out, worker);
    }

    // Products are for all rows.
    void begin_blocks(std::span<const Block> tasks, bool) {
        for (const Block& task : tasks) {
            if (task.G || task.inner.count == 0 || !is_merged(task.node)) continue;
            view_rows(task.node);
            unmerge(task.node, 0);
        }
    }

    void diagonal(const Block& task, const NodeView&, const float* curves, int worker) {
        auto& [packed, kept] = operator_of(task.node);
        const int d = task.inner.count;
        if (!packed.holds(task.inner.column, d)) packed.pack(table_->bits(), task.inner.column, d, kernels_);
        const int rows = 32 * table_->bits().n_words;
        double* a = room(workers_.scratch[worker].words, rows);
        double* sums = room(workers_.scratch[worker].word_sums, packed.lanes());
        if (kept.size() == 0) kept.resize(stride_);
        std::copy(curves, curves + stride_, kept.data());
        std::copy(curves, curves + stride_, a);
        std::fill(a + stride_, a + rows, 0.0);
        packed.sums(a, sums, kernels_);
        write_diagonal(task, sums, std::accumulate(a, a + stride_, 0.0));
    }

    void product(const Product& task, int worker) {
        const auto& [packed, curves] = operator_of(task.node);
        const int d = task.inner.count;
        if (packed.size() != d) throw std::logic_error("a product needs its diagonal first");
        Single& scratch = single_[worker];
        const int rows = 32 * table_->bits().n_words;
        float *z = room(scratch.line, rows), *coefficients = room(scratch.coefficients, 32 * packed.groups());
        float* sums = room(scratch.sums, packed.lanes());
        std::copy(task.d, task.d + d, coefficients);
        std::fill(coefficients + d, coefficients + 32 * packed.groups(), 0.0f);
        std::fill(z, z + stride_, static_cast<float>(-task.center));
        std::fill(z + stride_, z + rows, 0.0f);
        packed.expect_sums();
        packed.add(coefficients, stride_, z, kernels_);
        kernels_.scale(curves.data(), stride_, z);
        packed.sums(z, sums, kernels_);
        std::copy(sums, sums + d, task.Hd);
    }

    void expect_product(const Product& task) const { operators_[lines_.index(task.node)].columns.expect_add(); }

    void remember(std::span<const int> nodes) {
        lines_.make_reference();
        workers_.pool.each(nodes.size(), [&](int k, int) {
            view_rows(nodes[k]);
            lines_.remember(nodes[k]);
        });
    }

    ResidualDrift drift(int node, int) {
        const NodeView view = view_rows(node);
        ResidualDrift moved;
        kernels_.distance(view.rows, view.wr, lines_.reference(node), &moved.square, &moved.sum);
        return moved;
    }

    Overlap overlap(const Pair& pair, int) const { return overlap_of(*table_, pair); }

    double all_pairs(int first, int last, float* band) {
        workers_.pool.each(table_->n_features - first, [&](int k, int) { view_rows(first + k); });
        PairTiles tiles(*table_, first, last, workers_.pool);
        const auto residuals = [this](int node, int row, int rows, float* out) {
            kernels_.narrow(lines_.wr(node) + row, rows, out);
        };
        tiles.add(0, stride_, residuals, band);
        return tiles.slack();
    }

    static int gram_rows(int most) { return most; }

 private:
    // What is known of a node that is or may be merged.
    struct Merged {
        Recipe recipe;
        bool is_known = false;  // whether the recipe is kept up
        Patterns patterns{true};
        Buffer<double> eta, wr;  // of the patterns
        enum class Spread : uint8_t { nothing, residuals, predictors_too };
        Spread spread = Spread::nothing;  // what all rows have been given
    };
    struct Operator {
        PackedColumns columns;  // beside the node
        Buffer<float> curves;
    };

    // All rows; of a node that is merged, only its residuals need be there.
    NodeView view_rows(int node) {
        if (is_merged(node) && merged(node).spread == Merged::Spread::nothing) {
            const Merged& own = merged(node);
            const NodeRows patterns = own.patterns.rows();
            std::vector<double> r(patterns.n);
            for (int i = 0; i < patterns.n; ++i) r[i] = own.wr[i] * patterns.inverse_w[i];
            own.patterns.spread(*table_, r.data(), 0, table_->n_distinct, lines_.wr(node));
            merged(node).spread = Merged::Spread::residuals;
        }
        return lines_.view(node, *table_);
    }

    NodeView view_patterns(int node) {
        Merged& own = merged(node);
        return {own.patterns.rows(), own.eta.data(), own.wr.data(), lines_.sums(node), &own.patterns};
    }

    Operator& operator_of(int node) { return operators_[lines_.index(node)]; }
    Merged& merged(int node) { return merged_[lines_.index(node)]; }
    bool merges() const { return most_columns_ >= 0; }
    bool is_merged(int node) { return merges() && merged(node).patterns.are_of(node); }

    // Keeps a node's recipe up; false where that is in vain: with many columns, until it starts afresh.
    bool track(const Move& task, bool afresh, int worker) {
        if (!merges()) return false;
        Merged& own = merged(task.node);
        if (afresh) own.recipe = {};
        if (!afresh && !own.is_known) return false;
        own.recipe.change(task, where_[worker]);
        own.is_known = own.recipe.columns().count <= HOPELESS_RECIPE * (most_columns_ + 1);
        return true;
    }

    // Merges the rows of a node by the columns of its recipe, and by those that are asked for if they fit in; false if
    // there are too many.
    bool merge(int node, const NeighborColumns& asked) {
        auto& [recipe, is_known, patterns, eta, wr, spread] = merged(node);
        if (is_merged(node) && patterns.hold(recipe.columns()) && patterns.hold(asked)) return true;
        recipe.forget_zeros();
        if (recipe.columns().count > most_columns_) return false;
        std::vector<int> wanted = recipe.column;
        for (int k = 0; k < asked.count; ++k)
            if (std::find(recipe.column.begin(), recipe.column.end(), asked.column[k]) == recipe.column.end())
                wanted.push_back(asked.column[k]);
        if (static_cast<int>(wanted.size()) > most_columns_) wanted = recipe.column;
        if (!is_merged(node) || !patterns.hold({wanted.data(), static_cast<int>(wanted.size())})) {
            patterns.make(*table_, node, wanted);
            eta.resize(patterns.size()), wr.resize(patterns.size());
        }
        is_known = true;
        return true;
    }

    // Over the patterns of a node that is merged.
    NodeSums pass_patterns(int node, int worker) {
        Merged& own = merged(node);
        own.recipe.predict(own.patterns, 0, own.patterns.size(), own.eta.data(), workers_.scratch[worker]);
        return pass(view_patterns(node)).sums;
    }

    // Over all rows, if they have the same predictor.
    NodeSums pass_constant(int node, double eta) {
        const double y = std::exp(-std::abs(eta)), large = 1 / (1 + y), small = y / (1 + y);
        const double sigma = eta >= 0 ? large : small, rest = eta >= 0 ? small : large;
        const double zeros = margins().rest[node], ones = margins().mean[node];
        const NodeRows rows = table_->rows(node);
        double* residuals = lines_.wr(node);
        for (int n = 0; n < stride_; ++n) residuals[n] = rows.w[n] * (rows.x[n] ? -rest : sigma);
        return {(zeros + ones) * std::log1p(y) + (eta >= 0 ? zeros : ones) * std::abs(eta), zeros * sigma - ones * rest,
                (zeros + ones) * sigma * rest, zeros * sigma, ones * rest};
    }

    void unmerge(int node, int worker) {
        merged(node).patterns.clear();
        merged(node).recipe.predict(*table_, 0, stride_, lines_.eta(node), workers_.scratch[worker]);
    }

    void add_columns(const Move& task, double offset, int worker) {
        const PackedColumns& packed = operator_of(task.node).columns;
        const bool is_packed = task.moved.count > 0 && packed.holds(task.moved.column, task.moved.count);
        Scratch& scratch = workers_.scratch[worker];
        ColumnList columns = table_->list(task.moved, scratch.columns);
        if (is_packed) columns.count = 0;
        kernels_.add_columns(columns, task.coefficient, offset, lines_.eta(task.node));
        if (!is_packed) return;
        double* coefficients = room(scratch.numbers, 32 * packed.groups());
        std::copy(task.coefficient, task.coefficient + packed.size(), coefficients);
        std::fill(coefficients + packed.size(), coefficients + 32 * packed.groups(), 0.0);
        packed.add(coefficients, stride_, lines_.eta(task.node), kernels_);
    }

    Workers& workers_;
    const Kernels& kernels_;
    const std::shared_ptr<const Table> table_;
    const double total_;
    const int stride_, most_columns_;  // beside a node whose rows are merged; -1: there are too few rows
    Lines lines_;
    std::vector<Merged> merged_;
    std::vector<std::vector<int>> where_;  // scratch of every thread
    std::vector<Operator> operators_;
    struct Single {
        Buffer<float> line, coefficients, sums;
    };
    std::vector<Single> single_;  // scratch of every thread
};

}  // namespace

std::unique_ptr<Rows> kept_rows(Pool& pool, std::shared_ptr<const Table> table, Holds holds) {
    return std::make_unique<TwoValueRows<KeptStorage>>(pool, std::move(table), holds);
}

const float* curvatures(const NodeView& view, bool majorized, Scratch& scratch) {
    float* curves = room(scratch.curves, view.rows.n);
    if (majorized)
        for (int n = 0; n < view.rows.n; ++n) curves[n] = static_cast<float>(view.rows.w[n] / 4);
    else
        kernels().curvatures(view.rows, view.eta, view.wr, curves);
    return curves;
}

}  // namespace isinglass
