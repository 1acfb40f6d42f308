// The table as bytes and a line of predictors and residuals for every node, or one line for the node placed last.
//
// Where there are many rows and few columns beside a node, its rows are merged into patterns. Predictors and residuals
// of all rows are then made from those of the patterns when they are asked for. The columns of a node that is an
// operator are packed into bits.
#pragma once

#include <memory>

#include "rows/packed.hpp"
#include "rows/patterns.hpp"
#include "rows/recipe.hpp"
#include "rows/two_value_rows.hpp"

namespace isinglass {

class KeptStorage {
 public:
    KeptStorage(Workers& workers, std::shared_ptr<const Table> table, Holds holds);

    const Margins& margins() const { return table_->margins; }
    double total() const { return total_; }
    double rounding() const { return rounding_of(*table_); }
    NodeView view(int node, const NeighborColumns& also, int worker);
    NodeView move(const Move& task, bool afresh, int worker);
    void collect(const NodeView& view, int node, const NeighborColumns& asked, double* out, int worker);
    void gradient(int node, const NeighborColumns& asked, double* out, int worker) {
        collect(view(node, {}, worker), node, asked, out, worker);
    }
    void begin_blocks(std::span<const Block> tasks, bool majorized);
    void diagonal(const Block& task, const NodeView& view, const float* curves, int worker);
    void product(const Product& task, int worker);
    void expect_product(const Product& task) const { operators_[lines_.index(task.node)].columns.expect_add(); }
    void remember(std::span<const int> nodes);
    ResidualDrift drift(int node, int worker);
    Overlap overlap(const Pair& pair, int) const { return overlap_of(*table_, pair); }
    double all_pairs(int first, int last, float* band);
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
    NodeView view_rows(int node);
    NodeView view_patterns(int node);
    Operator& operator_of(int node) { return operators_[lines_.index(node)]; }
    Merged& merged(int node) { return merged_[lines_.index(node)]; }
    bool merges() const { return most_columns_ >= 0; }
    bool is_merged(int node) { return merges() && merged(node).patterns.are_of(node); }
    bool track(const Move& task, bool afresh, int worker);
    bool merge(int node, const NeighborColumns& asked);
    NodeSums pass_patterns(int node, int worker);
    NodeSums pass_constant(int node, double eta);
    void unmerge(int node, int worker);
    void add_columns(const Move& task, double offset, int worker);

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

}  // namespace isinglass
