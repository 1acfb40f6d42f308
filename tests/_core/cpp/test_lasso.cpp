#include <doctest/doctest.h>

#include <atomic>
#include <cmath>
#include <memory>
#include <numeric>
#include <random>

#include "lasso/quadratic.hpp"
#include "problems/problem.hpp"
#include "rows/two_value_rows.hpp"
#include "twin.hpp"

using namespace isinglass;

extern std::atomic<size_t> largest_allocation;  // allocations.cpp

namespace {

// All pairs of the nodes, at zero.
void add_pairs(WorkingSet& set) {
    for (int s = 0; s < set.n_nodes(); ++s)
        for (int t = s + 1; t < set.n_nodes(); ++t) set.add_edge({s, t}, 1.0, 1, nullptr);
    set.arrange();
}

void check_slots(const WorkingSet& set) {
    std::vector<int> degree(set.n_nodes()), inner(set.n_nodes());
    for (size_t e = 0; e < set.n_edges(); ++e) {
        ++degree[set.s(e)], ++degree[set.t(e)];
        inner[set.s(e)] += set.is_inner(e), inner[set.t(e)] += set.is_inner(e);
        CHECK(set.edge_of(set.slot_s(e)) == static_cast<int>(e));
        CHECK(set.edge_of(set.slot_t(e)) == static_cast<int>(e));
        CHECK(set.column_of(set.slot_s(e)) == set.t(e));
        CHECK(set.column_of(set.slot_t(e)) == set.s(e));
        CHECK((set.slot_s(e) < set.first_slot(set.s(e)) + set.inner_degree(set.s(e))) == (set.is_inner(e) != 0));
    }
    for (int node = 0; node < set.n_nodes(); ++node) {
        CHECK(degree[node] == set.degree(node));
        CHECK(inner[node] == set.inner_degree(node));
    }
    CHECK(set.edge_of(set.null_slot()) == -1);
}

}  // namespace

TEST_CASE("a working set stays whole under random sequences of operations") {
    Poll poll;
    Pool pool(1, poll);
    Chunks chunks(pool);
    std::mt19937 random(1);
    WorkingSet set(9, true, nullptr, 0.0);
    for (int round = 0; round < 20; ++round) {
        set.clear();
        for (int s = 0; s < 9; ++s)
            for (int t = s + 1; t < 9; ++t) {
                const double theta = random() % 3 == 0 ? 0.5 : 0.0;
                if (random() % 2) set.add_edge({s, t}, 1.0, 1, &theta);
            }
        set.arrange();
        check_slots(set);
        for (size_t e = 0; e < set.n_edges(); ++e) CHECK((set.is_inner(e) != 0) == (set.theta()[e] != 0.0));
        for (int step = 0; step < 4; ++step) {
            std::vector<int> joining;
            for (size_t e = 0; e < set.n_edges(); ++e) {
                *set.gradient_at(set.slot_s(e)) = static_cast<double>(e + 1);
                *set.gradient_at(set.slot_t(e)) = 0.25;
                if (random() % 4 == 0) joining.push_back(static_cast<int>(e));
            }
            set.make_inner(joining);  // gradients of slots move along
            check_slots(set);
            set.gather_gradient(chunks);
            for (size_t e = 0; e < set.n_edges(); ++e) CHECK(set.gradient()[e] == static_cast<double>(e) + 1.25);
            for (int e : joining) CHECK(set.is_inner(e));
        }
    }
}

TEST_CASE("operators give way to blocks only in working sets whose blocks are not too large") {
    for (const int p : {60, 600}) {  // 1 and 870 MB of blocks
        WorkingSet set(p, true, nullptr, 0.0);
        add_pairs(set);
        set.use_blocks();
        CHECK_FALSE(set.has_operators());
        std::vector<int> every(set.n_edges());
        std::iota(every.begin(), every.end(), 0);
        set.make_inner(every);
        CHECK(set.has_operators() == (p == 600));
    }
}

