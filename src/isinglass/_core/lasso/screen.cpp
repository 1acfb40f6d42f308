#include "lasso/screen.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "tuning.hpp"

namespace isinglass {

using namespace tuning::screen;

namespace {

constexpr double NARROW = 1.5e-7;  // of the reference of one node: residuals and values in single precision

}  // namespace

Screen::Screen(Rows& rows, const Newton& newton, const Penalty& penalty, Pool& pool, bool is_shared)
    : rows_(rows),
      newton_(newton),
      penalty_(penalty),
      pool_(pool),
      is_shared_(is_shared),
      n_features_(static_cast<int>(rows.margins().mean.size())),
      nodes_(is_shared ? n_features_ : 1),
      norm_(nodes_.size()),
      shift_(nodes_.size()),
      sd_(rows.margins().sd.begin(), rows.margins().sd.end()),
      mean_(rows.margins().mean.begin(), rows.margins().mean.end()),
      zeros_(is_shared ? 0 : n_features_),
      limits_(pool.size(), std::vector<float>(n_features_)),
      positions_(pool.size(), std::vector<int>(n_features_)) {}

// Then nothing needs to be remembered, which matters for tables of many rows.
bool Screen::is_always_fresh() const {
    return is_shared_ && n_features_ <= ALWAYS_FRESH_COLUMNS;
}

void Screen::start(int node) {
    node_ = node;
    std::iota(nodes_.begin(), nodes_.end(), node);
    has_reference_ = false;
    find_allowed();
}

// Where most pairs are forbidden, those that are not; empty where there is no need to list them.
void Screen::find_allowed() {
    allowed_ = {};
    if (!is_shared_ || !penalty_.is_matrix() || rows_.scans()) return;
    const double most = FEW_ALLOWED * n_features_ * n_features_ / 2;
    for (int s = 0; s < n_features_; ++s) {
        for (int t = s + 1; t < n_features_; ++t)
            if (std::isfinite(penalty_(s, t))) allowed_.push_back({s, t});
        if (static_cast<double>(allowed_.size()) > most) {
            allowed_ = {};
            return;
        }
    }
}

// Otherwise all pairs are computed each time, a band of lines at a time.
bool Screen::keeps_reference() const {
    const size_t p = n_features_;
    return !rows_.scans() && (!is_shared_ || p * (p - 1) / 2 <= largest_reference_);
}

const float* Screen::reference(int line) const {
    if (!is_shared_) return reference_.data();
    return reference_.data() + (first_of_row(line, n_features_) - first_of_row(first_line_, n_features_));
}

void Screen::take_reference() {
    const size_t p = n_features_, size = is_shared_ ? p * (p - 1) / 2 : p;
    if (reference_.size() < size) reference_.resize(size);
    if (!is_always_fresh()) rows_.remember(nodes_);
    if (is_shared_) {
        slack_ = rows_.all_pairs(0, n_lines(), reference_.data());
    } else {
        std::vector<Pair> pairs(n_features_);
        for (int t = 0; t < n_features_; ++t) pairs[t] = {node_, t};
        const std::vector<double> values = gradient(pairs);
        std::copy(values.begin(), values.end(), reference_.data());
        slack_ = NARROW;
    }
    has_reference_ = true;
    std::fill(norm_.begin(), norm_.end(), 0.0f);
    std::fill(shift_.begin(), shift_.end(), 0.0f);
}

// look(first, last) with the reference of these lines in place: of all lines at once if it is kept.
template <class Look>
void Screen::each_band(Look look) {
    if (keeps_reference()) {
        look(0, n_lines());
        return;
    }
    const size_t most = std::max<size_t>(std::min(PAIRS_PER_BAND, largest_reference_), n_features_);
    if (reference_.size() < most) reference_.resize(most);
    for (int first = 0, last; first < n_lines(); first = last) {
        const size_t begin = first_of_row(first, n_features_);
        for (last = first + 1; last < n_lines() && first_of_row(last + 1, n_features_) - begin <= most;) ++last;
        slack_ = rows_.all_pairs(first, last, reference_.data());
        first_line_ = first;
        look(first, last);
    }
}

void Screen::measure_drift() {
    const std::vector<ResidualDrift> moved = rows_.drift(nodes_);
    for (size_t k = 0; k < moved.size(); ++k) {
        norm_[k] = static_cast<float>(std::sqrt(moved[k].square) * (1 + 1e-6));
        shift_[k] = static_cast<float>(std::abs(moved[k].sum) * (1 + 1e-6));
    }
}

// Of one node's own pairs only its residuals count: the other ends stand still.
Drift Screen::drift(int line) const {
    const int s = left(line), from = first(line), own = is_shared_ ? s : 0;
    return {norm_[own],
            shift_[own],
            sd_[s],
            mean_[s],
            static_cast<float>((slack_ + 2 * newton_.certificate().moment_error) * (1 + 1e-6)),
            is_shared_ ? norm_.data() + from : zeros_.data(),
            is_shared_ ? shift_.data() + from : zeros_.data(),
            sd_.data() + from,
            mean_.data() + from};
}

// factor * omega of the pairs of one line; a column is never paired with itself.
void Screen::fill_limits(int line, double factor, float* limits) const {
    penalty_.fill_limits(left(line), first(line), factor, limits);
    if (!is_shared_) limits[node_] = std::numeric_limits<float>::infinity();
}

// Every pair whose gradient may reach threshold * omega. Where no reference is kept, pairs that are certainly zero are
// counted on the same occasion.
std::vector<Pair> Screen::candidates(double threshold) {
    std::vector<Pair> pairs;
    certified_ = 0;
    each_band([&](int begin, int end) {
        std::vector<std::vector<int>> found(std::max(end - begin, 0));
        pool_.each(found.size(), [&](int k, int worker) {
            const int line = begin + k, width = n_features_ - first(line);
            float* limits = limits_[worker].data();
            int* out = positions_[worker].data();
            fill_limits(line, threshold, limits);
            found[k].assign(out, out + kernels().find_above(reference(line), drift(line), limits, width, out));
        });
        for (size_t k = 0; k < found.size(); ++k) {
            const int line = begin + static_cast<int>(k);
            for (int position : found[k]) pairs.push_back({left(line), first(line) + position});
        }
        if (!keeps_reference()) certified_ += count_certified(begin, end);
    });
    return pairs;
}

std::vector<Pair> Screen::find(double threshold) {
    if (rows_.scans()) {
        const Certificate& known = newton_.certificate();
        const double alpha = newton_.alpha();
        Scanned scanned = rows_.scans()->scan({threshold, 2 * known.moment_error, alpha, known.scale, known.gap});
        // Rows count all pairs. Whichever of the working set they can have counted is taken off.
        const int64_t inside = isinglass::count_certified(newton_.set(), rows_.margins(), known, alpha, 1e-5);
        certified_ = std::max(scanned.certified - inside, int64_t{0});
        return std::move(scanned.pairs);
    }
    if (!allowed_.empty()) return allowed_;
    if (!keeps_reference()) return candidates(threshold);
    if (has_reference_ && !is_always_fresh())
        measure_drift();
    else
        take_reference();
    std::vector<Pair> possible = candidates(threshold);
    const double n_pairs = static_cast<double>(n_features_) * n_features_ / (is_shared_ ? 2 : n_features_);
    const bool moved = std::any_of(norm_.begin(), norm_.end(), [](float norm) { return norm > 0; });
    const double refresh = is_shared_ ? REFRESH_ALL : REFRESH_ONE;
    if (moved && static_cast<double>(possible.size()) > refresh * n_pairs) {
        take_reference();
        possible = candidates(threshold);
    }
    return possible;
}

// The sum of both halves, at either end, or the one at the first of each pair.
std::vector<double> Screen::gradient(const std::vector<Pair>& pairs, int halves) {
    const int p = n_features_;
    std::vector<int> start(p + 1, 0);
    for (const Pair& pair : pairs) ++start[pair.s + 1], start[pair.t + 1] += halves - 1;
    for (int s = 0; s < p; ++s) start[s + 1] += start[s];
    std::vector<int> next(start.begin(), start.end() - 1);
    std::vector<int> columns(halves * pairs.size()), place(columns.size());  // pair k: its halves
    for (size_t k = 0; k < pairs.size(); ++k) {
        columns[place[halves * k] = next[pairs[k].s]++] = pairs[k].t;
        if (halves == 2) columns[place[2 * k + 1] = next[pairs[k].t]++] = pairs[k].s;
    }
    std::vector<size_t> spot(columns.size() + 1, 0);  // with groups, where the numbers of a half begin
    for (int s = 0; s < p; ++s)
        for (int k = start[s]; k < start[s + 1]; ++k)
            spot[k + 1] = spot[k] + static_cast<size_t>(rows_.width(s)) * rows_.width(columns[k]);
    std::vector<double> parts(spot.back());
    std::vector<Gradient> tasks;
    for (int s = 0; s < p; ++s)
        if (start[s + 1] > start[s])
            tasks.push_back({s, {columns.data() + start[s], start[s + 1] - start[s]}, parts.data() + spot[start[s]]});
    rows_.gradients(tasks);
    std::vector<double> values(pairs.size());
    for (size_t k = 0; k < pairs.size(); ++k) {
        const int half = place[halves * k];
        double* g = parts.data() + spot[half];
        const size_t size = spot[half + 1] - spot[half];
        if (halves == 2)
            for (size_t i = 0; i < size; ++i) g[i] += parts[spot[place[2 * k + 1]] + i];
        values[k] = rows_.has_groups() ? norm(g, size) : *g;
    }
    return values;
}

// The gradient of pairs: that of the working set is known. Both lists are sorted.
std::vector<double> Screen::known_or_exact(const std::vector<Pair>& pairs) {
    const WorkingSet& set = newton_.set();
    std::vector<Pair> unknown;
    std::vector<double> values(pairs.size());
    std::vector<size_t> asked;
    size_t e = 0;
    for (size_t k = 0; k < pairs.size(); ++k) {
        if (set.find(pairs[k], e)) {
            values[k] = set.has_groups() ? set.gradient_norm(e) : set.gradient()[e];
        } else {
            unknown.push_back(pairs[k]);
            asked.push_back(k);
        }
    }
    const std::vector<double> exact = gradient(unknown);
    for (size_t k = 0; k < asked.size(); ++k) values[asked[k]] = exact[k];
    return values;
}

PairList Screen::reaching(double threshold, const std::vector<Pair>& possible) {
    const std::vector<double> values = known_or_exact(possible);
    if (!allowed_.empty()) certified_ = count_certified(values);
    PairList list;
    for (size_t k = 0; k < possible.size(); ++k) {
        const double weight = penalty_(possible[k].s, possible[k].t),
                     g = std::abs(values[k]) + 2 * newton_.certificate().moment_error;
        if (!std::isfinite(weight) || g < threshold * weight) continue;
        list.pairs.push_back(possible[k]);
        list.values.push_back(weight > 0 ? g / weight : std::numeric_limits<double>::infinity());
    }
    return list;
}

// By |g| / omega of some penalized pair, for certain.
double Screen::reached() {
    if (!allowed_.empty()) return 0;
    if (rows_.scans()) return rows_.scans()->largest();
    double largest = 0;
    if (keeps_reference()) take_reference();
    each_band([&](int begin, int end) {
        for (int line = begin; line < end; ++line)
            for (int t = first(line); t < n_features_; ++t) {
                const double weight = penalty_(left(line), t), g = std::abs(reference(line)[t - first(line)]);
                if (t != left(line) && weight > 0 && std::isfinite(weight))
                    largest = std::max(largest, (g - slack_) / weight);
            }
    });
    return largest;
}

// Without edges both halves of a gradient are the same covariance: of every pair, the one with the smaller error
// counts.
double Screen::alpha_max() {
    const double threshold = reached();
    // Where a reference is kept, it has just been taken.
    const bool is_listed = rows_.scans() || !allowed_.empty();
    const std::vector<Pair> possible = is_listed ? find(threshold) : candidates(threshold);
    const bool has_edges = newton_.has_edges();  // free ones
    const double rounding = rows_.rounding(), ends = is_shared_ && !has_edges ? 2 : 1;
    const auto error_of = [&](int s, int t) { return ends * covariance_error(rows_, newton_.sums_of(s), t, rounding); };
    std::vector<Pair> halves = possible;
    for (auto& [s, t] : halves)
        if (ends == 2 && error_of(t, s) < error_of(s, t)) std::swap(s, t);
    const std::vector<double> values = has_edges ? known_or_exact(possible) : gradient(halves, 1);
    double largest = 0;
    bool any = false;
    for (size_t k = 0; k < possible.size(); ++k) {
        const double weight = penalty_(possible[k].s, possible[k].t), g = ends * std::abs(values[k]);
        if (!(weight > 0) || !std::isfinite(weight)) continue;
        const double error =
            has_edges ? 2 * newton_.certificate().moment_error : error_of(halves[k].s, halves[k].t) + 2 * rounding * g;
        any |= g > error;
        largest = std::max(largest, (g + error) / weight);
    }
    top_ = has_edges ? std::numeric_limits<double>::infinity() : largest;
    return any ? largest : 0;
}

int64_t Screen::count_certified(int first_line, int last_line) {
    const WorkingSet& set = newton_.set();
    const Certificate& certificate = newton_.certificate();
    const float c = static_cast<float>(certificate.scale),
                half_gap = static_cast<float>(certificate.gap / 2 * (1 + 1e-6));
    std::vector<int64_t> counts(std::max(last_line - first_line, 0), 0);
    std::vector<size_t> begin(set.n_nodes() + 1, 0);  // the working set, row by row
    for (size_t e = 0; e < set.n_edges(); ++e) ++begin[set.s(e) + 1];
    for (int s = 0; s < set.n_nodes(); ++s) begin[s + 1] += begin[s];
    pool_.each(counts.size(), [&](int k, int worker) {
        const int line = first_line + k, count = n_features_ - first(line);
        float* limit = limits_[worker].data();
        // Forbidden pairs are not proved zero, they are told to be: limit -1 keeps them out of the count.
        fill_limits(line, newton_.alpha(), limit);
        for (int i = 0; i < count; ++i)
            if (std::isinf(limit[i])) limit[i] = -1.0f;
        for (size_t e = begin[line]; e < begin[line + 1]; ++e) limit[set.t(e) - first(line)] = -1.0f;
        counts[k] = kernels().count_certified(reference(line), drift(line), limit, c, half_gap, count);
    });
    return std::accumulate(counts.begin(), counts.end(), int64_t{0});
}

// The same of the pairs that are allowed, by their exact gradients.
int64_t Screen::count_certified(const std::vector<double>& gradients) const {
    const WorkingSet& set = newton_.set();
    const Certificate& known = newton_.certificate();
    int64_t count = 0;
    size_t e = 0;
    for (size_t k = 0; k < allowed_.size(); ++k) {
        const auto [s, t] = allowed_[k];
        count += !set.find(allowed_[k], e) &&
                 is_zero(known, std::abs(gradients[k]) + 2 * known.moment_error,
                         {rows_.margins().sd[s], rows_.margins().sd[t]}, newton_.alpha() * penalty_(s, t));
    }
    return count;
}

int64_t Screen::certified_outside() {
    if (!keeps_reference() || !allowed_.empty()) return certified_;
    return has_reference_ ? count_certified(0, n_lines()) : 0;
}

}  // namespace isinglass
