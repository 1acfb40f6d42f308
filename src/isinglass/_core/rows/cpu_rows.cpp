#include "rows/cpu_rows.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

namespace isinglass {
namespace {

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
      packed_(holds == Holds::one_node ? 1 : table_->n_features),
      curve_(packed_.size()),
      made_from_(packed_.size()),
      scratch_(pool.size()) {}

const uint8_t* const* CpuRows::columns(const Beside& beside, int worker) {
    return list_columns(*table_, beside, scratch_[worker].wide.columns);
}

// sum_n a_n x_tn for the columns asked for: those that are packed for the node, then the rest.
void CpuRows::dots(const double* a, int node, const Beside& asked, double* out, int worker) {
    const PackedColumns& packed = packed_[line(node)];
    const int known = packed.leads(asked.column, asked.count) ? packed.size() : 0;
    SumScratch& scratch = scratch_[worker].wide;
    if (known > 0) {
        double* sums = room(scratch.sums, packed.lanes());
        packed.sums(padded(a, stride_, table_->bits().n_words, scratch.line), sums, kernels_);
        std::copy(sums, sums + known, out);
    }
    column_sums(*table_, a, {asked.column + known, asked.count - known}, out + known, scratch);
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
    double* a = room(scratch_[worker].wide.line, rows);
    double* sums = room(scratch_[worker].wide.sums, packed.lanes());
    make_room(made_from_[line(task.node)], stride_);
    std::copy(curves, curves + stride_, made_from_[line(task.node)].data());
    std::copy(curves, curves + stride_, a);
    std::fill(a + stride_, a + rows, 0.0);
    const double all = std::accumulate(a, a + stride_, 0.0);
    packed.sums(a, sums, kernels_);
    write_diagonal(task, sums, all);
}

void CpuRows::products(std::span<const Product> tasks) {
    pool_.each(tasks.size(), [&](int k, int worker) {
        if (static_cast<size_t>(k) + 1 < tasks.size()) packed_[line(tasks[k + 1].node)].expect_add();
        multiply(tasks[k], worker);
    });
}

void CpuRows::multiply(const Product& task, int worker) {
    const PackedColumns& packed = packed_[line(task.node)];
    const int d = task.inner.count;
    if (packed.size() != d) throw std::logic_error("a product needs its diagonal first");
    Scratch& scratch = scratch_[worker];
    const int rows = 32 * table_->bits().n_words;
    float *z = room(scratch.line, rows), *coefficients = room(scratch.coefficients, 32 * packed.groups());
    float* sums = room(scratch.sums, packed.lanes());
    std::copy(task.d, task.d + d, coefficients);
    std::fill(coefficients + d, coefficients + 32 * packed.groups(), 0.0f);
    std::fill(z, z + stride_, static_cast<float>(-task.center));
    std::fill(z + stride_, z + rows, 0.0f);
    packed.expect_sums();
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
    return sum_gram(*table_, wr(node), beside, most, pool_);
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
    PairTiles tiles(*table_, first, last, pool_);
    const auto residuals = [this](int node, int row, int rows, float* out) {
        kernels_.narrow(wr(node) + row, rows, out);
    };
    tiles.add(0, stride_, residuals, band);
    return tiles.slack();
}

}  // namespace isinglass
