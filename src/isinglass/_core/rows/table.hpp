// The 0/1 table: column-major bytes, equal rows merged into weights, rows padded for the kernels.
#pragma once

#include <compare>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "rows/buffer.hpp"
#include "rows/kernels.hpp"

namespace isinglass {

class BitTable;

struct Pair {
    int s, t;
    auto operator<=>(const Pair&) const = default;  // lexicographic
};

// Where the pairs (s, s + 1), (s, s + 2), ... begin in the triangle of all pairs.
inline size_t first_of_row(int s, int n_features) {
    return static_cast<size_t>(s) * (2 * static_cast<size_t>(n_features) - s - 1) / 2;
}

// Of every column, under the weights. With categories a point takes the place of a 1: its mean distance from the center
// of all, which is how far a coefficient moves a predictor, and the root of the mean square of that.
struct Margins {
    std::vector<double> mean;  // of ones, or of distances
    std::vector<double> rest;  // of zeros; empty with categories
    std::vector<double> sd;
};

// A table as it is given: X is n_rows x n_features, row by row; weights may be null (equal).
// Of columns with categories X holds scores in equal steps from 0, ranges the largest step of a column and widths what
// it stands for; couplings are for scores that are scaled to a range of 1. A range of 0: nominal, X holds category
// numbers, the width is 1. Without ranges and widths: columns of 0 and 1. modelled: 0 for a covariate, which others
// are conditioned on and which has no loss; null: none.
struct TableView {
    const uint8_t* X;
    const double* weights;
    size_t n_rows;
    int n_features;
    const uint8_t* ranges = nullptr;
    const double* widths = nullptr;
    const uint8_t* modelled = nullptr;
};

// Of columns of 0 and 1: the weight of their ones, and whether both values occur in rows with weight.
struct Ones {
    std::vector<double> weight;
    std::vector<uint8_t> varies;
};
Ones count_ones(const TableView& table);

// Columns beside a node: its neighbors in a working set, or some of them.
struct NeighborColumns {
    const int* column = nullptr;
    int count = 0;
};

// Rows whose columns are bytes: those of a table, or fewer that stand for them.
class ColumnSource {
 public:
    virtual ~ColumnSource() = default;
    // The columns; found: where they are listed.
    virtual ColumnList list(const NeighborColumns& neighbors, std::vector<const uint8_t*>& found) const = 0;
};

struct Table final : ColumnSource {
    // Rows of weight 0 are dropped. total: the sum of all weights, where these rows are only a part; 0: their own.
    explicit Table(const TableView& given, double total = 0);

    ~Table() override;

    ColumnList list(const NeighborColumns& neighbors, std::vector<const uint8_t*>& found) const override;
    NodeRows rows(int node) const { return {column(node), w.data(), inverse_w.data(), stride, n_equal}; }
    // The same columns as bits, made when they are first asked for.
    const BitTable& bits() const;
    const uint8_t* column(int s) const { return bytes.data() + static_cast<size_t>(s) * stride; }

    int n_features;
    int n_distinct;            // different rows
    int stride;                // n_distinct, padded to ROW_ALIGN
    int n_equal;               // leading rows of one weight, the most frequent, down to a multiple of ROW_ALIGN
    Buffer<uint8_t> bytes;     // columns; padding: 0, or with categories those of the first row
    Buffer<double> w;          // weights over their total; 0 in the padding
    Buffer<double> inverse_w;  // 1 / w; 0 in the padding
    double total;              // of w: 1, or the share of a part
    Margins margins;           // of a part: its contribution
    std::vector<uint8_t> ranges, modelled;  // as given; empty: columns of 0 and 1, no covariates

 private:
    uint8_t* cells(int s) { return bytes.data() + static_cast<size_t>(s) * stride; }
    void measure_margins(double share);

    mutable std::once_flag has_bits_;
    mutable std::unique_ptr<const BitTable> bits_;
};

}  // namespace isinglass
