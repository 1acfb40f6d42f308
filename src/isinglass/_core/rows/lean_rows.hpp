// Rows on this computer that know what their predictors are made of instead of keeping them.
//
// Predictor and residuals are made from a node's recipe whenever they are needed, or kept for the first nodes as far as
// there is room; by the same arithmetic either way, so that the room changes no bit.
#pragma once

#include "rows/local_rows.hpp"

namespace isinglass {

class LeanRows final : public RecipeBase {
 public:
    // n_kept: how many nodes keep their predictors and residuals, 20 bytes per row.
    LeanRows(const std::shared_ptr<const Table>& table, Pool& pool, int n_kept);

    void remember(std::span<const int> nodes) override;
    double all_pairs(int first, int last, float* band) override;
    void restore(Recipes state) override;

 private:
    struct Lines {
        Buffer<double> eta, wr;
        Buffer<float> reference;
    };
    bool is_kept(int node) const { return node < n_kept_; }
    size_t place(int node) const { return static_cast<size_t>(node) * table_->stride; }
    void add(const Recipe& recipe, int row, int rows, double* eta, int worker);
    NodeView pass(int node, const Recipe& recipe, double* eta, double* wr, int worker);
    NodeView make(int node, const Recipe& recipe, const NeighborColumns& also, int worker) override;
    NodeView view(int node, const NeighborColumns& also, int worker) override;
    NodeView renew(int node, int worker) override;
    const float* reference(int node, int worker) override;

    const int n_kept_;
    Lines kept_;
    std::vector<NodeSums> sums_;  // of the nodes that are kept
    std::vector<Lines> lines_;    // scratch of every thread
};

}  // namespace isinglass