TEST_CASE("the minimum of the quadratic model is that of a dense matrix") {
    Poll poll;
    Pool pool(1, poll);
    for (const int widest : {50, 1}) {  // blocks, operators
        Twin twin(200, 6, 0.5, true, 3);
        const std::unique_ptr<Rows> kept =
            kept_rows(pool, std::make_shared<const Table>(twin.view()), Holds::all_nodes);
        Rows& rows = *kept;
        for (int node = 0; node < twin.p; ++node) {
            NodeSums sums;
            const Move start{node, 0.2, &sums};
            rows.move({&start, 1}, true);
            twin.move(node, 0.2, {}, {}, true);
        }
        WorkingSet set(twin.p, true, nullptr, 0.0);
        set.set_widest_block(widest);
        add_pairs(set);
        std::vector<int> every(set.n_edges());
        std::iota(every.begin(), every.end(), 0);
        set.make_inner(every);
        std::vector<Block> tasks;
        for (int node : set.nodes()) tasks.push_back(set.block_of(node));
        rows.blocks(tasks, Curvature::own);
        for (int node : set.nodes()) set.finish_block(node);
        CHECK(set.has_operators() == (widest == 1));
        Quadratic model(set, rows, pool);
        model.reset();
        std::mt19937 random(4);
        for (size_t e = 0; e < set.n_edges(); ++e) model.gradient[e] = 0.002 * (static_cast<int>(random() % 21) - 10);
        const double alpha = 0.008;
        model.minimize(alpha, 1e-7);
        int n_moved = 0;
        for (size_t e = 0; e < set.n_edges(); ++e) {
            double slope = model.gradient[e];
            for (size_t f = 0; f < set.n_edges(); ++f)
                for (const int node : {set.s(e), set.t(e)}) {
                    const int other = node == set.s(e) ? set.t(e) : set.s(e);
                    if (set.s(f) != node && set.t(f) != node) continue;
                    slope += twin.second(node, other, set.s(f) == node ? set.t(f) : set.s(f)) * model.d[f];
                }
            CHECK(kkt_violation(model.d[e], slope, alpha) < 1e-6);
            n_moved += model.d[e] != 0.0;
        }
        CHECK(n_moved > 3);
    }
}

TEST_CASE("the certificate of two equal columns encloses the known optimum") {
    for (const double alpha : {0.3, 0.01, 1e-5, 1e-9}) {
        const uint8_t X[] = {0, 0, 1, 1};
        Problem problem({X, nullptr, 2, 2}, Penalty::Kind::equal, nullptr, 1, ANY_SIZE);
        problem.solver().alpha_max();
        const State state = problem.solver().follow(alpha, alpha, {1e-9, 100, 0.0});
        // theta = 2 log((1 - alpha) / alpha), F = 2 log(1 + exp(-theta / 2)) + alpha theta
        const double theta = 2 * std::log((1 - alpha) / alpha), least = -2 * std::log1p(-alpha) + alpha * theta;
        REQUIRE(state.values.size() == 1);
        CHECK(state.values[0] == doctest::Approx(theta).epsilon(1e-3));
        CHECK(state.duality_gap >= 0);
        CHECK(state.duality_gap <= 1e-9 * 2 * std::log(2.0));
        CHECK(state.objective - least <= state.duality_gap + 1e-15);
        CHECK(state.objective - least >= -1e-15);
    }
}

TEST_CASE("the certificate of two equal nominal columns encloses the known optimum") {
    for (const double alpha : {0.1, 1e-4, 1e-8}) {
        const uint8_t X[] = {0, 0, 1, 1, 2, 2}, ranges[] = {0, 0};
        const double widths[] = {1, 1}, m = 2;
        Problem problem({X, nullptr, 3, 2, ranges, widths}, Penalty::Kind::equal, nullptr, 1, ANY_SIZE);
        problem.solver().alpha_max();
        const State state = problem.solver().follow(alpha, alpha, {1e-8, 100, 0.0});
        // With d the log odds of being right: m exp(-d) / (1 + m exp(-d)) = alpha sqrt m.
        const double miss = alpha * std::sqrt(m), d = -std::log(miss / (m * (1 - miss)));
        const double least = 2 * std::log1p(m * std::exp(-d)) + 2 * alpha * std::sqrt(m) * d;
        CHECK(state.duality_gap <= 1e-8 * 2 * std::log(3.0));
        CHECK(state.objective - least <= state.duality_gap + 1e-14);
        CHECK(state.objective - least >= -1e-14);
    }
}

