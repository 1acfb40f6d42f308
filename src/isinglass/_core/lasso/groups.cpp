#include "lasso/groups.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "lasso/lasso.hpp"
#include "tuning.hpp"

namespace isinglass {

using namespace tuning::groups;

namespace {

// The minimum of c^T z + z^T diag(h) z / 2 + limit ||z|| over z. It is zero if ||c|| <= limit, else
// z = -c / (h + limit / ||z||): one equation for the norm, whose left side less right side falls.
void minimize_group(const double* c, const double* h, size_t size, double limit, double* z) {
    const double steepness = norm(c, size);
    if (steepness <= limit) {
        std::fill(z, z + size, 0.0);
        return;
    }
    const auto [flattest, steepest] = std::minmax_element(h, h + size);
    double low = (steepness - limit) / *steepest, high = (steepness - limit) / *flattest, length = low;
    for (int step = 0; step < MAX_SECULAR; ++step) {
        // sum (c / (h length + limit))^2 = 1; Newton on its square root, kept inside the bracket.
        double sum = 0, slope = 0;
        for (size_t i = 0; i < size; ++i) {
            const double below = 1 / (h[i] * length + limit), part = c[i] * below * c[i] * below;
            sum += part;
            slope += part * h[i] * below;
        }
        const double root = std::sqrt(sum);
        (root > 1 ? low : high) = length;
        double next = length + (root - 1) * sum / slope;  // of 1 / root, which is nearly linear
        if (!(next > low && next < high)) next = (low + high) / 2;
        const bool is_close = std::abs(next - length) <= SECULAR_ERROR * length;
        length = next;
        if (is_close) break;
    }
    for (size_t i = 0; i < size; ++i) z[i] = -c[i] * length / (h[i] * length + limit);
}

}  // namespace

// task(group) for every group: several at a time, each thread a share of them that is worth waking it for.
template <class Task>
void GroupModel::each_group(Task task) {
    const size_t share = std::max<size_t>(groups_.size() * NUMBERS_PER_TASK / std::max<size_t>(z_.size(), 1), 1);
    pool_.each((groups_.size() + share - 1) / share, [&](int k, int) {
        const size_t first = k * share, last = std::min(first + share, groups_.size());
        for (size_t i = first; i < last; ++i) task(groups_[i]);
    });
}

// What the model needs, group after group.
void GroupModel::gather(const std::vector<double>& gradient, double alpha) {
    groups_.clear(), z_.clear(), slope_.clear(), diagonal_.clear();
    for (int e : set_.inner()) {
        const size_t first = set_.first(e), size = set_.size(e);
        const Pair pair{set_.first_node() + set_.s(e), set_.t(e)};
        groups_.push_back({z_.size(), size, first, set_.slot_s(e), set_.slot_t(e), alpha * set_.omega(e), pair});
        z_.insert(z_.end(), set_.theta().begin() + first, set_.theta().begin() + first + size);
        slope_.insert(slope_.end(), gradient.begin() + first, gradient.begin() + first + size);
        const float *one = set_.diagonal().data() + set_.at(set_.slot_s(e)),
                    *other = set_.diagonal().data() + set_.at(set_.slot_t(e));
        for (size_t i = 0; i < size; ++i) diagonal_.push_back(static_cast<double>(one[i]) + other[i] + set_.ridge());
    }
    damping_ = violation() / LONGEST_STEP;
    for (double& each : diagonal_) each += damping_;
    factors_.resize(set_.n_numbers());
    products_.assign(set_.n_numbers(), 0.0f);
    for (Values* values : {&step_, &product_, &x_, &Hx_, &residual_, &scaled_, &direction_, &Hd_, &inverse_})
        values->resize(z_.size());
    length_.resize(groups_.size());
}

// Hx = H x
void GroupModel::multiply(const Values& x, Values& Hx) {
    ++n_products_;
    poll_();
    each_group([&](const Group& group) {
        for (int slot : {group.slot_s, group.slot_t})
            for (size_t i = 0; i < group.size; ++i)
                factors_[set_.at(slot) + i] = static_cast<float>(x[group.begin + i]);
    });
    tasks_.clear();
    for (int node : set_.nodes()) {
        const size_t first = set_.at(set_.first_slot(node));
        if (!set_.is_operator(node)) {
            line_.resize(set_.block_stride(node));
            set_.multiply_block(node, factors_.data() + first, line_.data());
            std::copy_n(line_.data(), set_.inner_width(node), products_.data() + first);
            continue;
        }
        tasks_.push_back({.node = set_.first_node() + node,
                          .inner = set_.inner_of(node),
                          .d = factors_.data() + first,
                          .center = 0,
                          .Hd = products_.data() + first});
    }
    rows_.products()->multiply(tasks_);
    each_group([&](const Group& group) {
        const float *one = products_.data() + set_.at(group.slot_s), *other = products_.data() + set_.at(group.slot_t);
        for (size_t i = 0; i < group.size; ++i)
            Hx[group.begin + i] =
                static_cast<double>(one[i]) + other[i] + (damping_ + set_.ridge()) * x[group.begin + i];
    });
}

double GroupModel::violation() const {
    double largest = 0;
    for (const Group& group : groups_)
        largest = std::max(
            largest, kkt_violation(z_.data() + group.begin, slope_.data() + group.begin, group.size, group.limit));
    return largest;
}

// By the change of the squares: the difference of two norms would be all rounding near the end.
double GroupModel::penalty_change(const Values& step, double length) const {
    double sum = 0;
    for (const Group& group : groups_) {
        double before = 0, after = 0, change = 0;
        for (size_t i = group.begin; i < group.begin + group.size; ++i) {
            const double move = length * step[i], moved = z_[i] + move;
            before += z_[i] * z_[i];
            after += moved * moved;
            change += move * (z_[i] + moved);
        }
        const double both = std::sqrt(after) + std::sqrt(before);
        if (both > 0) sum += group.limit * (change / both);
    }
    return sum;
}

void GroupModel::take(const Values& step, const Values& product, double length) {
    for (size_t i = 0; i < z_.size(); ++i) {
        z_[i] += length * step[i];
        slope_[i] += length * product[i];
    }
}

// Every group to the minimum of its own parabola, made steeper until the model decreases.
bool GroupModel::proximal_step() {
    for (reach = std::min(1.0, 2 * reach); reach > SHORTEST_STEP; reach /= 2) {
        each_group([&](const Group& group) {
            double* next = step_.data() + group.begin;
            if (group.size == 1) {
                const double h = diagonal_[group.begin] / reach, z = z_[group.begin];
                *next = soft_threshold(z - slope_[group.begin] / h, group.limit / h) - z;
                return;
            }
            std::vector<double> c(group.size), h(group.size);
            for (size_t i = 0; i < group.size; ++i) {
                const size_t place = group.begin + i;
                h[i] = diagonal_[place] / reach;
                c[i] = slope_[place] - h[i] * z_[place];
            }
            minimize_group(c.data(), h.data(), group.size, group.limit, next);
            rows_.groups()->project(group.pair, next);
            for (size_t i = 0; i < group.size; ++i) next[i] -= z_[group.begin + i];
        });
        multiply(step_, product_);
        const double change = dot(slope_, step_) + dot(step_, product_) / 2 + penalty_change(step_, 1.0);
        if (!(change < 0)) continue;
        take(step_, product_, 1.0);
        return true;
    }
    reach = 1;
    return false;
}

// Lengths of the groups, and the residual and the preconditioner on the face of those that are not zero.
void GroupModel::begin_face() {
    for (size_t k = 0; k < groups_.size(); ++k) {
        const Group& group = groups_[k];
        const double length = norm(z_.data() + group.begin, group.size);
        length_[k] = length;
        for (size_t i = group.begin; i < group.begin + group.size; ++i) {
            residual_[i] = length > 0 ? -(slope_[i] + group.limit * z_[i] / length) : 0.0;
            // The norm of a single number has no curvature.
            inverse_[i] = length > 0 ? 1 / (diagonal_[i] + (group.size > 1 ? group.limit / length : 0.0)) : 0.0;
        }
    }
}

// scaled = M^-1 residual, where M has the diagonal of H and the curvature of the norm, which has none along z:
// M = A - c u u^T with A diagonal, c = limit / ||z|| and u = z / ||z||.
void GroupModel::precondition(size_t k) {
    const Group& group = groups_[k];
    double along = 0, rest = 0;
    for (size_t i = group.begin; i < group.begin + group.size; ++i) {
        scaled_[i] = residual_[i] * inverse_[i];
        along += z_[i] * scaled_[i];
        rest += z_[i] * z_[i] * inverse_[i] * diagonal_[i];
    }
    if (group.size == 1 || length_[k] == 0.0) return;
    // u^T A^-1 residual c / (1 - c u^T A^-1 u), times u: the numbers of the diagonal are all positive.
    const double factor = group.limit / length_[k] * along / rest;
    for (size_t i = group.begin; i < group.begin + group.size; ++i) scaled_[i] += factor * inverse_[i] * z_[i];
    rows_.groups()->project(group.pair, scaled_.data() + group.begin);
}

// The second derivatives of limit ||z||: limit (I - u u^T) / ||z||; groups at zero are left out.
void GroupModel::add_penalty_curvature(const Values& x, Values& Hx) const {
    for (size_t k = 0; k < groups_.size(); ++k) {
        const Group& group = groups_[k];
        const double length = length_[k];
        double along = 0;
        for (size_t i = group.begin; i < group.begin + group.size; ++i) along += z_[i] * x[i];
        for (size_t i = group.begin; i < group.begin + group.size; ++i)
            Hx[i] = length > 0 ? Hx[i] + group.limit / length * (x[i] - z_[i] / length * (along / length)) : 0.0;
    }
}

// Conjugate gradients on the face; leaves the step in x_ and H times it in Hx_.
void GroupModel::solve_face(double tolerance) {
    std::fill(x_.begin(), x_.end(), 0.0);
    std::fill(Hx_.begin(), Hx_.end(), 0.0);
    std::fill(direction_.begin(), direction_.end(), 0.0);
    const auto largest = [&] {
        double size = 0;
        for (const Group& group : groups_) size = std::max(size, norm(residual_.data() + group.begin, group.size));
        return size;
    };
    double rz = 0, target = std::max(tolerance, FORCING * largest());
    for (int step = 0; step < MAX_PRODUCTS && largest() > target; ++step) {
        each_group([&](const Group& group) { precondition(&group - groups_.data()); });
        const double next = dot(residual_, scaled_), ratio = step == 0 ? 0.0 : next / rz;
        for (size_t i = 0; i < z_.size(); ++i) direction_[i] = scaled_[i] + ratio * direction_[i];
        rz = next;
        multiply(direction_, Hd_);
        scaled_ = Hd_;
        add_penalty_curvature(direction_, scaled_);
        const double curvature = dot(direction_, scaled_);
        if (!(curvature > 0)) return;
        const double length = rz / curvature;
        for (size_t i = 0; i < z_.size(); ++i) {
            x_[i] += length * direction_[i];
            Hx_[i] += length * Hd_[i];
            residual_[i] -= length * scaled_[i];
        }
    }
}

// Newton's step on the face, shortened until the model decreases.
bool GroupModel::face_step(double tolerance) {
    begin_face();
    solve_face(tolerance);
    const double linear = dot(slope_, x_), quadratic = dot(x_, Hx_) / 2;
    for (double length = 1; length > SHORTEST_STEP; length /= 2) {
        if (!(length * linear + length * length * quadratic + penalty_change(x_, length) < 0)) continue;
        take(x_, Hx_, length);
        return true;
    }
    return false;
}

int64_t GroupModel::minimize(const std::vector<double>& gradient, double alpha, double tolerance,
                             std::vector<double>& d) {
    n_products_ = 0;
    gather(gradient, alpha);
    for (int round = 0; round < MAX_ROUNDS && violation() > tolerance; ++round) {
        const bool has_moved = proximal_step();
        if (violation() <= tolerance) break;
        if (!face_step(LAST_FACE * tolerance) && !has_moved) break;
    }
    for (const Group& group : groups_)
        for (size_t i = 0; i < group.size; ++i)
            d[group.first + i] = z_[group.begin + i] - set_.theta()[group.first + i];
    return n_products_;
}

}  // namespace isinglass
