#include "rows/patterns.hpp"
#include "rows/recipe_storage.hpp"

namespace isinglass {

using namespace tuning::rows;

namespace {

// A table of bytes. Where a node has few columns beside it, its rows are merged into patterns, never by what was asked
// before. Else predictor and residuals are made from the recipe, or kept for the first nodes as far as there is
// room; by the same arithmetic either way, so that the room changes no bit.
class ByteCells {
 public:
    ByteCells(Workers& workers, std::shared_ptr<const Table> table, int n_kept)
        : workers_(workers),
          table_(std::move(table)),
          n_kept_(std::clamp(n_kept, 0, table_->n_features)),
          most_columns_(Patterns::most_columns(*table_, ROWS_PER_MADE_PATTERN)),
          kept_(table_->stride, std::vector<int>(n_kept_, 1), Holds::all_nodes),
          is_made_(n_kept_),
          is_remembered_(n_kept_),
          patterns_(most_columns_ < 0 ? 0 : table_->n_features),
          ones_(std::max(2 << std::max(most_columns_, 0), ROW_ALIGN), 1.0),
          made_(workers.pool.size()) {
        for (Made& made : made_) {
            made.eta.resize(table_->stride), made.wr.resize(table_->stride);
            made.pattern_eta.resize(ones_.size()), made.pattern_wr.resize(ones_.size());
            made.reference.resize(std::max<size_t>(table_->stride, ones_.size()));
        }
    }

    const Margins& margins() const { return table_->margins; }
    double total() const { return table_->total; }
    double rounding() const { return rounding_of(*table_); }

    void forget() {
        std::fill(is_made_.begin(), is_made_.end(), uint8_t{0});
        std::fill(is_remembered_.begin(), is_remembered_.end(), uint8_t{0});
    }

    NodeView make(int node, const Recipe& recipe, const NeighborColumns& also, int worker) {
        if (const Patterns* patterns = merge(node, recipe, also); patterns && patterns->hold(also))
            return view_patterns(*patterns, recipe, worker);
        return make_rows(node, recipe, made_[worker].eta.data(), made_[worker].wr.data(), worker);
    }

    NodeView view(int node, const Recipe& recipe, const NeighborColumns& also, int worker) {
        if (const Patterns* patterns = merge(node, recipe, also); patterns && patterns->hold(also))
            return view_patterns(*patterns, recipe, worker);
        return view_rows(node, recipe, worker);
    }

    NodeView renew(int node, const Recipe& recipe, const NeighborColumns& also, int worker) {
        if (is_kept(node)) is_made_[node] = 0;
        if (const Patterns* patterns = merge(node, recipe, also)) return view_patterns(*patterns, recipe, worker);
        return view_rows(node, recipe, worker);
    }

    void collect(const NodeView& view, int node, const Recipe& recipe, const NeighborColumns& asked, double* out,
                 int worker) {
        if (view.source != table_.get() && !patterns_[node].hold(asked))
            gradient(node, recipe, asked, out, worker);
        else
            sums(view, view.wr, asked, out, workers_.scratch[worker]);
    }

    void gradient(int node, const Recipe& recipe, const NeighborColumns& asked, double* out, int worker) {
        const double* wr =
            can_merge(recipe) ? residuals(node, recipe, 0, table_->stride, worker) : view_rows(node, recipe, worker).wr;
        column_sums(*table_, wr, asked, out, workers_.scratch[worker]);
    }

    void sums(const NodeView& view, const double* a, const NeighborColumns& asked, double* out,
              Scratch& scratch) const {
        if (view.source == table_.get())
            column_sums(*table_, a, asked, out, scratch);
        else
            kernels().dots(view.source->list(asked, scratch.columns), a, out);
    }

    void remember(std::span<const int> nodes, const std::vector<Recipe>& now) {
        if (n_kept_ > 0) kept_.make_reference();
        workers_.pool.each(nodes.size(), [&](int k, int worker) {
            const int node = nodes[k];
            if (!is_kept(node)) return;
            is_remembered_[node] = !can_merge(now[node]);
            if (!is_remembered_[node]) return;
            view_rows(node, now[node], worker);
            kept_.remember(node);
        });
    }

    ResidualDrift drift(int node, const Recipe& now, const Recipe& before, int worker) {
        ResidualDrift moved;
        const float* reference = made_[worker].reference.data();
        const auto narrow = [&](const NodeView& view) {
            kernels().narrow(view.wr, view.rows.n, made_[worker].reference.data());
        };
        NodeView view;
        if (const Patterns* patterns = merge(node, now, before.columns());
            patterns && patterns->hold(before.columns())) {
            narrow(view_patterns(*patterns, before, worker));
            view = view_patterns(*patterns, now, worker);
        } else {
            if (is_kept(node) && is_remembered_[node])
                reference = kept_.reference(node);
            else
                narrow(make_rows(node, before, made_[worker].eta.data(), made_[worker].wr.data(), worker));
            view = view_rows(node, now, worker);
        }
        kernels().distance(view.rows, view.wr, reference, &moved.square, &moved.sum);
        return moved;
    }

