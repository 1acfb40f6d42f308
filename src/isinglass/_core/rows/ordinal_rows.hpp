// Rows on this computer for columns with ordered categories, two or more: a category is a point on a line, and the
// conditional distribution of a node is softmax_k(field_k + score_k eta). Binary columns are the case of two
// categories.
//
// Scores are scaled to a range of 1 and centered, so that everything above the seam is as for 0 and 1.
#pragma once

#include "rows/category_rows.hpp"

namespace isinglass {

class OrdinalRows final : public CategoryRows {
 public:
    // The table holds scores in equal steps from 0; ranges: the largest step of every column.
    OrdinalRows(std::shared_ptr<const Table> table, const uint8_t* ranges, Holds holds, Pool& pool);

    double rounding() const override;
    std::vector<Overlap> overlaps(std::span<const Pair> pairs) override;
    void blocks(std::span<const Block> tasks, Curvature curvature) override;
    double all_pairs(int first, int last, float* band) override;

 private:
    // How the fields follow their neighbors' coefficients, to first order: of every column of a node's last block, a
    // number for each category but the first.
    struct Response {
        std::vector<int> columns;
        std::vector<double> values;
    };
    // What a pass over a node's rows leaves for its block: probabilities, curvatures, sums.
    struct Passed {
        Buffer<double> P, sums;
        Buffer<float> wv;
    };
    Passed& passed(int node, int worker) { return passed_[is_kept_ ? line(node) : worker]; }
    // What a category's value is: its distance from the center, scaled to a range of 1.
    double score(int column, double value) const { return (value - levels_[column].center) * unit_[column]; }
    void make_room();
    void run(int node, int worker, double* margin);
    void pass(int node, int worker) override { run(node, worker, nullptr); }
    const double* sums(int node, int worker) override { return passed(node, worker).sums.data(); }
    const double* own_odds(int node, int worker) override;
    void add_columns(const Move& task, bool afresh, int worker) override;
    void collect(const NodeView& view, int node, const NeighborColumns& asked, double* out, int worker) override;
    void follow(const Move& task);
    void dots(const double* a, double sum, const NeighborColumns& asked, double* out, int worker);
    void profile(const Block& task, int worker);

    std::vector<double> unit_;  // of every column
    std::vector<Response> responses_;
    Buffer<float> quarter_w_;
    std::vector<Passed> passed_;  // one per node if that is little, else one per thread
    bool is_kept_ = false;
};

}  // namespace isinglass
