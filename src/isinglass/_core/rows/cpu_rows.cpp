#include "rows/cpu_rows.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>

namespace isinglass {
namespace {

constexpr int TILE = 64;    // nodes of one block of the full gradient
constexpr int MANY = 32;    // columns from which their bits are worth having
constexpr int CHUNK = 512;  // rows accumulated at a time: panels stay in the second-level cache

// |computed - exact| of one single-precision gradient, at worst: per lane the products of one chunk from both
// sides, the sum of the lanes, the sum over chunks, and the rounding of wr, each relative to a sum of
// absolute values of at most 2.
double rounding_slack(int rows, int lanes) {
    return 2.0 * (2 * CHUNK / lanes + 8 + rows / CHUNK) * 6e-8;
}

template <class T>
void make_room(Buffer<T>& buffer, size_t size) {
    if (buffer.size() < size) buffer.resize(size);
}

template <class T>
T* room(Buffer<T>& buffer, size_t size) {
    if (buffer.size() < size) buffer.resize(size + size / 2);
    return buffer.data();
}

// One number per row, filled up to whole words of bits.
const double* padded(const double* a, int stride, int n_words, Buffer<double>& scratch) {
    if (stride == 32 * n_words) return a;
    double* copy = room(scratch, static_cast<size_t>(32) * n_words);
    std::copy(a, a + stride, copy);
    std::fill(copy + stride, copy + 32 * n_words, 0.0);
    return copy;
}

}  // namespace

CpuRows::CpuRows(std::shared_ptr<const Table> table, Holds holds, Pool& pool)
    : kernels_(kernels()),
      table_(std::move(table)),
      holds_(holds),
      stride_(table_->stride),
      pool_(pool),
      eta_(size_t(stride_) * (holds == Holds::one_node ? 1 : table_->n_features)),
      wr_(eta_.size()),
      packed_(holds == Holds::one_node ? 1 : table_->n_features),
      curve_(packed_.size()),
      made_from_(packed_.size()),
      scratch_(pool.size()) {}

const uint8_t* const* CpuRows::columns(const Beside& beside, int worker) {
    std::vector<const uint8_t*>& found = scratch_[worker].columns;
    found.resize(beside.count);
    for (int k = 0; k < beside.count; ++k) found[k] = table_->column(beside.column[k]);
    return found.data();
}

// sum_n a_n x_tn for the columns asked for: from a node's packed columns, from the bits of all columns where
// a good part of them is wanted, else from bytes.
void CpuRows::dots(const double* a, int node, const Beside& asked, double* out, int worker) {
    const PackedColumns& packed = packed_[line(node)];
    const bool leads = packed.leads(asked.column, asked.count);
    const int rest = asked.count - (leads ? packed.size() : 0);
    const bool takes_all = rest >= MANY && rest >= table_->n_features / 4;
    Scratch& scratch = scratch_[worker];
    if (leads || takes_all) a = padded(a, stride_, table_->bits().n_words, scratch.wide_line);
    if (leads) {
        double* sums = room(scratch.wide_sums, packed.lanes());
        packed.sums(a, sums, kernels_);
        std::copy(sums, sums + packed.size(), out);
    }
    const Beside others{asked.column + (asked.count - rest), rest};
    out += asked.count - rest;
    if (takes_all) {
        double* sums = room(scratch.wide_sums, table_->bits().width);
        table_->bits().sums(a, sums, kernels_);
        for (int k = 0; k < rest; ++k) out[k] = sums[others.column[k]];
    } else if (rest > 0) {
        kernels_.dots(a, columns(others, worker), rest, stride_, out);
    }
}

void CpuRows::add_columns(int node, const Move& task, double offset, int worker) {
    const PackedColumns& packed = packed_[line(node)];
    const bool is_packed = task.moved.count > 0 && packed.holds(task.moved.column, task.moved.count);
    kernels_.add_columns(eta(node), offset, columns(task.moved, worker), task.coefficient,
                         is_packed ? 0 : task.moved.count, stride_);
    if (!is_packed) return;
    double* coefficients = room(scratch_[worker].wide_coefficients, 32 * packed.groups());
    std::copy(task.coefficient, task.coefficient + packed.size(), coefficients);
    std::fill(coefficients + packed.size(), coefficients + 32 * packed.groups(), 0.0);
    packed.add(coefficients, stride_, eta(node), kernels_);
}

// Every lane adds its rows one after the other, packed columns four rows at a time; the terms are products
// and functions with a few roundings of their own.
double CpuRows::rounding() const {
    return (std::max(2.0 / kernels_.lanes, 0.25) * stride_ + 32) * std::numeric_limits<double>::epsilon() / 2;
}

std::vector<Overlap> CpuRows::overlaps(std::span<const Pair> pairs) {
    std::vector<Overlap> found(pairs.size());
    pool_.each(pairs.size(), [&](int k, int) {
        const uint8_t *s = table_->column(pairs[k].s), *t = table_->column(pairs[k].t);
        long double sums[4] = {};
        for (int n = 0; n < table_->n_distinct; ++n) sums[2 * s[n] + t[n]] += table_->w[n];
        found[k] = {static_cast<double>(sums[3]), static_cast<double>(sums[2]), static_cast<double>(sums[1]),
                    static_cast<double>(sums[0])};
    });
    return found;
}

void CpuRows::move(std::span<const Move> tasks, bool afresh) {
    pool_.each(tasks.size(), [&](int k, int worker) {
        const Move& task = tasks[k];
        double* e = eta(task.node);
        if (afresh) std::fill(e, e + stride_, task.offset);
        if (!afresh || task.moved.count > 0) add_columns(task.node, task, afresh ? 0.0 : task.offset, worker);
        *task.sums = kernels_.node_pass(e, table_->column(task.node), table_->w.data(), stride_,
                                        table_->n_equal, wr(task.node));
        curve_[line(task.node)] = task.sums->curve;
        dots(wr(task.node), task.node, task.asked, task.gradient, worker);
    });
}

void CpuRows::gradients(std::span<const Gradient> tasks) {
    pool_.each(tasks.size(), [&](int k, int worker) {
        dots(wr(tasks[k].node), tasks[k].node, tasks[k].asked, tasks[k].gradient, worker);
    });
}

const float* CpuRows::curvatures(int node, int worker) {
    make_room(scratch_[worker].curves, stride_);
    kernels_.curvatures(eta(node), table_->column(node), table_->w.data(), table_->inverse_w.data(), wr(node),
                        stride_, scratch_[worker].curves.data());
    return scratch_[worker].curves.data();
}

void CpuRows::blocks(std::span<const Block> tasks, Curvature curvature) {
    const bool is_own = curvature == Curvature::own;
    if (!is_own && quarter_w_.size() == 0) {
        quarter_w_.resize(stride_);
        for (int n = 0; n < stride_; ++n) {
            quarter_w_[n] = static_cast<float>(table_->w[n] / 4);
            quarter_ += table_->w[n] / 4;
        }
    }
    int widest = 0;
    for (const Block& task : tasks)
        if (task.G) widest = std::max(widest, task.inner.count);
    for (Scratch& scratch : scratch_) make_room(scratch.panels, gram_scratch(widest));
    pool_.each(tasks.size(), [&](int k, int worker) {
        const Block& task = tasks[k];
        const float* curves = is_own ? curvatures(task.node, worker) : quarter_w_.data();
        *task.curve = is_own ? curve_[line(task.node)] : quarter_;
        if (task.inner.count == 0) return;
        if (task.G)
            kernels_.gram(curves, columns(task.inner, worker), task.inner.count, stride_, task.G, task.stride,
                          task.b, scratch_[worker].panels.data());
        else
            diagonal(task, curves, worker);
    });
}

// What goes beside products. Double precision: where nearly all weight is on ones, what is left for the zeros
// is a difference.
void CpuRows::diagonal(const Block& task, const float* curves, int worker) {
    PackedColumns& packed = packed_[line(task.node)];
    const int d = task.inner.count;
    if (!packed.holds(task.inner.column, d)) packed.pack(table_->bits(), task.inner.column, d, kernels_);
    const int rows = 32 * table_->bits().n_words;
    double* a = room(scratch_[worker].wide_line, rows);
    double* sums = room(scratch_[worker].wide_sums, packed.lanes());
    make_room(made_from_[line(task.node)], stride_);
    std::copy(curves, curves + stride_, made_from_[line(task.node)].data());
    std::copy(curves, curves + stride_, a);
    std::fill(a + stride_, a + rows, 0.0);
    const double all = std::accumulate(a, a + stride_, 0.0);
    packed.sums(a, sums, kernels_);
    for (int k = 0; k < d; ++k) {
        task.b[k] = static_cast<float>(sums[k]);
        task.diagonal[k] =
            all > 0 ? static_cast<float>(sums[k] * (std::max(all - sums[k], 0.0) / all)) : 0.0f;
    }
}

void CpuRows::products(std::span<const Product> tasks) {
    pool_.each(tasks.size(), [&](int k, int worker) { multiply(tasks[k], worker); });
}

void CpuRows::multiply(const Product& task, int worker) {
    const PackedColumns& packed = packed_[line(task.node)];
    const int d = task.inner.count;
    if (!packed.holds(task.inner.column, d)) throw std::logic_error("a product needs its diagonal first");
    Scratch& scratch = scratch_[worker];
    const int rows = 32 * table_->bits().n_words;
    float *z = room(scratch.line, rows), *coefficients = room(scratch.coefficients, 32 * packed.groups());
    float* sums = room(scratch.sums, packed.lanes());
    std::copy(task.d, task.d + d, coefficients);
    std::fill(coefficients + d, coefficients + 32 * packed.groups(), 0.0f);
    std::fill(z, z + stride_, static_cast<float>(-task.centre));
    std::fill(z + stride_, z + rows, 0.0f);
    packed.add(coefficients, stride_, z, kernels_);
    kernels_.scale(made_from_[line(task.node)].data(), stride_, z);
    packed.sums(z, sums, kernels_);
    std::copy(sums, sums + d, task.Hd);
}

double CpuRows::divergence(std::span<const int> nodes, double c) {
    const double log_c = std::log(c), log_rest = std::log1p(-c);
    std::vector<double> parts(nodes.size());
    pool_.each(nodes.size(), [&](int k, int) {
        parts[k] = kernels_.divergence(eta(nodes[k]), table_->column(nodes[k]), table_->w.data(), stride_, c,
                                       log_c, log_rest);
    });
    double sum = 0;
    for (double part : parts) sum += part;
    return sum;
}

double CpuRows::largest_predictor(std::span<const int> nodes) {
    double largest = 0;
    for (int node : nodes)
        for (int n = 0; n < table_->n_distinct; ++n) largest = std::max(largest, std::abs(eta(node)[n]));
    return largest;
}

std::vector<double> CpuRows::gram(int node, const Beside& beside, int most) {
    const int d = beside.count, width = d + 1;
    const int rows = std::min(stride_, (most + ROW_ALIGN - 1) / ROW_ALIGN * ROW_ALIGN);
    Buffer<double> curve(rows);
    const double* r = wr(node);
    for (int n = 0; n < rows; ++n) {
        const double size = std::abs(r[n]);
        // |r| (1 - |r|), less what rounding may have added.
        curve[n] = std::max(
            size * (1 - size * table_->inverse_w[n]) - 8 * std::numeric_limits<double>::epsilon() * size,
            0.0);
    }
    std::vector<double> G(static_cast<size_t>(width) * width);
    pool_.each(width, [&](int i, int worker) {
        double* line = room(scratch_[worker].wide_line, stride_);
        const uint8_t* const* x = columns(beside, worker);
        double sum = 0;
        for (int n = 0; n < rows; ++n) sum += line[n] = i == d || x[i][n] ? curve[n] : 0.0;
        kernels_.dots(line, x, d, rows, G.data() + static_cast<size_t>(i) * width);
        G[static_cast<size_t>(i) * width + d] = sum;
    });
    return G;
}

void CpuRows::remember(std::span<const int> nodes) {
    make_room(reference_wr_, wr_.size());
    pool_.each(nodes.size(), [&](int k, int) {
        kernels_.narrow(wr(nodes[k]), stride_, reference_wr_.data() + place(nodes[k]));
    });
}

std::vector<Moved> CpuRows::drift(std::span<const int> nodes) {
    std::vector<Moved> moved(nodes.size());
    pool_.each(nodes.size(), [&](int k, int) {
        const float* reference = reference_wr_.data() + place(nodes[k]);
        kernels_.distance(wr(nodes[k]), reference, table_->inverse_w.data(), stride_, &moved[k].square,
                          &moved[k].sum);
    });
    return moved;
}

double CpuRows::all_pairs(int first, int last, float* band) {
    const int p = table_->n_features;
    std::vector<Pair> tiles;
    for (int top = first; top < last; top += TILE)
        for (int left = top; left < p; left += TILE) tiles.push_back({top, left});
    const size_t size = static_cast<size_t>(4 * std::min(TILE, p)) * CHUNK + TILE * TILE;
    for (Scratch& scratch : scratch_) make_room(scratch.panels, size);
    pool_.each(tiles.size(), [&](int index, int worker) {
        fill_tile(tiles[index], first, last, scratch_[worker].panels.data(), band);
    });
    return rounding_slack(stride_, kernels_.lanes);
}

// Columns and residuals of some nodes, a chunk of rows, in single precision.
void CpuRows::fill_panels(int first, int count, int row, int rows, float* x, float* r) {
    for (int k = 0; k < count; ++k) {
        kernels_.widen(table_->column(first + k) + row, rows, x + k * CHUNK);
        kernels_.narrow(wr(first + k) + row, rows, r + k * CHUNK);
    }
}

// The pairs between TILE nodes from the corner down and TILE nodes to its right, into a band of the lines
// from first to last.
void CpuRows::fill_tile(Pair corner, int first, int last, float* scratch, float* band) {
    const int p = table_->n_features, top = corner.s, left = corner.t;
    const int height = std::min(TILE, last - top), width = std::min(TILE, p - left);
    float *tile = scratch, *x_top = tile + TILE * TILE, *r_top = x_top + height * CHUNK;
    float *x_left = r_top + height * CHUNK, *r_left = x_left + width * CHUNK;
    std::fill(tile, tile + TILE * TILE, 0.0f);
    for (int row = 0; row < stride_; row += CHUNK) {
        const int rows = std::min(CHUNK, stride_ - row);
        fill_panels(top, height, row, rows, x_top, r_top);
        fill_panels(left, width, row, rows, x_left, r_left);
        for (int i = 0; i < height; i += 4)
            for (int j = 0; j < width; j += 4) {
                const float *r_i[4], *x_i[4], *r_j[4], *x_j[4];
                for (int k = 0; k < 4; ++k) {  // a short last group repeats its last node
                    const int a = std::min(i + k, height - 1) * CHUNK, b = std::min(j + k, width - 1) * CHUNK;
                    r_i[k] = r_top + a, x_i[k] = x_top + a;
                    r_j[k] = r_left + b, x_j[k] = x_left + b;
                }
                kernels_.gradient_tile(r_i, x_i, r_j, x_j, rows, tile + i * TILE + j, TILE);
            }
    }
    for (int i = 0; i < height; ++i) {
        const int s = top + i, begin = std::max(0, s + 1 - left);
        if (begin < width)
            std::copy(tile + i * TILE + begin, tile + i * TILE + width,
                      band + (first_of_row(s, p) - first_of_row(first, p)) + (left + begin - s - 1));
    }
}

}  // namespace isinglass