    double all_pairs(const std::vector<Recipe>& now, int first, int last, float* band) {
        const int count = table_->n_features - first, stride = table_->stride;
        const size_t chunks = std::max<size_t>(SLAB_RESIDUALS / (static_cast<size_t>(count) * TILE_ROWS), 1);
        const int slab = static_cast<int>(std::min(static_cast<size_t>(stride), chunks * TILE_ROWS));
        Buffer<float> narrowed(static_cast<size_t>(count) * slab);
        PairTiles tiles(*table_, first, last, workers_.pool);
        for (int begin = 0; begin < stride; begin += slab) {
            const int rows = std::min(slab, stride - begin);
            workers_.pool.each(count, [&](int k, int worker) {
                kernels().narrow(residuals(first + k, now[first + k], begin, begin + rows, worker), rows,
                                 narrowed.data() + static_cast<size_t>(k) * slab);
            });
            const auto given = [&](int node, int row, int some, float* out) {
                const float* from = narrowed.data() + static_cast<size_t>(node - first) * slab + (row - begin);
                std::copy(from, from + some, out);
            };
            tiles.add(begin, begin + rows, given, band);
        }
        return tiles.slack();
    }

 private:
    // Scratch of a thread: of all rows, and of patterns.
    struct Made {
        Buffer<double> eta, wr, pattern_eta, pattern_wr;
        Buffer<float> reference;
    };
    bool is_kept(int node) const { return node < n_kept_; }
    bool can_merge(const Recipe& recipe) const { return recipe.columns().count <= most_columns_; }

    // The patterns of a node by the columns of a recipe and, if they fit in, by these; null: there would be too many.
    Patterns* merge(int node, const Recipe& recipe, const NeighborColumns& also) {
        const std::optional<std::vector<int>> wanted = recipe.merged_by(also, most_columns_);
        if (!wanted) {
            if (!patterns_.empty()) patterns_[node].clear();
            return nullptr;
        }
        Patterns& patterns = patterns_[node];
        if (!patterns.are_of(node) || !patterns.are_by(*wanted)) patterns.make(*table_, node, *wanted);
        return &patterns;
    }

    NodeView view_patterns(const Patterns& patterns, const Recipe& recipe, int worker) {
        double *eta = made_[worker].pattern_eta.data(), *wr = made_[worker].pattern_wr.data();
        recipe.predict(patterns, 0, patterns.size(), eta, workers_.scratch[worker]);
        return pass({patterns.rows(), eta, wr, {}, &patterns});
    }

    // All rows at the recipe of now.
    NodeView view_rows(int node, const Recipe& recipe, int worker) {
        Made& made = made_[worker];
        if (!is_kept(node)) return make_rows(node, recipe, made.eta.data(), made.wr.data(), worker);
        if (!is_made_[node]) kept_.sums(node) = make_rows(node, recipe, kept_.eta(node), kept_.wr(node), worker).sums;
        is_made_[node] = 1;
        return kept_.view(node, *table_);
    }

    NodeView make_rows(int node, const Recipe& recipe, double* eta, double* wr, int worker) const {
        recipe.predict(*table_, 0, table_->stride, eta, workers_.scratch[worker]);
        return pass({table_->rows(node), eta, wr, {}, table_.get()});
    }

    // The residuals of some rows at the recipe of now. They are the same to the bit whether the node is merged or not,
    // and by whichever columns.
    const double* residuals(int node, const Recipe& recipe, int begin, int end, int worker) {
        Made& made = made_[worker];
        if (is_kept(node) && is_made_[node]) return kept_.wr(node) + begin;
        if (can_merge(recipe)) {
            const bool is_merged = patterns_[node].are_of(node) && patterns_[node].hold(recipe.columns());
            const Patterns* patterns = is_merged ? &patterns_[node] : merge(node, recipe, {});
            double *eta = made.pattern_eta.data(), *r = made.pattern_wr.data();
            recipe.predict(*patterns, 0, patterns->size(), eta, workers_.scratch[worker]);
            kernels().node_pass({patterns->rows().x, ones_.data(), ones_.data(), patterns->size(), 0}, eta, r);
            const int last = std::min(end, table_->n_distinct);
            patterns->spread(*table_, r, begin, last, made.wr.data());
            std::fill(made.wr.data() + std::max(last - begin, 0), made.wr.data() + (end - begin), 0.0);
            return made.wr.data();
        }
        NodeRows rows = table_->rows(node);
        rows.x += begin, rows.w += begin, rows.n = end - begin,
                                          rows.n_equal = std::clamp(rows.n_equal - begin, 0, rows.n);
        recipe.predict(*table_, begin, rows.n, made.eta.data(), workers_.scratch[worker]);
        kernels().node_pass(rows, made.eta.data(), made.wr.data());
        return made.wr.data();
    }

    Workers& workers_;
    const std::shared_ptr<const Table> table_;
    const int n_kept_, most_columns_;
    Lines kept_;
    std::vector<uint8_t> is_made_, is_remembered_;  // of the nodes that are kept: their lines, their reference
    std::vector<Patterns> patterns_;
    std::vector<double> ones_;  // a weight for each pattern
    std::vector<Made> made_;
};

}  // namespace

RecipeRows byte_rows(Pool& pool, std::shared_ptr<const Table> table, int n_kept) {
    return RecipeRows::of<ByteCells>(false, pool, std::move(table), n_kept);
}

}  // namespace isinglass
