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
    static int most_columns(const Table& table, int rows_per_pattern);

    // keeps_rows: the pattern of every row is kept, two bytes each, instead of being found again when it is needed.
    explicit Patterns(bool keeps_rows = false) : keeps_rows_(keeps_rows) {}
    // Merges the rows of a node; forgets what was there before.
    void make(const Table& table, int node, const std::vector<int>& columns);
    void clear() { *this = Patterns(keeps_rows_); }
    bool are_of(int node) const { return node_ == node; }
    bool are_by(const std::vector<int>& columns) const { return columns_ == columns; }
    // Whether all of these columns are among those beside the node.
    bool hold(const NeighborColumns& neighbors) const;
    ColumnList list(const NeighborColumns& neighbors, std::vector<const uint8_t*>& found) const override;
    NodeRows rows() const { return {x_.data(), w_.data(), inverse_w_.data(), size_, 0}; }
    int size() const { return size_; }  // patterns, padded
    // out_n = w_n r[pattern of row n], for some rows of the table.
    void spread(const Table& table, const double* r, int begin, int end, double* out) const {
        each_row(table, begin, end, [&](int n, uint16_t pattern) { out[n - begin] = table.w[n] * r[pattern]; });
    }
    // out_n = a[pattern of row n]
    void copy(const Table& table, const double* a, int begin, int end, double* out) const {
        each_row(table, begin, end, [&](int n, uint16_t pattern) { out[n - begin] = a[pattern]; });
    }

 private:
    // The patterns of some rows.
    void find(const Table& table, int begin, int count, uint16_t* pattern) const;
    // visit(row, its pattern), some rows at a time.
    template <class Visit>
    void each_row(const Table& table, int begin, int end, Visit visit) const;

    bool keeps_rows_;
    int node_ = -1, size_ = 0;
    std::vector<int> columns_;
    Buffer<uint8_t> x_, cells_;  // of the node, of the columns
    Buffer<double> w_, inverse_w_;
    Buffer<uint16_t> pattern_;  // of every row, where they are kept
};

template <class Visit>
void Patterns::each_row(const Table& table, int begin, int end, Visit visit) const {
    constexpr int AT_ONCE = tuning::rows::PATTERN_ROWS_AT_ONCE;
    uint16_t found[AT_ONCE];
    for (int first = begin; first < end; first += AT_ONCE) {
        const int count = end - first < AT_ONCE ? end - first : AT_ONCE;
        const uint16_t* pattern = keeps_rows_ ? pattern_.data() + first : found;
        if (!keeps_rows_) find(table, first, count, found);
        for (int i = 0; i < count; ++i) visit(first + i, pattern[i]);
    }
}

}  // namespace isinglass
