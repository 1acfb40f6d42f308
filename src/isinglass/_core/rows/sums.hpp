// Sums over the rows of a table that need no state but a line of numbers per node.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "rows/pool.hpp"
#include "rows/rows.hpp"
#include "tuning.hpp"

namespace isinglass {

template <class T>
T* room(Buffer<T>& buffer, size_t size) {
    if (buffer.size() < size) buffer.resize(size + size / 2);
    buffer.keep_to(size);
    return buffer.data();
}

template <class T>
Space<T> space(Buffer<T>& buffer, size_t size) {
    return {room(buffer, size), size};
}

// What a thread needs while it works on a node. What one of these holds is of use until a call of its kind returns;
// losses and storages that need more have their own.
struct Scratch {
    std::vector<const uint8_t*> columns;  // of a list: where they are
    Buffer<double> line, numbers;         // of gram and of products with bytes: one for every row, or for every column
    Buffer<double> words, word_sums;      // of sums over bits: the same, padded to whole words
    Buffer<float> curves, panels;         // of second derivatives
};

// One number per row, filled up to whole words of bits.
const double* padded(const double* a, int stride, int n_words, Buffer<double>& scratch);

// out_k = sum_n a_n x_kn: from the bits of all columns where a good part of them is wanted, else from bytes.
void column_sums(const Table& table, const double* a, const NeighborColumns& asked, double* out, Scratch& scratch);

// Bound of the relative error of a sum over the rows of a table of terms of one sign.
double rounding_of(const Table& table);

// What goes beside products, from sums_k = sum_n v_n x_kn and all = sum_n v_n.
void write_diagonal(const Block& task, const double* sums, double all);

// The gradients of all pairs (s, t), first <= s < last, s < t, in single precision, a slab of rows at a time.
class PairTiles {
 public:
    PairTiles(const Table& table, int first, int last, Pool& pool);

    // Writes the residuals wr of a node from `row` on, `rows` of them.
    using Residuals = std::function<void(int node, int row, int rows, float* out)>;
    // Adds the rows from `begin`, a multiple of TILE_ROWS, to `end`.
    void add(int begin, int end, const Residuals& residuals, float* band);
    // Bound of the error of one gradient, once all slabs are added.
    double slack() const;

 private:
    void fill_panels(int from, int count, int row, int rows, const Residuals& residuals, float* x, float* r);
    // Scratch of a thread: the sums of a tile, and the columns and residuals on either side of it.
    struct Panels {
        Buffer<double> tile;
        Buffer<float> sides;
    };
    void add_tile(Pair corner, int begin, int end, const Residuals& residuals, Panels& scratch, float* band);
    template <class Visit>
    void each_line(Pair corner, double* tile, float* band, Visit visit);

    const Table& table_;
    const int first_, last_;
    Pool& pool_;
    std::vector<Pair> tiles_;
    std::vector<Panels> panels_;  // one per thread
    int n_slabs_ = 0;             // added so far
};

}  // namespace isinglass
