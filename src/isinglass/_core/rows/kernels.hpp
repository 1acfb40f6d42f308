// The arithmetic, as a table of functions compiled once per instruction set.
//
// Conventions: n is padded to a multiple of ROW_ALIGN rows; padded rows have weight 0 and x = 0 (of columns with
// categories: one that occurs). Arrays are 64-byte aligned. Sums run in one fixed order, so that the number of threads
// never changes a bit. Arguments are plain pointers with their sizes: std::span would be a function of the standard
// library (see kernels_impl.hpp).
#pragma once

#include <cstddef>
#include <cstdint>

#include "tuning.hpp"

namespace isinglass {

constexpr int ROW_ALIGN = 16;  // the widest vector of single-precision numbers

// Memory that a kernel may use. It says how much it takes, and ends the process if there is less: beyond it lies memory
// of others. (Always inlined, as no function of a header may be shared by instruction sets.)
template <class T>
struct Space {
    T* data = nullptr;
    size_t size = 0;
    __attribute__((always_inline)) T* take(size_t count) const {
        if (count > size) __builtin_trap();
        return data;
    }
};

// The rows of a node: its own values, their weights and the inverse of these. The first n_equal rows, a multiple of
// ROW_ALIGN, have the same weight.
struct NodeRows {
    const uint8_t* x;
    const double *w, *inverse_w;
    int n, n_equal;
};

// Columns of n bytes: 0 and 1, or steps of scores.
struct ColumnList {
    const uint8_t* const* x;
    int count, n;
};

// What one pass over a node's rows returns.
struct NodeSums {
    double loss;   // sum_n w_n [log(1 + exp(eta_n)) - x_n eta_n]
    double field;  // sum_n w_n r_n, the gradient of the node's field
    double curve;  // sum_n w_n sigma_n (1 - sigma_n)
    // The field's gradient as the difference of two sums of one sign, each accurate relative to itself:
    // w sigma over the rows with x = 0, w (1 - sigma) over those with x = 1.
    double zeros, ones;
    // Of a node with categories: the largest |field|, the largest gradient of a field, and the share of the loss that
    // making these gradients zero adds to the divergence (fields.cpp).
    double largest_field = 0, largest_slope = 0, share = 0;
    double unbounded = 0;  // of two values: `curve` without what bounds it in rows that are badly predicted
};

// How far the gradient of the pairs (s, t), t = first, first + 1, ..., can have moved since the reference:
//   |g - g_ref| <= norm_s sd_t + norm_t sd_s + shift_s mean_t + shift_t mean_s + slack,
// norm_s = ||r_s - r_ref,s||_w, shift_s = |sum_n w_n (r - r_ref)| (zero when the fields are at their optimum), slack
// for the single precision of the reference. The arrays start at t = first.
struct Drift {
    float norm, shift, sd, mean, slack;
    const float *norm_of, *shift_of, *sd_of, *mean_of;
};

// Where gram puts d x d numbers, row stride ld, and the sums of the columns; scratch: gram_scratch(d) numbers.
struct GramOut {
    float* G;
    int ld;
    float* sums;
    Space<float> scratch;
};

// Four nodes of a tile: residuals and columns in single precision.
struct TileSide {
    const float *r[4], *x[4];
};

// A node with 2 to 8 categories: P(k) = softmax_k(field_k + score_k eta). value: what stands for k in its column.
struct Categories {
    int q;
    const double *field, *score, *value;
};

// What a pass over it leaves: residuals w (E score - score of the row), their curvatures w Var score, the log odds of
// the observed category (unless null), the probabilities, n per category, the weight that rows of category j give to
// another k (q j + k), and sum w P_k P_l for l < k (q k + l).
struct CategoryOut {
    double* wr;
    float* wv;
    double* margin;
    Space<double> P, given, products;
};

// The loss, and the sum of the curvatures.
struct LossSums {
    double loss, curve;
};

// The same node with many categories, side by side in `ld` places, a multiple of 8: P(k) = softmax_k(field_k + step
// number_k eta). Places beyond the categories, and steps of equal distance that do not occur, have the field NOWHERE.
struct Places {
    int ld;
    const double *field, *number;
    double step;
    const uint8_t* place;  // of what stands for a category in the column
    bool in_steps;         // the numbers are 0, 1, 2, ...
};
constexpr double NOWHERE = -1e30;
constexpr int MOST_PLACES = 256;

// What a pass leaves: wr, wv and margin of CategoryOut, and the weight that rows at place j give to k (ld j + k).
struct PlacesOut {
    double* wr;
    float* wv;
    double* margin;
    Space<double> given;
};

// Second derivatives: sum w P_k P_l for l < k (ld k + l), and sum w Cov(place k, score) x of these columns and, last,
// of ones (ld j + k), unless empty.
struct PlaceProducts {
    ColumnList columns;
    Space<double> products, mixed;
};

// The same with rows of `ld` numbers, one per category: P(k) = softmax_k(field_k + eta_k). Fields are padded to ld, P
// has n rows of ld.
struct Softmax {
    int q, ld;
    const double* field;
};

// Residuals w (P - e_x), the log odds of the observed category, and the rest as in CategoryOut, ld numbers for each row
// or category.
struct SoftmaxOut {
    double *wr, *margin;
    Space<double> P, given, products;
};

// The curvature w (diag P - P P^T) of n rows.
struct Curve {
    int ld, n;
    const float *P, *w;
    const uint8_t* likeliest;  // category of a row
};

// One table of rows of ld numbers for each of `count` columns, whose codes select a row.
template <class T>
struct CodeTables {
    const uint8_t* const* codes;
    T* const* tables;
    int count, ld, n;
};

// Some rows of ld numbers, by their numbers.
struct RowList {
    const int* rows;
    int count, ld;
};

// Bits: word i of group g is words[g ld + i].
struct BitWords {
    const uint32_t* words;
    size_t ld;
    int groups;
};

// The columns of a node as bits, by row and by column (see packed.hpp), with scratch for a product.
struct BitMatrix {
    BitWords by_row, by_column;
    Space<float> line = {};
    Space<int16_t> shorts = {}, sums = {};
};

// What such a product takes of them.
struct RoughSizes {
    size_t line, shorts, sums;
};
static constexpr RoughSizes rough_sizes(size_t padded_rows, size_t padded_columns) {
    const size_t chunk = padded_rows < tuning::rows::SHORT_ROWS ? padded_rows : tuning::rows::SHORT_ROWS;
    return {padded_rows, chunk > padded_columns ? chunk : padded_columns,
            padded_rows > padded_columns ? padded_rows : padded_columns};
}

struct Kernels {
    const char* name;
    int lanes;  // single-precision numbers of one vector
    // eta -> wr = w (sigma - x), with the sums.
    NodeSums (*node_pass)(const NodeRows& rows, const double* eta, double* wr);
    // wv = w sigma (1 - sigma) from the residuals of that pass.
    void (*curvatures)(const NodeRows& rows, const double* eta, const double* wr, float* wv);
    // eta += offset + sum_k coefficient_k x_k.
    void (*add_columns)(const ColumnList& columns, const double* coefficient, double offset, double* eta);
    // out_k = sum_n a_n x_kn, in double precision.
    void (*dots)(const ColumnList& columns, const double* a, double* out);
    // sums_i = sum_n wv_n x_in and G = sum_n wv_n (x_in - mean_i) (x_jn - mean_j) with the means under wv:
    // both triangles, single precision, without cancellation.
    void (*gram)(const ColumnList& columns, const float* wv, const GramOut& out);
    // y += sum_k coefficient_k rows_k for rows whose length n is a multiple of 16.
    void (*add_rows)(const float* const* rows, const float* coefficient, int k, float* y, int n);
    void (*widen)(const uint8_t* x, int n, float* out);     // bytes to single precision
    void (*narrow)(const double* a, size_t n, float* out);  // double to single precision
    // sum_n (wr_n - reference_n)^2 / w_n and sum_n (wr_n - reference_n).
    void (*distance)(const NodeRows& rows, const double* wr, const float* reference, double* square, double* sum);
    // tile[a ld + b] += wr_a . x_b + x_a . wr_b for four left and four right nodes.
    void (*gradient_tile)(const TileSide& left, const TileSide& right, int n, double* tile, int ld);
    // Positions of the pairs whose gradient may reach their limit.
    int (*find_above)(const float* reference, const Drift& drift, const float* limit, int count, int* out);
    // How many pairs have c |g| + sqrt(half_gap (sd_s^2 + sd_t^2)) < limit for certain.
    int (*count_certified)(const float* reference, const Drift& drift, const float* limit, float c, float half_gap,
                           int count);
    // sum_n w_n KL(x_n + c r_n || sigma_n) for 0 < c < 1 (the certificate).
    double (*divergence)(const NodeRows& rows, const double* eta, double c);
    LossSums (*category_pass)(const Categories& categories, const NodeRows& rows, const double* eta,
                              const CategoryOut& out);
    LossSums (*places_pass)(const Places& places, const NodeRows& rows, const double* eta, const PlacesOut& out);
    void (*places_products)(const Places& places, const NodeRows& rows, const double* eta, const PlaceProducts& out);
    // out_n += sum_j tables_j[code_jn].
    void (*gather)(const CodeTables<const double>& neighbors, double* out);
    void (*gather_single)(const CodeTables<const float>& neighbors, float* out);
    // tables_j[code_jn] += a_n, rows in their order.
    void (*scatter)(const CodeTables<double>& neighbors, const double* a);
    void (*scatter_single)(const CodeTables<float>& neighbors, const float* a);
    // The sum of the listed rows of a.
    void (*sum_listed)(const RowList& list, const double* a, double* sum);
    void (*sum_listed_single)(const RowList& list, const float* a, float* sum);
    // Adds one line to the listed rows of out.
    void (*add_to_listed)(const RowList& list, const float* line, float* out);
    // Returns the loss; x of the rows are category numbers.
    double (*softmax)(const Softmax& node, const NodeRows& rows, const double* eta, const SoftmaxOut& out);
    // The curvatures times z + shift (null: none) into out, which may be z; added up in sums. Either may be null.
    void (*curve)(const Curve& node, const float* z, const float* shift, double* sums, float* out);
    void (*variances)(const Curve& node, float* out);  // the diagonal of the curvatures
    // sum_n ||wr_n - reference_n||^2 / w_n over rows of ld numbers.
    double (*row_distance)(const NodeRows& rows, const double* wr, const float* reference, int ld);
    // out_i += sum over g and b of coefficient[32 g + b] where bit b of word i of group g is set; the number of lanes
    // is a multiple of 16.
    void (*bit_sums)(const BitWords& bits, const float* coefficient, int lanes, float* out);
    void (*bit_sums_double)(const BitWords& bits, const double* coefficient, int lanes, double* out);
    // Bit i of out[b] = bit b of words[i], for 32 words.
    void (*transpose_bits)(const uint32_t* words, uint32_t* out);
    void (*scale)(const float* factor, int n, float* z);  // z_n *= factor_n
    // out = X^T diag(curves) (X d - center), in integers of 16 bits, with an error of some thousandths of its norm; d
    // and curves are zero beyond the columns and rows there are. Null where it would not be faster.
    void (*rough_product)(const BitMatrix& X, const float* d, const float* curves, float center, float* out);
};

static constexpr size_t gram_scratch(int d) {
    return static_cast<size_t>(2 * d) * (tuning::GRAM_ROWS + 1);
}

const Kernels& kernels();  // the widest set this processor runs

}  // namespace isinglass
