#include <doctest/doctest.h>

#include <memory>

#include "rows/binary_rows.hpp"
#include "rows/lean_rows.hpp"
#include "rows/sparse_rows.hpp"
#include "twin.hpp"

using namespace isinglass;

namespace {

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
        switch (draw(5)) {
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
                rows.operators()->products({&asked, 1});
                for (size_t i = 0; i < d; ++i) {
                    double expected = 0;
                    for (size_t j = 0; j < d; ++j) expected += twin.second(node, columns[i], columns[j]) * direction[j];
                    CHECK(std::abs(product[i] - expected) < 1e-5);
                }
                break;
            }
            default: {
                CHECK(rows.divergence({&node, 1}, 0.7) == doctest::Approx(twin.divergence(node, 0.7)).epsilon(1e-9));
                const std::vector<double> gram = rows.grams()->gram(node, listed(columns), 1 << 28);
                CHECK(gram[(d + 1) * (d + 1) - 1] == doctest::Approx(twin.curve(node)).epsilon(1e-10));
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
                BinaryRows binary(table, Holds::all_nodes, pool);
                compare(binary, twin, seed, 60);
                LeanRows lean(table, pool, static_cast<int>(seed));
                compare(lean, twin, seed, 60);
                Twin rare(n, 9, 0.05, weighted, seed);
                SparseRows sparse(Table(rare.view()), pool);
                compare(sparse, rare, seed, 60);
            }
        }
}

TEST_CASE("rows that are merged into patterns agree with the twin") {
    Poll poll;
    Pool pool(2, poll);
    Twin twin(2200, 15, 0.5, true, 5);
    const auto table = std::make_shared<const Table>(twin.view());
    CHECK(Patterns::most_columns(*table) > 1);
    BinaryRows rows(table, Holds::all_nodes, pool);
    compare(rows, twin, 1, 80);
}
