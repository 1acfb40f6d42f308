#include "lasso/precise_face.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "rows/dense.hpp"

namespace isinglass {
namespace {

constexpr size_t ABSENT = std::numeric_limits<size_t>::max();

}  // namespace

PreciseFace::PreciseFace(const WorkingSet& set, Rows& rows, double alpha)
    : set_(set), rows_(rows), alpha_(alpha), begin_(set.n_edges(), ABSENT) {
    for (int e : set_.inner()) {
        if (set_.theta_norm(e) == 0.0) continue;
        edges_.push_back(e);
        begin_[e] = size_;
        size_ += set_.size(e);
    }
}

bool PreciseFace::is_small() const {
    return size_ <= tuning::newton::MAX_PRECISE;
}

bool PreciseFace::find_step(std::vector<double>& d, std::vector<double>& fields) {
    if (size_ == 0 || !is_small()) return false;
    H_.assign(size_ * size_, 0.0), y_.resize(size_);
    for (int node : set_.nodes()) add_loss(node);
    for (int e : edges_) add_penalty(e);
    solve_scaled(H_, y_);
    double longest = 1;
    for (int e : edges_) longest = std::max(longest, set_.theta_norm(e));
    longest *= tuning::newton::LONGEST_PRECISE;
    if (!std::all_of(y_.begin(), y_.end(), [&](double step) { return std::abs(step) <= longest; })) return false;
    for (int e : edges_) {
        double along = 0;
        for (size_t i = 0; i < set_.size(e); ++i) {
            const double theta = set_.theta()[set_.first(e) + i];
            d[set_.first(e) + i] = -y_[begin_[e] + i];
            along += theta * (theta - y_[begin_[e] + i]);
        }
        // A penalized edge that would turn around becomes zero.
        if (along > 0.0 || alpha_ * set_.omega(e) == 0.0) continue;
        for (size_t i = set_.first(e); i < set_.first(e) + set_.size(e); ++i) d[i] = -set_.theta()[i];
    }
    for (const FieldResponse& each : responses_) fields[each.node] -= each.response * d[set_.first(each.edge)];
    if (!responses_.empty()) shorten(d, fields);
    return true;
}

// Where an answer is all but impossible the loss is nearly straight, and Newton's step goes much too far. No predictor
// of columns of 0 and 1 moves by more than the sum of its field and coefficients.
void PreciseFace::shorten(std::vector<double>& d, std::vector<double>& fields) const {
    std::vector<double> moved(fields.size());
    for (int node : set_.nodes()) moved[node] = std::abs(fields[node]);
    for (const FieldResponse& each : responses_) moved[each.node] += std::abs(d[set_.first(each.edge)]);
    const double most = *std::max_element(moved.begin(), moved.end());
    if (most <= tuning::newton::MAX_PRECISE_MOVE) return;
    const double share = tuning::newton::MAX_PRECISE_MOVE / most;
    for (double& step : d) step *= share;
    for (double& step : fields) step *= share;
}

void PreciseFace::add_loss(int node) {
    std::vector<int> columns, edges;
    std::vector<size_t> place;
    for (int slot = set_.first_slot(node); slot < set_.first_slot(node) + set_.inner_degree(node); ++slot) {
        const int e = set_.edge_of(slot);
        if (begin_[e] == ABSENT) continue;
        columns.push_back(set_.column_of(slot));
        edges.push_back(e);
        for (size_t i = 0; i < set_.size(e); ++i) place.push_back(begin_[e] + i);
    }
    const NeighborColumns neighbors{columns.data(), static_cast<int>(columns.size())};
    if (columns.empty()) return;
    const auto [block, response] = rows_.precise_block(set_.first_node() + node, neighbors);
    for (size_t i = 0; i < response.size(); ++i) responses_.push_back({node, edges[i], response[i]});
    for (size_t i = 0; i < place.size(); ++i)
        for (size_t j = 0; j < place.size(); ++j) H_[place[i] * size_ + place[j]] += block[i * place.size() + j];
}

// Of the norm and the ridge. Directions that say nothing get a curvature of 1: gradients have no part in them.
void PreciseFace::add_penalty(int e) {
    const size_t size = set_.size(e), begin = begin_[e];
    const double *theta = set_.theta().data() + set_.first(e), *gradient = set_.gradient().data() + set_.first(e);
    const double length = set_.theta_norm(e), limit = alpha_ * set_.omega(e);
    for (size_t i = 0; i < size; ++i) {
        y_[begin + i] = gradient[i] + limit * (theta[i] / length);
        std::vector<double> part(size);
        part[i] = 1;
        if (set_.has_groups()) rows_.groups()->project(set_.pair(e), part.data());
        for (size_t j = 0; j < size; ++j) {
            const double same = i == j ? 1.0 : 0.0, across = same - theta[i] / length * (theta[j] / length);
            H_[(begin + i) * size_ + begin + j] += set_.ridge() * same + limit / length * across + (same - part[j]);
        }
    }
}

}  // namespace isinglass
