// Rows on this computer: the table, every node's predictor and residuals, and the threads that work on them.
//
// Where there are many rows and few columns beside a node, its rows are merged into patterns. Predictors and residuals
// of all rows are then made from those of the patterns when somebody asks for them.
#pragma once

#include "rows/local_rows.hpp"
#include "rows/packed.hpp"
#include "rows/patterns.hpp"

namespace isinglass {

class CpuRows final : public KeptRows {
 public:
    CpuRows(const std::shared_ptr<const Table>& table, Holds holds, Pool& pool);

    void move(std::span<const Move> tasks, bool afresh) override;
    void blocks(std::span<const Block> tasks, Curvature curvature) override;
    void products(std::span<const Product> tasks) override;
    double all_pairs(int first, int last, float* band) override;

 private:
    Seen see(int node, const Beside& also, int worker) override;
    Seen see_rows(int node, int worker) override;
    const uint8_t* const* columns(const Beside& beside, int worker) override;
    void collect(const Seen& seen, int node, const Beside& asked, double* out, int worker) override;
    void diagonal(const Block& task, const float* curves, int size, int worker) override;
    bool merges() const { return most_columns_ >= 0; }
    bool is_merged(int node) const { return merges() && patterns_[line(node)].are_of(node); }
    bool track(const Move& task, bool afresh, int worker);
    bool merge(int node, const Beside& asked);
    NodeSums pass(int node, int worker);
    NodeSums pass_constant(int node, double eta);
    void unmerge(int node, int worker);
    void predict(int node, double* eta, int size, int worker);
    void add_columns(const Move& task, double offset, int worker);
    void multiply(const Product& task, int worker);

    const int most_columns_;  // beside a node whose rows are merged; -1: there are too few rows
    std::vector<Recipe> recipes_;
    std::vector<uint8_t> is_known_;  // whether a recipe is kept up
    std::vector<Patterns> patterns_;
    enum class Spread : uint8_t { nothing, residuals, predictors_too };
    std::vector<Spread> spread_;            // what all rows have been given of a node that is merged
    std::vector<const Patterns*> seen_;     // by every thread; null: all rows
    std::vector<std::vector<int>> where_;   // scratch of every thread
    std::vector<PackedColumns> packed_;     // the columns beside a node that is an operator
    std::vector<Buffer<float>> made_from_;  // the curvatures of operators
    struct Single {
        Buffer<float> line, coefficients, sums;
    };
    std::vector<Single> single_;  // scratch of every thread
};

}  // namespace isinglass
