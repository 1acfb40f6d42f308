// Rows on this computer for columns with ordered categories, two or more: a category is a point on a line,
// and the conditional distribution of a node is softmax_k(field_k + score_k eta). Binary columns are the case
// of two categories.
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
    void move(std::span<const Move> tasks, bool afresh) override;
    void gradients(std::span<const Gradient> tasks) override;
    void blocks(std::span<const Block> tasks, Curvature curvature) override;
    void products(std::span<const Product>) override {}  // there are no operators
    double largest_predictor(std::span<const int> nodes) override;
    void remember(std::span<const int> nodes) override;
    double all_pairs(int first, int last, float* band) override;
    std::vector<Moved> drift(std::span<const int> nodes) override;

 private:
    struct Column {
        std::vector<double> value, score, share;  // of every category that occurs
        double center, unit;                      // score = (value - center) * unit
    };
    // How the fields follow their neighbors' coefficients, to first order: of every column of a node's last
    // block, a number for each category but the first.
    struct Response {
        std::vector<int> columns;
        std::vector<double> values;
    };
    // What a pass over a node's rows leaves for its block: probabilities, curvatures, sums.
    struct Passed {
        Buffer<double> P, sums;
        Buffer<float> wv;
    };
    struct Scratch {
        std::vector<const uint8_t*> columns;
        std::vector<double> coefficients;
        Buffer<double> margin, line;
        Buffer<float> panels;
    };
    size_t place(int node) const { return static_cast<size_t>(line(node)) * stride_; }
    double* eta(int node) { return eta_.data() + place(node); }
    double* wr(int node) { return wr_.data() + place(node); }
    Passed& passed(int node, int worker) { return passed_[is_kept_ ? line(node) : worker]; }
    const uint8_t* const* columns(const Beside& beside, Scratch& scratch) const;
    void make_room();
    void pass(int node, int worker, double* margin = nullptr);
    const double* own_odds(int node, int worker) override;
    NodeSums settle(int node, int worker);
    void follow(const Move& task);
    void dots(const double* a, double sum, const Beside& asked, double* out, Scratch& scratch) const;
    void profile(const Block& task, int worker);

    std::vector<Column> columns_;
    std::vector<double> shift_;  // of every node: sum w r
    std::vector<Response> responses_;
    Buffer<double> eta_, wr_;
    Buffer<float> reference_wr_, quarter_w_;
    std::vector<Passed> passed_;  // one per node if that is little, else one per thread
    bool is_kept_ = false;
    std::vector<Scratch> scratch_;  // one per thread
};

}  // namespace isinglass
