// What rows of columns with categories share, whether these have an order or not: the table, and the fields,
// one per category, which are always at their optimum for the node's predictor. Each move ends with Newton's
// method on them (fields.hpp), and second derivatives have them profiled out. What is left of their gradient
// is in NodeSums.
#pragma once

#include <memory>

#include "rows/pool.hpp"
#include "rows/rows.hpp"

namespace isinglass {

class CategoryRows : public Rows {
 public:
    const Margins& margins() const override { return margins_; }
    double divergence(std::span<const int> nodes, double c) override;
    std::vector<double> gram(int node, const Beside& beside, int most) override;
    bool has_categories() const override { return true; }
    std::vector<double> category_fields() const override;

 protected:
    CategoryRows(std::shared_ptr<const Table> table, Holds holds, Pool& pool);
    int n_lines() const { return holds_ == Holds::one_node ? 1 : table_->n_features; }
    int line(int node) const { return holds_ == Holds::one_node ? 0 : node; }
    // The weight of the rows with each value of a column.
    static std::vector<double> shares(const Table& table, int column);
    // The fields of a node without neighbors.
    void start_fields(int node, const std::vector<double>& share);
    // What a column is above the seam: the mean distance of its points from their center, which is how far a
    // coefficient moves the predictor, in place of shares, and the mean square. There are no odds.
    void add_margins(double size, double square);
    // The log odds of the observed category in every row, at the node's predictor and fields.
    virtual const double* own_odds(int node, int worker) = 0;

    const Kernels& kernels_;
    const std::shared_ptr<const Table> table_;
    const Holds holds_;
    const int stride_;
    Pool& pool_;
    Margins margins_;
    std::vector<std::vector<double>> fields_;  // of every node

 private:
    Buffer<uint8_t> ones_;
    int placed_ = 0;  // the last node that started afresh
};

}  // namespace isinglass
