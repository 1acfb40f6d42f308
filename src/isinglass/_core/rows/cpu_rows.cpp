#include "rows/cpu_rows.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>

namespace isinglass {

CpuRows::CpuRows(std::shared_ptr<const Table> table, Holds holds, Pool& pool)
    : KeptRows(table, table->margins, holds, pool),
      packed_(n_lines()),
      made_from_(n_lines()),
      single_(pool.size()) {
    make_lines(std::vector<int>(table_->n_features, 1));
}

// The columns that are packed for the node, then the rest.
void CpuRows::collect(const Seen& seen, int node, const Beside& asked, double* out, int worker) {
    const PackedColumns& packed = packed_[line(node)];
    const int known = packed.leads(asked.column, asked.count) ? packed.size() : 0;
    SumScratch& scratch = scratch_[worker].wide;
    if (known > 0) {
        double* sums = room(scratch.sums, packed.lanes());
        packed.sums(padded(seen.wr, stride_, table_->bits().n_words, scratch.line), sums, kernels_);
        std::copy(sums, sums + known, out);
    }
    column_sums(*table_, seen.wr, {asked.column + known, asked.count - known}, out + known, scratch);
}

void CpuRows::add_columns(const Move& task, double offset, int worker) {
    const PackedColumns& packed = packed_[line(task.node)];
    const bool is_packed = task.moved.count > 0 && packed.holds(task.moved.column, task.moved.count);
    kernels_.add_columns(eta(task.node), offset, columns(task.moved, worker), task.coefficient,
                         is_packed ? 0 : task.moved.count, stride_);
    if (!is_packed) return;
    double* coefficients = room(scratch_[worker].numbers, 32 * packed.groups());
    std::copy(task.coefficient, task.coefficient + packed.size(), coefficients);
    std::fill(coefficients + packed.size(), coefficients + 32 * packed.groups(), 0.0);
    packed.add(coefficients, stride_, eta(task.node), kernels_);
}

void CpuRows::move(std::span<const Move> tasks, bool afresh) {
    pool_.each(tasks.size(), [&](int k, int worker) {
        const Move& task = tasks[k];
        double* e = eta(task.node);
        if (afresh) std::fill(e, e + stride_, task.offset);
        if (!afresh || task.moved.count > 0) add_columns(task, afresh ? 0.0 : task.offset, worker);
        sums_[line(task.node)] = *task.sums = kernels_.node_pass(
            e, table_->column(task.node), table_->w.data(), stride_, table_->n_equal, wr(task.node));
        collect(see(task.node, {}, worker), task.node, task.asked, task.gradient, worker);
    });
}

void CpuRows::diagonal(const Block& task, const float* curves, int, int worker) {
    PackedColumns& packed = packed_[line(task.node)];
    const int d = task.inner.count;
    if (!packed.holds(task.inner.column, d)) packed.pack(table_->bits(), task.inner.column, d, kernels_);
    const int rows = 32 * table_->bits().n_words;
    double* a = room(scratch_[worker].wide.line, rows);
    double* sums = room(scratch_[worker].wide.sums, packed.lanes());
    Buffer<float>& made_from = made_from_[line(task.node)];
    if (made_from.size() == 0) made_from.resize(stride_);
    std::copy(curves, curves + stride_, made_from.data());
    std::copy(curves, curves + stride_, a);
    std::fill(a + stride_, a + rows, 0.0);
    packed.sums(a, sums, kernels_);
    write_diagonal(task, sums, std::accumulate(a, a + stride_, 0.0));
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
    Single& scratch = single_[worker];
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

double CpuRows::all_pairs(int first, int last, float* band) {
    PairTiles tiles(*table_, first, last, pool_);
    const auto residuals = [this](int node, int row, int rows, float* out) {
        kernels_.narrow(wr(node) + row, rows, out);
    };
    tiles.add(0, stride_, residuals, band);
    return tiles.slack();
}

}  // namespace isinglass
