// Predictors that are made when they are needed from the nodes' recipes, on cells that are bytes or lists of ones.
#pragma once

#include <memory>

#include "rows/patterns.hpp"
#include "rows/recipe.hpp"
#include "rows/two_value_rows.hpp"

namespace isinglass {

// What such rows have to know about the past.
class RecipeState {
 public:
    virtual ~RecipeState() = default;
    virtual const Recipes& state() const = 0;
    virtual void restore(Recipes state) = 0;
};

// Cells have a table in some form, and give for a recipe of a node:
//   make(node, recipe, also, worker)      a view at it, with these columns on its rows as well
//   renew(node, recipe, also, worker)     the same at the node's recipe of now, when it has changed
//   view(node, recipe, also, worker)      the same when it has not
//   drift(node, now, before, worker)
//   forget(), remember(nodes, recipes)    only if they keep something beside the recipes
// and margins, total, rounding, sums of columns, gram_rows, overlap and all_pairs.
template <class Cells>
class RecipeStorage final : public RecipeState {
 public:
    template <class... Given>
    explicit RecipeStorage(Workers& workers, Given&&... given)
        : workers_(workers),
          cells_(workers, std::forward<Given>(given)...),
          state_(margins().mean.size()),
          where_(workers.pool.size(), std::vector<int>(margins().mean.size(), -1)) {}

    const Recipes& state() const override { return state_; }
    void restore(Recipes state) override {
        state_ = std::move(state);
        if constexpr (requires { cells_.forget(); }) cells_.forget();
    }
    const Margins& margins() const { return cells_.margins(); }
    double total() const { return cells_.total(); }
    double rounding() const { return cells_.rounding(); }
    int gram_rows(int most) const { return cells_.gram_rows(most); }
    Overlap overlap(const Pair& pair, int worker) { return cells_.overlap(pair, worker); }
    double all_pairs(int first, int last, float* band) { return cells_.all_pairs(state_.now, first, last, band); }

    NodeView view(int node, const NeighborColumns& also, int worker) {
        return cells_.view(node, state_.now[node], also, worker);
    }
    NodeView move(const Move& task, bool afresh, int worker) {
        Recipe& recipe = state_.now[task.node];
        if (afresh) recipe = {};
        recipe.change(task, where_[worker]);
        recipe.forget_zeros();
        return cells_.renew(task.node, recipe, task.asked, worker);
    }
    void collect(const NodeView& view, int node, const NeighborColumns& asked, double* out, int worker) {
        cells_.collect(view, node, state_.now[node], asked, out, worker);
    }
    void gradient(int node, const NeighborColumns& asked, double* out, int worker) {
        cells_.gradient(node, state_.now[node], asked, out, worker);
    }
    void begin_blocks(std::span<const Block> tasks, bool majorized) {
        for (const Block& task : tasks) {
            if (task.G) continue;
            state_.modeled[task.node] = state_.now[task.node];
            state_.majorized[task.node] = majorized;
        }
    }
    // Double precision: where nearly all weight is on ones, what is left for the zeros is a difference.
    void diagonal(const Block& task, const NodeView& view, const float* curves, int worker) {
        Scratch& scratch = workers_.scratch[worker];
        double *line = room(scratch.line, view.rows.n), *sums = room(scratch.numbers, task.inner.count);
        std::copy(curves, curves + view.rows.n, line);
        cells_.sums(view, line, task.inner, sums, scratch);
        write_diagonal(task, sums, std::accumulate(line, line + view.rows.n, 0.0));
    }
    void product(const Product& task, int worker) {
        Scratch& scratch = workers_.scratch[worker];
        const NodeView view = cells_.make(task.node, state_.modeled[task.node], task.inner, worker);
        const float* curves = curvatures(view, state_.majorized[task.node], scratch);
        const int d = task.inner.count;
        double *z = room(scratch.line, view.rows.n), *numbers = room(scratch.numbers, d);
        std::copy(task.d, task.d + d, numbers);
        std::fill(z, z + view.rows.n, -task.center);
        kernels().add_columns(view.source->list(task.inner, scratch.columns), numbers, 0.0, z);
        for (int n = 0; n < view.rows.n; ++n) z[n] *= curves[n];
        cells_.sums(view, z, task.inner, numbers, scratch);
        std::copy(numbers, numbers + d, task.Hd);
    }
    void remember(std::span<const int> nodes) {
        for (int node : nodes) state_.remembered[node] = state_.now[node];
        if constexpr (requires { cells_.remember(nodes, state_.now); }) cells_.remember(nodes, state_.now);
    }
    ResidualDrift drift(int node, int worker) {
        return cells_.drift(node, state_.now[node], state_.remembered[node], worker);
    }

