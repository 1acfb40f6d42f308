#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <random>

#include "rows/category_rows.hpp"

using namespace isinglass;

namespace {

// A table with categories in plain loops over double: P(k) = softmax_k(field_k + point_k . eta), where a point is a
// score on a line or, of a column without an order, a corner of a simplex.
struct CategoryTwin {
    int n, p;
    std::vector<int> levels;
    std::vector<uint8_t> ranges, X;  // range 0: no order
    std::vector<double> w;
    std::vector<std::vector<std::vector<double>>> eta;  // of every node and row

    CategoryTwin(int n_rows, std::vector<int> q, const std::vector<bool>& is_ordered, uint32_t seed)
        : n(n_rows), p(static_cast<int>(q.size())), levels(std::move(q)), eta(p) {
        std::mt19937 random(seed);
        for (int s = 0; s < p; ++s) ranges.push_back(is_ordered[s] ? static_cast<uint8_t>(levels[s] - 1) : 0);
        for (int row = 0; row < n; ++row)
            for (int s = 0; s < p; ++s)
                X.push_back(static_cast<uint8_t>(row < levels[s] ? row : static_cast<int>(random() % levels[s])));
        double sum = 0;
        for (int row = 0; row < n; ++row) w.push_back(0.5 + static_cast<double>(random() % 100) / 100), sum += w[row];
        for (double& each : w) each /= sum;
        for (int s = 0; s < p; ++s) eta[s].assign(n, std::vector<double>(width(s)));
    }
    TableView view() const { return {X.data(), w.data(), static_cast<size_t>(n), p, ranges.data(), nullptr}; }
    int x(int row, int s) const { return X[static_cast<size_t>(row) * p + s]; }
    int width(int s) const { return ranges[s] ? 1 : levels[s]; }
    double center(int s) const {
        double sum = 0;
        for (int row = 0; row < n; ++row) sum += w[row] * x(row, s);
        return sum;
    }
    std::vector<double> point(int s, int k) const {
        if (ranges[s]) return {(k - center(s)) / ranges[s]};
        std::vector<double> corner(levels[s]);
        corner[k] = std::sqrt(0.5);
        return corner;
    }
    // Where the number (a, b) of a pair's block is: the first column of the pair has the rows.
    int index(int s, int t, int a, int b) const { return s < t ? a * width(t) + b : b * width(s) + a; }
    void move(int s, const std::vector<int>& columns, const std::vector<double>& coefficients, bool afresh) {
        for (int row = 0; row < n; ++row) {
            if (afresh) std::fill(eta[s][row].begin(), eta[s][row].end(), 0.0);
            const double* block = coefficients.data();
            for (int t : columns) {
                const std::vector<double> beside = point(t, x(row, t));
                for (int a = 0; a < width(s); ++a)
                    for (int b = 0; b < width(t); ++b) eta[s][row][a] += block[index(s, t, a, b)] * beside[b];
                block += width(s) * width(t);
            }
        }
    }
    std::vector<double> probabilities(int s, int row, const std::vector<double>& fields) const {
        std::vector<double> P;
        for (int k = 0; k < levels[s]; ++k) {
            const std::vector<double> own = point(s, k);
            P.push_back(std::exp(std::inner_product(own.begin(), own.end(), eta[s][row].begin(), fields[k])));
        }
        const double sum = std::accumulate(P.begin(), P.end(), 0.0);
        for (double& each : P) each /= sum;
        return P;
    }
    // The derivatives of the logit of a category in the numbers of these columns, then in the fields but the first.
    std::vector<double> features(int s, int row, int k, const std::vector<int>& columns) const {
        std::vector<double> found;
        const std::vector<double> own = point(s, k);
        for (int t : columns) {
            const std::vector<double> beside = point(t, x(row, t));
            std::vector<double> block(own.size() * beside.size());
            for (int a = 0; a < width(s); ++a)
                for (int b = 0; b < width(t); ++b) block[index(s, t, a, b)] = own[a] * beside[b];
            found.insert(found.end(), block.begin(), block.end());
        }
        for (int l = 1; l < levels[s]; ++l) found.push_back(l == k);
        return found;
    }
    // Gradient and second derivatives, the fields eliminated; `whole` of the gradient includes them.
    struct Derivatives {
        std::vector<double> whole, H;
        size_t size;
        double loss = 0, divergence = 0;
    };
    Derivatives derivatives(int s, const std::vector<int>& columns, const std::vector<double>& fields, double c) const {
        Derivatives found;
        for (int row = 0; row < n; ++row) {
            const std::vector<double> P = probabilities(s, row, fields);
            const int own = x(row, s);
            found.loss -= w[row] * std::log(P[own]);
            std::vector<double> mean;
            std::vector<std::vector<double>> F;
            for (int k = 0; k < levels[s]; ++k) {
                F.push_back(features(s, row, k, columns));
                mean.resize(F[k].size());
                for (size_t i = 0; i < mean.size(); ++i) mean[i] += P[k] * F[k][i];
                const double q = (k == own) * (1 - c) + c * P[k];
                found.divergence += w[row] * q * std::log(q / P[k]);
            }
            found.whole.resize(mean.size()), found.H.resize(mean.size() * mean.size());
            for (size_t i = 0; i < mean.size(); ++i) {
                found.whole[i] += w[row] * (mean[i] - F[own][i]);
                for (int k = 0; k < levels[s]; ++k)
                    for (size_t j = 0; j < mean.size(); ++j)
                        found.H[i * mean.size() + j] += w[row] * P[k] * (F[k][i] - mean[i]) * (F[k][j] - mean[j]);
            }
        }
        const size_t all = found.whole.size();
        found.size = all - (levels[s] - 1);
        for (size_t k = all; k-- > found.size;)  // eliminates one field after the other
            for (size_t i = 0; i < k; ++i)
                for (size_t j = 0; j < k; ++j)
                    found.H[i * all + j] -= found.H[i * all + k] * found.H[k * all + j] / found.H[k * all + k];
        return found;
    }
};

// degree: of a node, on average
void compare(CategoryRows& rows, CategoryTwin& twin, uint32_t seed, int n_calls, int degree) {
    std::mt19937 random(seed);
    const auto draw = [&](int below) { return static_cast<int>(random() % below); };
    for (int call = 0; call < n_calls; ++call) {
        const int node = call < twin.p ? call : draw(twin.p);
        std::vector<int> columns;
        for (int t = 0; t < twin.p; ++t)
            if (t != node && draw(twin.p) < degree) columns.push_back(t);
        const NeighborColumns listed{columns.data(), static_cast<int>(columns.size())};
        size_t numbers = 0;
        for (int t : columns) numbers += static_cast<size_t>(twin.width(node)) * twin.width(t);
        std::vector<double> coefficients(numbers), gradient(numbers);
        for (double& each : coefficients) each = 0.3 * (draw(7) - 3);
        NodeSums sums;
        const bool afresh = call < twin.p || draw(3) == 0;
        const Move task{node, 0.0, &sums, listed, coefficients.data(), listed, gradient.data()};
        rows.move({&task, 1}, afresh);
        twin.move(node, columns, coefficients, afresh);
        const auto expected = twin.derivatives(node, columns, rows.category_fields(node, node + 1), 0.6);
        CHECK(sums.loss == doctest::Approx(expected.loss).epsilon(1e-11));
        for (size_t i = 0; i < numbers; ++i) CHECK(std::abs(gradient[i] - expected.whole[i]) < 1e-11);
        for (size_t i = numbers; i < expected.whole.size(); ++i) CHECK(std::abs(expected.whole[i]) < 1e-11);
        CHECK(rows.divergence({&node, 1}, 0.6) == doctest::Approx(expected.divergence).epsilon(1e-9));
        if (numbers == 0) continue;

        const size_t all = expected.whole.size();
        const std::vector<double> precise = rows.precise_block(node, listed).H;
        for (size_t i = 0; i < numbers; ++i)
            for (size_t j = 0; j < numbers; ++j)
                CHECK(std::abs(precise[i * numbers + j] - expected.H[i * all + j]) < 1e-11);
        const int d = static_cast<int>(numbers), stride = (d + 15) / 16 * 16;
        Buffer<float> G(static_cast<size_t>(d) * stride);
        std::vector<float> b(d), diagonal(d), direction(d), product(d);
        double curve = 0;
        const bool has_products = rows.products() && !rows.groups()->has_block(node);
        const Block block{node, listed, has_products ? nullptr : G.data(), stride, b.data(), diagonal.data(), &curve};
        rows.blocks({&block, 1}, Curvature::own);
        for (float& each : direction) each = static_cast<float>(draw(7) - 3);
        if (has_products) {
            const Product asked{node, listed, direction.data(), 0.0, product.data()};
            rows.products()->multiply({&asked, 1});
        }
        for (int i = 0; i < d; ++i) {
            double along = 0;
            for (int j = 0; j < d; ++j) along += expected.H[i * all + j] * direction[j];
            if (has_products) {
                CHECK(std::abs(product[i] - along) < 2e-6);
                CHECK(diagonal[i] >= expected.H[i * all + i] * (1 - 1e-5));  // the fields are not taken out of it
                continue;
            }
            for (int j = 0; j < d; ++j) CHECK(std::abs(G[i * stride + j] - expected.H[i * all + j]) < 1e-6);
        }
    }
}

}  // namespace

