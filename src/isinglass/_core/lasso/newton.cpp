#include "lasso/newton.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "tuning.hpp"

namespace isinglass {

using namespace tuning::newton;

namespace {

constexpr double STEEPEST_CURVATURE = 0.0963;  // |d/d eta| of sigma (1 - sigma) is at most 1 / (6 sqrt 3)
constexpr double SMALLEST_CURVE = 1e-30;

}  // namespace

Newton::Newton(Rows& rows, const Penalty& penalty, Pool& pool, int n_nodes, bool is_shared)
    : rows_(rows),
      penalty_(penalty),
      pool_(pool),
      poll_(pool.poll()),
      chunks_(pool),
      set_(n_nodes, is_shared, rows.groups(), rows.has_categories() && penalty.has_free() ? tuning::FREE_RIDGE : 0.0),
      model_(set_, rows, pool),
      point_{std::vector<double>(n_nodes), std::vector<NodeSums>(n_nodes), std::vector<char>(n_nodes),
             std::vector<double>(n_nodes)},
      field_steps_(n_nodes),
      moved_(n_nodes),
      known_(n_nodes) {
    if (!rows.products())
        set_.set_widest_block(std::numeric_limits<int>::max());
    else if (rows.products()->has_rough())
        set_.set_widest_block(tuning::working_set::WIDEST_BESIDE_ROUGH);
}

size_t Newton::group_size(const Pair& pair) const {
    return set_.has_groups() ? static_cast<size_t>(rows_.width(pair.s)) * rows_.width(pair.t) : 1;
}

size_t Newton::coefficients_of(const std::vector<Pair>& pairs) const {
    size_t sum = 0;
    for (const Pair& pair : pairs) sum += group_size(pair);
    return sum;
}

void Newton::start(int first_node) {
    is_whole_ = false;
    set_.start(first_node);
    last_ = before_ = {};
    adopted_.clear();
    certificate_ = {};
    top_ = INFINITE;
    needed_ = 1;
    model_.start();
    std::vector<int> nodes(set_.n_nodes());
    std::iota(nodes.begin(), nodes.end(), 0);
    reset_nodes(nodes);
    mark_null();
    is_whole_ = true;
}

// Nodes without edges: the predictor is constant.
void Newton::reset_nodes(const std::vector<int>& nodes) {
    moves_.clear();
    for (int node : nodes) {
        const int column = set_.first_node() + node;
        point_.fields[node] = rows_.null_field(set_.first_node() + node);
        point_.is_isolated[node] = 1;
        point_.travel[node] = 0;
        known_[node] = 0;
        moves_.push_back({column, point_.fields[node], &point_.sums[node]});
    }
    rows_.move(moves_, true);
}

void Newton::place(const std::vector<Pair>& edges, const std::vector<double>& values,
                   const std::vector<double>& fields) {
    const bool was_whole = std::exchange(is_whole_, false);
    last_ = before_ = {};
    const double* value = values.data();
    for (const Pair& pair : edges) {
        const size_t size = group_size(pair);
        if (std::isfinite(penalty_(pair.s, pair.t))) {
            last_.edges.push_back(pair);
            last_.values.insert(last_.values.end(), value, value + size);
        }
        value += size;
    }
    certificate_ = {};
    needed_ = 1;
    adopted_ = {{-1, -1}};  // no set: this one has other values
    adopt({});
    if (rows_.has_categories()) {
        rows_.set_category_fields(set_.first_node(), fields);
        std::vector<int> isolated;  // the fields of nodes without edges follow from the table
        for (int node = 0; node < set_.n_nodes(); ++node)
            if (point_.is_isolated[node]) isolated.push_back(node);
        reset_nodes(isolated);
    } else {
        for (int node : set_.nodes()) point_.fields[node] = fields[node];
    }
    rebuild(set_.nodes());
    is_whole_ = was_whole;
}

// Sorted, without repetitions and forbidden pairs.
void Newton::adopt(std::vector<Pair> pairs) {
    if (!std::is_sorted(pairs.begin(), pairs.end())) std::sort(pairs.begin(), pairs.end());
    const size_t n_given = pairs.size();
    pairs.insert(pairs.end(), last_.edges.begin(), last_.edges.end());
    std::inplace_merge(pairs.begin(), pairs.begin() + n_given, pairs.end());
    pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
    const auto is_forbidden = [&](const Pair& pair) { return !std::isfinite(penalty_(pair.s, pair.t)); };
    pairs.erase(std::remove_if(pairs.begin(), pairs.end(), is_forbidden), pairs.end());
    if (pairs == adopted_) return;
    const bool was_whole = std::exchange(is_whole_, false);
    adopted_ = std::move(pairs);
    size_t known = 0;
    const double* value = last_.values.data();
    set_.clear();
    for (const Pair& pair : adopted_) {
        const size_t size = group_size(pair);
        const bool is_known = known < last_.edges.size() && last_.edges[known] == pair;
        set_.add_edge(pair, penalty_(pair.s, pair.t), size, is_known ? value : nullptr);
        if (is_known) value += size, ++known;
    }
    set_.arrange();
    // Nodes that have left the working set go back to their field alone; the others keep their predictor.
    std::vector<int> leaving;
    for (int node = 0; node < set_.n_nodes(); ++node) {
        if (set_.degree(node) == 0 && !point_.is_isolated[node]) leaving.push_back(node);
        if (set_.degree(node) > 0) point_.is_isolated[node] = 0;
        known_[node] = 0;
    }
    if (!leaving.empty()) reset_nodes(leaving);
    is_whole_ = was_whole;
}

// The gradient of every slot, so that the whole working set can be looked at.
void Newton::complete_gradient() {
    std::vector<Gradient> tasks;
    for (int node : set_.nodes()) {
        const int first = set_.first_slot(node) + known_[node], count = set_.degree(node) - known_[node];
        if (count > 0)
            tasks.push_back({set_.first_node() + node, set_.columns_of(first, count), set_.gradient_at(first)});
        known_[node] = set_.degree(node);
    }
    rows_.gradients(tasks);
    set_.gather_gradient(chunks_);
}

// Takes the edges that are about to move into the blocks, the steepest first; false if there is none outside. Needs the
// complete gradient. No more than a few per node at once: after a large change of alpha most of the edges that look
// ready are explained away by the first ones.
bool Newton::widen(double alpha) {
    const auto limit = [&](size_t e) { return NEARLY_ACTIVE * alpha * set_.omega(e); };
    std::vector<std::pair<double, int>> found;
    for (int e :
         chunks_.find(set_.n_edges(), [&](size_t e) { return !set_.is_inner(e) && set_.gradient_norm(e) > limit(e); }))
        found.push_back({limit(e) > 0 ? -set_.gradient_norm(e) / limit(e) : -INFINITE, e});
    if (found.empty()) return false;
    const size_t most = std::max({set_.inner().size(), INNER_PER_NODE * set_.nodes().size(), MIN_INNER});
    if (found.size() > most) {
        std::nth_element(found.begin(), found.begin() + most, found.end());
        found.resize(most);
    }
    std::vector<int> edges;
    edges.reserve(found.size());
    for (const auto& [strength, e] : found) edges.push_back(e);
    set_.make_inner(edges);
    return true;
}

bool Newton::has_edges() const {
    return std::ranges::any_of(set_.theta(), [](double each) { return each != 0.0; });
}

double Newton::field_residual() const {
    double residual = 0;
    for (int node : set_.nodes()) residual = std::max(residual, std::abs(point_.sums[node].field));
    return residual;
}

double Newton::inner_residual(double alpha) {
    return std::max(field_residual(), chunks_.largest_entry(set_.inner().size(), [&](size_t k) {
        return set_.violation(set_.inner()[k], alpha);
    }));
}

// Over the whole working set; needs the complete gradient.
double Newton::kkt_residual(double alpha) {
    return std::max(field_residual(),
                    chunks_.largest_entry(set_.n_edges(), [&](size_t e) { return set_.violation(e, alpha); }));
}

bool Newton::Run::is_over() const {
    return is_stuck || n_iter >= max_iter || since_best == STAGNATION;
}

State Newton::run(double alpha, const Tolerances& tolerances) {
    Run run{alpha,
            tolerances.kkt,
            tolerances.kkt / 2,
            largest_gap(tolerances.gap) / 2,
            tolerances.max_iter,
            rows_.has_categories() ? Precision::single : Precision::untried};
    if (!std::exchange(is_whole_, false)) throw std::logic_error("a problem that was interrupted is used again");
    certificate_.gap = std::numeric_limits<double>::quiet_NaN();
    matrices_ = Matrices::stale;
    extrapolate(alpha);
    complete_gradient();
    widen(alpha);
    run.kkt = run.best = kkt_residual(alpha);
    const Parameters start = here();
    const double start_value = objective(alpha);
    descend(run);
    certify_point(run);
    while (!run.is_reached && (!run.is_over() || try_precise(run))) {
        look(run);
        take_step(run);  // the residual may be small enough and the gap not
        descend(run);
        certify_point(run);
    }
    if (!run.is_reached && !(objective(alpha) <= start_value * (1 + OBJECTIVE_ROUNDING))) {
        keep_better(start, alpha);
        certify_point(run);
    }
    return record(run);
}

void Newton::descend(Run& run) {
    while (!run.is_over() && !run.has_target()) {
        const bool is_early = 0 < run.n_iter && run.n_iter <= EARLY_STEPS;
        if (run.has_widened || is_early) look(run);
        take_step(run);
    }
}

// Starts from where the last two solutions point to, in the logarithm of alpha, if F is smaller there.
void Newton::extrapolate(double alpha) {
    const bool goes_on = 0.0 < alpha && alpha < last_.alpha && last_.alpha < before_.alpha;
    if (!goes_on) return;
    const double ahead = std::log(last_.alpha / alpha) / std::log(before_.alpha / last_.alpha);
    if (ahead > MAX_EXTRAPOLATION) return;
    const Parameters start = here();
    model_.reset();
    size_t k = 0;
    const double* value = before_.values.data();  // of edge k
    for (int e : set_.inner()) {
        const Pair pair = set_.pair(e);
        while (k < before_.edges.size() && before_.edges[k] < pair) value += group_size(before_.edges[k++]);
        const bool is_known = k < before_.edges.size() && before_.edges[k] == pair;
        const size_t first = set_.first(e), size = set_.size(e);
        double along = 0;
        for (size_t i = 0; i < size; ++i) {
            const double from = start.theta[first + i], step = ahead * (from - (is_known ? value[i] : 0.0));
            model_.d[first + i] = step;
            along += from * (from + step);
        }
        if (along > 0.0) continue;
        for (size_t i = first; i < first + size; ++i) model_.d[i] = -start.theta[i];
    }
    for (int node : set_.nodes()) field_steps_[node] = ahead * (point_.fields[node] - before_.fields[node]);
    const double before = objective(alpha);
    shift(1.0);
    set_.move_theta(start.theta, 1.0, model_.d, chunks_);
    if (!(objective(alpha) < before)) go_to(start);
}

// At the whole working set, for edges that should move.
void Newton::look(Run& run) {
    complete_gradient();
    run.kkt = kkt_residual(run.alpha);
    run.has_widened = widen(run.alpha);
    if (run.has_widened) matrices_ = Matrices::stale;
}

// How well to solve the model of the next step.
double Newton::inner_tolerance(const Run& run) const {
    if (!set_.has_operators()) return INNER_TOLERANCE * run.kkt;
    // No better than the step can be, nor than the certificate needs: by what a residual has cost in the gap.
    const double share = std::min(LOOSE_TOLERANCE, QUADRATIC_TOLERANCE * run.kkt / run.alpha);
    return std::max(share * run.kkt, NEEDED_SHARE * std::min(run.target, needed_));
}

// One Newton step, and what it says about the next one. An operator costs next to nothing and is made anew each time,
// unless it is to be a bound.
void Newton::take_step(Run& run) {
    poll_();
    if (matrices_ != Matrices::majorized) {
        make_matrices(matrices_ == Matrices::stale ? set_.nodes() : set_.operators(), Curvature::own);
        matrices_ = Matrices::own;
    }
    const bool is_precise = run.precision == Precision::twofold && find_precise_step(run);
    if (!is_precise) find_step(run.alpha, inner_tolerance(run));
    const bool is_accepted = search(run.alpha);
    ++run.n_iter;
    if (!is_accepted && !is_precise && matrices_ == Matrices::majorized) {
        run.is_stuck = run.precision != Precision::single;
        if (run.is_stuck) return;
        run.precision = Precision::twofold;
    }
    note_progress(run);
    choose_precision(run, is_precise, is_accepted);
    choose_blocks(run);
    if (!is_accepted) majorize();
}

void Newton::note_progress(Run& run) {
    const double next = inner_residual(run.alpha);
    // With groups nodes may have either; the blocks are then judged as where all nodes have one.
    if ((set_.has_operators() && !set_.has_groups()) || matrices_ == Matrices::majorized ||
        next > CONTRACTION * run.kkt)
        matrices_ = Matrices::stale;
    // Slow: small curvatures may matter that the share of change does not see, so every block is remade.
    const bool is_slow = next > SLOW_STEP * run.kkt;
    if (is_slow) set_.forget_matrices();
    run.slow_steps = is_slow ? run.slow_steps + 1 : 0;
    run.kkt = next;
    run.since_best = next < PROGRESS * run.best ? 0 : run.since_best + 1;
    if (run.since_best == 0) run.best = next;
}

// Steps that lead nowhere give way to those of the other precision.
void Newton::choose_precision(Run& run, bool is_precise, bool is_accepted) {
    const bool is_slow = run.slow_steps >= 2 * SLOW_STEPS;
    const bool is_stuck = run.since_best > 0 && run.since_best % SLOW_STEPS == 0;
    if (run.precision == Precision::untried) {
        if (run.slow_steps >= STAGNATION) try_precise(run);
    } else if (is_precise ? !is_accepted || is_slow : run.precision == Precision::single && (is_stuck || is_slow)) {
        run.precision = is_precise ? Precision::single : Precision::twofold;
        run.slow_steps = 0;
    }
}

// Conjugate gradients get nowhere on a face that is all but singular (columns that are nearly alike); blocks can be
// factorized.
void Newton::choose_blocks(Run& run) {
    const bool is_stuck = run.since_best >= OPERATOR_STAGNATION || model_.is_exhausted();
    if (!set_.has_operators() || set_.has_groups() || !is_stuck || !set_.blocks_fit()) return;
    set_.use_blocks();
    matrices_ = Matrices::stale;
    run.since_best = 0;
}

// On the face of the edges that are not zero, if most of the residual is there.
bool Newton::find_precise_step(Run& run) {
    PreciseFace face(set_, rows_, run.alpha);
    if (!rows_.has_categories() && face.is_small()) {  // the step is that of the loss with fields at their minimum
        polish_fields();
        complete_gradient();
        run.kkt = kkt_residual(run.alpha);
    }
    double residual = 0;
    for (int e : set_.inner())
        if (set_.theta_norm(e) != 0.0) residual = std::max(residual, set_.violation(e, run.alpha));
    model_.reset();
    std::fill(field_steps_.begin(), field_steps_.end(), 0.0);
    return residual > run.kkt / 2 && face.find_step(model_.d, field_steps_);
}

// After a refused step: a model that lies above the loss everywhere.
void Newton::majorize() {
    set_.forget_matrices();
    make_matrices(set_.nodes(), Curvature::majorized);
    set_.forget_matrices();
    matrices_ = Matrices::majorized;
}

void Newton::certify_point(Run& run) {
    const bool is_wanted = std::isfinite(run.gap_target);
    if (is_wanted) finish(run.alpha, run.tolerance);
    complete_gradient();
    run.kkt = kkt_residual(run.alpha);
    run.is_reached = run.has_target();
    if (!is_wanted) return;
    certificate_ = certify(rows_, set_, point_, run.alpha, top_, chunks_);
    if (certificate_.gap > 0 && run.kkt > 0) needed_ = run.kkt * run.gap_target / certificate_.gap;
    run.is_reached &= certificate_.gap <= run.gap_target;
}

// Of columns of 0 and 1, in a run that would end without its tolerance or is very slow.
bool Newton::try_precise(Run& run) {
    if (run.precision != Precision::untried || run.n_iter >= run.max_iter) return false;
    if (!rows_.has_precise_blocks() || !PreciseFace(set_, rows_, run.alpha).is_small()) return false;
    run.precision = Precision::twofold;
    matrices_ = Matrices::stale;
    run.best = run.kkt;
    run.since_best = 0;
    run.is_stuck = false;
    return true;
}

// What is returned is the parameters, so the certificate must be theirs: where updates could have moved the predictors
// away from them by a noticeable part of the tolerance, they are computed afresh. Then fields and free edges are made
// stationary.
void Newton::finish(double alpha, double tolerance) {
    std::vector<int> drifted;
    for (int node : set_.nodes())
        if (!(std::numeric_limits<double>::epsilon() * point_.travel[node] <= PREDICTOR_DRIFT * tolerance))
            drifted.push_back(node);
    if (set_.has_groups()) project(drifted);
    if (!drifted.empty()) rebuild(drifted);
    if (rows_.has_categories()) return;  // their fields are at their optimum, and free edges have a ridge
    set_.has_free(alpha) ? polish_free(alpha) : polish_fields();
}

// Blocks of the returned network have no part in directions that say nothing; so must those that are certified.
void Newton::project(std::vector<int>& changed) {
    std::vector<char> is_changed(set_.n_nodes());
    for (int node : changed) is_changed[node] = 1;
    for (int e : set_.inner()) {
        const size_t first = set_.first(e), size = set_.size(e);
        moved_group_.assign(set_.theta().begin() + first, set_.theta().begin() + first + size);
        rows_.groups()->project(set_.pair(e), moved_group_.data());
        double change = 0;
        for (size_t i = 0; i < size; ++i)
            change = std::max(change, std::abs(moved_group_[i] - set_.theta()[first + i]));
        set_.set_theta(e, moved_group_.data());
        const double length = norm(moved_group_.data(), size);
        for (int node : set_.ends(e)) {
            point_.travel[node] += PROJECTION_ROUNDINGS * length;
            is_changed[node] |= !(change <= PROJECTION_ROUNDINGS * UNIT * length);
        }
    }
    changed.clear();
    for (int node : set_.nodes())
        if (is_changed[node]) changed.push_back(node);
}

// Rounding may have made steps that seemed to lead down lead up: of where the run began, where it ended and the model
// without edges, the best is kept.
void Newton::keep_better(const Parameters& start, double alpha) {
    Parameters best = here(), none = best;
    std::fill(none.theta.begin(), none.theta.end(), 0.0);
    for (int node : set_.nodes()) none.fields[node] = rows_.null_field(set_.first_node() + node);
    const auto value_at = [&](const Parameters& parameters) {
        go_to(parameters);
        return objective(alpha);
    };
    double least = value_at(best);
    for (const Parameters* other : {&start, static_cast<const Parameters*>(&none)})
        if (const double found = value_at(*other); !(least <= found)) least = found, best = *other;
    go_to(best);
}

std::vector<double> Newton::fields_of_categories() const {
    return rows_.category_fields(set_.first_node(), set_.first_node() + set_.n_nodes());
}

Newton::Parameters Newton::here() const {
    return {set_.theta(), point_.fields, fields_of_categories()};
}

void Newton::go_to(const Parameters& parameters) {
    set_.set_theta(parameters.theta);
    point_.fields = parameters.fields;
    rows_.set_category_fields(set_.first_node(), parameters.category_fields);
    rebuild(set_.nodes());
}

// task(k) for every k; on all threads where nodes have so many edges that it pays.
template <class Task>
void Newton::each_index(size_t count, Task task) {
    if (set_.has_operators())
        pool_.each(count, [&](int k, int) { task(k); });
    else
        for (size_t k = 0; k < count; ++k) task(static_cast<int>(k));
}

// Makes the matrices of these nodes, unless they are blocks whose curvatures have hardly changed.
void Newton::make_matrices(const std::vector<int>& nodes, Curvature curvature) {
    std::vector<Block> tasks;
    std::vector<int> remade;
    for (int node : nodes) {
        const bool is_kept = set_.is_made(node) && !set_.is_operator(node) &&
                             STEEPEST_CURVATURE * moved_[node] <= UNCHANGED_CURVATURE * point_.sums[node].curve;
        if (is_kept) continue;
        remade.push_back(node);
        tasks.push_back(set_.block_of(node));
        moved_[node] = 0;
    }
    rows_.blocks(tasks, curvature);
    each_index(remade.size(), [&](int k) { set_.finish_block(remade[k]); });
}

// The gradient of the edges once the fields follow to their minimum of the model.
void Newton::profile_gradient() {
    if (set_.has_groups()) {
        model_.gradient = set_.gradient();
        return;
    }
    const auto pull = [&](int slot, int node) { return set_.b()[slot] * point_.sums[node].field / set_.curve(node); };
    chunks_.each_entry(set_.inner().size(), [&](size_t k) {
        const int e = set_.inner()[k];
        model_.gradient[e] = set_.gradient()[e] - pull(set_.slot_s(e), set_.s(e));
        if (set_.is_shared()) model_.gradient[e] -= pull(set_.slot_t(e), set_.t(e));
    });
}

void Newton::find_field_steps() {
    if (rows_.has_categories()) {
        std::fill(field_steps_.begin(), field_steps_.end(), 0.0);
        return;
    }
    each_index(set_.nodes().size(), [&](int k) {
        const int node = set_.nodes()[k];
        double sum = point_.sums[node].field;
        const int first = set_.first_slot(node), last = first + (set_.has_groups() ? 0 : set_.inner_degree(node));
        for (int slot = first; slot < last; ++slot) sum += set_.b()[slot] * model_.d[set_.edge_of(slot)];
        // A field that is at its minimum, with no edge moving, stays: the node then costs nothing.
        const double negligible = tuning::STATIONARY / 10 * (point_.sums[node].zeros + point_.sums[node].ones);
        field_steps_[node] = std::abs(sum) <= negligible ? 0.0 : -sum / set_.curve(node);
    });
}

double Newton::predicted_change(double alpha) {
    double change = chunks_.sum_entries(set_.inner().size(), [&](size_t k) {
        const int e = set_.inner()[k];
        const size_t first = set_.first(e), size = set_.size(e);
        const double *theta = set_.theta().data() + first, *d = model_.d.data() + first;
        double slope = 0, square = 0;
        for (size_t i = 0; i < size; ++i) {
            slope += set_.gradient()[first + i] * d[i];
            square += (theta[i] + d[i]) * (theta[i] + d[i]);
        }
        const double length = size == 1 ? std::abs(theta[0] + d[0]) : std::sqrt(square);
        return slope + alpha * set_.omega(e) * (length - set_.theta_norm(e));
    });
    for (int node : set_.nodes()) change += point_.sums[node].field * field_steps_[node];
    return change;
}

// A move of a node's predictor by offset and value(i) times the column of each inner edge, i its coefficients; of no
// node if there is nothing to move.
template <class Value>
Move Newton::move_of(int node, double offset, bool afresh, Value value) {
    const int first = set_.first_slot(node);
    int count = 0;
    bool is_moved = offset != 0.0;
    double* const values = moved_values_.data() + set_.at(first);
    double* next = values;
    for (int slot = first; slot < first + set_.inner_degree(node); ++slot) {
        const int e = set_.edge_of(slot);
        const size_t size = set_.size(e), begin = set_.first(e);
        for (size_t i = 0; i < size; ++i) next[i] = value(begin + i);
        const double length = norm(next, size);
        is_moved |= length != 0.0;
        // An operator on bits takes all its columns.
        if (length == 0.0 && (set_.has_groups() || !set_.is_operator(node))) continue;
        point_.travel[node] += length;
        moved_[node] += length * rows_.margins().mean[set_.column_of(slot)];
        moved_columns_[first + count++] = set_.column_of(slot);
        next += size;
    }
    if (!is_moved && !afresh) return {-1, 0.0, nullptr};
    point_.travel[node] += std::abs(offset);
    moved_[node] += std::abs(offset);
    known_[node] = set_.inner_degree(node);
    const NeighborColumns moved{moved_columns_.data() + first, count};
    return {.node = set_.first_node() + node,
            .offset = offset,
            .sums = &point_.sums[node],
            .moved = moved,
            .coefficient = values,
            .asked = set_.inner_of(node),
            .gradient = set_.gradient_at(first)};
}

// The moves plan(node) of these nodes, some of which have none.
template <class Plan>
void Newton::move_nodes(const std::vector<int>& nodes, bool afresh, Plan plan) {
    moved_columns_.resize(set_.n_slots());
    moved_values_.resize(set_.n_numbers());
    moves_.resize(nodes.size());
    each_index(nodes.size(), [&](int k) { moves_[k] = plan(nodes[k]); });
    std::erase_if(moves_, [](const Move& move) { return move.node < 0; });
    rows_.move(moves_, afresh);
}

// Moves along the step: fields, predictors and everything that follows from them; theta is the caller's.
void Newton::shift(double length) {
    move_nodes(set_.nodes(), false, [&](int node) {
        point_.fields[node] += length * field_steps_[node];
        return move_of(node, length * field_steps_[node], false, [&](size_t i) { return length * model_.d[i]; });
    });
    if (rows_.has_categories())  // adding a small step rounds what is there already
        for (int e : set_.inner())
            for (int node : set_.ends(e)) point_.travel[node] += set_.theta_norm(e);
}

// Predictors computed from the parameters, and what follows from them.
void Newton::rebuild(const std::vector<int>& nodes) {
    move_nodes(nodes, true, [&](int node) {
        const Move move = move_of(node, point_.fields[node], true, [&](size_t i) { return set_.theta()[i]; });
        point_.travel[node] = 0;
        return move;
    });
    set_.gather_gradient(chunks_);
}

// is_free: of the edges without a penalty; all others stay where they are.
void Newton::find_step(double alpha, double tolerance, bool is_free) {
    model_.reset();
    profile_gradient();
    is_free ? model_.minimize_free(alpha, tolerance) : model_.minimize(alpha, tolerance);
    find_field_steps();
}

// Along the step of the model; false if no length decreases F enough (the point is then unchanged).
bool Newton::search(double alpha) {
    const double before = objective(alpha);
    const double predicted = predicted_change(alpha);
    search_start_.resize(set_.theta().size());
    chunks_.each_entry(search_start_.size(), [&](size_t i) { search_start_[i] = set_.theta()[i]; });
    const std::vector<double> fields = point_.fields, category_fields = fields_of_categories();
    double length = 1.0, moved = 0.0;
    for (int halving = 0; halving <= MAX_HALVINGS; ++halving, length /= 2) {
        shift(length - moved);
        moved = length;
        set_.move_theta(search_start_, length, model_.d, chunks_);
        const double after = objective(alpha);
        if (after <= before + SUFFICIENT_DECREASE * length * std::min(predicted, 0.0) + OBJECTIVE_ROUNDING * before) {
            set_.gather_gradient(chunks_);
            return true;
        }
        poll_();
    }
    go_to({search_start_, fields, category_fields});  // not by stepping back: the step may have been enormous
    return false;
}

// Fields to their minimum with the rest fixed, where the dual point is feasible: Newton in one dimension, kept inside
// the bracket that the sign of the derivative gives.
void Newton::polish_fields() {
    struct Bracket {
        int node;
        double low = -INFINITE, high = INFINITE;
    };
    std::vector<Bracket> open, moving;
    for (int node : set_.nodes()) open.push_back({node});
    for (int round = 0; round < MAX_POLISH && !open.empty(); ++round, std::swap(open, moving)) {
        moves_.clear();
        moving.clear();
        for (Bracket bracket : open) {
            const NodeSums& sums = point_.sums[bracket.node];
            double& field = point_.fields[bracket.node];
            if (std::abs(sums.field) <= tuning::STATIONARY * (sums.zeros + sums.ones)) continue;
            (sums.field > 0 ? bracket.high : bracket.low) = field;
            double next = field - std::clamp(sums.field / std::max(sums.curve, SMALLEST_CURVE), -LONGEST_FIELD_STEP,
                                             LONGEST_FIELD_STEP);
            if (!(next > bracket.low && next < bracket.high)) next = (bracket.low + bracket.high) / 2;
            const double change = next - field;
            if (!std::isfinite(change) || change == 0.0) continue;
            field = next;
            point_.travel[bracket.node] += std::abs(change);
            known_[bracket.node] = 0;
            moves_.push_back({set_.first_node() + bracket.node, change, &point_.sums[bracket.node]});
            moving.push_back(bracket);
        }
        rows_.move(moves_, false);
    }
}

// Fields and free edges to their minimum with the rest fixed.
void Newton::polish_free(double alpha) {
    for (int round = 0; round < MAX_POLISH; ++round) {
        complete_gradient();
        double largest = 0;
        bool is_open = false;
        const auto look_at = [&](double gradient, double terms) {
            largest = std::max(largest, std::abs(gradient));
            is_open |= std::abs(gradient) > tuning::STATIONARY * terms;
        };
        const auto mass = [&](int node) { return point_.sums[node].zeros + point_.sums[node].ones; };
        for (int node : set_.nodes()) look_at(point_.sums[node].field, mass(node));
        for (size_t e = 0; e < set_.n_edges(); ++e)
            if (alpha * set_.omega(e) == 0.0) look_at(set_.gradient()[e], mass(set_.s(e)));
        if (!is_open) return;
        make_matrices(set_.nodes(), Curvature::own);
        if (matrices_ == Matrices::majorized) matrices_ = Matrices::own;
        find_step(alpha, INNER_TOLERANCE * largest, true);
        if (!search(alpha)) return;
    }
}

State Newton::record(const Run& run) {
    State state{run.alpha, point_.fields, fields_of_categories()};
    state.loss = point_.loss();
    state.objective = objective(run.alpha);
    state.kkt_residual = run.kkt + certificate_.gradient_error;
    state.duality_gap = certificate_.gap;
    state.certified_zeros = count_certified(set_, rows_.margins(), certificate_, run.alpha);
    state.n_working = set_.n_edges();
    state.n_products = model_.n_products();
    state.n_iter = run.n_iter;
    state.converged = run.is_reached;
    for (size_t e = 0; e < set_.n_edges(); ++e) {
        if (set_.theta_norm(e) == 0.0) continue;
        state.edges.push_back(set_.pair(e));
        const double* theta = set_.theta().data() + set_.first(e);
        state.values.insert(state.values.end(), theta, theta + set_.size(e));
    }
    if (set_.has_free(run.alpha)) {
        std::vector<int> columns = set_.nodes();
        for (int& column : columns) column += set_.first_node();
        state.largest_eta = rows_.largest_predictor(columns);
    }
    if (run.alpha != last_.alpha) before_ = std::move(last_);
    last_ = {run.alpha, state.edges, state.values, state.fields};
    is_whole_ = true;
    return state;
}

}  // namespace isinglass
