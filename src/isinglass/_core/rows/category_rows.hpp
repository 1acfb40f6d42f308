// What rows of columns with categories share, whether these have an order or not: the fields, one per category, which
// are always at their optimum for the node's predictor. Each move ends with Newton's method on them (fields.hpp), and
// second derivatives have them profiled out. What is left of their gradient is in NodeSums.
#pragma once

#include "rows/local_rows.hpp"

namespace isinglass {

class CategoryRows : public KeptRows {
 public:
    void move(std::span<const Move> tasks, bool afresh) override;
    bool has_categories() const override { return true; }
    std::vector<double> category_fields(int first, int last) const override;

 protected:
    // The categories of a column that occur: their values, weights, and scores unless it is nominal.
    struct Levels {
        std::vector<double> value, share, score;
        double center = 0;
        int q() const { return static_cast<int>(value.size()); }
    };
    CategoryRows(std::shared_ptr<const Table> table, Holds holds, Pool& pool);
    static Levels read(const Table& table, int column);
    // Roundings of a row's residual, at most: those of probabilities and of a sum over them.
    int sum_over_categories() const;
    // Once the scores are known.
    void add_column(Levels levels);
    // The log odds of the observed category in every row, at the node's predictor and fields.
    virtual const double* own_odds(int node, int worker) = 0;
    virtual void add_columns(const Move& task, bool afresh, int worker) = 0;
    // A pass over the node's rows, and the sums it leaves (fields.hpp).
    virtual const double* sums(int node, int worker) = 0;
    virtual void pass(int node, int worker) = 0;

    std::vector<Levels> levels_;               // of every column
    std::vector<std::vector<double>> fields_;  // of every node
    std::vector<std::vector<double>> shift_;   // the same: sum w r

 private:
    NodeView view_odds(int node, int worker) override;
    NodeSums settle(int node, int worker);

    Buffer<uint8_t> ones_;
};

}  // namespace isinglass