TEST_CASE("rows with categories agree with the twin, whatever losses their nodes have") {
    Poll poll;
    const std::vector<int> levels{2, 5, 3, 2, 12, 4};
    for (const std::vector<bool>& is_ordered :
         {std::vector<bool>(6, true), std::vector<bool>(6, false), {true, true, false, false, true, true}})
        for (uint32_t seed = 1; seed <= 2; ++seed) {
            Pool pool(static_cast<int>(seed), poll);
            CategoryTwin twin(90, levels, is_ordered, seed);
            CategoryRows rows(std::make_shared<const Table>(twin.view()), Holds::all_nodes, pool);
            const bool has_groups = std::find(is_ordered.begin(), is_ordered.end(), false) != is_ordered.end();
            CHECK(rows.has_groups() == has_groups);
            compare(rows, twin, seed, 20, 3);
        }
}

TEST_CASE("nodes of two values agree with the twin where they are merged, beside other columns too") {
    Poll poll;
    for (const Holds holds : {Holds::all_nodes, Holds::one_node})
        for (const bool has_order : {true, false}) {
            Pool pool(2, poll);
            std::vector<int> levels(40, 2);
            std::vector<bool> is_ordered(40, true);
            levels[7] = 4, levels[30] = 5, is_ordered[7] = has_order;
            CategoryTwin twin(800, levels, is_ordered, 3);
            const auto table = std::make_shared<const Table>(twin.view());
            CHECK(Patterns::most_columns(*table, tuning::rows::ROWS_PER_PATTERN) == 5);
            CategoryRows rows(table, holds, pool);
            compare(rows, twin, 5, holds == Holds::all_nodes ? 120 : 40, 3);  // one node: each starts afresh
        }
}

