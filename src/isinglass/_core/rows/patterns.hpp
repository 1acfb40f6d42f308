// The rows of a table as one node sees them: rows that agree in the node and in the columns beside it are one.
//
// With d columns there are 2^(d + 1) patterns at most, however many rows the table has, and a pass over them costs next
// to nothing.
#pragma once

#include <vector>

#include "rows/rows.hpp"

namespace isinglass {

class Patterns final : public ColumnSource {
 public:
    // How many columns there may be for the patterns to be few among the rows of a table; -1: not even none.
    static int most_columns(const Table& table);

    // Merges the rows of a node; forgets what was there before.
    void make(const Table& table, int node, const NeighborColumns& neighbors);
    void clear() {
        node_ = -1;
        pattern_.resize(0);
    }
    bool are_of(int node) const { return node_ == node; }
    // Whether all of these columns are among those beside the node.
    bool hold(const NeighborColumns& neighbors) const;
    const uint8_t* const* list(const NeighborColumns& neighbors, std::vector<const uint8_t*>& found) const override;
    // out_n = factor_n a[pattern of row n], for some rows of the table. factor: null for 1.
    template <class T>
    void spread(const double* a, const double* factor, int row, int rows, T* out) const;
    // The residuals sigma - x, without weights.
    std::vector<double> residuals() const;

    int size = 0;  // patterns, padded
    Buffer<uint8_t> x;
    Buffer<double> w, inverse_w, eta, wr;

 private:
    int node_ = -1;
    std::vector<int> columns_;
    Buffer<uint8_t> cells_;     // of the columns
    Buffer<uint16_t> pattern_;  // of every row
};

template <class T>
void Patterns::spread(const double* a, const double* factor, int row, int rows, T* out) const {
    const uint16_t* pattern = pattern_.data() + row;
    for (int n = 0; n < rows; ++n) out[n] = static_cast<T>(factor ? factor[row + n] * a[pattern[n]] : a[pattern[n]]);
}

}  // namespace isinglass
