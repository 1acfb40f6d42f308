#include "rows/table.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <stdexcept>

#include "rows/kernels.hpp"
#include "rows/packed.hpp"
#include "rows/pool.hpp"

namespace isinglass {
namespace {

constexpr size_t POLLED = 4096;  // rows between two looks for an interrupt

// Secret, so that nobody can make a table whose rows collide. The order of the rows does not depend on it.
struct Secret {
    uint64_t start, factor;
    Secret() {
        std::random_device device;
        const auto word = [&] { return static_cast<uint64_t>(device()) << 32 | device(); };
        start = word(), factor = word() | 1;
    }
};

// The rows of a table, read eight bytes at a time: calls of memcpy and memcmp on a few bytes would take
// longer than the fit of a small table.
class RowWords {
 public:
    RowWords(const uint8_t* X, size_t n_rows, int n_features)
        : X_(X), end_(X + n_rows * n_features), n_features_(n_features) {}

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

// Indices of the first occurrence of every distinct row, with the summed weights.
void merge_rows(const uint8_t* X, const double* weights, size_t n_rows, int n_features,
                std::vector<size_t>& first, std::vector<double>& weight) {
    size_t capacity = 16;
    while (capacity < 2 * n_rows) capacity *= 2;
    std::vector<int64_t> slots(capacity, -1);
    const RowWords rows(X, n_rows, n_features);
    for (size_t n = 0; n < n_rows; ++n) {
        const double w = weights ? weights[n] : 1.0;
        if (n % POLLED == 0) Poll::here();
        if (w == 0.0) continue;
        size_t slot = rows.hash(n) & (capacity - 1);
        while (slots[slot] >= 0 && !rows.are_equal(first[slots[slot]], n)) slot = (slot + 1) & (capacity - 1);
        if (slots[slot] < 0) {
            slots[slot] = static_cast<int64_t>(first.size());
            first.push_back(n);
            weight.push_back(w);
        } else {
            weight[slots[slot]] += w;
        }
    }
}

// Rows of the most frequent weight first, in their old order; returns how many there are.
int put_most_frequent_first(std::vector<size_t>& first, std::vector<double>& weight) {
    std::vector<double> sorted = weight;
    std::sort(sorted.begin(), sorted.end());
    double frequent = 0;
    size_t most = 0;
    for (size_t begin = 0, end; begin < sorted.size(); begin = end) {
        end = std::upper_bound(sorted.begin() + begin, sorted.end(), sorted[begin]) - sorted.begin();
        if (end - begin > most) most = end - begin, frequent = sorted[begin];
    }
    std::vector<size_t> other_rows;
    std::vector<double> other_weights;
    size_t kept = 0;
    for (size_t k = 0; k < first.size(); ++k) {
        if (weight[k] != frequent) {
            other_rows.push_back(first[k]);
            other_weights.push_back(weight[k]);
        } else {
            first[kept] = first[k];
            weight[kept++] = frequent;
        }
    }
    std::copy(other_rows.begin(), other_rows.end(), first.begin() + kept);
    std::copy(other_weights.begin(), other_weights.end(), weight.begin() + kept);
    return static_cast<int>(most);
}

}  // namespace

Table::Table(const uint8_t* X, const double* weights, size_t n_rows, int features, double total)
    : n_features(features) {
    std::vector<size_t> first;
    std::vector<double> weight;
    merge_rows(X, weights, n_rows, n_features, first, weight);
    if (first.size() > static_cast<size_t>(std::numeric_limits<int>::max() - ROW_ALIGN))
        throw std::invalid_argument("too many distinct rows");
    n_distinct = static_cast<int>(first.size());
    n_equal = put_most_frequent_first(first, weight) / ROW_ALIGN * ROW_ALIGN;
    stride = (n_distinct + ROW_ALIGN - 1) / ROW_ALIGN * ROW_ALIGN;
    bytes.resize(static_cast<size_t>(stride) * n_features);
    w.resize(stride);
    inverse_w.resize(stride);
    double sum = 0;
    for (double value : weight) sum += value;
    const double share = total > 0 ? sum / total : 1;
    if (total > 0) sum = total;
    for (int n = 0; n < n_distinct; ++n) {
        w[n] = weight[n] / sum;
        inverse_w[n] = sum / weight[n];
        if (n % POLLED == 0) Poll::here();
        const uint8_t* row = X + first[n] * n_features;
        for (int s = 0; s < n_features; ++s) bytes[static_cast<size_t>(s) * stride + n] = row[s];
    }
    measure_margins(share);
}

void Table::measure_margins(double share) {
    std::vector<const uint8_t*> columns(n_features);
    for (int s = 0; s < n_features; ++s) columns[s] = column(s);
    margins.mean.resize(n_features);
    kernels().dots(w.data(), columns.data(), n_features, stride, margins.mean.data());
    for (int s = 0; s < n_features; ++s) {
        double zeros = share - margins.mean[s];
        if (zeros < 1e-3 * share) {  // the difference would lose digits
            zeros = 0;
            for (int n = 0; n < n_distinct; ++n) zeros += columns[s][n] ? 0.0 : w[n];
        }
        margins.rest.push_back(zeros);
        margins.sd.push_back(std::sqrt(margins.mean[s] * zeros));
    }
}

Table::~Table() = default;

const BitTable& Table::bits() const {
    std::call_once(has_bits_, [this] { bits_ = std::make_unique<const BitTable>(*this); });
    return *bits_;
}

}  // namespace isinglass
