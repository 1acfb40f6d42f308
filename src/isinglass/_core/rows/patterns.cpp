#include "rows/patterns.hpp"

#include <algorithm>

#include "tuning.hpp"

namespace isinglass {

using namespace tuning::rows;

namespace {

constexpr int LANES = 8;  // sums side by side: consecutive rows often have the same pattern

}  // namespace

int Patterns::most_columns(const Table& table) {
    int d = -1;
    if (static_cast<size_t>(table.n_distinct) * table.n_features >= MIN_PATTERN_CELLS)
        while (d < MAX_PATTERN_COLUMNS && (ROWS_PER_PATTERN << (d + 2)) <= table.n_distinct) ++d;
    return d;
}

void Patterns::make(const Table& table, int node, const NeighborColumns& neighbors) {
    node_ = node;
    columns_.assign(neighbors.column, neighbors.column + neighbors.count);
    const int count = 2 << neighbors.count;
    size = std::max(count, ROW_ALIGN);
    if (pattern_.size() == 0) pattern_.resize(table.stride);
    std::vector<double> sums(static_cast<size_t>(LANES) * count);
    for (int begin = 0; begin < table.n_distinct; begin += PATTERN_ROWS_AT_ONCE) {
        const int end = std::min(begin + PATTERN_ROWS_AT_ONCE, table.n_distinct);
        uint16_t* pattern = pattern_.data();
        const uint8_t* own = table.column(node);
        for (int n = begin; n < end; ++n) pattern[n] = own[n];
        for (int k = 0; k < neighbors.count; ++k) {
            const uint8_t* cells = table.column(neighbors.column[k]);
            for (int n = begin; n < end; ++n) pattern[n] |= static_cast<uint16_t>(cells[n] << (k + 1));
        }
        for (int n = begin; n < end; ++n) sums[LANES * pattern[n] + n % LANES] += table.w[n];
    }
    x.resize(size), w.resize(size), inverse_w.resize(size), eta.resize(size), wr.resize(size);
    cells_.resize(static_cast<size_t>(size) * neighbors.count);
    for (int i = 0; i < count; ++i) {
        for (int lane = 0; lane < LANES; ++lane) w[i] += sums[LANES * i + lane];
        inverse_w[i] = w[i] > 0 ? 1 / w[i] : 0;
        x[i] = i & 1;
        for (int k = 0; k < neighbors.count; ++k) cells_[static_cast<size_t>(k) * size + i] = i >> (k + 1) & 1;
    }
}

bool Patterns::hold(const NeighborColumns& neighbors) const {
    return std::all_of(neighbors.column, neighbors.column + neighbors.count,
                       [&](int s) { return std::find(columns_.begin(), columns_.end(), s) != columns_.end(); });
}

const uint8_t* const* Patterns::list(const NeighborColumns& neighbors, std::vector<const uint8_t*>& found) const {
    found.resize(neighbors.count);
    for (int i = 0; i < neighbors.count; ++i) {
        const auto k = std::find(columns_.begin(), columns_.end(), neighbors.column[i]) - columns_.begin();
        found[i] = cells_.data() + static_cast<size_t>(k) * size;
    }
    return found.data();
}

std::vector<double> Patterns::residuals() const {
    std::vector<double> r(size);
    for (int i = 0; i < size; ++i) r[i] = wr[i] * inverse_w[i];
    return r;
}

}  // namespace isinglass