 private:
    Workers& workers_;
    Cells cells_;
    Recipes state_;
    std::vector<std::vector<int>> where_;  // scratch of every thread
};

// A table of bytes. Where a node has few columns beside it, its rows are merged into patterns: by the columns of its
// recipe and by those that are asked for, never by what was asked before, so that rows made again elsewhere give the
// same bits. Else predictor and residuals are made from the recipe, or kept for the first nodes as far as there is
// room; by the same arithmetic either way, so that the room changes no bit.
class ByteCells {
 public:
    // n_kept: how many nodes keep their predictors and residuals, 20 bytes per row.
    ByteCells(Workers& workers, std::shared_ptr<const Table> table, int n_kept);

    const Margins& margins() const { return table_->margins; }
    double total() const { return total_; }
    double rounding() const { return rounding_of(*table_); }
    static int gram_rows(int most) { return most; }
    Overlap overlap(const Pair& pair, int) const { return overlap_of(*table_, pair); }
    void forget();
    NodeView make(int node, const Recipe& recipe, const NeighborColumns& also, int worker);
    NodeView view(int node, const Recipe& recipe, const NeighborColumns& also, int worker);
    NodeView renew(int node, const Recipe& recipe, const NeighborColumns& also, int worker);
    void collect(const NodeView& view, int node, const Recipe& recipe, const NeighborColumns& asked, double* out,
                 int worker);
    void gradient(int node, const Recipe& recipe, const NeighborColumns& asked, double* out, int worker);
    void sums(const NodeView& view, const double* a, const NeighborColumns& asked, double* out, Scratch& scratch) const;
    void remember(std::span<const int> nodes, const std::vector<Recipe>& now);
    ResidualDrift drift(int node, const Recipe& now, const Recipe& before, int worker);
    double all_pairs(const std::vector<Recipe>& now, int first, int last, float* band);

 private:
    // Scratch of a thread: of all rows, and of patterns.
    struct Made {
        Buffer<double> eta, wr, pattern_eta, pattern_wr;
        Buffer<float> reference;
    };
    bool is_kept(int node) const { return node < n_kept_; }
    bool can_merge(const Recipe& recipe) const { return recipe.columns().count <= most_columns_; }
    Patterns* merge(int node, const Recipe& recipe, const NeighborColumns& also);
    NodeView view_patterns(const Patterns& patterns, const Recipe& recipe, int worker);
    NodeView view_rows(int node, const Recipe& recipe, int worker);
    NodeView make_rows(int node, const Recipe& recipe, double* eta, double* wr, int worker) const;
    const double* residuals(int node, const Recipe& recipe, int begin, int end, int worker);

    Workers& workers_;
    const Kernels& kernels_;
    const std::shared_ptr<const Table> table_;
    const double total_;
    const int n_kept_, most_columns_;
    Lines kept_;
    std::vector<uint8_t> is_made_, is_remembered_;  // of the nodes that are kept: their lines, their reference
    std::vector<Patterns> patterns_;
    std::vector<double> ones_;  // a weight for each pattern
    std::vector<Made> made_;
};

}  // namespace isinglass
