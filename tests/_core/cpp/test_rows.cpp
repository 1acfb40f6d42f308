#include <doctest/doctest.h>

#include <memory>
#include <numeric>

#include "rows/patterns.hpp"
#include "rows/recipe_storage.hpp"
#include "twin.hpp"

using namespace isinglass;

namespace {

std::vector<Pair> every_pair(int p) {
    std::vector<Pair> pairs;
    for (int s = 0; s < p; ++s)
        for (int t = s + 1; t < p; ++t) pairs.push_back({s, t});
    return pairs;
}

// Calls in random order on random nodes and columns; every answer is that of the twin, whichever call came before.
void compare(Rows& rows, Twin& twin, uint32_t seed, int n_calls) {
    std::mt19937 random(seed);
    const auto draw = [&](int below) { return static_cast<int>(random() % below); };
    const auto draw_columns = [&](int node, int most) {
        std::vector<int> columns;
        for (int t = 0; t < twin.p; ++t)
            if (t != node && static_cast<int>(columns.size()) < most && draw(3) > 0) columns.push_back(t);
        return columns;
    };
    const auto listed = [](const std::vector<int>& columns) {
        return NeighborColumns{columns.data(), static_cast<int>(columns.size())};
    };
    std::vector<int> nodes(twin.p);
    std::iota(nodes.begin(), nodes.end(), 0);
    std::vector<std::vector<double>> remembered;
    for (int node = 0; node < twin.p; ++node) {
        NodeSums sums;
        const Move start{node, 0.1 * node, &sums};
        rows.move({&start, 1}, true);
        twin.move(node, 0.1 * node, {}, {}, true);
    }
    for (int call = 0; call < n_calls; ++call) {
        const int node = draw(twin.p);
        const std::vector<int> columns = draw_columns(node, 1 + draw(6));
        const size_t d = columns.size();
        switch (draw(7)) {
            case 0: {
                std::vector<double> coefficients(d), gradient(d);
                for (double& each : coefficients) each = 0.5 * (draw(5) - 2);
                NodeSums sums;
                const bool afresh = draw(4) == 0;
                const double offset = 0.25 * (draw(9) - 4);
                const Move task{node,           offset, &sums, listed(columns), coefficients.data(), listed(columns),
                                gradient.data()};
                rows.move({&task, 1}, afresh);
                twin.move(node, offset, columns, coefficients, afresh);
                CHECK(sums.loss == doctest::Approx(twin.loss(node)).epsilon(1e-12));
                CHECK(sums.zeros - sums.ones == doctest::Approx(sums.field).epsilon(1e-9));
                for (size_t k = 0; k < d; ++k) CHECK(std::abs(gradient[k] - twin.gradient(node, columns[k])) < 1e-14);
                break;
            }
            case 1: {
                std::vector<double> gradient(d);
                const Gradient task{node, listed(columns), gradient.data()};
                rows.gradients({&task, 1});
                for (size_t k = 0; k < d; ++k) CHECK(std::abs(gradient[k] - twin.gradient(node, columns[k])) < 1e-14);
                break;
            }
            case 2: {
                const int stride = (static_cast<int>(d) + 15) / 16 * 16;
                Buffer<float> G(std::max<size_t>(d * stride, 1));
                std::vector<float> b(std::max<size_t>(d, 1));
                double curve = 0;
                const Block task{node, listed(columns), d ? G.data() : nullptr, stride, b.data(), nullptr, &curve};
                rows.blocks({&task, 1}, Curvature::own);
                CHECK(curve == doctest::Approx(twin.curve(node)).epsilon(1e-10));
                for (size_t i = 0; i < d; ++i)
                    for (size_t j = 0; j < d; ++j)
                        CHECK(std::abs(G[i * stride + j] - twin.second(node, columns[i], columns[j])) < 1e-6);
                break;
            }
            case 3: {
                if (d == 0) break;
                std::vector<float> b(d), diagonal(d), direction(d), product(d);
                double curve = 0, center = 0;
                const Block task{node, listed(columns), nullptr, 0, b.data(), diagonal.data(), &curve};
                rows.blocks({&task, 1}, Curvature::own);
                for (size_t k = 0; k < d; ++k) {
                    direction[k] = static_cast<float>(draw(7) - 3);
                    center += b[k] * direction[k] / curve;
                    CHECK(std::abs(diagonal[k] - twin.second(node, columns[k], columns[k])) < 1e-6);
                }
                const Product asked{node, listed(columns), direction.data(), center, product.data()};
                rows.products()->multiply({&asked, 1});
                for (size_t i = 0; i < d; ++i) {
                    double expected = 0;
                    for (size_t j = 0; j < d; ++j) expected += twin.second(node, columns[i], columns[j]) * direction[j];
                    CHECK(std::abs(product[i] - expected) < 1e-5);
                }
                break;
            }
            case 4: {
                std::vector<float> band(first_of_row(twin.p, twin.p));
                const double slack = rows.all_pairs(0, twin.p, band.data());
                for (const Pair& pair : every_pair(twin.p)) {
                    const double sum = twin.gradient(pair.s, pair.t) + twin.gradient(pair.t, pair.s);
                    const size_t place = first_of_row(pair.s, twin.p) + pair.t - pair.s - 1;
                    CHECK(std::abs(band[place] - sum) <= slack + 1e-14);
                }
                break;
            }
            case 5: {
                if (draw(3) == 0) {
                    rows.remember(nodes);
                    remembered = twin.eta;
                } else if (!remembered.empty()) {
                    const ResidualDrift moved = rows.drift({&node, 1})[0], expected = twin.drift(node, remembered);
                    CHECK(std::abs(moved.square - expected.square) < 1e-6);
                    CHECK(std::abs(moved.sum - expected.sum) < 1e-6);
                }
                break;
            }
            default: {
                CHECK(rows.largest_predictor({&node, 1}) == doctest::Approx(twin.largest(node)).epsilon(1e-12));
                CHECK(rows.divergence({&node, 1}, 0.7) == doctest::Approx(twin.divergence(node, 0.7)).epsilon(1e-9));
                const std::vector<double> gram = rows.gram(node, listed(columns));
                CHECK(gram[(d + 1) * (d + 1) - 1] == doctest::Approx(twin.curve(node)).epsilon(1e-10));
                const PreciseBlock precise = rows.precise_block(node, listed(columns));
                for (size_t i = 0; i < d; ++i) {
                    CHECK(precise.field_response[i] == doctest::Approx(twin.mean(node, columns[i])).epsilon(1e-9));
                    for (size_t j = 0; j < d; ++j)
                        CHECK(std::abs(precise.H[i * d + j] - twin.second(node, columns[i], columns[j])) < 1e-14);
                }
            }
        }
    }
}

}  // namespace

