// Rows as a sum of parts: asks every part and adds the answers, in the order of the parts. Whoever computed
// a part, a fixed partition gives the same bits.
#pragma once

#include <memory>

#include "rows/rows.hpp"

namespace isinglass {

class SumRows final : public Rows {
 public:
    // The weights of all parts together sum to 1.
    explicit SumRows(std::vector<std::unique_ptr<Rows>> parts);

    const Margins& margins() const override { return margins_; }
    double rounding() const override;
    std::vector<Overlap> overlaps(std::span<const Pair> pairs) override;
    void move(std::span<const Move> tasks, bool afresh) override;
    void gradients(std::span<const Gradient> tasks) override;
    void blocks(std::span<const Block> tasks, Curvature curvature) override;
    void products(std::span<const Product> tasks) override;
    double divergence(std::span<const int> nodes, double c) override;
    double largest_predictor(std::span<const int> nodes) override;
    std::vector<double> gram(int node, const Beside& beside, int most) override;
    void remember(std::span<const int> nodes) override;
    double all_pairs(float* triangle) override;
    std::vector<Moved> drift(std::span<const int> nodes) override;

 private:
    std::vector<std::unique_ptr<Rows>> parts_;
    Margins margins_;
};

}  // namespace isinglass