TEST_CASE("pairs that are allowed are listed only where they are few") {
    Poll poll;
    Pool pool(1, poll);
    const int p = 300;
    Twin twin(20, p, 0.5, false, 1);
    const auto rows = kept_rows(pool, std::make_shared<const Table>(twin.view()), Holds::all_nodes);
    const std::vector<double> omega(static_cast<size_t>(p) * p, 1.0);
    const Penalty penalty(Penalty::Kind::matrix, omega.data(), p);
    const Newton newton(*rows, penalty, pool, p, true);
    Screen screen(*rows, newton, penalty, pool, true);
    largest_allocation = 0;
    screen.start(0);
    CHECK(largest_allocation < sizeof(Pair) * p * (p - 1) / 2 / 2);
}

TEST_CASE("rounding does not hide a pair whose gradient reaches its limit") {
    const float ulp = std::numeric_limits<float>::epsilon(), part = 0.4f * ulp, one = 1.0f;
    const double limit = 1 + 1.6 * ulp;  // of which all parts of the bound together, 1 + 2 ulp, are above
    float limits = 0, reference = 1;
    Penalty(Penalty::Kind::equal, nullptr, 2).fill_limits(0, 1, limit, &limits);
    int found = 0;
    CHECK(kernels().find_above(&reference, {part, part, one, one, part, &part, &part, &one, &one}, &limits, 1,
                               &found) == 1);
}

TEST_CASE("an edge of one node has one end, a shared one two") {
    for (const bool is_shared : {false, true}) {
        WorkingSet set(is_shared ? 3 : 1, is_shared, nullptr, 0.0);
        const double theta = 1;
        set.add_edge({0, 2}, 1.0, 1, &theta);
        set.arrange();
        CHECK(set.ends(0).size() == (is_shared ? 2 : 1));
    }
}

namespace {

// Rows on which the first steps of all nodes seem to lead up, and what they are asked for then.
class Refusing final : public Rows, public ProductRows {
 public:
    Refusing(Rows& rows, int n_refused) : rows_(rows), n_left_(n_refused) {}

    std::vector<char> asked;  // o: own curvatures, m: majorized ones, p: a product
    bool is_interrupted = false;

    const Margins& margins() const override { return rows_.margins(); }
    double rounding() const override { return rows_.rounding(); }
    void move(std::span<const Move> tasks, bool afresh) override {
        if (is_interrupted) throw Interrupted();
        rows_.move(tasks, afresh);
        if (afresh || tasks.empty() || asked.empty() || n_left_ <= 0) return;
        --n_left_;
        tasks[0].sums->loss += 1;
    }
    void gradients(std::span<const Gradient> tasks) override {
        if (is_interrupted) throw Interrupted();
        rows_.gradients(tasks);
    }
    void blocks(std::span<const Block> tasks, Curvature curvature) override {
        asked.push_back(curvature == Curvature::own ? 'o' : 'm');
        rows_.blocks(tasks, curvature);
    }
    double divergence(std::span<const int> nodes, double c) override { return rows_.divergence(nodes, c); }
    void remember(std::span<const int> nodes) override { rows_.remember(nodes); }
    std::vector<ResidualDrift> drift(std::span<const int> nodes) override { return rows_.drift(nodes); }
    double all_pairs(int first, int last, float* band) override { return rows_.all_pairs(first, last, band); }
    ProductRows* products() override { return this; }
    void multiply(std::span<const Product> tasks, const Fill& fill) override {
        asked.push_back('p');
        rows_.products()->multiply(tasks, fill);
    }

 private:
    Rows& rows_;
    int n_left_;
};

}  // namespace

TEST_CASE("after a refused step operators are majorized") {
    Poll poll;
    Pool pool(1, poll);
    Twin twin(200, 6, 0.5, false, 2);
    const auto kept = kept_rows(pool, std::make_shared<const Table>(twin.view()), Holds::all_nodes);
    Refusing rows(*kept, 13);  // a full step and all its halves
    const Penalty penalty(Penalty::Kind::equal, nullptr, 6);
    Newton newton(rows, penalty, pool, 6, true);
    newton.set_widest_block(1);
    newton.start(0);
    std::vector<Pair> pairs;
    for (int s = 0; s < 6; ++s)
        for (int t = s + 1; t < 6; ++t) pairs.push_back({s, t});
    newton.adopt(pairs);
    const State state = newton.run(1e-3, {1e-7, 1e-7, 100});
    CHECK(newton.set().has_operators());
    CHECK(state.kkt_residual < 1e-7);
    const auto refused = std::find(rows.asked.begin(), rows.asked.end(), 'm');
    REQUIRE(refused + 1 < rows.asked.end());
    CHECK(refused[1] == 'p');
}

