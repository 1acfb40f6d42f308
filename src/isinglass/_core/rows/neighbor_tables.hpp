// A table for each neighbor of a node with categories: a row of numbers, as the node's predictor has them, for each of
// the neighbor's categories. A cell selects the row that is added to the predictor, or to which residuals are added.
#pragma once

#include "rows/category_rows.hpp"

namespace isinglass {

template <class T>
class NeighborTables {
 public:
    // Tables for these neighbors, all zero; those that are to be listed instead get none.
    template <class IsListed>
    void lay_out(const CategoryState& state, int node, const NeighborColumns& neighbors, IsListed is_listed) {
        state_ = &state, node_ = node;
        for (auto* list : {&listed_, &tabled_}) list->columns.clear(), list->begin.clear();
        size_t begin = 0;
        numbers_ = 0;
        for (int k = 0; k < neighbors.count; ++k) {
            const int t = neighbors.column[k];
            List& list = is_listed(t) ? listed_ : tabled_;
            list.columns.push_back(t), list.begin.push_back(begin);
            begin += static_cast<size_t>(own().width()) * state.columns[t].width();
            if (&list == &tabled_) numbers_ += table_size(t);
        }
        T* data = room(data_, numbers_);
        clear();
        codes_.clear(), tables_.clear();
        for (int t : tabled_.columns) {
            codes_.push_back(state.codes(t));
            tables_.push_back(data);
            data += table_size(t);
        }
    }
    void lay_out(const CategoryState& state, int node, const NeighborColumns& neighbors) {
        lay_out(state, node, neighbors, [](int) { return false; });
    }
    // Columns, and where their numbers begin among those of all neighbors.
    struct List {
        std::vector<int> columns;
        std::vector<size_t> begin;

        int count() const { return static_cast<int>(columns.size()); }
        NeighborColumns neighbors() const { return {columns.data(), count()}; }
    };
    const List& listed() const { return listed_; }
    const List& tabled() const { return tabled_; }
    void clear() { std::fill(data_.data(), data_.data() + numbers_, T{}); }

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
    CodeTables<T> all() const { return some(0, tabled_.count()); }
    // out_n += the rows that cells select, as many tables at a time as the cache holds.
    template <class Kernel>
    void gather(Kernel kernel, T* out) const {
        const size_t bytes = std::max<size_t>(numbers_ * sizeof(T), 1);
        const int count = tabled_.count();
        const int together = static_cast<int>(std::max<size_t>(tuning::rows::TABLE_CACHE_BYTES * count / bytes, 1));
        for (int j = 0; j < count; j += together) {
            const CodeTables<T> of = some(j, std::min(together, count - j));
            kernel({of.codes, of.tables, of.count, of.ld, of.n}, out);
        }
    }

 private:
    const CategoryColumn& own() const { return state_->columns[node_]; }
    const CategoryColumn& other(int j) const { return state_->columns[tabled_.columns[j]]; }
    size_t table_size(int column) const { return static_cast<size_t>(state_->columns[column].q()) * own().lead(); }
    CodeTables<T> some(int first, int count) const {
        return {codes_.data() + first, tables_.data() + first, count, own().lead(), state_->stride};
    }
    // Where the entry (k, l) of the block with neighbor j is: that of a pair has the first column's categories for
    // rows. Of a neighbor with an order there is one entry for all l.
    size_t place(int j, int k, int l) const {
        const int along = other(j).is_ordered() ? 0 : l;
        return tabled_.begin[j] +
               (node_ < tabled_.columns[j] ? k * other(j).width() + along : along * own().width() + k);
    }
    template <class Visit>
    void each_entry(Visit visit) const {
        for (int j = 0; j < tabled_.count(); ++j)
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
    List listed_, tabled_;
    std::vector<const uint8_t*> codes_;
    std::vector<T*> tables_;
    Buffer<T> data_;
    size_t numbers_ = 0;
};

}  // namespace isinglass