namespace {

// A node with places of which some have no category, and a pass over it in plain loops.
struct PlacesTwin {
    std::vector<double> field, number, eta, w, inverse_w;
    std::vector<uint8_t> place, x, beside;
    double step;
    int n;

    PlacesTwin(int ld, int n_rows, bool in_steps, double scale, uint32_t seed) : place(256), step(1.0 / ld), n(n_rows) {
        std::mt19937 random(seed);
        const auto draw = [&] { return static_cast<double>(random() % 10000) / 10000; };
        std::vector<int> occurring;
        for (int k = 0; k < ld; ++k) {
            const bool occurs = k < ld - 3 && (!in_steps || k == 0 || draw() < 0.8);
            field.push_back(occurs ? 4 * draw() - 2 : NOWHERE);
            number.push_back(in_steps ? k : k + k / 3);
            place[static_cast<int>(number[k])] = static_cast<uint8_t>(k);
            if (occurs) occurring.push_back(k);
        }
        for (int i = 0; i < n; ++i) {
            eta.push_back(scale * (2 * draw() - 1));
            x.push_back(static_cast<uint8_t>(number[occurring[random() % occurring.size()]]));
            beside.push_back(static_cast<uint8_t>(random() % 7));
            w.push_back((0.5 + draw()) / n);
            inverse_w.push_back(1 / w[i]);
        }
    }
    NodeRows rows() const { return {x.data(), w.data(), inverse_w.data(), n, 0}; }
    std::vector<double> logits(int row) const {  // log P
        std::vector<double> z;
        for (size_t k = 0; k < field.size(); ++k) z.push_back(field[k] + number[k] * step * eta[row]);
        const double top = *std::max_element(z.begin(), z.end());
        double sum = 0;
        for (double each : z) sum += std::exp(each - top);
        for (double& each : z) each -= top + std::log(sum);
        return z;
    }
};

}  // namespace

