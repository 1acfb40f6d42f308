// Predictors that are made when they are needed from the nodes' recipes, on cells that are bytes or lists of ones.
#pragma once

#include <memory>

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

// What cells have: a table in some form, of which they give views at the recipe of a node. forget() and
// remember(nodes, recipes) are only for cells that keep something beside the recipes.
template <class Cells>
concept MakesPredictors =
    requires(Cells& cells, const Recipe& recipe, const std::vector<Recipe>& recipes, const NeighborColumns& columns,
             const NodeView& view, double* line, double* out, float* band, Scratch& scratch, int node, int worker) {
        { cells.make(node, recipe, columns, worker) } -> std::same_as<NodeView>;   // at any recipe
        { cells.renew(node, recipe, columns, worker) } -> std::same_as<NodeView>;  // at that of now, which has changed
        { cells.view(node, recipe, columns, worker) } -> std::same_as<NodeView>;   // which has not
        { cells.drift(node, recipe, recipe, worker) } -> std::same_as<ResidualDrift>;
        cells.collect(view, node, recipe, columns, out, worker);
        cells.gradient(node, recipe, columns, out, worker);
        cells.sums(view, line, columns, out, scratch);
        { cells.all_pairs(recipes, node, node, band) } -> std::same_as<double>;
    };

template <MakesPredictors Cells>
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
    static bool has_rough() { return false; }
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

// Such rows, and their state.
struct RecipeRows {
    std::unique_ptr<Rows> rows;
    RecipeState* state = nullptr;
    bool is_sparse = false;  // lists of ones

    template <MakesPredictors Cells, class... Given>
    static RecipeRows of(bool is_sparse, Pool& pool, Given&&... given) {
        auto made = std::make_unique<TwoValueRows<RecipeStorage<Cells>>>(pool, std::forward<Given>(given)...);
        RecipeState* state = &made->storage();
        return {std::move(made), state, is_sparse};
    }
};
// On bytes; n_kept: how many nodes keep their predictors and residuals, 20 bytes per row.
RecipeRows byte_rows(Pool& pool, std::shared_ptr<const Table> table, int n_kept);
// On lists of ones; the table is not needed any more afterwards.
RecipeRows ones_rows(Pool& pool, const Table& table);
double share_of_ones(const Table& table);

}  // namespace isinglass
