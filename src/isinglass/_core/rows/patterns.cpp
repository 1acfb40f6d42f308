#include "rows/patterns.hpp"

#include <algorithm>

namespace isinglass {

using namespace tuning::rows;

namespace {

constexpr int LANES = 8;  // sums side by side: consecutive rows often have the same pattern

}  // namespace

int Patterns::most_columns(const Table& table, int rows_per_pattern) {
    int d = -1;
    if (static_cast<size_t>(table.n_distinct) * table.n_features >= MIN_PATTERN_CELLS)
        while (d < MAX_PATTERN_COLUMNS && (rows_per_pattern << (d + 2)) <= table.n_distinct) ++d;
    return d;
}

void Patterns::find(const Table& table, int begin, int count, uint16_t* pattern) const {
    const uint8_t* own = table.column(node_) + begin;
    for (int i = 0; i < count; ++i) pattern[i] = own[i];
    for (size_t k = 0; k < columns_.size(); ++k) {
        const uint8_t* cells = table.column(columns_[k]) + begin;
        for (int i = 0; i < count; ++i) pattern[i] |= static_cast<uint16_t>(cells[i] << (k + 1));
    }
}

void Patterns::make(const Table& table, int node, const std::vector<int>& columns) {
    node_ = node;
    columns_ = columns;
    const int d = static_cast<int>(columns.size()), count = 2 << d;
    size_ = std::max(count, ROW_ALIGN);
    if (keeps_rows_) {
        if (pattern_.size() == 0) pattern_.resize(table.stride);
        for (int n = 0; n < table.n_distinct; n += PATTERN_ROWS_AT_ONCE)
            find(table, n, std::min(PATTERN_ROWS_AT_ONCE, table.n_distinct - n), pattern_.data() + n);
    }
    std::vector<double> sums(static_cast<size_t>(LANES) * count);
    each_row(table, 0, table.n_distinct,
             [&](int n, uint16_t pattern) { sums[LANES * pattern + n % LANES] += table.w[n]; });
    x_.resize(size_), w_.resize(size_), inverse_w_.resize(size_);
    cells_.resize(static_cast<size_t>(size_) * d);
    for (int i = 0; i < count; ++i) {
        for (int lane = 0; lane < LANES; ++lane) w_[i] += sums[LANES * i + lane];
        inverse_w_[i] = w_[i] > 0 ? 1 / w_[i] : 0;
        x_[i] = i & 1;
        for (int k = 0; k < d; ++k) cells_[static_cast<size_t>(k) * size_ + i] = i >> (k + 1) & 1;
    }
}

bool Patterns::hold(const NeighborColumns& neighbors) const {
    return std::all_of(neighbors.column, neighbors.column + neighbors.count,
                       [&](int s) { return std::find(columns_.begin(), columns_.end(), s) != columns_.end(); });
}

ColumnList Patterns::list(const NeighborColumns& neighbors, std::vector<const uint8_t*>& found) const {
    found.resize(neighbors.count);
    for (int i = 0; i < neighbors.count; ++i) {
        const auto k = std::find(columns_.begin(), columns_.end(), neighbors.column[i]) - columns_.begin();
        found[i] = cells_.data() + static_cast<size_t>(k) * size_;
    }
    return {found.data(), neighbors.count, size_};
}

}  // namespace isinglass
