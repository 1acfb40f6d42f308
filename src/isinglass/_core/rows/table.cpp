#include "rows/table.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <random>
#include <stdexcept>

#include "rows/packed.hpp"
#include "rows/pool.hpp"
#include "tuning.hpp"

namespace isinglass {
namespace {

// Secret, so that no table can be made whose rows collide. The order of the rows does not depend on it.
struct Secret {
    uint64_t start, factor;
    Secret() {
        std::random_device device;
        const auto word = [&] { return static_cast<uint64_t>(device()) << 32 | device(); };
        start = word(), factor = word() | 1;
    }
};

// The rows of a table, read eight bytes at a time: calls of memcpy and memcmp on a few bytes would take longer than the
// fit of a small table.
class RowWords {
 public:
    explicit RowWords(const TableView& table)
        : X_(table.X), end_(X_ + table.n_rows * table.n_features), n_features_(table.n_features) {}

    uint64_t hash(size_t n) const {
        static const Secret secret;
        const uint8_t* row = X_ + n * n_features_;
        uint64_t h = secret.start;
        for (int i = 0; i < n_features_; i += 8) {
            // Both halves of the product of two numbers that depend on the secret.
            const auto product = static_cast<unsigned __int128>(h ^ word(row, i)) * (secret.factor + 2 * i);
            h = static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
        }
        return h;
    }

    bool are_equal(size_t m, size_t n) const {
        const uint8_t *a = X_ + m * n_features_, *b = X_ + n * n_features_;
        for (int i = 0; i < n_features_; i += 8)
            if (word(a, i) != word(b, i)) return false;
        return true;
    }

 private:
    uint64_t word(const uint8_t* row, int i) const {
        uint64_t word = 0;
        const int count = n_features_ - i;
        if (std::endian::native != std::endian::little || end_ - (row + i) < 8) {
            std::memcpy(&word, row + i, std::min(8, count));
            return word;
        }
        std::memcpy(&word, row + i, 8);
        return count < 8 ? word & ((uint64_t{1} << (8 * count)) - 1) : word;
    }

