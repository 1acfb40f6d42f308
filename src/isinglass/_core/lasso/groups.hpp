// The quadratic model of a Newton step where coefficients come in groups,
//   m(d) = g^T d + d^T H d / 2 + alpha sum_e omega_e ||theta_e + d_e||,
// minimized over the inner edges by products with H alone, of blocks and of operators.
//
// Away from zero the norm of a group is smooth, so that two steps alternate: a proximal one, in which every group goes
// to the minimum of its own separable parabola and which decides who is zero, and conjugate gradients on the groups
// that are not, with the curvature of their norms.
#pragma once

#include <cstdint>
#include <vector>

#include "lasso/working_set.hpp"
#include "rows/pool.hpp"

namespace isinglass {

class GroupModel {
 public:
    GroupModel(const WorkingSet& set, Rows& rows, Pool& pool)
        : set_(set), rows_(rows), pool_(pool), poll_(pool.poll()) {}

    double reach = 1;  // share of a proximal step that was last taken
    // Until no group's optimality condition is violated by more than tolerance; d: the minimizer. Returns the number of
    // products.
    int64_t minimize(const std::vector<double>& gradient, double alpha, double tolerance, std::vector<double>& d);

 private:
    using Values = std::vector<double>;  // group after group, inner edges only
    struct Group {
        size_t begin, size, first;  // in Values, and in the working set
        int slot_s, slot_t;
        double limit;
        Pair pair;
    };
    template <class Task>
    void each_group(Task task);
    void gather(const std::vector<double>& gradient, double alpha);
    void multiply(const Values& x, Values& Hx);
    double violation() const;
    double penalty_change(const Values& step, double length) const;
    void take(const Values& step, const Values& product, double length);
    bool proximal_step();
    bool face_step(double tolerance);
    void begin_face();
    void precondition(size_t k);
    void solve_face(double tolerance);
    void add_penalty_curvature(const Values& x, Values& Hx) const;

    const WorkingSet& set_;
    Rows& rows_;
    Pool& pool_;
    Poll& poll_;
    std::vector<Group> groups_;
    Values z_;                 // theta + d
    Values slope_, diagonal_;  // of the smooth part
    Values step_, product_;    // scratch
    Values x_, Hx_, residual_, scaled_, direction_, Hd_, inverse_;
    std::vector<double> length_;  // ||z||
    std::vector<float> factors_, products_, line_;
    std::vector<Product> tasks_;
    int64_t n_products_ = 0;
    double damping_ = 0;  // added to H: in single precision it may have no curvature left where there is a slope
};

}  // namespace isinglass