TEST_CASE("rows of every storage agree with the twin, in any order of calls") {
    Poll poll;
    for (const bool weighted : {false, true})
        for (const int n : {7, 40, 300}) {
            Pool pool(1, poll);
            for (uint32_t seed = 1; seed <= 4; ++seed) {
                Twin twin(n, 7, 0.4, weighted, seed);
                const auto table = std::make_shared<const Table>(twin.view());
                compare(*kept_rows(pool, table, Holds::all_nodes), twin, seed, 60);
                compare(*byte_rows(pool, table, static_cast<int>(seed)).rows, twin, seed, 60);
                Twin rare(n, 9, 0.05, weighted, seed);
                compare(*ones_rows(pool, Table(rare.view())).rows, rare, seed, 60);
            }
        }
}

TEST_CASE("rows that are merged into patterns agree with the twin") {
    Poll poll;
    Pool pool(2, poll);
    Twin twin(2200, 15, 0.5, true, 5);
    const auto table = std::make_shared<const Table>(twin.view());
    CHECK(Patterns::most_columns(*table, tuning::rows::ROWS_PER_MADE_PATTERN) > 1);
    compare(*kept_rows(pool, table, Holds::all_nodes), twin, 1, 80);
    for (const int n_kept : {0, 7, 15}) compare(*byte_rows(pool, table, n_kept).rows, twin, 2, 80);
}

TEST_CASE("a buffer without memory is empty, and large ones are zero and aligned") {
    Buffer<double> buffer(10);
#ifndef __SANITIZE_ADDRESS__  // ends the program at such a size
    CHECK_THROWS_AS(buffer.resize(std::numeric_limits<size_t>::max() / 16), std::bad_alloc);
    CHECK(buffer.size() == 0);
    CHECK(buffer.data() == nullptr);
#endif
    for (size_t size : {size_t{3}, size_t{1} << 18, (size_t{1} << 18) + 7}) {
        buffer.resize(size);
        CHECK(reinterpret_cast<uintptr_t>(buffer.data()) % 64 == 0);
        CHECK(std::all_of(buffer.data(), buffer.data() + size, [](double number) { return number == 0; }));
        buffer[size - 1] = 1;
    }
}
