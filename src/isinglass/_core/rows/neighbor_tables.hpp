// A table for each neighbor of a node with categories: a row of numbers, as the node's predictor has them, for each of
// the neighbor's categories. A cell selects the row that is added to the predictor, or to which residuals are added.
#pragma once

#include "rows/category_rows.hpp"

namespace isinglass {

template <class T>
class NeighborTables {
 public:
    // Tables for these neighbors, all zero.
    void lay_out(const CategoryState& state, int node, const NeighborColumns& neighbors) {
        state_ = &state, node_ = node, neighbors_ = neighbors;
        codes_.clear(), tables_.clear(), begin.clear();
        const auto size = [&](int j) { return static_cast<size_t>(other(j).q()) * own().lead(); };
        numbers_ = 0;
        for (int j = 0; j < neighbors.count; ++j) numbers_ += size(j);
        T* data = room(data_, numbers_);
        clear();
        size_t first = 0;
        for (int j = 0; j < neighbors.count; ++j) {
            codes_.push_back(state.codes(neighbors.column[j]));
            tables_.push_back(data);
            begin.push_back(first);
            first += static_cast<size_t>(own().width()) * other(j).width();
            data += size(j);
        }
    }
    void clear() { std::fill(data_.data(), data_.data() + numbers_, T{}); }
    std::vector<size_t> begin;  // where the neighbors' blocks are among coefficients

    // What the neighbors' categories add to the predictor.
    template <class U>
    void fill(const U* blocks) {
        each_entry([&](int j, const CategoryColumn& column, int k, int l) {
            const double value = (column.is_ordered() ? column.score[l] : column.unit) * blocks[place(j, k, l)];
            tables_[j][l * own().lead() + k] = static_cast<T>(own().unit * value);
        });
    }
    // The other way: from sums over the rows of every category to blocks. shift: the sums over all rows, which should
    // be zero, times the neighbor's mean point, are taken off.
    template <class U>
    void read(const double* shift, U* blocks) const {
        read_points(
            [&](const CategoryColumn& column, int k, int l, double value) {
                if (column.is_ordered()) return own().unit * (column.score[l] * value);
                const double off = shift ? value - column.share[l] * shift[k] : value;
                return own().unit * column.unit * off;
            },
            blocks);
    }
    // The same with the squares of points.
    void read_squares(float* blocks) const {
        read_points(
            [&](const CategoryColumn& column, int, int l, double value) {
                const double point = column.is_ordered() ? column.score[l] : column.unit;
                return point * point * (own().unit * own().unit * value);
            },
            blocks);
    }
    CodeTables<T> all() const { return some(0, neighbors_.count); }
    // out_n += the rows that cells select, as many tables at a time as the cache holds.
    template <class Kernel>
    void gather(Kernel kernel, T* out) const {
        const size_t bytes = std::max<size_t>(numbers_ * sizeof(T), 1);
        const int count = neighbors_.count;
        const int together = static_cast<int>(std::max<size_t>(tuning::rows::TABLE_CACHE_BYTES * count / bytes, 1));
        for (int j = 0; j < count; j += together) {
            const CodeTables<T> of = some(j, std::min(together, count - j));
            kernel({of.codes, of.tables, of.count, of.ld, of.n}, out);
        }
    }

 private:
    const CategoryColumn& own() const { return state_->columns[node_]; }
    const CategoryColumn& other(int j) const { return state_->columns[neighbors_.column[j]]; }
    CodeTables<T> some(int first, int count) const {
        return {codes_.data() + first, tables_.data() + first, count, own().lead(), state_->stride};
    }
    // Where the entry (k, l) of the block with neighbor j is: that of a pair has the first column's categories for
    // rows. Of a neighbor with an order there is one entry for all l.
    size_t place(int j, int k, int l) const {
        const int along = other(j).is_ordered() ? 0 : l;
        return begin[j] + (node_ < neighbors_.column[j] ? k * other(j).width() + along : along * own().width() + k);
    }
    template <class Visit>
    void each_entry(Visit visit) const {
        for (int j = 0; j < neighbors_.count; ++j)
            for (int k = 0; k < own().width(); ++k)
                for (int l = 0; l < other(j).q(); ++l) visit(j, other(j), k, l);
    }
    // point(column, k, l, number of the table), summed over the categories of a column with an order.
    template <class Point, class U>
    void read_points(Point point, U* blocks) const {
        double along = 0;
        each_entry([&](int j, const CategoryColumn& column, int k, int l) {
            const double value = point(column, k, l, tables_[j][l * own().lead() + k]);
            along = column.is_ordered() && l > 0 ? along + value : value;
            blocks[place(j, k, l)] = static_cast<U>(along);
        });
    }

    const CategoryState* state_ = nullptr;
    int node_ = 0;
    NeighborColumns neighbors_;
    std::vector<const uint8_t*> codes_;
    std::vector<T*> tables_;
    Buffer<T> data_;
    size_t numbers_ = 0;
};

}  // namespace isinglass
