#include "rows/sum_rows.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace isinglass {
namespace {

// Lets every part answer into memory of its own, then adds what it says: ask(part, tasks) is given the tasks
// with `out` pointing there, each with room for count(task) numbers.
template <class Task, class T, class Count, class Ask>
void add_parts(const std::vector<std::unique_ptr<Rows>>& parts, std::span<const Task> tasks, T* Task::* out,
               Count count, Ask ask) {
    size_t size = 0;
    for (const Task& task : tasks) size += count(task);
    std::vector<T> answers(size);
    std::vector<Task> copies(tasks.begin(), tasks.end());
    T* next = answers.data();
    for (Task& copy : copies) copy.*out = next, next += count(copy);
    for (const Task& task : tasks) std::fill_n(task.*out, count(task), T());
    for (const auto& part : parts) {
        ask(*part, std::span<const Task>(copies));
        for (size_t k = 0; k < tasks.size(); ++k)
            for (int i = 0; i < count(tasks[k]); ++i) (tasks[k].*out)[i] += (copies[k].*out)[i];
    }
}

}  // namespace

SumRows::SumRows(std::vector<std::unique_ptr<Rows>> parts) : parts_(std::move(parts)) {
    const size_t p = parts_.front()->margins().mean.size();
    margins_ = {std::vector<double>(p), std::vector<double>(p), std::vector<double>(p)};
    for (size_t s = 0; s < p; ++s) {
        for (const auto& part : parts_) {
            margins_.mean[s] += part->margins().mean[s];
            margins_.rest[s] += part->margins().rest[s];
        }
        margins_.sd[s] = std::sqrt(margins_.mean[s] * margins_.rest[s]);
    }
}

double SumRows::rounding() const {
    double largest = 0;
    for (const auto& part : parts_) largest = std::max(largest, part->rounding());
    return largest + static_cast<double>(parts_.size()) * std::numeric_limits<double>::epsilon();
}

std::vector<Overlap> SumRows::overlaps(std::span<const Pair> pairs) {
    std::vector<Overlap> sums(pairs.size());
    for (const auto& part : parts_) {
        const std::vector<Overlap> own = part->overlaps(pairs);
        for (size_t k = 0; k < sums.size(); ++k) {
            sums[k].both += own[k].both;
            sums[k].first += own[k].first;
            sums[k].second += own[k].second;
            sums[k].neither += own[k].neither;
        }
    }
    return sums;
}

std::vector<double> SumRows::gram(int node, const Beside& beside, int most) {
    std::vector<double> sum(static_cast<size_t>(beside.count + 1) * (beside.count + 1));
    for (const auto& part : parts_) {
        const std::vector<double> own = part->gram(node, beside, most);
        for (size_t k = 0; k < sum.size(); ++k) sum[k] += own[k];
    }
    return sum;
}

void SumRows::move(std::span<const Move> tasks, bool afresh) {
    std::vector<NodeSums> sums(tasks.size()), totals(tasks.size());
    const auto ask = [&](Rows& part, std::span<const Move> copies) {
        std::vector<Move> own(copies.begin(), copies.end());
        for (size_t k = 0; k < own.size(); ++k) own[k].sums = &sums[k];
        part.move(own, afresh);
        for (size_t k = 0; k < own.size(); ++k) {
            totals[k].loss += sums[k].loss;
            totals[k].curve += sums[k].curve;
            totals[k].zeros += sums[k].zeros;
            totals[k].ones += sums[k].ones;
            totals[k].field = totals[k].zeros - totals[k].ones;
        }
    };
    add_parts(parts_, tasks, &Move::gradient, [](const Move& task) { return task.asked.count; }, ask);
    for (size_t k = 0; k < tasks.size(); ++k) *tasks[k].sums = totals[k];
}

void SumRows::gradients(std::span<const Gradient> tasks) {
    add_parts(
        parts_, tasks, &Gradient::gradient, [](const Gradient& task) { return task.asked.count; },
        [](Rows& part, std::span<const Gradient> copies) { part.gradients(copies); });
}

void SumRows::products(std::span<const Product> tasks) {
    add_parts(
        parts_, tasks, &Product::Hd, [](const Product& task) { return task.inner.count; },
        [](Rows& part, std::span<const Product> copies) { part.products(copies); });
}

// A part's block is centred at its own means m_k. About the common means m it is larger by
// S_k (m_k - m) (m_k - m)^T, a sum without cancellation.
void SumRows::blocks(std::span<const Block> tasks, Curvature curvature) {
    const size_t n_parts = parts_.size();
    for (const Block& task : tasks) {
        const size_t d = task.inner.count, ld = task.G ? task.stride : 1;
        std::vector<float> G(n_parts * d * ld), b(n_parts * d);
        std::vector<double> S(n_parts), mean(d);
        for (size_t k = 0; k < n_parts; ++k) {
            Block own = task;
            (task.G ? own.G : own.diagonal) = G.data() + k * d * ld;
            own.b = b.data() + k * d;
            own.curve = &S[k];
            parts_[k]->blocks({&own, 1}, curvature);
        }
        *task.curve = 0;
        for (size_t k = 0; k < n_parts; ++k) *task.curve += S[k];
        for (size_t i = 0; i < d; ++i) {
            double sum = 0;
            for (size_t k = 0; k < n_parts; ++k) sum += b[k * d + i];
            task.b[i] = static_cast<float>(sum);
            mean[i] = *task.curve > 0 ? sum / *task.curve : 0;
        }
        const auto off = [&](size_t k, size_t i) { return S[k] > 0 ? b[k * d + i] / S[k] - mean[i] : 0.0; };
        for (size_t i = 0; i < d; ++i)
            for (size_t j = task.G ? 0 : i; j < (task.G ? d : i + 1); ++j) {
                double sum = 0;
                for (size_t k = 0; k < n_parts; ++k)
                    sum += G[(k * d + i) * ld + (task.G ? j : 0)] + S[k] * off(k, i) * off(k, j);
                (task.G ? task.G[i * ld + j] : task.diagonal[i]) = static_cast<float>(sum);
            }
    }
}

double SumRows::divergence(std::span<const int> nodes, double c) {
    double sum = 0;
    for (const auto& part : parts_) sum += part->divergence(nodes, c);
    return sum;
}

double SumRows::largest_predictor(std::span<const int> nodes) {
    double largest = 0;
    for (const auto& part : parts_) largest = std::max(largest, part->largest_predictor(nodes));
    return largest;
}

void SumRows::remember(std::span<const int> nodes) {
    for (const auto& part : parts_) part->remember(nodes);
}

double SumRows::all_pairs(float* triangle) {
    const size_t p = margins_.mean.size(), size = p * (p - 1) / 2;
    // Each addition rounds a sum of at most 2.
    double slack = static_cast<double>(parts_.size()) * 1.2e-7;
    std::vector<float> own(size);
    std::fill(triangle, triangle + size, 0.0f);
    for (const auto& part : parts_) {
        slack += part->all_pairs(own.data());
        for (size_t k = 0; k < size; ++k) triangle[k] += own[k];
    }
    return slack;
}

std::vector<Moved> SumRows::drift(std::span<const int> nodes) {
    std::vector<Moved> sums(nodes.size());
    for (const auto& part : parts_) {
        const std::vector<Moved> own = part->drift(nodes);
        for (size_t k = 0; k < sums.size(); ++k) sums[k].square += own[k].square, sums[k].sum += own[k].sum;
    }
    return sums;
}

}  // namespace isinglass
