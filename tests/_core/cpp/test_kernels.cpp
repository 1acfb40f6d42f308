#include <doctest/doctest.h>

#include <cmath>
#include <random>
#include <vector>

#include "rows/packed.hpp"
#include "rows/rows.hpp"

using namespace isinglass;

namespace {

// Memory of an exact size between numbers that nothing may change.
template <class T>
class Guarded {
 public:
    explicit Guarded(size_t size) : size_(size), values_(size + 2 * MARGIN, GUARD) {
        std::fill(data(), data() + size, T{});
    }
    T* data() { return values_.data() + MARGIN; }
    T operator[](size_t i) const { return values_[MARGIN + i]; }
    Space<T> space() { return {data(), size_}; }
    bool is_intact() const {
        for (size_t i = 0; i < MARGIN; ++i)
            if (values_[i] != GUARD || values_[MARGIN + size_ + i] != GUARD) return false;
        return true;
    }

 private:
    static constexpr size_t MARGIN = 64;
    static constexpr T GUARD = 77;
    size_t size_;
    std::vector<T> values_;
};

struct RandomTable {
    std::vector<uint8_t> X, ranges;
    size_t n;
    int p;
    RandomTable(size_t n_rows, int n_columns, int levels, uint32_t seed)
        : ranges(n_columns, static_cast<uint8_t>(levels - 1)), n(n_rows), p(n_columns) {
        std::mt19937 random(seed);
        for (size_t k = 0; k < n * p; ++k) X.push_back(static_cast<uint8_t>(random() % levels));
    }
    TableView view() const { return {X.data(), nullptr, n, p, ranges.data()}; }
};

}  // namespace

TEST_CASE("products in short integers use the memory that rough_sizes says, and no more") {
    if (!kernels().rough_product) return;
    for (const size_t n : {20, 33, 64, 200, 700})
        for (const int p : {20, 40, 97, 160, 290}) {
            const RandomTable random(n, p, 2, static_cast<uint32_t>(n + p));
            const Table table(random.view());
            std::vector<int> columns;
            for (int t = 1; t < p; ++t) columns.push_back(t);
            const int d = static_cast<int>(columns.size());
            PackedColumns packed;
            Guarded<uint32_t> words(PackedColumns::words(table.bits(), d));
            packed.place({words.data(), PackedColumns::words(table.bits(), d)});
            packed.pack(table.bits(), columns.data(), d);
            const size_t rows = 32 * table.bits().n_words, width = 32 * packed.groups();
            const RoughSizes sizes = rough_sizes(rows, width);
            Guarded<float> line(sizes.line), direction(width), curves(rows), out(packed.lanes());
            Guarded<int16_t> shorts(sizes.shorts), sums(sizes.sums);
            for (int k = 0; k < d; ++k) direction.data()[k] = std::sin(static_cast<float>(k));
            for (int i = 0; i < table.n_distinct; ++i) curves.data()[i] = 0.25f / static_cast<float>(n);
            BitMatrix X = packed.matrix();
            X.line = line.space(), X.shorts = shorts.space(), X.sums = sums.space();
            kernels().rough_product(X, direction.data(), curves.data(), 0.5f, out.data());
            CHECK((line.is_intact() && direction.is_intact() && curves.is_intact() && out.is_intact()));
            CHECK((shorts.is_intact() && sums.is_intact() && words.is_intact()));
            double error = 0, square = 0;
            std::vector<double> z(table.n_distinct, -0.5);
            for (int i = 0; i < table.n_distinct; ++i)
                for (int k = 0; k < d; ++k) z[i] += table.column(columns[k])[i] * direction[k];
            for (int k = 0; k < d; ++k) {
                double expected = 0;
                for (int i = 0; i < table.n_distinct; ++i) expected += table.column(columns[k])[i] * curves[i] * z[i];
                error += (out[k] - expected) * (out[k] - expected), square += expected * expected;
            }
            CHECK(error <= 4e-4 * square);
        }
}

TEST_CASE("Gram matrices use the memory that gram_scratch says, and no more") {
    for (const int d : {1, 3, 4, 17, 40}) {
        const RandomTable random(600, d, 3, static_cast<uint32_t>(d));
        const Table table(random.view());
        std::vector<const uint8_t*> found;
        std::vector<int> columns;
        for (int t = 0; t < d; ++t) columns.push_back(t);
        const int ld = (d + 15) / 16 * 16;
        Guarded<float> G(static_cast<size_t>(d) * ld), sums(d), scratch(gram_scratch(d)), wv(table.stride);
        for (int n = 0; n < table.n_distinct; ++n) wv.data()[n] = static_cast<float>(table.w[n]);
        kernels().gram(table.list({columns.data(), d}, found), wv.data(), {G.data(), ld, sums.data(), scratch.space()});
        CHECK((G.is_intact() && sums.is_intact() && scratch.is_intact() && wv.is_intact()));
    }
}

TEST_CASE("passes over categories write as much as they say") {
    for (int q = 2; q <= 8; ++q) {
        const size_t n = 48, square = static_cast<size_t>(q) * q;
        std::vector<double> field, score, value, eta(n, 0.3), w(n, 1.0 / n), inverse_w(n, n);
        std::vector<uint8_t> x;
        for (int k = 0; k < q; ++k) field.push_back(0.1 * k), score.push_back(k / (q - 1.0)), value.push_back(k);
        for (size_t i = 0; i < n; ++i) x.push_back(static_cast<uint8_t>(i % q));
        const NodeRows rows{x.data(), w.data(), inverse_w.data(), static_cast<int>(n), 0};
        Guarded<double> wr(n), margin(n), P(q * n), given(square), products(square);
        Guarded<float> wv(n);
        const LossSums sums =
            kernels().category_pass({q, field.data(), score.data(), value.data()}, rows, eta.data(),
                                    {wr.data(), wv.data(), margin.data(), P.space(), given.space(), products.space()});
        CHECK(sums.loss > 0);
        CHECK((wr.is_intact() && margin.is_intact() && P.is_intact() && wv.is_intact()));
        CHECK((given.is_intact() && products.is_intact()));
        const int ld = q <= 4 ? 4 : 8;
        std::vector<double> fields = field;
        fields.resize(ld, NOWHERE);
        const size_t wide = n * ld, lines = static_cast<size_t>(q) * ld;
        Guarded<double> many(wide), residuals(wide), probabilities(wide), margins(n), gave(lines), squares(lines);
        const double loss =
            kernels().softmax({q, ld, fields.data()}, rows, many.data(),
                              {residuals.data(), margins.data(), probabilities.space(), gave.space(), squares.space()});
        CHECK(loss > 0);
        CHECK((residuals.is_intact() && probabilities.is_intact() && margins.is_intact()));
        CHECK((gave.is_intact() && squares.is_intact()));
    }
}
