#include "rows/cpu_rows.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace isinglass {
namespace {

constexpr int TILE = 64;     // nodes of one block of the full gradient
constexpr int CHUNK = 1024;  // rows accumulated at a time: panels stay in the second-level cache

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

}  // namespace

CpuRows::CpuRows(std::shared_ptr<const Table> table, Holds holds, Pool& pool)
    : kernels_(kernels()),
      table_(std::move(table)),
      holds_(holds),
      stride_(table_->stride),
      pool_(pool),
      eta_(size_t(stride_) * (holds == Holds::one_node ? 1 : table_->n_features)),
      wr_(eta_.size()),
      wv_(eta_.size()),
      curve_(eta_.size() / stride_),
      scratch_(pool.size()) {}

const uint8_t* const* CpuRows::columns(const Beside& beside, int worker) {
    std::vector<const uint8_t*>& found = scratch_[worker].columns;
    found.resize(beside.count);
    for (int k = 0; k < beside.count; ++k) found[k] = table_->column(beside.column[k]);
    return found.data();
}

void CpuRows::dots(int node, const Beside& asked, double* out, int worker) {
    if (asked.count > 0) kernels_.dots(wr(node), columns(asked, worker), asked.count, stride_, out);
}

// Every lane adds its rows one after the other, then the lanes are added in pairs; the terms are products and
// functions with a few roundings of their own.
double CpuRows::rounding() const {
    return (2.0 * stride_ / kernels_.lanes + 32) * std::numeric_limits<double>::epsilon() / 2;
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
        if (!afresh || task.moved.count > 0)
            kernels_.add_columns(e, afresh ? 0.0 : task.offset, columns(task.moved, worker), task.coefficient,
                                 task.moved.count, stride_);
        *task.sums = kernels_.node_pass(e, table_->column(task.node), table_->w.data(), stride_,
                                        table_->n_equal, wr(task.node), wv(task.node));
        curve_[line(task.node)] = task.sums->curve;
        dots(task.node, task.asked, task.gradient, worker);
    });
}

void CpuRows::gradients(std::span<const Gradient> tasks) {
    pool_.each(tasks.size(),
               [&](int k, int worker) { dots(tasks[k].node, tasks[k].asked, tasks[k].gradient, worker); });
}

std::vector<double> CpuRows::changes(std::span<const int> nodes) {
    std::vector<double> sums(nodes.size());
    pool_.each(nodes.size(), [&](int k, int) {
        sums[k] = kernels_.change(wv(nodes[k]), made_from_.data() + place(nodes[k]), stride_);
    });
    return sums;
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
    make_room(made_from_, wv_.size());
    int widest = 0;
    for (const Block& task : tasks) widest = std::max(widest, task.inner.count);
    for (Scratch& scratch : scratch_) make_room(scratch.panels, gram_scratch(widest));
    pool_.each(tasks.size(), [&](int k, int worker) {
        const Block& task = tasks[k];
        float* curves = made_from_.data() + place(task.node);
        const float* source = is_own ? wv(task.node) : quarter_w_.data();
        std::copy(source, source + stride_, curves);
        *task.curve = is_own ? curve_[line(task.node)] : quarter_;
        const uint8_t* const* x = columns(task.inner, worker);
        const int d = task.inner.count;
        if (d == 0) return;
        if (task.G)
            kernels_.gram(curves, x, d, stride_, task.G, task.stride, task.b, scratch_[worker].panels.data());
        else
            kernels_.diagonal(curves, x, d, stride_, task.b, task.diagonal);
    });
}

void CpuRows::products(std::span<const Product> tasks) {
    for (Scratch& scratch : scratch_) make_room(scratch.line, stride_);
    pool_.each(tasks.size(), [&](int k, int worker) {
        const Product& task = tasks[k];
        const int d = task.inner.count;
        Scratch& scratch = scratch_[worker];
        scratch.coefficients.assign(task.d, task.d + d);
        double* line = scratch.line.data();
        const float* curves = made_from_.data() + place(task.node);
        const uint8_t* const* x = columns(task.inner, worker);
        std::fill(line, line + stride_, -task.centre);
        kernels_.add_columns(line, 0.0, x, scratch.coefficients.data(), d, stride_);
        for (int n = 0; n < stride_; ++n) line[n] *= curves[n];
        kernels_.dots(line, x, d, stride_, scratch.coefficients.data());
        std::copy(scratch.coefficients.begin(), scratch.coefficients.end(), task.Hd);
    });
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
    for (Scratch& scratch : scratch_) make_room(scratch.line, stride_);
    pool_.each(width, [&](int i, int worker) {
        double* line = scratch_[worker].line.data();
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

double CpuRows::all_pairs(float* triangle) {
    const int p = table_->n_features;
    std::vector<Pair> tiles;
    for (int top = 0; top < p; top += TILE)
        for (int left = top; left < p; left += TILE) tiles.push_back({top, left});
    const size_t size = static_cast<size_t>(2 * std::min(TILE, p)) * CHUNK + TILE * TILE;
    for (Scratch& scratch : scratch_) make_room(scratch.panels, size);
    pool_.each(tiles.size(), [&](int index, int worker) {
        fill_tile(tiles[index].s, tiles[index].t, scratch_[worker].panels.data(), triangle);
    });
    return rounding_slack(stride_, kernels_.lanes);
}

// The pairs between the nodes from top and those from left, TILE each.
void CpuRows::fill_tile(int top, int left, float* scratch, float* triangle) {
    const int p = table_->n_features;
    const int height = std::min(TILE, p - top), width = std::min(TILE, p - left);
    float *tile = scratch, *x_top = scratch + TILE * TILE, *x_left = x_top + height * CHUNK;
    std::fill(tile, tile + TILE * TILE, 0.0f);
    for (int row = 0; row < stride_; row += CHUNK) {
        const int rows = std::min(CHUNK, stride_ - row);
        for (int k = 0; k < height; ++k)
            kernels_.widen(table_->column(top + k) + row, rows, x_top + k * CHUNK);
        for (int k = 0; k < width; ++k)
            kernels_.widen(table_->column(left + k) + row, rows, x_left + k * CHUNK);
        for (int i = 0; i < height; i += 4)
            for (int j = 0; j < width; j += 4) {
                const float *r_i[4], *x_i[4], *r_j[4], *x_j[4];
                for (int k = 0; k < 4; ++k) {  // a short last group repeats its last node
                    const int a = std::min(i + k, height - 1), b = std::min(j + k, width - 1);
                    r_i[k] = reference_wr_.data() + place(top + a) + row;
                    r_j[k] = reference_wr_.data() + place(left + b) + row;
                    x_i[k] = x_top + a * CHUNK;
                    x_j[k] = x_left + b * CHUNK;
                }
                kernels_.gradient_tile(r_i, x_i, r_j, x_j, rows, tile + i * TILE + j, TILE);
            }
    }
    for (int i = 0; i < height; ++i) {
        const int s = top + i, first = std::max(0, s + 1 - left);
        if (first < width)
            std::copy(tile + i * TILE + first, tile + i * TILE + width,
                      triangle + first_of_row(s, p) + (left + first - s - 1));
    }
}

}  // namespace isinglass