TEST_CASE("after an interruption nothing is solved before a new start") {
    Poll poll;
    Pool pool(1, poll);
    Twin twin(200, 4, 0.5, false, 2);
    const auto kept = kept_rows(pool, std::make_shared<const Table>(twin.view()), Holds::all_nodes);
    Refusing rows(*kept, 0);
    const Penalty penalty(Penalty::Kind::equal, nullptr, 4);
    Newton newton(rows, penalty, pool, 4, true);
    const auto begin = [&] { newton.start(0), newton.adopt({{0, 1}, {1, 2}}); };
    const auto run = [&] { return newton.run(1e-3, {1e-7, 1e-7, 100}); };
    const auto check_interrupted = [&](const auto& change) {
        rows.is_interrupted = true;
        CHECK_THROWS_AS(change(), Interrupted);
        rows.is_interrupted = false;
        CHECK_THROWS_AS(run(), std::logic_error);
        begin();
        CHECK(run().kkt_residual < 1e-7);
    };
    begin();
    check_interrupted(run);
    check_interrupted([&] { newton.place({{0, 1}}, {1.0}, {0.0, 0.0, 0.0, 0.0}); });
    newton.run(1e3, {1e-7, 1e-7, 100});  // no edges: both nodes leave the next set
    check_interrupted([&] { newton.adopt({{2, 3}}); });
}

TEST_CASE("the largest of some numbers is unknown if one of them is") {
    std::vector<double> numbers(30, 1.0);
    CHECK(largest_of(numbers.data(), numbers.size()) == 1.0);
    for (size_t k : {0, 13, 29}) {
        std::vector<double> some(numbers);
        some[k] = std::numeric_limits<double>::quiet_NaN();
        CHECK(std::isnan(largest_of(some.data(), some.size())));
        Poll poll;
        Pool pool(1, poll);
        CHECK(std::isnan(Chunks(pool).largest_entry(some.size(), [&](size_t i) { return some[i]; })));
    }
}

TEST_CASE("a gradient that is no number proves nothing") {
    Poll poll;
    Pool pool(1, poll);
    Chunks chunks(pool);
    Twin twin(50, 2, 0.5, false, 3);
    const auto rows = kept_rows(pool, std::make_shared<const Table>(twin.view()), Holds::all_nodes);
    WorkingSet set(2, true, nullptr, 0.0);
    const double theta = 0.5;
    set.add_edge({0, 1}, 1.0, 1, &theta);
    set.arrange();
    *set.gradient_at(set.slot_s(0)) = std::numeric_limits<double>::quiet_NaN();
    set.gather_gradient(chunks);
    Point point{std::vector<double>(2), std::vector<NodeSums>(2), std::vector<char>(2), std::vector<double>(2)};
    std::vector<Move> moves;
    for (int node = 0; node < 2; ++node) moves.push_back({node, 0.0, &point.sums[node]});
    rows->move(moves, true);
    const Certificate certificate = certify(*rows, set, point, 0.1, 1.0, chunks);
    CHECK(certificate.scale == 0);
    CHECK(certificate.gap >= point.loss());
}

TEST_CASE("gradients have their rounding error where nothing is proved") {
    const uint8_t rows[] = {0, 0, 0, 0, 0, 1, 1, 1, 0, 1, 1, 1};  // the first two columns determine each other
    const double omega[] = {0, 0, 1, 0, 0, 1, 1, 1, 0};
    Problem problem({rows, nullptr, 4, 3}, Penalty::Kind::matrix, omega, 1, ANY_SIZE);
    problem.solver().solve({{0, 1}}, 0.1, {1e-9, 1e-9, 20});
    const Certificate& certificate = problem.solver().newton().certificate();
    REQUIRE(certificate.scale == 0);
    CHECK(certificate.gradient_error > 0);
}
