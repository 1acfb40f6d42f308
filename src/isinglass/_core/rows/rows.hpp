// The seam: everything that touches rows of the table. What crosses it is sized by nodes, by slots of a working set or
// by lists of pairs, never by rows, and every answer of a list of parts is a sum over them.
//
// Calls are batched over nodes: on this computer a batch is shared out over threads, elsewhere it is one round of
// messages. A task names a node, what to do, and where to put the answer.
#pragma once

#include <cmath>
#include <functional>
#include <span>
#include <vector>

#include "rows/kernels.hpp"
#include "rows/table.hpp"

namespace isinglass {

// Adds offset + sum coefficient x to a node's predictor, and reports what follows from it.
struct Move {
    int node;
    double offset;
    NodeSums* sums;  // out
    NeighborColumns moved = {};
    const double* coefficient = nullptr;
    NeighborColumns asked = {};  // columns whose gradient is wanted
    double* gradient = nullptr;  // out: sum_n w r_node x_t
};

struct Gradient {
    int node;
    NeighborColumns asked;
    double* gradient;  // out
};

// Second derivatives of a node's loss in its neighbors' coefficients, its field profiled out:
//   G = X^T diag(w v) X - b b^T / S,   b = X^T (w v), S = sum w v,
// computed from centered columns, which is the same without cancellation.
struct Block {
    int node;
    NeighborColumns inner;
    float* G;  // out, `stride` floats per row; null: only what goes beside products
    int stride;
    float* b;         // out
    float* diagonal;  // out where G is null
    double* curve;    // out: S
};

// Hd = G d for the columns and the curvatures of the node's last Block without G; center = b d / S.
struct Product {
    int node;
    NeighborColumns inner;
    const float* d;
    double center;
    float* Hd;              // out
    bool is_rough = false;  // an error of some thousandths will do
};

// What to look for among all pairs, where rows can do that themselves: those whose |g| + extra may reach threshold
// omega, and how many have scale (|g| + extra) + sqrt(gap (sd_s^2 + sd_t^2) / 2) < alpha omega for certain.
struct Scan {
    double threshold, extra;
    double alpha, scale, gap;
};

struct Scanned {
    std::vector<Pair> pairs;  // in lexicographic order
    int64_t certified = 0;
};

// How far a node's residuals have moved since they were remembered: sum_n w (r - r_ref)^2 and its sum.
struct ResidualDrift {
    double square = 0, sum = 0;
};

// Whose state rows on this computer keep: of all nodes, or of a single one, the node placed last.
enum class Holds { all_nodes, one_node };

enum class Curvature { own, majorized };  // w sigma (1 - sigma), or its bound w / 4

// Rows on which a node can be an operator, without its block.
class ProductRows {
 public:
    virtual ~ProductRows() = default;
    // fill(k) makes d and center of task k, where they are not there yet; on the thread that multiplies it, in whose
    // cache they are then.
    using Fill = std::function<void(size_t k)>;
    virtual void multiply(std::span<const Product> tasks, const Fill& fill) = 0;
    void multiply(std::span<const Product> tasks) {
        multiply(tasks, [](size_t) {});
    }
    virtual bool has_rough() const { return false; }  // rough products that take less than half the time
};

// Rows that look at all pairs where they are, each time anew, and keep none of it; then nothing is remembered.
class ScanRows {
 public:
    virtual ~ScanRows() = default;
    virtual Scanned scan(const Scan& scan) = 0;
    // A value that |g| / omega of some penalized pair reaches for certain; as large as can be told.
    virtual double largest() = 0;
};

// Second derivatives of a node's loss, with its field at the minimum of the quadratic model.
struct PreciseBlock {
    std::vector<double> H;  // a square matrix, row after row
    // By how much the field falls when a coefficient grows by one; empty where rows keep the fields themselves.
    std::vector<double> field_response;
};

// Columns without an order of their categories have a point of `width` numbers for each, and a pair has width(s)
// width(t) coefficients. Wherever there is one number per column or pair below, there are then so many one after the
// other, as a matrix with a row for each number of the first column of the pair; all_pairs returns norms; nodes without
// an order are operators, and b means nothing.
class GroupRows {
 public:
    virtual ~GroupRows() = default;
    virtual int width(int column) const = 0;
    virtual bool has_block(int node) const = 0;
    // The nearest block that has no part in directions which say nothing: a pair may have more numbers than parameters,
    // and gradients have no such part.
    virtual void project(const Pair& pair, double* block) const = 0;
};

class Rows {
 public:
    virtual ~Rows() = default;
    virtual const Margins& margins() const = 0;
    // Bound of the relative error of a sum over rows of terms of one sign, their own rounding included.
    virtual double rounding() const = 0;
    // The field of a node without neighbors: the log odds of its column.
    virtual double null_field(int node) const {
        return std::log(margins().mean[node]) - std::log(margins().rest[node]);
    }
    // afresh: the predictor starts from zero instead of where it is.
    virtual void move(std::span<const Move> tasks, bool afresh) = 0;
    virtual void gradients(std::span<const Gradient> tasks) = 0;
    // Products are for operators among these nodes, until the next call that has operators.
    virtual void blocks(std::span<const Block> tasks, Curvature curvature) = 0;
    // sum_n w_n KL(x_n + c r_n || sigma_n) for 0 < c < 1, over these nodes.
    virtual double divergence(std::span<const int> nodes, double c) = 0;
    virtual double largest_predictor(std::span<const int>) { return 0; }  // asked of columns of 0 and 1

    // Remembers the residuals of these nodes, for drift.
    virtual void remember(std::span<const int> nodes) = 0;
    virtual std::vector<ResidualDrift> drift(std::span<const int> nodes) = 0;
    // The gradient of every pair (s, t), first <= s < last, s < t, line after line in single precision; returns a bound
    // of its error.
    virtual double all_pairs(int first, int last, float* band) = 0;

    // Z^T diag(w v) Z of a node, in double precision, with Z = [columns, 1] and v = sigma (1 - sigma) rounded down, row
    // by row: a bound of the curvature for the certificate of free edges. Empty where no pair can be free.
    virtual std::vector<double> gram(int, const NeighborColumns&) { return {}; }
    // Second derivatives in double precision, where rows have them.
    virtual bool has_precise_blocks() const { return false; }
    virtual PreciseBlock precise_block(int, const NeighborColumns&) { return {}; }
    // Nodes with more than two categories: the rows keep the fields, at their optimum for the predictors, and offsets
    // and fields above the seam mean nothing.
    virtual bool has_categories() const { return false; }
    virtual std::vector<double> category_fields(int, int) const { return {}; }  // of these nodes [first, last)
    virtual void set_category_fields(int, std::span<const double>) {}  // of nodes from this one on; `move` follows

    // What not all rows can do; null where they cannot.
    virtual ProductRows* products() { return nullptr; }  // nodes are then never operators
    virtual ScanRows* scans() { return nullptr; }
    virtual const GroupRows* groups() const { return nullptr; }  // a pair then has one coefficient

    bool has_groups() const { return groups() != nullptr; }
    int width(int column) const { return has_groups() ? groups()->width(column) : 1; }
};

}  // namespace isinglass
