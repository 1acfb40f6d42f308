// Rows on this computer: the table, every node's predictor and residuals, and the threads that work on them.
#pragma once

#include <memory>

#include "rows/packed.hpp"
#include "rows/sums.hpp"

namespace isinglass {

class CpuRows final : public Rows {
 public:
    CpuRows(std::shared_ptr<const Table> table, Holds holds, Pool& pool);

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
    double all_pairs(int first, int last, float* band) override;
    std::vector<Moved> drift(std::span<const int> nodes) override;

 private:
    size_t line(int node) const { return holds_ == Holds::one_node ? 0 : node; }
    size_t place(int node) const { return line(node) * stride_; }
    double* eta(int node) { return eta_.data() + place(node); }
    double* wr(int node) { return wr_.data() + place(node); }
    const float* curvatures(int node, int worker);
    const uint8_t* const* columns(const Beside& beside, int worker);
    void dots(const double* a, int node, const Beside& asked, double* out, int worker);
    void add_columns(int node, const Move& task, double offset, int worker);
    void diagonal(const Block& task, const float* curves, int worker);
    void multiply(const Product& task, int worker);

    const Kernels& kernels_;
    const std::shared_ptr<const Table> table_;
    const Holds holds_;
    const int stride_;
    Pool& pool_;
    Buffer<double> eta_, wr_;
    std::vector<PackedColumns> packed_;     // the columns beside a node that is an operator
    std::vector<double> curve_;             // sums of the curvatures
    std::vector<Buffer<float>> made_from_;  // the curvatures of operators
    double quarter_ = 0;                    // sum of quarter_w_
    Buffer<float> reference_wr_;            // the remembered residuals
    Buffer<float> quarter_w_;
    struct Scratch {
        Buffer<float> panels, curves, line, coefficients, sums;
        SumScratch wide;
        Buffer<double> wide_coefficients;
    };
    std::vector<Scratch> scratch_;  // one per thread
};

}  // namespace isinglass
