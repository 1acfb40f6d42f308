// The linear system of Newton's step on a face, H x = b: edges that keep their signs, so that the penalty is linear.
//
// Solved by conjugate gradients, preconditioned by the diagonal and, if that takes long and costs no more than it
// saves, by a factorization.
#pragma once

#include <vector>

#include "lasso/hessian.hpp"

namespace isinglass {

class Face {
 public:
    struct Member {
        int edge;
        double sign;     // that it is to keep
        double start;    // its coefficient at x = 0
        bool may_cross;  // zero: it has no penalty
    };
    Face(const WorkingSet& set, Hessian& hessian, Pool& pool)
        : set_(set), hessian_(hessian), pool_(pool), poll_(pool.poll()), chunks_(pool) {}

    // A face of so many edges, each of which is then set.
    void resize(size_t size) { members_.resize(size), b_.resize(size); }
    void set(size_t k, const Member& member, double b) { members_[k] = member, b_[k] = b; }
    size_t size() const { return members_.size(); }
    const Member& operator[](size_t k) const { return members_[k]; }
    const std::vector<double>& x() const { return x_; }

    struct Goal {
        double tolerance;           // of the residual's largest entry
        bool ends_at_crossing;      // once some edge is seen to cross zero: the face will change anyhow
        bool is_rough;              // rough products will do until the residual is accurate to a few percent
        const double* curvature;    // the diagonal of H, by edge
        int64_t n_products_before;  // of this model: a factorization may cost as many
    };
    void solve(const Goal& goal);

 private:
    void begin(const double* curvature);
    bool crosses_zero();
    double multiply(const std::vector<double>& v, bool is_rough);
    double find_residual();
    bool factorize(int64_t n_products_before);
    double precondition();
    void turn(bool is_new);
    double advance(double length);

    const WorkingSet& set_;
    Hessian& hessian_;
    Pool& pool_;
    Poll& poll_;
    Chunks chunks_;
    std::vector<Member> members_;
    std::vector<double> b_;

    // Where the face is among the slots. Of nodes with a block, those that are on it, node after node.
    struct Node {
        int node, begin, end, reach;  // its part of the lists; slots to compute
    };
    std::vector<std::array<int, 2>> slots_of_;  // of every member
    std::vector<int> place_of_;                 // of every slot of an operator: on the face, or its size
    std::vector<int> place_of_edge_;            // the same of every edge
    std::vector<Node> nodes_;
    std::vector<int> slots_, places_;
    std::vector<const float*> block_rows_;
    std::vector<float> factors_;

    // Conjugate gradients, one number per member; direction_ has one more, which is zero.
    std::vector<double> x_, residual_, scaled_, direction_, product_, inverse_;
    double rz_ = 0;             // residual . scaled
    Buffer<float> at_slots_;    // of a product
    Buffer<float> factor_;      // U with U^T U = H on the face, row by row
    size_t factor_stride_ = 0;  // 0: no factor, the diagonal serves instead
};

}  // namespace isinglass
