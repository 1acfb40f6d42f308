#include "rows/sums.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "rows/packed.hpp"
#include "tuning.hpp"

namespace isinglass {

using namespace tuning::rows;

const double* padded(const double* a, int stride, int n_words, Buffer<double>& scratch) {
    if (stride == 32 * n_words) return a;
    double* copy = room(scratch, static_cast<size_t>(32) * n_words);
    std::copy(a, a + stride, copy);
    std::fill(copy + stride, copy + 32 * n_words, 0.0);
    return copy;
}

void column_sums(const Table& table, const double* a, const NeighborColumns& asked, double* out, Scratch& scratch) {
    if (asked.count == 0) return;
    if (asked.count < BIT_COLUMNS || asked.count < table.n_features / 4) {
        kernels().dots(table.list(asked, scratch.columns), a, out);
        return;
    }
    const BitTable& bits = table.bits();
    double* sums = room(scratch.word_sums, bits.width);
    bits.sums(padded(a, table.stride, bits.n_words, scratch.words), sums);
    for (int k = 0; k < asked.count; ++k) out[k] = sums[asked.column[k]];
}

// Every lane adds its rows one after the other, packed columns four rows at a time; the terms are products and
// functions with a few roundings of their own.
double rounding_of(const Table& table) {
    return (std::max(2.0 / kernels().lanes, 0.25) * table.stride + 32) * std::numeric_limits<double>::epsilon() / 2;
}

void write_diagonal(const Block& task, const double* sums, double all) {
    for (int k = 0; k < task.inner.count; ++k) {
        task.b[k] = static_cast<float>(sums[k]);
        task.diagonal[k] = all > 0 ? static_cast<float>(sums[k] * (std::max(all - sums[k], 0.0) / all)) : 0.0f;
    }
}

PairTiles::PairTiles(const Table& table, int first, int last, Pool& pool)
    : table_(table), first_(first), last_(last), pool_(pool), panels_(pool.size()) {
    const int p = table.n_features;
    for (int top = first; top < last; top += TILE_NODES)
        for (int left = top; left < p; left += TILE_NODES) tiles_.push_back({top, left});
    for (Panels& each : panels_) {
        each.tile.resize(TILE_NODES * TILE_NODES);
        each.sides.resize(static_cast<size_t>(4 * std::min(TILE_NODES, p)) * TILE_ROWS);
    }
}

// |computed - exact| at worst: per lane the products of one chunk from both sides, the sum of the lanes, the rounding
// of wr and of the band after each slab, each relative to a sum of absolute values of at most twice the weight of the
// rows, which is 1 for all parts together. Chunks are added in double precision, so the length of the table is not in
// it.
double PairTiles::slack() const {
    return 2.0 * (2.0 * TILE_ROWS / kernels().lanes + 9 + n_slabs_) * 6e-8 * table_.total;
}

void PairTiles::add(int begin, int end, const Residuals& residuals, float* band) {
    ++n_slabs_;
    pool_.each(tiles_.size(),
               [&](int index, int worker) { add_tile(tiles_[index], begin, end, residuals, panels_[worker], band); });
}

// Columns and residuals of some nodes, a chunk of rows, in single precision.
void PairTiles::fill_panels(int from, int count, int row, int rows, const Residuals& residuals, float* x, float* r) {
    for (int k = 0; k < count; ++k) {
        kernels().widen(table_.column(from + k) + row, rows, x + k * TILE_ROWS);
        residuals(from + k, row, rows, r + k * TILE_ROWS);
    }
}

// visit(in the tile, in the band, length) for the part of each of its lines that holds pairs s < t.
template <class Visit>
void PairTiles::each_line(Pair corner, double* tile, float* band, Visit visit) {
    const int p = table_.n_features, top = corner.s, left = corner.t;
    const int height = std::min(TILE_NODES, last_ - top), width = std::min(TILE_NODES, p - left);
    for (int i = 0; i < height; ++i) {
        const int s = top + i, begin = std::max(0, s + 1 - left);
        if (begin < width)
            visit(tile + i * TILE_NODES + begin,
                  band + (first_of_row(s, p) - first_of_row(first_, p)) + (left + begin - s - 1), width - begin);
    }
}

// The pairs between TILE nodes from the corner down and TILE nodes to its right.
void PairTiles::add_tile(Pair corner, int begin, int end, const Residuals& residuals, Panels& scratch, float* band) {
    const int p = table_.n_features, top = corner.s, left = corner.t;
    const int height = std::min(TILE_NODES, last_ - top), width = std::min(TILE_NODES, p - left);
    double* tile = scratch.tile.data();
    float *x_top = scratch.sides.data(), *r_top = x_top + height * TILE_ROWS;
    float *x_left = r_top + height * TILE_ROWS, *r_left = x_left + width * TILE_ROWS;
    std::fill(tile, tile + TILE_NODES * TILE_NODES, 0.0);
    if (begin > 0)
        each_line(corner, tile, band,
                  [](double* in_tile, float* in_band, int length) { std::copy(in_band, in_band + length, in_tile); });
    for (int row = begin; row < end; row += TILE_ROWS, pool_.poll()()) {
        const int rows = std::min(TILE_ROWS, end - row);
        fill_panels(top, height, row, rows, residuals, x_top, r_top);
        fill_panels(left, width, row, rows, residuals, x_left, r_left);
        for (int i = 0; i < height; i += 4)
            for (int j = 0; j < width; j += 4) {
                TileSide above, beside;
                for (int k = 0; k < 4; ++k) {  // a short last group repeats its last node
                    const int a = std::min(i + k, height - 1) * TILE_ROWS, b = std::min(j + k, width - 1) * TILE_ROWS;
                    above.r[k] = r_top + a, above.x[k] = x_top + a;
                    beside.r[k] = r_left + b, beside.x[k] = x_left + b;
                }
                kernels().gradient_tile(above, beside, rows, tile + i * TILE_NODES + j, TILE_NODES);
            }
    }
    each_line(corner, tile, band,
              [](double* in_tile, float* in_band, int length) { std::copy(in_tile, in_tile + length, in_band); });
}

}  // namespace isinglass