TEST_CASE("passes over many categories agree with plain loops, by powers and by exponentials") {
    for (const double scale : {3.0, 40.0, 2000.0})  // the last is too far for powers
        for (const bool in_steps : {true, false})
            for (const int ld : {16, 40, 96}) {
                const int n = 64;
                const PlacesTwin twin(ld, n, in_steps, scale, static_cast<uint32_t>(ld));
                const Places places{ld, twin.field.data(), twin.number.data(), twin.step, twin.place.data(), in_steps};
                std::vector<double> wr(n), margin(n), given(ld * ld), products(ld * ld), mixed(2 * ld);
                const size_t square = given.size();
                std::vector<float> wv(n);
                const uint8_t* column = twin.beside.data();
                const LossSums sums =
                    kernels().places_pass(places, twin.rows(), twin.eta.data(),
                                          {wr.data(), wv.data(), margin.data(), {given.data(), square}});
                kernels().places_products(places, twin.rows(), twin.eta.data(),
                                          {{&column, 1, n}, {products.data(), square}, {mixed.data(), mixed.size()}});
                std::vector<double> given_of(ld * ld), products_of(ld * ld), mixed_of(2 * ld);
                double loss = 0;
                for (int row = 0; row < n; ++row) {
                    const int own = twin.place[twin.x[row]];
                    const std::vector<double> z = twin.logits(row);
                    double mean = 0, variance = 0, others = 0;
                    for (int k = 0; k < ld; ++k) {
                        mean += std::exp(z[k]) * (twin.number[k] - twin.number[own]) * twin.step;
                        others += k == own ? 0.0 : std::exp(z[k]);
                    }
                    for (int k = 0; k < ld; ++k) {
                        const double P = std::exp(z[k]);
                        const double off = (twin.number[k] - twin.number[own]) * twin.step - mean;
                        variance += P * off * off;
                        given_of[own * ld + k] += twin.w[row] * P;
                        for (int l = 0; l < k; ++l) products_of[k * ld + l] += twin.w[row] * P * std::exp(z[l]);
                        mixed_of[k] += twin.w[row] * P * off * twin.beside[row];
                        mixed_of[ld + k] += twin.w[row] * P * off;
                    }
                    loss -= twin.w[row] * z[own];
                    CHECK(std::abs(wr[row] - twin.w[row] * mean) < 1e-12 * twin.w[row]);
                    if (-z[own] <= tuning::BADLY_PREDICTED)
                        CHECK(std::abs(wv[row] - twin.w[row] * variance) < 1e-7 * twin.w[row]);
                    else
                        CHECK(wv[row] >= twin.w[row] * variance * (1 - 1e-6));
                    if (others > 1e-280)
                        CHECK(margin[row] == doctest::Approx(z[own] - std::log(others)).epsilon(1e-11));
                }
                CHECK(sums.loss == doctest::Approx(loss).epsilon(1e-12));
                for (int k = 0; k < ld * ld; ++k) {
                    if (k / ld != k % ld) CHECK(std::abs(given[k] - given_of[k]) <= 1e-12 * given_of[k] + 1e-290);
                    if (k % ld < k / ld)
                        CHECK(std::abs(products[k] - products_of[k]) <= 1e-12 * products_of[k] + 1e-290);
                }
                for (int k = 0; k < 2 * ld; ++k) CHECK(std::abs(mixed[k] - mixed_of[k]) < 1e-13);
            }
}