    const uint8_t *X_, *end_;
    int n_features_;
};

// No cell may be beyond the range of its column, which is 1 for columns of 0 and 1.
void check_cells(const TableView& table) {
    std::vector<uint8_t> largest(table.n_features, 1);
    for (int s = 0; table.ranges && s < table.n_features; ++s)
        largest[s] = table.ranges[s] == 0 ? std::numeric_limits<uint8_t>::max() : table.ranges[s];
    for (size_t begin = 0; begin < table.n_rows; begin += tuning::ROWS_PER_POLL) {
        Poll::here();
        uint8_t is_beyond = 0;
        for (size_t n = begin; n < std::min(begin + tuning::ROWS_PER_POLL, table.n_rows); ++n) {
            const uint8_t* row = table.X + n * table.n_features;
            for (int s = 0; s < table.n_features; ++s) is_beyond |= static_cast<uint8_t>(row[s] > largest[s]);
        }
        if (is_beyond)
            throw std::invalid_argument(table.ranges ? "steps beyond the range" : "cells above 1 have ranges");
    }
}

// A row of the table where it occurs first, with the weight of all that equal it.
struct Distinct {
    size_t row;
    double weight;
};

std::vector<Distinct> merge_rows(const TableView& table) {
    std::vector<Distinct> found;
    size_t capacity = 16;
    while (capacity < 2 * table.n_rows) capacity *= 2;
    std::vector<int64_t> slots(capacity, -1);
    const RowWords rows(table);
    for (size_t n = 0; n < table.n_rows; ++n) {
        const double w = table.weights ? table.weights[n] : 1.0;
        if (n % tuning::ROWS_PER_POLL == 0) Poll::here();
        if (w == 0.0) continue;
        size_t slot = rows.hash(n) & (capacity - 1);
        while (slots[slot] >= 0 && !rows.are_equal(found[slots[slot]].row, n)) slot = (slot + 1) & (capacity - 1);
        if (slots[slot] < 0) {
            slots[slot] = static_cast<int64_t>(found.size());
            found.push_back({n, w});
        } else {
            found[slots[slot]].weight += w;
        }
    }
    return found;
}

// Rows of the most frequent weight first, in their old order; returns how many there are.
int put_most_frequent_first(std::vector<Distinct>& rows) {
    std::vector<double> sorted;
    sorted.reserve(rows.size());
    for (const Distinct& each : rows) sorted.push_back(each.weight);
    std::sort(sorted.begin(), sorted.end());
    double frequent = 0;
    size_t most = 0;
    for (size_t begin = 0, end; begin < sorted.size(); begin = end) {
        end = std::upper_bound(sorted.begin() + begin, sorted.end(), sorted[begin]) - sorted.begin();
        if (end - begin > most) most = end - begin, frequent = sorted[begin];
    }
    std::stable_partition(rows.begin(), rows.end(), [&](const Distinct& each) { return each.weight == frequent; });
    return static_cast<int>(most);
}

// Adds rows of 0 and 1 to the sums of their columns: several rows side by side, as long as bytes can hold their sums.
void add_rows(const uint8_t* X, size_t n_rows, std::vector<double>& sums) {
    const size_t p = sums.size(), beside = 1 + 128 / std::max<size_t>(p, 1), width = beside * p;
    std::vector<uint8_t> counts(width);
    size_t n = 0;
    while (n + beside <= n_rows) {
        std::fill(counts.begin(), counts.end(), uint8_t{0});
        for (int k = 0; k < 255 && n + beside <= n_rows; ++k, n += beside)
            for (size_t i = 0; i < width; ++i) counts[i] += X[n * p + i];
        for (size_t i = 0; i < width; ++i) sums[i % p] += counts[i];
        Poll::here();
    }
    for (; n < n_rows; ++n)
        for (size_t s = 0; s < p; ++s) sums[s] += X[n * p + s];
}

}  // namespace

Ones count_ones(const TableView& table) {
    const size_t p = table.n_features;
    Ones found{std::vector<double>(p), std::vector<uint8_t>(p)};
    auto& [weight, varies] = found;
    if (!table.weights) {
        add_rows(table.X, table.n_rows, weight);
        for (size_t s = 0; s < p; ++s) varies[s] = 0 < weight[s] && weight[s] < static_cast<double>(table.n_rows);
        return found;
    }
    std::vector<uint8_t> seen(p);  // bit 0: a zero was seen; bit 1: a one
    for (size_t n = 0; n < table.n_rows; ++n) {
        if (n % tuning::ROWS_PER_POLL == 0) Poll::here();
        if (table.weights[n] == 0.0) continue;
        const uint8_t* row = table.X + n * p;
        for (size_t s = 0; s < p; ++s) {
            weight[s] += table.weights[n] * row[s];
            seen[s] |= static_cast<uint8_t>(1 + row[s]);
        }
    }
    for (size_t s = 0; s < p; ++s) varies[s] = seen[s] == 3;
    return found;
}

Table::Table(const TableView& given, double total)
    : n_features(given.n_features),
      ranges(given.ranges, given.ranges + (given.ranges ? n_features : 0)),
      modelled(given.modelled, given.modelled + (given.modelled ? n_features : 0)) {
    check_cells(given);
    std::vector<Distinct> rows = merge_rows(given);
    if (rows.size() > static_cast<size_t>(std::numeric_limits<int>::max() - ROW_ALIGN))
        throw std::invalid_argument("too many distinct rows");
    n_distinct = static_cast<int>(rows.size());
    n_equal = put_most_frequent_first(rows) / ROW_ALIGN * ROW_ALIGN;
    stride = (n_distinct + ROW_ALIGN - 1) / ROW_ALIGN * ROW_ALIGN;
    bytes.resize(static_cast<size_t>(stride) * n_features);
    w.resize(stride);
    inverse_w.resize(stride);
    double sum = 0;
    for (const Distinct& each : rows) sum += each.weight;
    const double share = total > 0 ? sum / total : 1;
    if (total > 0) sum = total;
    for (int n = 0; n < n_distinct; ++n) {
        w[n] = rows[n].weight / sum;
        inverse_w[n] = sum / rows[n].weight;
        if (n % tuning::ROWS_PER_POLL == 0) Poll::here();
        const uint8_t* row = given.X + rows[n].row * n_features;
        for (int s = 0; s < n_features; ++s) bytes[static_cast<size_t>(s) * stride + n] = row[s];
    }
    this->total = std::accumulate(w.data(), w.data() + stride, 0.0);
    // Padding of weight 0 must hold a category that occurs: of any other the log odds are 0 / 0.
    if (given.ranges && n_distinct > 0)
        for (int s = 0; s < n_features; ++s) std::fill(cells(s) + n_distinct, cells(s) + stride, *column(s));
    measure_margins(share);
}

void Table::measure_margins(double share) {
    std::vector<const uint8_t*> columns(n_features);
    for (int s = 0; s < n_features; ++s) columns[s] = column(s);
    margins.mean.resize(n_features);
    kernels().dots({columns.data(), n_features, stride}, w.data(), margins.mean.data());
    for (int s = 0; s < n_features; ++s) {
        double zeros = share - margins.mean[s];
        if (zeros < tuning::rows::FEW_ZEROS * share) {  // the difference would lose digits
            zeros = 0;
            for (int n = 0; n < n_distinct; ++n) zeros += columns[s][n] ? 0.0 : w[n];
        }
        margins.rest.push_back(zeros);
        margins.sd.push_back(std::sqrt(margins.mean[s] * zeros));
    }
}

Table::~Table() = default;

ColumnList Table::list(const NeighborColumns& neighbors, std::vector<const uint8_t*>& found) const {
    found.resize(neighbors.count);
    for (int k = 0; k < neighbors.count; ++k) found[k] = column(neighbors.column[k]);
    return {found.data(), neighbors.count, stride};
}

const BitTable& Table::bits() const {
    std::call_once(has_bits_, [this] { bits_ = std::make_unique<const BitTable>(*this); });
    return *bits_;
}

}  // namespace isinglass
