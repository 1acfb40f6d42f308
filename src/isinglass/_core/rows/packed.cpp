#include "rows/packed.hpp"

#include <algorithm>
#include <cstring>

namespace isinglass {

BitTable::BitTable(const Table& table)
    : n_words((table.stride + 31) / 32),
      width((table.n_features + 15) / 16 * 16),
      words_(static_cast<size_t>(n_words) * width) {
    for (int t = 0; t < table.n_features; ++t)
        for (int n = 0; n < table.stride; n += 8) {
            uint64_t bytes;  // eight bytes of 0 or 1, of which the product gathers the bits
            std::memcpy(&bytes, table.column(t) + n, 8);
            const uint32_t bits = static_cast<uint32_t>(bytes * 0x0102040810204080ULL >> 56);
            words_[static_cast<size_t>(n / 32) * width + t] |= bits << n % 32;
        }
}

void BitTable::sums(const double* a, double* out) const {
    std::fill(out, out + width, 0.0);
    kernels().bit_sums_double({words_.data(), static_cast<size_t>(width), n_words}, a, width, out);
}

bool PackedColumns::holds(const int* columns, int count) const {
    return count == size() && std::equal(columns_.begin(), columns_.end(), columns);
}

size_t PackedColumns::words(const BitTable& table, int count) {
    return static_cast<size_t>(table.n_words) * (32 * groups_of(count) + lanes_of(count));
}

void PackedColumns::place(std::span<uint32_t> words) {
    words_ = words;
    columns_.clear();
}

void PackedColumns::pack(const BitTable& table, const int* columns, int count) {
    columns_.assign(columns, columns + count);
    n_words_ = table.n_words;
    uint32_t block[32];
    for (int i = 0; i < n_words_; ++i) {
        const uint32_t* from = table.words(i);
        uint32_t* to = by_column() + static_cast<size_t>(i) * lanes();
        for (int k = 0; k < count; ++k) to[k] = from[columns[k]];
        std::fill(to + count, to + lanes(), 0u);
        for (int g = 0; g < groups(); ++g) {
            const int filled = std::min(32, lanes() - 32 * g);
            std::copy(to + 32 * g, to + 32 * g + filled, block);
            std::fill(block + filled, block + 32, 0u);
            kernels().transpose_bits(block, by_row() + (static_cast<size_t>(g) * n_words_ + i) * 32);
        }
    }
}

}  // namespace isinglass
