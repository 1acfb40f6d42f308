#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "rows/fields.hpp"

using namespace isinglass;

namespace {

// Rows of a node with q categories, with a logit for each, and passes over them in plain loops.
struct FieldsTwin {
    int q;
    std::vector<int> x;
    std::vector<double> w, logits, fields;
    CategorySums sums;

    FieldsTwin(int n_categories, int n_rows, double scale, uint32_t seed) : q(n_categories), fields(q), sums(q) {
        std::mt19937 random(seed);
        const auto draw = [&] { return static_cast<double>(random() % 10000) / 10000; };
        for (int row = 0; row < n_rows; ++row) {
            x.push_back(row < q ? row : static_cast<int>(random() % q));
            w.push_back((0.5 + draw()) / n_rows);
            for (int k = 0; k < q; ++k) logits.push_back(scale * (2 * draw() - 1));
        }
    }
    // Rows of one half of the categories give almost nothing to the other half: exp(-gap), or exp(-2 gap) back.
    void part(double gap) {
        const auto is_upper = [&](int k) { return k >= q / 2; };
        for (size_t row = 0; row < x.size(); ++row)
            for (int k = 0; k < q; ++k)
                if (is_upper(k) != is_upper(x[row])) logits[row * q + k] -= is_upper(k) ? gap : 2 * gap;
    }
    std::vector<double> probabilities(size_t row) const {
        std::vector<double> P;
        for (int k = 0; k < q; ++k) P.push_back(fields[k] + logits[row * q + k]);
        const double top = *std::max_element(P.begin(), P.end());
        double sum = 0;
        for (double& each : P) sum += each = std::exp(each - top);
        for (double& each : P) each /= sum;
        return P;
    }
    const CategorySums& pass() {
        sums.resize(q);
        sums.loss = 0;
        for (size_t row = 0; row < x.size(); ++row) {
            const std::vector<double> P = probabilities(row);
            sums.loss -= w[row] * std::log(P[x[row]]);
            for (int k = 0; k < q; ++k) {
                if (k != x[row]) sums.given[q * x[row] + k] += w[row] * P[k];
                for (int l = 0; l < k; ++l) sums.products[q * k + l] += w[row] * P[k] * P[l];
            }
        }
        return sums;
    }
    Settled settle(FieldFactor* factor = nullptr) {
        return settle_fields(fields, {.pass = [&]() -> const CategorySums& { return pass(); }, .factor = factor});
    }
    // Weight that the rows of one set of categories give to the others, and get from them.
    std::pair<double, double> exchanged(unsigned set) const {
        double out = 0, in = 0;
        for (int j = 0; j < q; ++j)
            for (int k = 0; k < q; ++k) {
                if (set >> j & 1 && !(set >> k & 1)) out += sums.given[q * j + k];
                if (!(set >> j & 1) && set >> k & 1) in += sums.given[q * j + k];
            }
        return {out, in};
    }
};

}  // namespace

TEST_CASE("settled fields predict the share of every category, and no others have a smaller loss") {
    for (const int q : {2, 3, 5, 13})
        for (const bool keeps_factor : {false, true}) {
            FieldsTwin twin(q, 200, 2.0, static_cast<uint32_t>(q));
            FieldFactor factor;
            const double loss = twin.settle(keeps_factor ? &factor : nullptr).sums.loss;
            CHECK(twin.fields[0] == 0.0);
            std::vector<double> excess(q);
            for (size_t row = 0; row < twin.x.size(); ++row) {
                const std::vector<double> P = twin.probabilities(row);
                for (int k = 0; k < q; ++k) excess[k] += twin.w[row] * (P[k] - (k == twin.x[row]));
            }
            for (double each : excess) CHECK(std::abs(each) < 1e-13);
            for (int k = 1; k < q; ++k)
                for (const double change : {-0.01, 0.01}) {
                    twin.fields[k] += change;
                    CHECK(twin.pass().loss > loss);
                    twin.fields[k] -= change;
                }
        }
}

TEST_CASE("sets of categories that hardly mix give each other the same weight, however little") {
    for (const double gap : {5.0, 60.0, 200.0}) {
        FieldsTwin twin(4, 120, 1.0, 7);
        twin.part(gap);
        const NodeSums found = summarize_fields(twin.settle());
        for (unsigned set = 1; set < 15; ++set) {
            const auto [out, in] = twin.exchanged(set);
            CHECK(out > 0);
            CHECK(std::abs(out - in) <= 1e-11 * out);
        }
        CHECK(found.field == 0.0);
        CHECK(found.share < 1e-10);
        CHECK(found.ones <= found.zeros);
        CHECK(found.ones >= found.zeros * (1 - 1e-11));
    }
}

TEST_CASE("the factor solves the system of the second derivatives") {
    FieldsTwin twin(6, 150, 3.0, 11);
    twin.pass();
    const int d = twin.q - 1;
    const std::vector<double> H = field_curvature(twin.sums);
    const std::vector<double> slopes{-0.3, 0.1, 0.2, -0.4, 0.25, 0.15};  // they add up to zero, as those of fields do
    const std::vector<double> step = FieldFactor(twin.sums.products, twin.q).step(slopes);
    CHECK(step[0] == 0.0);
    for (int i = 0; i < d; ++i) {
        double product = 0;
        for (int j = 0; j < d; ++j) product += H[std::max(i, j) * d + std::min(i, j)] * step[j + 1];
        CHECK(product == doctest::Approx(slopes[i + 1]).epsilon(1e-11));
    }
    for (int k = 1; k < twin.q; ++k) {  // the second derivatives are those of the loss
        const double at = twin.pass().loss, h = 1e-4;
        twin.fields[k] = h;
        const double above = twin.pass().loss;
        twin.fields[k] = -h;
        const double below = twin.pass().loss;
        twin.fields[k] = 0;
        CHECK((above - 2 * at + below) / (h * h) == doctest::Approx(H[(k - 1) * d + k - 1]).epsilon(1e-5));
    }
}

TEST_CASE("what fields away from their optimum cost is bounded") {
    FieldsTwin twin(5, 150, 1.0, 13);
    twin.settle();
    for (const double change : {1e-6, 1e-3, 0.1}) {
        const std::vector<double> settled = twin.fields;
        twin.fields[2] += change;
        const CategorySums& sums = twin.pass();
        FieldSlopes slopes{std::vector<double>(twin.q)};
        for (int j = 0; j < twin.q; ++j)
            for (int k = 0; k < twin.q; ++k)
                slopes.of[k] += sums.given[twin.q * j + k], slopes.of[j] -= sums.given[twin.q * j + k];
        double largest = 0, weight = 0;
        for (double each : slopes.of) largest = std::max(largest, std::abs(each));
        for (double each : sums.given) weight += each;
        slopes.size = largest / weight;
        const NodeSums found = summarize_fields({slopes, sums});
        CHECK(found.field == largest);
        CHECK(found.zeros == doctest::Approx(weight).epsilon(1e-13));
        CHECK(found.zeros - found.ones >= largest * (1 - 1e-12));  // all that one category has too much of is moved
        CHECK(found.share >= 2 * largest / weight);
        twin.fields = settled;
    }
}
