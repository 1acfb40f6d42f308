// The gradient over all pairs: a full reference in single precision now and then, rigorous bounds in between,
// and exact values for the pairs that could matter.
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "problem.hpp"

namespace isinglass {
namespace {

constexpr int TILE = 64;           // nodes of one block of the full gradient
constexpr int CHUNK = 1024;        // rows accumulated at a time: panels stay in the second-level cache
constexpr int REFRESH_SHARE = 32;  // a new reference once p^2 / 32 pairs can no longer be excluded: about the
                                   // number of exact values that costs as much

// |computed - exact| of one single-precision gradient, at worst: per lane the products of one chunk from both
// sides, the sum of the lanes, the sum over chunks, and the rounding of wr, each relative to a sum of
// absolute values of at most 2.
double rounding_slack(int rows, int lanes) {
    return 2.0 * (2 * CHUNK / lanes + 8 + rows / CHUNK) * 6e-8;
}

}  // namespace

const float* Problem::reference_row(int s) const {
    const size_t p = n_features(), row = s;
    return reference_.data() + row * (2 * p - row - 1) / 2;
}
float* Problem::reference_row(int s) {
    return const_cast<float*>(std::as_const(*this).reference_row(s));
}

void Problem::take_reference() {
    const int p = n_features(), stride = table_.stride;
    const size_t pairs = static_cast<size_t>(p) * (p - 1) / 2;
    if (reference_.size() < pairs) reference_.resize(pairs);
    if (reference_wr_.size() < wr_.size()) reference_wr_.resize(wr_.size());
    pool_.each(p, [&](int s, int) {
        kernels_.narrow(wr(s), stride, reference_wr_.data() + static_cast<size_t>(s) * stride);
    });
    std::vector<Pair> tiles;
    for (int top = 0; top < p; top += TILE)
        for (int left = top; left < p; left += TILE) tiles.push_back({top, left});
    const size_t scratch_size = static_cast<size_t>(2 * std::min(TILE, p)) * CHUNK + TILE * TILE;
    std::vector<Buffer<float>> scratch;
    for (int worker = 0; worker < pool_.size(); ++worker) scratch.emplace_back(scratch_size);
    pool_.each(static_cast<int>(tiles.size()), [&](int index, int worker) {
        fill_reference_block(tiles[index].s, tiles[index].t, scratch[worker].data());
    });
    has_reference_ = true;
    std::fill(drift_norm_.begin(), drift_norm_.end(), 0.0f);
    std::fill(drift_shift_.begin(), drift_shift_.end(), 0.0f);
}

// |g| of the pairs between the nodes from top and those from left, TILE each.
void Problem::fill_reference_block(int top, int left, float* scratch) {
    const int p = n_features(), stride = table_.stride;
    const int height = std::min(TILE, p - top), width = std::min(TILE, p - left);
    float *tile = scratch, *x_top = scratch + TILE * TILE, *x_left = x_top + height * CHUNK;
    std::fill(tile, tile + TILE * TILE, 0.0f);
    for (int row = 0; row < stride; row += CHUNK) {
        const int rows = std::min(CHUNK, stride - row);
        for (int k = 0; k < height; ++k)
            kernels_.widen(table_.column(top + k) + row, rows, x_top + k * CHUNK);
        for (int k = 0; k < width; ++k)
            kernels_.widen(table_.column(left + k) + row, rows, x_left + k * CHUNK);
        for (int i = 0; i < height; i += 4)
            for (int j = 0; j < width; j += 4) {
                const float *r_i[4], *x_i[4], *r_j[4], *x_j[4];
                for (int k = 0; k < 4; ++k) {  // a short last group repeats its last node
                    const int a = std::min(i + k, height - 1), b = std::min(j + k, width - 1);
                    r_i[k] = reference_wr_.data() + static_cast<size_t>(top + a) * stride + row;
                    r_j[k] = reference_wr_.data() + static_cast<size_t>(left + b) * stride + row;
                    x_i[k] = x_top + a * CHUNK;
                    x_j[k] = x_left + b * CHUNK;
                }
                kernels_.gradient_tile(r_i, x_i, r_j, x_j, rows, tile + i * TILE + j, TILE);
            }
    }
    for (int i = 0; i < height; ++i)
        for (int j = std::max(0, top + i + 1 - left); j < width; ++j)
            reference_row(top + i)[left + j - (top + i) - 1] = std::abs(tile[i * TILE + j]);
}

void Problem::measure_drift() {
    pool_.each(n_features(), [&](int s, int) {
        double square = 0, sum = 0;
        const float* reference = reference_wr_.data() + static_cast<size_t>(s) * table_.stride;
        kernels_.distance(wr(s), reference, table_.inverse_w.data(), table_.stride, &square, &sum);
        drift_norm_[s] = static_cast<float>(std::sqrt(square) * (1 + 1e-6));
        drift_shift_[s] = static_cast<float>(std::abs(sum) * (1 + 1e-6));
    });
}

Drift Problem::drift(int s) const {
    return {drift_norm_[s],
            drift_shift_[s],
            sd_[s],
            mean_[s],
            static_cast<float>(rounding_slack(table_.stride, kernels_.lanes)),
            drift_norm_.data() + s + 1,
            drift_shift_.data() + s + 1,
            sd_.data() + s + 1,
            mean_.data() + s + 1};
}

// factor * omega of the pairs (s, s + 1), (s, s + 2), ...
void Problem::fill_limits(int s, double factor, float* limits) const {
    if (kind_ == PenaltyKind::equal) {
        std::fill(limits, limits + n_features() - s - 1, static_cast<float>(factor));
        return;
    }
    for (int t = s + 1; t < n_features(); ++t) {
        const double weight = omega(s, t);  // forbidden: infinite, whatever the factor
        limits[t - s - 1] = static_cast<float>(std::isfinite(weight) ? factor * weight : weight);
    }
}

// Every pair whose gradient may reach threshold * omega.
std::vector<Pair> Problem::candidates(double threshold) {
    const int p = n_features();
    std::vector<std::vector<int>> found(p);
    std::vector<std::vector<float>> limits(pool_.size(), std::vector<float>(p));
    std::vector<std::vector<int>> positions(pool_.size(), std::vector<int>(p));
    pool_.each(p - 1, [&](int s, int worker) {
        fill_limits(s, threshold, limits[worker].data());
        int* out = positions[worker].data();
        const int count =
            kernels_.find_above(reference_row(s), drift(s), limits[worker].data(), p - s - 1, out);
        found[s].assign(out, out + count);
    });
    std::vector<Pair> pairs;
    for (int s = 0; s < p - 1; ++s)
        for (int position : found[s]) pairs.push_back({s, s + 1 + position});
    return pairs;
}

std::vector<double> Problem::gradient(const std::vector<Pair>& pairs) {
    const int p = n_features();
    std::vector<int> start(p + 1, 0);
    for (const Pair& pair : pairs) ++start[pair.s + 1], ++start[pair.t + 1];
    for (int s = 0; s < p; ++s) start[s + 1] += start[s];
    std::vector<int> next(start.begin(), start.end() - 1);
    std::vector<const uint8_t*> columns(2 * pairs.size());
    std::vector<int> place(2 * pairs.size());  // pair k: its two halves
    for (size_t k = 0; k < pairs.size(); ++k) {
        place[2 * k] = next[pairs[k].s]++;
        place[2 * k + 1] = next[pairs[k].t]++;
        columns[place[2 * k]] = table_.column(pairs[k].t);
        columns[place[2 * k + 1]] = table_.column(pairs[k].s);
    }
    std::vector<double> halves(2 * pairs.size()), values(pairs.size());
    pool_.each(p, [&](int s, int) {
        kernels_.dots(wr(s), columns.data() + start[s], start[s + 1] - start[s], table_.stride,
                      halves.data() + start[s]);
    });
    for (size_t k = 0; k < pairs.size(); ++k) values[k] = halves[place[2 * k]] + halves[place[2 * k + 1]];
    return values;
}

void Problem::gradient_above(double threshold, std::vector<Pair>& pairs, std::vector<double>& values) {
    const size_t p = n_features();
    if (has_reference_)
        measure_drift();
    else
        take_reference();
    std::vector<Pair> possible = candidates(threshold);
    const bool moved =
        std::any_of(drift_norm_.begin(), drift_norm_.end(), [](float norm) { return norm > 0; });
    if (moved && possible.size() > p * p / REFRESH_SHARE) {
        take_reference();
        possible = candidates(threshold);
    }
    const std::vector<double> exact = gradient(possible);
    pairs.clear();
    values.clear();
    for (size_t k = 0; k < possible.size(); ++k) {
        const double weight = omega(possible[k].s, possible[k].t);
        if (!std::isfinite(weight) || std::abs(exact[k]) < threshold * weight) continue;
        pairs.push_back(possible[k]);
        values.push_back(weight > 0 ? std::abs(exact[k]) / weight : std::numeric_limits<double>::infinity());
    }
}

double Problem::alpha_max() {
    const int p = n_features();
    take_reference();
    const double slack = rounding_slack(table_.stride, kernels_.lanes);
    double reached = 0;  // by some pair, for certain
    for (int s = 0; s < p; ++s)
        for (int t = s + 1; t < p; ++t) {
            const double weight = omega(s, t);
            if (weight > 0 && std::isfinite(weight))
                reached = std::max(reached, (reference_row(s)[t - s - 1] - slack) / weight);
        }
    std::vector<Pair> pairs;
    std::vector<double> values;
    gradient_above(reached, pairs, values);
    double largest = 0;
    for (double value : values)
        if (std::isfinite(value)) largest = std::max(largest, value);
    return largest;
}

int64_t Problem::certified_outside(double alpha) {
    if (!has_reference_) return 0;
    const int p = n_features();
    const float c = static_cast<float>(last_scale_),
                half_gap = static_cast<float>(last_gap_ / 2 * (1 + 1e-6));
    std::vector<int64_t> counts(p, 0);
    std::vector<std::vector<float>> limits(pool_.size(), std::vector<float>(p));
    std::vector<size_t> first(p + 1, 0);  // the last working set, row by row
    for (const Pair& pair : last_pairs_) ++first[pair.s + 1];
    for (int s = 0; s < p; ++s) first[s + 1] += first[s];
    pool_.each(p - 1, [&](int s, int worker) {
        float* limit = limits[worker].data();
        // Forbidden pairs are not proved zero, they are told to be: limit -1 keeps them out of the count.
        fill_limits(s, alpha, limit);
        for (int k = 0; k < p - s - 1; ++k)
            if (std::isinf(limit[k])) limit[k] = -1.0f;
        for (size_t k = first[s]; k < first[s + 1]; ++k) limit[last_pairs_[k].t - s - 1] = -1.0f;
        counts[s] = kernels_.count_certified(reference_row(s), drift(s), limit, c, half_gap, p - s - 1);
    });
    int64_t sum = 0;
    for (int64_t count : counts) sum += count;
    return sum;
}

}  // namespace isinglass
