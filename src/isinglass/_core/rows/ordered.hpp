// Ordered categories: a category is a point on a line, and the conditional distribution of a node is
// softmax_k(field_k + score_k eta). Binary columns are the case of two categories.
#pragma once

#include "rows/category_rows.hpp"

namespace isinglass {

class Ordered final : public NodeLoss {
 public:
    Ordered(CategoryState& state, Holds holds);

    void add_columns(const Move& task, bool afresh, int worker) override;
    const double* pass(int node, int worker) override { return run(node, worker, nullptr); }
    FieldPasses passes(int node, int worker) override;
    const double* odds(int node, int worker) override;
    void collect(int node, const NeighborColumns& asked, double* out, int worker) override {
        dots(state_.lines.wr(node), state_.shift[node][0], asked, out, worker);
    }
    void prepare_blocks(std::span<const Block> tasks) override;
    void block(const Block& task, Curvature curvature, int worker) override;
    void product(const Product& task, int worker) override;

 private:
    // How the fields follow their neighbors' coefficients, to first order: for each category but the first, a
    // number for every column of a node's last block.
    struct Response {
        std::vector<int> columns;
        std::vector<double> values;
    };
    // What a pass over a node's rows leaves for its block: probabilities, curvatures, sums.
    struct Passed {
        Buffer<double> P, sums;
        Buffer<float> wv;
    };
    // Of a node with many categories: its places (kernels.hpp), those of its categories, and the factor of the fields'
    // curvature at some point before.
    struct Many {
        std::vector<double> field, number;
        std::vector<uint8_t> place;
        std::vector<int> spot;
        bool in_steps = false;
        FieldFactor factor;
    };
    // What products need: curvatures, w Cov(category k, score) of every row for all categories but the first, and the
    // factor of the curvature of the fields.
    struct Operator {
        Buffer<float> wv;
        std::vector<Buffer<float>> mixed;
        std::vector<double> L;
    };
    // Columns beside a node: those on a line, and those without an order as tables with a number per category.
    struct Points {
        std::vector<int> lines, others;
        std::vector<size_t> line_spot, spot;  // where their numbers are among those of all columns
        std::vector<const uint8_t*> codes;
        std::vector<double*> tables;
        Buffer<double> data, values;
    };
    // The columns of a block: a line's own, or that of every category without an order, 0 and 1; and what a step of
    // their cells and their mean are.
    struct Axes {
        std::vector<const uint8_t*> cells;
        std::vector<double> step, center;
        int count() const { return static_cast<int>(cells.size()); }
    };
    Axes axes_of(const NeighborColumns& neighbors) const;
    Passed& passed(int node, int worker) { return passed_[is_kept_ ? state_.lines.index(node) : worker]; }
    const double* run(int node, int worker, double* margin);
    bool has_many(int node) const { return !many_[node].spot.empty(); }
    void lay_out_many(int node);
    Places places(int node);
    void complete(int node, int worker, const Axes& axes, double* mixed, float* lines);
    void follow(const Move& task);
    const Points& split(const NeighborColumns& neighbors, int worker);
    void make_tables(Points& points, const std::vector<int>& columns) const;
    void add_points(const NeighborColumns& neighbors, const double* coefficient, double* eta, int worker);
    template <class T>
    void dots(const double* a, double sum, const NeighborColumns& asked, T* out, int worker);
    double mixed(int node, int k, int worker, double* line);
    std::vector<double> mixed_with(const Block& task, const Axes& axes, int worker);
    void make_operator(const Block& task, const float* wv, bool is_own, int worker);
    void profile(const Block& task, const Axes& axes, int worker);

    CategoryState& state_;
    std::vector<Response> responses_;
    std::vector<Operator> operators_;
    std::vector<Many> many_;
    std::vector<Buffer<double>> by_place_;  // of every thread
    Buffer<uint8_t> indicators_;            // of all categories without an order ...
    std::vector<const uint8_t*> first_;     // ... where those of a column begin
    std::vector<Points> points_;            // scratch of every thread
    Buffer<float> quarter_w_;
    bool is_kept_ = false;
    std::vector<Passed> passed_;  // one per node if that is little, else one per thread
};

}  // namespace isinglass
