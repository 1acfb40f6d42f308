// Rows on this computer for columns with ordered categories, two or more: a category is a point on a line,
// and the conditional distribution of a node is softmax_k(field_k + score_k eta). Binary columns are the case
// of two categories.
//
// Scores are scaled to a range of 1 and centered, so that everything above the seam is as for 0 and 1. A
// node's fields, one per category, are always at their optimum for its predictor: each move ends with
// Newton's method on them, and blocks have them profiled out. What is left of their gradient is in NodeSums.
#pragma once

#include <memory>

#include "rows/pool.hpp"
#include "rows/rows.hpp"

namespace isinglass {

class OrdinalRows final : public Rows {
 public:
    // The table holds scores in equal steps from 0; ranges: the largest step of every column.
    OrdinalRows(std::shared_ptr<const Table> table, const uint8_t* ranges, Pool& pool);

    const Margins& margins() const override { return margins_; }
    double rounding() const override;
    std::vector<Overlap> overlaps(std::span<const Pair> pairs) override;
    void move(std::span<const Move> tasks, bool afresh) override;
    void gradients(std::span<const Gradient> tasks) override;
    void blocks(std::span<const Block> tasks, Curvature curvature) override;
    void products(std::span<const Product>) override {}  // there are no operators
    double divergence(std::span<const int> nodes, double c) override;
    double largest_predictor(std::span<const int> nodes) override;
    std::vector<double> gram(int node, const Beside& beside, int most) override;
    void remember(std::span<const int> nodes) override;
    double all_pairs(int first, int last, float* band) override;
    std::vector<Moved> drift(std::span<const int> nodes) override;
    bool has_categories() const override { return true; }
    std::vector<double> category_fields() const override;

 private:
    struct Column {
        std::vector<double> value, score, share;  // of every category that occurs
        double center, unit;                      // score = (value - center) * unit
    };
    struct Node {
        std::vector<double> fields;
        double shift = 0;  // sum w r
    };
    struct Scratch {
        std::vector<const uint8_t*> columns;
        std::vector<double> coefficients;
        Buffer<double> P, margin, sums, line;
        Buffer<float> wv, panels;
    };
    double* eta(int node) { return eta_.data() + static_cast<size_t>(node) * stride_; }
    double* wr(int node) { return wr_.data() + static_cast<size_t>(node) * stride_; }
    const uint8_t* const* columns(const Beside& beside, Scratch& scratch) const;
    void pass(int node, Scratch& scratch);
    NodeSums settle(int node, Scratch& scratch);
    void dots(const double* a, double sum, const Beside& asked, double* out, Scratch& scratch) const;
    void profile(const Block& task, Scratch& scratch);

    const Kernels& kernels_;
    const std::shared_ptr<const Table> table_;
    const int stride_;
    Pool& pool_;
    Margins margins_;
    std::vector<Column> columns_;
    std::vector<Node> nodes_;
    Buffer<double> eta_, wr_;
    Buffer<float> reference_wr_, quarter_w_;
    Buffer<uint8_t> ones_;
    std::vector<Scratch> scratch_;  // one per thread
};

}  // namespace isinglass
