// Rows on this computer: the table, every node's predictor and residuals, and the threads that work on them.
#pragma once

#include "rows/local_rows.hpp"
#include "rows/packed.hpp"

namespace isinglass {

class CpuRows final : public KeptRows {
 public:
    CpuRows(std::shared_ptr<const Table> table, Holds holds, Pool& pool);

    void move(std::span<const Move> tasks, bool afresh) override;
    void products(std::span<const Product> tasks) override;
    double all_pairs(int first, int last, float* band) override;

 private:
    void collect(const Seen& seen, int node, const Beside& asked, double* out, int worker) override;
    void diagonal(const Block& task, const float* curves, int size, int worker) override;
    void add_columns(const Move& task, double offset, int worker);
    void multiply(const Product& task, int worker);

    std::vector<PackedColumns> packed_;     // the columns beside a node that is an operator
    std::vector<Buffer<float>> made_from_;  // the curvatures of operators
    struct Single {
        Buffer<float> line, coefficients, sums;
    };
    std::vector<Single> single_;  // scratch of every thread
};

}  // namespace isinglass
