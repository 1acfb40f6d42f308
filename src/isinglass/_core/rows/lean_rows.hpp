// Rows on this computer that know what their predictors are made of instead of keeping them.
//
// Predictor and residuals are made from a node's recipe whenever they are needed, or kept for the first nodes
// as far as there is room; by the same arithmetic either way, so that the room changes no bit.
#pragma once

#include <array>
#include <memory>

#include "rows/recipes.hpp"
#include "rows/sums.hpp"

namespace isinglass {

class LeanRows final : public RecipeRows {
 public:
    // n_kept: how many nodes keep their predictors and residuals, 20 bytes per row.
    LeanRows(std::shared_ptr<const Table> table, Pool& pool, int n_kept);

    const Margins& margins() const override { return table_->margins; }
    double rounding() const override { return sum_rounding(*table_); }
    std::vector<Overlap> overlaps(std::span<const Pair> pairs) override {
        return sum_overlaps(*table_, pairs, pool_);
    }
    void move(std::span<const Move> tasks, bool afresh) override;
    void gradients(std::span<const Gradient> tasks) override;
    void blocks(std::span<const Block> tasks, Curvature curvature) override;
    void products(std::span<const Product> tasks) override;
    double divergence(std::span<const int> nodes, double c) override;
    double largest_predictor(std::span<const int> nodes) override;
    std::vector<double> gram(int node, const Beside& beside, int most) override;
    void remember(std::span<const int> nodes) override;
    std::vector<Moved> drift(std::span<const int> nodes) override;
    double all_pairs(int first, int last, float* band) override;

    const Recipes& state() const override { return state_; }
    void restore(Recipes state) override;

 private:
    struct Scratch {
        SumScratch sums;
        Buffer<double> eta, wr, line, coefficients;
        Buffer<float> curves, reference, panels;
        std::vector<int> where;
    };
    // A node's predictor and residuals.
    struct Line {
        const double *eta, *wr;
        double curve;
    };
    bool is_kept(int node) const { return node < n_kept_; }
    size_t place(int node) const { return static_cast<size_t>(node) * table_->stride; }
    void add(const Recipe& recipe, int row, int rows, double* eta, int worker);
    NodeSums make(int node, const Recipe& recipe, double* eta, double* wr, int worker);
    Line line(int node, int worker);
    Line modeled_line(int node, int worker);
    const float* curvatures(int node, bool majorized, const Line& made, int worker);
    void diagonal(const Block& task, const float* curves, int worker);
    void multiply(const Product& task, int worker);

    const Kernels& kernels_;
    const std::shared_ptr<const Table> table_;
    Pool& pool_;
    const int n_kept_;
    Recipes state_;
    Buffer<double> eta_, wr_;    // of the nodes that are kept
    std::vector<double> curve_;  // of the same
    Buffer<float> reference_;    // their remembered residuals
    Buffer<float> quarter_w_;
    double quarter_ = 0;            // sum of quarter_w_
    std::vector<Scratch> scratch_;  // one per thread
};

}  // namespace isinglass
