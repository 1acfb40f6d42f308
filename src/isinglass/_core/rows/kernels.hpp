// The arithmetic, as a table of functions compiled once per instruction set.
//
// Conventions: n is padded to a multiple of ROW_ALIGN rows; padded rows have weight 0 and x = 0 (of
// columns with categories: one that occurs). A column of the table
// is n bytes of 0/1. Arrays are 64-byte aligned. Sums run in one fixed order, so that the number of threads never
// changes a bit.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tuning.hpp"

namespace isinglass {

constexpr int ROW_ALIGN = 16;  // the widest vector of single-precision numbers

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
};

// How far the gradient of the pairs (s, t), t = first, first + 1, ..., can have moved since the reference:
//   |g - g_ref| <= norm_s sd_t + norm_t sd_s + shift_s mean_t + shift_t mean_s + slack,
// norm_s = ||r_s - r_ref,s||_w, shift_s = |sum_n w_n (r - r_ref)| (zero when the fields are at their optimum), slack
// for the single precision of the reference. The arrays start at t = first.
struct Drift {
    float norm, shift, sd, mean, slack;
    const float *norm_of, *shift_of, *sd_of, *mean_of;
};

// A node with q categories: P(k) = softmax_k(field_k + score_k eta). value: what stands for k in its column.
struct Categories {
    int q;
    const double *field, *score, *value;
};

// The same with rows of `ld` numbers, one per category: P(k) = softmax_k(field_k + eta_k), or of one number, with
// scores: softmax_k(field_k + score_k eta). Fields and scores are padded to ld, P in any case n rows of ld.
struct Softmax {
    int q, ld;
    const double *field, *score;
};

// The curvature w (diag P - P P^T) of every row, with scores that of one number.
struct Curve {
    int ld;
    const float *P, *w, *score;
    const uint8_t* likeliest;  // category of a row
};

struct Kernels {
    const char* name;
    int lanes;  // single-precision numbers of one vector
    // eta -> wr = w (sigma - x), with the sums; the first n_equal rows, a multiple of ROW_ALIGN, have the same weight.
    NodeSums (*node_pass)(const double* eta, const uint8_t* x, const double* w, int n, int n_equal, double* wr);
    // wv = w sigma (1 - sigma) from the residuals of that pass.
    void (*curvatures)(const double* eta, const uint8_t* x, const double* w, const double* inverse_w, const double* wr,
                       int n, float* wv);
    // eta += offset + sum_k coefficient_k x_k over the listed columns.
    void (*add_columns)(double* eta, double offset, const uint8_t* const* x, const double* coefficient, int k, int n);
    // out_k = sum_n a_n x_kn, in double precision.
    void (*dots)(const double* a, const uint8_t* const* x, int k, int n, double* out);
    // sums_i = sum_n wv_n x_in and G = sum_n wv_n (x_in - mean_i) (x_jn - mean_j) with the means under wv:
    // d x d, row stride ld, both triangles, single precision, without cancellation. scratch holds gram_scratch(d)
    // floats.
    void (*gram)(const float* wv, const uint8_t* const* x, int d, int n, float* G, int ld, float* sums, float* scratch);
    // y += sum_k coefficient_k rows_k for rows whose length n is a multiple of 16.
    void (*add_rows)(const float* const* rows, const float* coefficient, int k, float* y, int n);
    void (*widen)(const uint8_t* x, int n, float* out);  // bytes to single precision
    void (*narrow)(const double* a, int n, float* out);  // double to single precision
    // sum_n (wr_n - reference_n)^2 / w_n and sum_n (wr_n - reference_n).
    void (*distance)(const double* wr, const float* reference, const double* inverse_w, int n, double* square,
                     double* sum);
    // tile[a ld + b] += wr_a . x_b + x_a . wr_b for four left and four right nodes.
    void (*gradient_tile)(const float* const* left_r, const float* const* left_x, const float* const* right_r,
                          const float* const* right_x, int n, float* tile, int ld);
    // Positions of the pairs whose gradient may reach their limit.
    int (*find_above)(const float* reference, const Drift& drift, const float* limit, int count, int* out);
    // How many pairs have c |g| + sqrt(half_gap (sd_s^2 + sd_t^2)) < limit for certain.
    int (*count_certified)(const float* reference, const Drift& drift, const float* limit, float c, float half_gap,
                           int count);
    // sum_n w_n KL(x_n + c r_n || sigma_n) for 0 < c < 1 (the certificate), log_rest = log(1 - c).
    double (*divergence)(const double* eta, const uint8_t* x, const double* w, int n, double c, double log_c,
                         double log_rest);
    // Of a node with categories: residuals w (E score - score of the row), their curvatures w Var score, the log odds
    // of the observed category (unless null), and the probabilities, n per category. sums has room for (2 q^2 + 2)
    // vectors and gets the weight that rows of category j give to k (q j + k), sum w P_k P_l for l < k (q^2 + q k + l),
    // the loss and sum w Var.
    void (*category_pass)(const Categories& categories, const double* eta, const uint8_t* x, const double* w, int n,
                          double* wr, float* wv, double* margin, double* P, double* sums);
    // out_n += sum_j tables_j[code_jn] over rows of ld numbers.
    void (*gather)(const uint8_t* const* codes, const double* const* tables, int k, int ld, int n, double* out);
    void (*gather_single)(const uint8_t* const* codes, const float* const* tables, int k, int ld, int n, float* out);
    // tables_j[code_jn] += a_n, rows in their order.
    void (*scatter)(const double* a, const uint8_t* const* codes, int k, int ld, int n, double* const* tables);
    void (*scatter_single)(const float* a, const uint8_t* const* codes, int k, int ld, int n, float* const* tables);
    // Residuals w (P - e_x) (with scores: w (E score - score of the row)), the log odds of the observed category,
    // probabilities, and the sums of category_pass without the last two, ld numbers per category; returns the loss.
    double (*softmax)(const Softmax& node, const double* eta, const uint8_t* x, const double* w, int n, double* wr,
                      double* margin, double* P, double* sums);
    // The curvatures times z + shift (null: none) into out, which may be z; added up in sums. Either may be null.
    void (*curve)(const Curve& node, const float* z, const float* shift, int n, double* sums, float* out);
    void (*variances)(const Curve& node, int n, float* out);  // the diagonal of the curvatures
    // sum_n ||wr_n - reference_n||^2 / w_n over rows of ld numbers.
    double (*row_distance)(const double* wr, const float* reference, const double* inverse_w, int ld, int n);
    // out_i += sum over g and b of coefficient[32 g + b] where bit b of words[g ld + i] is set; the number of lanes is
    // a multiple of 16.
    void (*bit_sums)(const uint32_t* words, size_t ld, int groups, const float* coefficient, int lanes, float* out);
    void (*bit_sums_double)(const uint32_t* words, size_t ld, int groups, const double* coefficient, int lanes,
                            double* out);
    // Bit i of out[b] = bit b of words[i], for 32 words.
    void (*transpose_bits)(const uint32_t* words, uint32_t* out);
    void (*scale)(const float* factor, int n, float* z);  // z_n *= factor_n
};

constexpr size_t gram_scratch(int d) {
    return static_cast<size_t>(2 * d) * (tuning::GRAM_ROWS + 1);
}

const Kernels& kernels();  // the widest set this processor runs

}  // namespace isinglass
