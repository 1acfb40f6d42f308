// What rows on this computer share: sums over the rows of one node at a time, the nodes of a batch shared out over
// threads.
#pragma once

#include <memory>
#include <numeric>

#include "rows/pool.hpp"
#include "rows/sums.hpp"

namespace isinglass {

// A node's predictor and residuals, and the rows they belong to: all that a pass over them needs. What it points to
// stays until the node changes or, where it is made when it is needed, until the thread views another node.
struct NodeView {
    const double *eta, *wr;
    const uint8_t* x;
    const double *w, *inverse_w;
    int size, width;  // rows, and numbers of eta and wr for each
    NodeSums sums;
    const ColumnSource* source;  // of columns on these rows
};

class LocalRows : public Rows {
 public:
    const Margins& margins() const override { return margins_; }
    double rounding() const override;
    std::vector<Overlap> overlaps(std::span<const Pair> pairs) override;
    void gradients(std::span<const Gradient> tasks) override;
    void blocks(std::span<const Block> tasks, Curvature curvature) override;
    double divergence(std::span<const int> nodes, double c) override;
    double largest_predictor(std::span<const int> nodes) override;
    std::vector<ResidualDrift> drift(std::span<const int> nodes) override;

 protected:
    struct Scratch {
        SumScratch wide;
        Buffer<double> line, numbers;
        Buffer<float> curves, panels;
    };
    LocalRows(std::shared_ptr<const Table> table, Margins margins, Pool& pool)
        : kernels_(kernels()),
          table_(std::move(table)),
          margins_(std::move(margins)),
          pool_(pool),
          scratch_(pool.size()) {
        if (table_) total_ = std::accumulate(table_->w.data(), table_->w.data() + table_->stride, 0.0);
    }
    // also: columns that will be asked for on the same rows.
    virtual NodeView view(int node, const NeighborColumns& also, int worker) = 0;
    // The residuals of the rows that are remembered.
    virtual NodeView view_rows(int node, int worker) { return view(node, {}, worker); }
    // Log odds of the observed values in place of the predictor.
    virtual NodeView view_odds(int node, int worker) { return view(node, {}, worker); }
    const uint8_t* const* columns(const ColumnSource& source, const NeighborColumns& neighbors, int worker) {
        return source.list(neighbors, scratch_[worker].wide.columns);
    }
    // sum_n w r x of these columns.
    virtual void collect(const NodeView& view, int node, const NeighborColumns& asked, double* out, int worker);
    // What goes beside products with these curvatures.
    virtual void diagonal(const Block& task, const NodeView& view, const float* curves, int worker);
    // The residuals that were remembered, for drift.
    virtual const float* reference(int, int /* worker */) { return nullptr; }
    void make_panels(std::span<const Block> tasks);
    const float* curvatures(const NodeView& view, bool majorized, int worker);
    std::vector<double> gram_of(const NodeView& view, const NeighborColumns& neighbors, int most);
    void sum_columns(const double* a, int size, const uint8_t* const* x, const NeighborColumns& neighbors, double* out,
                     int worker);

    const Kernels& kernels_;
    const std::shared_ptr<const Table> table_;  // null: none is kept
    Margins margins_;
    double total_ = 0;  // weight of all rows
    Pool& pool_;
    std::vector<Scratch> scratch_;  // one per thread
};

// Rows that keep predictors and residuals, of all nodes or of the one placed last.
class KeptRows : public LocalRows {
 public:
    void remember(std::span<const int> nodes) override;

 protected:
    KeptRows(std::shared_ptr<const Table> table, Margins margins, Holds holds, Pool& pool);
    // How many numbers a row of each node has.
    void make_lines(std::vector<int> widths);
    size_t line(int node) const { return holds_ == Holds::one_node ? 0 : node; }
    size_t n_lines() const { return holds_ == Holds::one_node ? 1 : table_->n_features; }
    size_t cells(int node) const { return static_cast<size_t>(stride_) * width_[node]; }
    double* eta(int node) { return eta_.data() + begin_[node]; }
    double* wr(int node) { return wr_.data() + begin_[node]; }
    NodeView view(int node, const NeighborColumns& also, int worker) override;
    const float* reference(int node, int) override { return reference_wr_.data() + begin_[node]; }

    const Holds holds_;
    const int stride_;
    std::vector<NodeSums> sums_;  // of every line

 private:
    std::vector<int> width_;
    std::vector<size_t> begin_;
    Buffer<double> eta_, wr_;
    Buffer<float> reference_wr_;
};

// Rows that know what their predictors are made of. A node's recipe is its offset and its coefficients: what such rows
// have to know about the past is recipes alone, a few numbers per edge. They can be sent, and rows that were lost are
// made again from them.
struct Recipe {
    double offset = 0;
    std::vector<int> column;
    std::vector<double> coefficient;

    NeighborColumns columns() const { return {column.data(), static_cast<int>(column.size())}; }
    // Adds a move. where: scratch, -1 for every column.
    void change(const Move& task, std::vector<int>& where);
    // Takes out columns whose coefficients are what rounding has left of zero.
    void forget_zeros();
};

// Where the predictors are, where they were when residuals were remembered, and where the curvatures of products were
// taken (majorized: w / 4 instead).
struct Recipes {
    explicit Recipes(size_t n_nodes = 0) : now(n_nodes), remembered(n_nodes), modeled(n_nodes), majorized(n_nodes) {}
    std::vector<Recipe> now, remembered, modeled;
    std::vector<uint8_t> majorized;
};

class RecipeBase : public LocalRows, public ProductRows, public GramRows {
 public:
    void move(std::span<const Move> tasks, bool afresh) override;
    void blocks(std::span<const Block> tasks, Curvature curvature) override;
    ProductRows* operators() override { return this; }
    void products(std::span<const Product> tasks) override;
    GramRows* grams() override { return this; }
    std::vector<double> gram(int node, const NeighborColumns& neighbors, int most) override {
        return gram_of(view(node, neighbors, 0), neighbors, most);
    }
    void remember(std::span<const int> nodes) override;
    const Recipes& state() const { return state_; }
    virtual void restore(Recipes state) { state_ = std::move(state); }

 protected:
    RecipeBase(std::shared_ptr<const Table> table, const Margins& margins, Pool& pool);
    virtual NodeView make(int node, const Recipe& recipe, const NeighborColumns& also, int worker) = 0;
    NodeView view(int node, const NeighborColumns& also, int worker) override {
        return make(node, state_.now[node], also, worker);
    }
    // The same when the recipe has changed.
    virtual NodeView renew(int node, int worker) { return view(node, {}, worker); }

    Recipes state_;

 private:
    void multiply(const Product& task, int worker);
    std::vector<std::vector<int>> where_;  // scratch of every thread
};

}  // namespace isinglass
