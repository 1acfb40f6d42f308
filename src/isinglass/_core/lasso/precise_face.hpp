// Newton's step on the face of the edges that are not zero, with second derivatives in double precision. Where columns
// all but separate each other, single precision takes a direction for flat that has a curvature of 1e-8, or one for
// curved that is flat.
#pragma once

#include <vector>

#include "lasso/working_set.hpp"

namespace isinglass {

class PreciseFace {
 public:
    PreciseFace(const WorkingSet& set, Rows& rows, double alpha);
    bool is_small() const;  // enough for its matrix to be factorized
    // d: the step of every coefficient of the working set; fields: that of the field of every node; zero before.
    // False: there is none, or too many edges.
    bool find_step(std::vector<double>& d, std::vector<double>& fields);

 private:
    void add_loss(int node);
    void shorten(std::vector<double>& d, std::vector<double>& fields) const;
    void add_penalty(int e);

    const WorkingSet& set_;
    Rows& rows_;
    const double alpha_;
    std::vector<int> edges_;
    std::vector<size_t> begin_;  // of every edge of the working set, among the coefficients of the face
    size_t size_ = 0;            // of the face
    // By how much the field of a node falls when an edge grows by one.
    struct FieldResponse {
        int node, edge;
        double response;
    };
    std::vector<FieldResponse> responses_;
    std::vector<double> H_, y_;  // second derivatives; gradient, then the step backwards
};

}  // namespace isinglass
