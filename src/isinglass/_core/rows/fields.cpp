#include "rows/fields.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "tuning.hpp"

namespace isinglass {

using namespace tuning::fields;

namespace {

constexpr double EPSILON = std::numeric_limits<double>::epsilon();
constexpr double SMALLEST = 1e-300;  // that divides
// Weight that need not be taken back: put on the other side, next to a probability of exp(-2000), it costs the
// divergence 1e-286. Exponentials are cut off below.
constexpr double NOTHING = 1e-290;

// The spanning tree of the categories whose edges have the most weight to give, either way: categories in the order in
// which they joined, and whom each joined.
struct Tree {
    std::vector<int> order, parent;
};

Tree widest_tree(const CategorySums& sums) {
    const int q = sums.q;
    const std::vector<double>& given = sums.given;
    Tree tree{{0}, std::vector<int>(q, 0)};
    const auto width = [&](int j, int k) { return std::min(given[q * j + k], given[q * k + j]); };
    std::vector<char> is_in(q, 0);
    std::vector<double> widest(q);  // edge to the tree
    for (int k = 1; k < q; ++k) widest[k] = width(0, k);
    is_in[0] = 1;
    while (static_cast<int>(tree.order.size()) < q) {
        const int last = tree.order.back();
        int best = -1;
        for (int k = 0; k < q; ++k) {
            if (is_in[k]) continue;
            if (const double found = width(last, k); found > widest[k]) tree.parent[k] = last, widest[k] = found;
            if (best < 0 || widest[k] > widest[best]) best = k;
        }
        is_in[best] = 1;
        tree.order.push_back(best);
    }
    return tree;
}

// Weight that comes from the others to a category and all behind it in the tree, and weight that goes to the others.
// What these categories give to each other is in neither sum, so that little is not lost in much.
struct Flow {
    double in = 0, out = 0;
    double excess() const { return in - out; }
    double imbalance() const { return std::log(std::max(in, SMALLEST) / std::max(out, SMALLEST)); }
};

std::vector<Flow> flows_behind(const Tree& tree, const CategorySums& sums) {
    const int q = sums.q;
    std::vector<double> A = sums.given;
    std::vector<Flow> flows(q);
    std::vector<char> is_merged(q);
    for (int i = q - 1; i > 0; --i) {
        const int k = tree.order[i], j = tree.parent[k];
        is_merged[k] = 1;
        for (int l = 0; l < q; ++l) {
            if (is_merged[l]) continue;
            flows[k].in += A[q * l + k], flows[k].out += A[q * k + l];
            if (l != j) A[q * l + j] += A[q * l + k], A[q * j + l] += A[q * k + l];
        }
    }
    return flows;
}

// The largest share of what a category's rows give along an edge of the tree that must be taken back.
double largest_share(const Tree& tree, const std::vector<Flow>& flows, const CategorySums& sums) {
    const int q = sums.q;
    double share = 0;
    for (int k = 1; k < q; ++k) {
        const double excess = flows[k].excess();
        if (std::abs(excess) < NOTHING) continue;
        const double there = sums.given[excess > 0 ? q * tree.parent[k] + k : q * k + tree.parent[k]];
        share = std::max(share, std::abs(excess) / std::max(there, SMALLEST));
    }
    return share;
}

// (k, l): l moves with k
std::vector<char> is_behind(const Tree& tree, int q) {
    std::vector<char> behind(static_cast<size_t>(q) * q);
    for (int l = 1; l < q; ++l)
        for (int k = l; k > 0; k = tree.parent[k]) behind[q * k + l] = 1;
    return behind;
}

// The step of the fields in which category k moves by -steps[k] together with all behind it in the tree.
std::vector<double> move_together(const std::vector<char>& behind, const std::vector<double>& steps) {
    const int q = static_cast<int>(steps.size());
    std::vector<double> step(q);
    for (int k = 1; k < q; ++k)
        for (int l = 1; l < q; ++l)
            if (behind[q * k + l]) step[l] += steps[k];
    return step;
}

// Second derivatives in these coordinates, the lower triangle. A pair of categories moves apart by the coordinates on
// its path in the tree: of two coordinates, those behind one and those that the other moves apart from them count, once
// each. Sums of positive numbers, accurate however little weight there is between categories.
std::vector<double> tree_curvature(const Tree& tree, const std::vector<char>& behind,
                                   const std::vector<double>& products) {
    const int q = static_cast<int>(tree.order.size()), d = q - 1;
    const auto product = [&](int l, int m) { return l == m ? 0.0 : products[q * std::max(l, m) + std::min(l, m)]; };
    // (l, k): the products of l, later of all behind l, with those that k moves apart from l.
    std::vector<double> apart(static_cast<size_t>(q) * q), joined(q);
    for (int l = 0; l < q; ++l) {
        double* own = &apart[static_cast<size_t>(q) * l];
        for (int m = 0; m < q; ++m) joined[m] = product(l, m);
        for (int i = q - 1; i > 0; --i) {  // away from l: all behind k
            const int k = tree.order[i];
            if (!behind[q * k + l]) joined[tree.parent[k]] += own[k] = joined[k];
        }
        for (int i = 1; i < q; ++i) {  // from the root to l: all that are not behind k
            const int k = tree.order[i], j = tree.parent[k];
            if (behind[q * k + l]) own[k] = own[j] + joined[j];
        }
    }
    std::vector<double> H(static_cast<size_t>(d) * d);
    for (int i = q - 1; i > 0; --i) {
        const int l = tree.order[i], j = tree.parent[l];
        for (int k = 1; k < q; ++k) {
            const double sum = apart[q * l + k];
            if (k == l || !behind[q * l + k])
                H[(std::max(k, l) - 1) * d + std::min(k, l) - 1] = behind[q * k + l] ? sum : -sum;
            apart[q * j + k] += sum;
        }
    }
    return H;
}

// Newton's step in these coordinates.
std::vector<double> tree_step(const Tree& tree, const std::vector<char>& behind, const std::vector<Flow>& flows,
                              const std::vector<double>& products) {
    const int q = static_cast<int>(flows.size());
    std::vector<double> H = tree_curvature(tree, behind, products), y(q - 1), steps(q);
    for (int k = 1; k < q; ++k) y[k - 1] = flows[k].excess();
    solve_scaled(H, y);
    for (int k = 1; k < q; ++k) steps[k] = y[k - 1];
    return move_together(behind, steps);
}

// How far categories are from balance: the largest share of what one gives to another that must be taken back for the
// slopes to vanish, the largest logarithm of what comes in over what goes out, and a step of the fields that makes both
// less (empty: none is needed).
struct Balance {
    double share, imbalance = 0;
    std::vector<double> step = {};
};

Balance find_balance(const CategorySums& sums, const FieldPasses& passes) {
    const int q = sums.q;
    const Tree tree = widest_tree(sums);
    const std::vector<Flow> flows = flows_behind(tree, sums);
    Balance found{largest_share(tree, flows, sums)};
    if (found.share <= GOOD_SHARE) return found;
    // Where next to nothing is exchanged, one side may give decades more than the other. Both then are exponentials of
    // the field, in which Newton's method would take a step of 1 at a time.
    std::vector<double> steps(q);
    for (int k = 1; k < q; ++k) {
        const double imbalance = flows[k].imbalance();
        found.imbalance = std::max(found.imbalance, std::abs(imbalance));
        if (std::abs(imbalance) > FAR_FROM_BALANCE) steps[k] = imbalance / 2;
    }
    const std::vector<char> behind = is_behind(tree, q);
    const bool is_far = found.imbalance > FAR_FROM_BALANCE;
    if (!is_far) passes.complete();
    found.step = is_far ? move_together(behind, steps) : tree_step(tree, behind, flows, sums.products);
    return found;
}

// What categories keep is not in the sums.
FieldSlopes field_slopes(const CategorySums& of) {
    const int q = of.q;
    FieldSlopes found{std::vector<double>(q)};
    std::vector<double> out(q);
    for (int j = 0; j < q; ++j) {
        const double* row = of.given.data() + static_cast<size_t>(q) * j;
        double sums[4] = {};  // side by side
        for (int k = 0; k < q; ++k) found.of[k] += row[k];
        for (int k = 0; k + 4 <= q; k += 4)
            for (int i = 0; i < 4; ++i) sums[i] += row[k + i];
        for (int k = q / 4 * 4; k < q; ++k) sums[0] += row[k];
        out[j] = (sums[0] + sums[1]) + (sums[2] + sums[3]);
    }
    for (int k = 0; k < q; ++k) {
        const double terms = found.of[k] + out[k] + SMALLEST;
        found.of[k] -= out[k];
        found.size = std::max(found.size, std::abs(found.of[k]) / terms);
    }
    return found;
}

}  // namespace

// What leaves one category arrives at another, so that the diagonal is a sum of the rest.
std::vector<double> field_curvature(const CategorySums& sums) {
    const int q = sums.q, d = q - 1;
    std::vector<double> H(static_cast<size_t>(d) * d);
    for (int k = 1; k < q; ++k) {
        double sum = 0;
        for (int l = 0; l < q; ++l) {
            if (l == k) continue;
            const double product = sums.products[q * std::max(k, l) + std::min(k, l)];
            sum += product;
            if (l > 0) H[(k - 1) * d + l - 1] = -product;
        }
        H[(k - 1) * d + k - 1] = sum * (1 + 4 * EPSILON);
    }
    return H;
}

// Grassmann, Taksar and Heyman's elimination: category k leaves, and those it was tied to are tied to each other.
FieldFactor::FieldFactor(const std::vector<double>& products, int q) : tie_(static_cast<size_t>(q) * q), all_(q) {
    for (int k = 0; k < q; ++k)
        for (int l = 0; l < k; ++l) tie_[k * q + l] = products[q * k + l];
    for (int k = q - 1; k > 0; --k) {
        const double* own = &tie_[static_cast<size_t>(k) * q];
        for (int l = 0; l < k; ++l) all_[k] += own[l];
        all_[k] = std::max(all_[k], SMALLEST);
        for (int l = 0; l < k; ++l) {
            const double share = own[l] / all_[k];
            double* other = &tie_[static_cast<size_t>(l) * q];
            for (int m = 0; m < l; ++m) other[m] += share * own[m];
        }
    }
}

std::vector<double> FieldFactor::step(const std::vector<double>& slopes) const {
    const int q = static_cast<int>(slopes.size());
    std::vector<double> step = slopes;
    for (int k = q - 1; k > 0; --k)
        for (int l = 0; l < k; ++l) step[l] += tie_[k * q + l] / all_[k] * step[k];
    step[0] = 0;
    for (int k = 1; k < q; ++k) {
        for (int l = 1; l < k; ++l) step[k] += tie_[k * q + l] * step[l];
        step[k] /= all_[k];
    }
    return step;
}

// The fields' slopes vanish if weight is carried along a tree of the categories: what those behind an edge (j, k) have
// too much of goes from k to j in the rows of j. No pair's gradient changes by more than the sum of these, and the
// divergence by no more than twice the loss times the largest share of what is there that is taken (docs/discrete.md).
// Two sums of one sign that differ by as much as the gradients change say so.
NodeSums summarize_fields(const Settled& settled) {
    const auto& [slopes, sums] = settled;
    double mass = std::accumulate(sums.given.begin(), sums.given.end(), 0.0), moved = 0, largest = 0;
    for (double slope : slopes.of) largest = std::max(largest, std::abs(slope));
    const Tree tree = widest_tree(sums);
    const std::vector<Flow> flows = flows_behind(tree, sums);
    for (const Flow& each : flows) moved += std::abs(each.excess());
    const double rounded = 1 + 8 * sums.q * EPSILON;
    const bool is_settled = slopes.size <= tuning::STATIONARY;
    return {.loss = sums.loss,
            .field = is_settled ? 0.0 : largest,
            .curve = sums.curve,
            .zeros = mass,
            .ones = std::max(mass - moved * rounded, 0.0),
            .largest_slope = largest,
            .share = 2 * largest_share(tree, flows, sums) * rounded};
}

namespace {

// Newton's method, halved while the loss does not fall; returns the sums. Where second derivatives cost more than a
// pass those of a step before are taken again while they gain digits.
const CategorySums& take_newton_steps(std::vector<double>& fields, const FieldPasses& passes) {
    FieldFactor own, &factor = passes.factor ? *passes.factor : own;
    const int q = static_cast<int>(fields.size());
    const CategorySums& sums = passes.pass();
    FieldSlopes slopes = field_slopes(sums);
    std::vector<double> change, start;
    const auto find_change = [&](bool is_new) {
        if (is_new) passes.complete(), factor = FieldFactor(sums.products, q);
        change = factor.step(slopes.of), start = fields;
    };
    const auto move = [&](double length) {
        for (int k = 1; k < q; ++k) fields[k] = start[k] - std::clamp(length * change[k], -LONGEST_STEP, LONGEST_STEP);
        passes.pass();
    };
    double before = std::numeric_limits<double>::infinity();
    bool is_new = false;  // the second derivatives of the last step were those at its start
    for (int step = 0, n_slow = 0; step < MAX_STEPS && n_slow < MAX_SLOW_STEPS; ++step) {
        const double size = slopes.size;
        n_slow = is_new && size > before / 2 ? n_slow + 1 : 0;
        // Rounding: with new second derivatives it would have gained digits.
        if (size <= tuning::STATIONARY || (is_new && size < ROUNDED && size > before / 2)) break;
        is_new = !passes.factor || factor.empty() || size > SLOW_CHORD * before;
        before = size;
        find_change(is_new);
        const double bound = sums.loss * (1 + 1e-14);
        move(1);
        if (!is_new && !(sums.loss <= bound)) {
            fields = start, passes.pass();
            find_change(is_new = true);
            move(1);
        }
        for (double length = 0.5; !(sums.loss <= bound) && length > SHORTEST_SHARE; length /= 2) move(length);
        slopes = field_slopes(sums);
    }
    return sums;
}

// Categories that hardly mix, to where they are balanced; returns whether they were far from it.
bool balance(std::vector<double>& fields, const FieldPasses& passes, const CategorySums& sums) {
    const int q = static_cast<int>(fields.size());
    Balance found = find_balance(sums, passes);
    const bool was_far = found.imbalance > FAR_FROM_BALANCE;
    for (int step = 0; step < MAX_IMPROVEMENTS && !found.step.empty(); ++step) {
        const std::vector<double> start = fields;
        for (int k = 1; k < q; ++k) fields[k] -= found.step[k];
        passes.pass();
        Balance next = find_balance(sums, passes);
        const bool is_better = next.imbalance < found.imbalance;
        if (!is_better) fields = start, passes.pass();
        if (!(next.imbalance < WORTH_ANOTHER * found.imbalance)) break;
        found = std::move(next);
    }
    return was_far;
}

}  // namespace

Settled settle_fields(std::vector<double>& fields, const FieldPasses& passes) {
    const CategorySums* sums = nullptr;
    bool goes_on = true;
    for (int round = 0; round < MAX_BALANCED && goes_on; ++round) {
        sums = &take_newton_steps(fields, passes);
        goes_on = balance(fields, passes, *sums);
    }
    return {field_slopes(*sums), *sums};
}

}  // namespace isinglass
