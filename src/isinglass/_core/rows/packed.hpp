// Columns of the table as bits, and products with them.
//
// A product reads one bit per cell and looks up four cells at a time (see kernels_packed.hpp), about ten times faster
// than the bytes of the table in double precision and twenty times in single. The columns of one node are stored twice,
// by row (a word holds one row of 32 columns) for X d and by column (a word holds 32 rows of one column) for X^T a: a
// quarter of a byte per cell.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "rows/kernels.hpp"
#include "rows/table.hpp"
#include "tuning.hpp"

namespace isinglass {

// Every column of the table, 32 rows per word: word (i, t) holds the rows 32 i, 32 i + 1, ... of column t.
class BitTable {
 public:
    explicit BitTable(const Table& table);

    const uint32_t* words(int i) const { return words_.data() + static_cast<size_t>(i) * width; }
    // out_t = sum_n a_n x_tn for every column; a has 32 n_words entries, out has room for `width`.
    void sums(const double* a, double* out) const;

    int n_words;  // per column
    int width;    // columns, padded for the kernels

 private:
    Buffer<uint32_t> words_;
};

class PackedColumns {
 public:
    bool holds(const int* columns, int count) const;
    // Whether these are the first of the columns asked for.
    bool leads(const int* columns, int count) const { return size() > 0 && count >= size() && holds(columns, size()); }
    // The words that so many columns take, and those that they are packed into; what was packed is forgotten.
    static size_t words(const BitTable& table, int count);
    void place(std::span<uint32_t> words);
    size_t room() const { return words_.size(); }
    void pack(const BitTable& table, const int* columns, int count);

    int size() const { return static_cast<int>(columns_.size()); }
    int lanes() const { return lanes_of(size()); }
    int groups() const { return groups_of(size()); }
    // z_n += sum_k d_k x_kn over n_rows rows, a multiple of 16; d has 32 groups() entries, zero beyond size().
    template <class T>
    void add(const T* d, int n_rows, T* z) const {
        sum_bits({by_row(), static_cast<size_t>(32) * n_words_, groups()}, d, n_rows, z);
    }
    // out_k = sum_n a_n x_kn; a has 32 entries per word of a column, out has room for lanes().
    template <class T>
    void sums(const T* a, T* out) const {
        std::fill(out, out + lanes(), T{});
        sum_bits({by_column(), static_cast<size_t>(lanes()), n_words_}, a, lanes(), out);
    }
    BitMatrix matrix() const {
        return {.by_row = {by_row(), static_cast<size_t>(32) * n_words_, groups()},
                .by_column = {by_column(), static_cast<size_t>(lanes()), n_words_}};
    }

 private:
    template <class T>
    static void sum_bits(const BitWords& bits, const T* factors, int lanes, T* out) {
        if constexpr (sizeof(T) == sizeof(float))
            kernels().bit_sums(bits, factors, lanes, out);
        else
            kernels().bit_sums_double(bits, factors, lanes, out);
    }
    static int lanes_of(int count) { return (count + 15) / 16 * 16; }
    static int groups_of(int count) { return (count + 31) / 32; }
    uint32_t* by_row() const { return words_.data(); }
    uint32_t* by_column() const { return words_.data() + static_cast<size_t>(n_words_) * 32 * groups(); }
    int n_words_ = 0;
    std::vector<int> columns_;
    std::span<uint32_t> words_;
};

}  // namespace isinglass
