// Rows on this computer: the table, every node's predictor and residuals, and the threads that work on them.
//
// Where there are many rows and few columns beside a node, its rows are merged into patterns. Predictors and residuals
// of all rows are then made from those of the patterns when somebody asks for them.
#pragma once

#include "rows/local_rows.hpp"
#include "rows/packed.hpp"
#include "rows/patterns.hpp"

namespace isinglass {

class BinaryRows final : public KeptRows, public ProductRows, public GramRows {
 public:
    BinaryRows(const std::shared_ptr<const Table>& table, Holds holds, Pool& pool);

    void move(std::span<const Move> tasks, bool afresh) override;
    void blocks(std::span<const Block> tasks, Curvature curvature) override;
    ProductRows* operators() override { return this; }
    void products(std::span<const Product> tasks) override;
    GramRows* grams() override { return this; }
    std::vector<double> gram(int node, const NeighborColumns& neighbors, int most) override {
        return gram_of(view(node, neighbors, 0), neighbors, most);
    }
    double all_pairs(int first, int last, float* band) override;

 private:
    NodeView view(int node, const NeighborColumns& also, int worker) override;
    NodeView view_rows(int node, int worker) override;
    void collect(const NodeView& view, int node, const NeighborColumns& asked, double* out, int worker) override;
    void diagonal(const Block& task, const NodeView& view, const float* curves, int worker) override;
    bool merges() const { return most_columns_ >= 0; }
    bool is_merged(int node) const { return merges() && patterns_[line(node)].are_of(node); }
    bool track(const Move& task, bool afresh, int worker);
    bool merge(int node, const NeighborColumns& asked);
    NodeSums pass(int node, int worker);
    NodeSums pass_constant(int node, double eta);
    void unmerge(int node, int worker);
    void predict(int node, const ColumnSource& source, double* eta, int size, int worker);
    void add_columns(const Move& task, double offset, int worker);
    void multiply(const Product& task, int worker);

    const int most_columns_;  // beside a node whose rows are merged; -1: there are too few rows
    std::vector<Recipe> recipes_;
    std::vector<uint8_t> is_known_;  // whether a recipe is kept up
    std::vector<Patterns> patterns_;
    enum class Spread : uint8_t { nothing, residuals, predictors_too };
    std::vector<Spread> spread_;            // what all rows have been given of a node that is merged
    std::vector<std::vector<int>> where_;   // scratch of every thread
    std::vector<PackedColumns> packed_;     // the columns beside a node that is an operator
    std::vector<Buffer<float>> made_from_;  // the curvatures of operators
    struct Single {
        Buffer<float> line, coefficients, sums;
    };
    std::vector<Single> single_;  // scratch of every thread
};

}  // namespace isinglass
