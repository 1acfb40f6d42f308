// The body of every kernel, included once per instruction set inside namespace ISINGLASS_ISA.
//
// Only vector types of the compiler and plain loops: a function of the standard library instantiated here could be
// compiled for a wide instruction set and then be picked by the linker for everybody.

#if defined(__AVX2__)
#include <immintrin.h>
#endif

namespace isinglass {
namespace ISINGLASS_ISA {

#if defined(__AVX512F__)
constexpr int FLOATS = 16;
#elif defined(__AVX__)
constexpr int FLOATS = 8;
#else
constexpr int FLOATS = 4;
#endif
constexpr int DOUBLES = FLOATS / 2;

typedef float vf __attribute__((vector_size(FLOATS * 4)));
typedef double vd __attribute__((vector_size(FLOATS * 4)));
typedef int64_t vl __attribute__((vector_size(FLOATS * 4)));
typedef float vf_half __attribute__((vector_size(FLOATS * 2)));
typedef uint8_t vb __attribute__((vector_size(FLOATS)));
typedef uint8_t vb_half __attribute__((vector_size(FLOATS / 2)));

template <class V, class T>
inline V load(const T* p) {
    V v;
    __builtin_memcpy(&v, p, sizeof v);
    return v;
}
template <class V, class T>
inline void store(T* p, V v) {
    __builtin_memcpy(p, &v, sizeof v);
}
// Widening bytes is the one thing GCC's vector conversions do badly (measured: 4x slower than the intrinsics).
inline vd bytes_to_doubles(const uint8_t* p) {
#if defined(__AVX512F__)
    return (vd)_mm512_cvtepi32_pd(_mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p))));
#elif defined(__AVX2__)
    return (vd)_mm256_cvtepi32_pd(_mm_cvtepu8_epi32(_mm_loadu_si32(p)));
#else
    return __builtin_convertvector(load<vb_half>(p), vd);
#endif
}
inline vf bytes_to_floats(const uint8_t* p) {
#if defined(__AVX512F__)
    return (vf)_mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))));
#elif defined(__AVX2__)
    return (vf)_mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p))));
#else
    return __builtin_convertvector(load<vb>(p), vf);
#endif
}
inline vf doubles_to_floats(const double* p) {
    const vf_half low = __builtin_convertvector(load<vd>(p), vf_half);
    const vf_half high = __builtin_convertvector(load<vd>(p + DOUBLES), vf_half);
    vf v;
    __builtin_memcpy(&v, &low, sizeof low);
    __builtin_memcpy(reinterpret_cast<char*>(&v) + sizeof low, &high, sizeof high);
    return v;
}
template <int COUNT>
using Lanes = std::make_integer_sequence<int, COUNT>;

// The sum of the lanes, by halves: four times faster than lane after lane, and in a fixed order. (Shuffles rather than
// copies of halves, which would keep the operand, and so an accumulator, in memory.)
template <class V, int... I>
inline auto halves(V v, std::integer_sequence<int, I...>) {
    constexpr int HALF = sizeof...(I);
    return __builtin_shufflevector(v, v, I...) + __builtin_shufflevector(v, v, (I + HALF)...);
}
template <int LANES, class V>
inline auto total_of(V v) {
    if constexpr (LANES == 2)
        return v[0] + v[1];
    else
        return total_of<LANES / 2>(halves(v, Lanes<LANES / 2>()));
}
inline double total(vd v) {
    return total_of<DOUBLES>(v);
}
inline float total(vf v) {
    return total_of<FLOATS>(v);
}
inline bool any_of(vl v) {
    int64_t any = 0;
    for (int i = 0; i < DOUBLES; ++i) any |= v[i];
    return any != 0;
}

// Lane totals of COUNT vectors at once, a power of two: each merge adds the halves of two vectors into one. Four times
// fewer instructions than COUNT separate totals, which decides the speed of short columns.
template <int HALF, class V, int... I>
inline V merge(V a, V b, std::integer_sequence<int, I...>) {
    constexpr int LANES = sizeof...(I);
    return __builtin_shufflevector(a, b, ((I & HALF ? LANES : 0) + I)...) +
           __builtin_shufflevector(a, b, ((I & HALF ? LANES : 0) + (I ^ HALF))...);
}
// out[k] = total of v[k]; v is used up. A merge by HALF puts vector k + COUNT / 2 into the lanes of vector k that have
// the bit HALF set, so that in the end the lane number (and the vector left) tell the total.
template <int COUNT, int HALF, class V, class T>
inline void totals(V* v, T* out) {
    constexpr int LANES = sizeof(V) / sizeof(T);
    if constexpr (HALF == 0) {
        for (int k = 0; k < COUNT; ++k)
            for (int i = 0; i < LANES; ++i) out[k + COUNT * i] = v[k][i];
    } else {
        static_assert(COUNT > 1, "at least as many vectors as lanes");
        for (int k = 0; k < COUNT / 2; ++k) v[k] = merge<HALF>(v[k], v[k + COUNT / 2], Lanes<LANES>());
        totals<COUNT / 2, HALF / 2>(v, out);
    }
}

// exp(x) for x <= 0: x = k log 2 + r, Cody-Waite; Taylor to degree 13 on |r| <= log(2)/2 (error < 1e-17).
template <class D>
inline D exp_negative(D x) {
    using L = decltype(x < x);  // integers of the same size
    // 1.5 * 2^52: adding it rounds to an integer in the low bits.
    constexpr double magic = 6755399441055744.0;
    x = x < -700.0 ? D{} - 700.0 : x;
    const D shifted = x * 1.4426950408889634 + magic;
    const D k = shifted - magic;
    const D r = (x - k * 6.93147180369123816490e-01) - k * 1.90821492927058770002e-10;
    // Even and odd powers apart: two short chains instead of one long one.
    const D q = r * r;
    D even = q * (1.0 / 479001600.0) + (1.0 / 3628800.0);
    D odd = q * (1.0 / 6227020800.0) + (1.0 / 39916800.0);
    even = even * q + (1.0 / 40320.0);
    odd = odd * q + (1.0 / 362880.0);
    even = even * q + (1.0 / 720.0);
    odd = odd * q + (1.0 / 5040.0);
    even = even * q + (1.0 / 24.0);
    odd = odd * q + (1.0 / 120.0);
    even = even * q + 0.5;
    odd = odd * q + (1.0 / 6.0);
    even = even * q + 1.0;
    odd = odd * q + 1.0;
    const D p = odd * r + even;
    return (D)((L)p + ((L)shifted << 52));  // a cast between vector types keeps the bits
}

// log(1 + y) for 0 <= y <= 1 by 2 atanh(z); above sqrt(2) - 1 the argument is halved, so that z^2 <= 0.0295.
inline vd log1p_unit(vd y) {
    const vl large = y > 0.41421356237309503;
    const vd numerator = large ? y - 1.0 : y;
    const vd denominator = large ? y + 3.0 : y + 2.0;
    const vd offset = large ? vd{} + 0.6931471805599453 : vd{};
    const vd z = numerator / denominator;
    const vd q = z * z;
    const vd f = q * q;
    vd even = f * (1.0 / 21.0) + (1.0 / 17.0);
    vd odd = f * (1.0 / 19.0) + (1.0 / 15.0);
    even = even * f + (1.0 / 13.0);
    odd = odd * f + (1.0 / 11.0);
    even = even * f + (1.0 / 9.0);
    odd = odd * f + (1.0 / 7.0);
    even = even * f + (1.0 / 5.0);
    odd = odd * f + (1.0 / 3.0);
    even = even * f + 1.0;
    return z * 2.0 * (odd * q + even) + offset;
}

// Rows predicted wrongly with great confidence have no curvature left, and Newton's step would overshoot them a million
// times. Their curvature is replaced by that of the quadratic that bounds log(1 + exp) from above (Jaakkola and
// Jordan): tanh(eta / 2) / (2 eta). Rare, so in a pass of its own; returns what it adds.
static double bound_curvature(const NodeRows& rows, const double* eta, float* wv) {
    double added = 0;
    for (int i = 0; i < rows.n; ++i) {
        const double miss = rows.x[i] ? -eta[i] : eta[i];
        if (miss <= tuning::BADLY_PREDICTED) continue;
        const double bound = rows.w[i] / (2 * miss), y = __builtin_exp(-miss);  // tanh is 1 to three digits
        added += bound - rows.w[i] * y / ((1 + y) * (1 + y));
        if (wv) wv[i] = static_cast<float>(bound);
    }
    return added;
}

static void curvatures(const NodeRows& rows, const double* eta, const double* wr, float* wv) {
    const double* inverse_w = rows.inverse_w;
    const int n = rows.n;
    vl wrong{};
    for (int i = 0; i < n; i += DOUBLES) {
        const vd r = load<vd>(wr + i), size = r < 0.0 ? -r : r;
        const vd other = size * load<vd>(inverse_w + i);  // probability of the answer not given
        wrong |= other > 0.999;
        store(wv + i, __builtin_convertvector(size * (1.0 - other), vf_half));
    }
    if (any_of(wrong)) bound_curvature(rows, eta, wv);
}

// One vector of rows: residuals are stored, sums are added; returns exp(-|eta|).
struct PassSums {
    vd zeros{}, ones{}, curve{}, excess{};
    vl wrong{};
};
inline vd pass_rows(const double* eta, const uint8_t* x, const double* w, double* wr, PassSums& sums) {
    const vd e = load<vd>(eta), weight = load<vd>(w);
    const vl positive = e >= 0.0, is_one = bytes_to_doubles(x) != 0.0;
    const vd y = exp_negative(positive ? -e : e);
    const vd likely = 1.0 / (1.0 + y);
    const vd unlikely = y * likely;
    // r from the probability of the other answer, never from 1 - sigma: no cancellation for large |eta|.
    const vl agrees = (vl)(positive == is_one);
    const vd other = agrees ? unlikely : likely;
    const vd size = weight * other;
    const vd minus_margin = is_one ? -e : e;
    sums.wrong |= minus_margin > tuning::BADLY_PREDICTED;
    sums.excess += weight * (minus_margin > 0.0 ? minus_margin : vd{});
    sums.zeros += is_one ? vd{} : size;
    sums.ones += is_one ? size : vd{};
    sums.curve += weight * (likely * unlikely);
    store(wr, is_one ? -size : size);
    return y;
}

static NodeSums node_pass(const NodeRows& rows, const double* eta, double* wr) {
    const uint8_t* x = rows.x;
    const double* w = rows.w;
    const int n = rows.n, n_equal = rows.n_equal;
    PassSums sums;
    double loss = 0;
    // Rows of equal weight: the sum of logarithms is the logarithm of a product, which stays below 2^512.
    constexpr int FACTORS = 512 * DOUBLES;
    for (int start = 0; start < n_equal; start += FACTORS) {
        const int stop = start + FACTORS < n_equal ? start + FACTORS : n_equal;
        vd product = vd{} + 1.0;
        for (int i = start; i < stop; i += DOUBLES) product *= 1.0 + pass_rows(eta + i, x + i, w + i, wr + i, sums);
        double logs = 0;
        for (int k = 0; k < DOUBLES; ++k) logs += __builtin_log(product[k]);
        loss += w[0] * logs;
    }
    vd rest{};
    for (int i = n_equal; i < n; i += DOUBLES)
        rest += load<vd>(w + i) * log1p_unit(pass_rows(eta + i, x + i, w + i, wr + i, sums));
    const double zeros = total(sums.zeros), ones = total(sums.ones);
    NodeSums found{loss + total(rest) + total(sums.excess), zeros - ones, total(sums.curve), zeros, ones};
    found.unbounded = found.curve;
    if (any_of(sums.wrong)) found.curve += bound_curvature(rows, eta, nullptr);
    return found;
}

// y += sum_k coefficient_k x_k, four at a time; wide() loads a vector of x.
template <class V, class T, class X, class Wide>
inline void add_lines(const X* const* x, const T* coefficient, int k, T* y, int n, Wide wide) {
    constexpr int LANES = sizeof(V) / sizeof(T);
    int j = 0;
    for (; j + 4 <= k; j += 4) {
        const T c[4] = {coefficient[j], coefficient[j + 1], coefficient[j + 2], coefficient[j + 3]};
        for (int i = 0; i < n; i += LANES) {
            V v = load<V>(y + i);
            for (int q = 0; q < 4; ++q) v += c[q] * wide(x[j + q] + i);
            store(y + i, v);
        }
    }
    for (; j < k; ++j)
        for (int i = 0; i < n; i += LANES) store(y + i, load<V>(y + i) + coefficient[j] * wide(x[j] + i));
}

static void add_columns(const ColumnList& columns, const double* coefficient, double offset, double* eta) {
    if (columns.count == 0 || offset != 0.0)
        for (int i = 0; i < columns.n; i += DOUBLES) store(eta + i, load<vd>(eta + i) + offset);
    add_lines<vd>(columns.x, coefficient, columns.count, eta, columns.n, bytes_to_doubles);
}

static void add_rows(const float* const* rows, const float* coefficient, int k, float* y, int n) {
    add_lines<vf>(rows, coefficient, k, y, n, load<vf, float>);
}

// sum_j += a . x_j, lane by lane.
template <int COUNT>
inline void dot_columns(const double* a, const uint8_t* const (&x)[COUNT], int n, vd (&sum)[COUNT]) {
    for (int i = 0; i < n; i += DOUBLES) {
        const vd v = load<vd>(a + i);
        for (int q = 0; q < COUNT; ++q) sum[q] += v * bytes_to_doubles(x[q] + i);
    }
}

static void dots(const ColumnList& columns, const double* a, double* out) {
    const uint8_t* const* x = columns.x;
    const int k = columns.count, n = columns.n;
    int j = 0;
    for (; j + 8 <= k; j += 8) {
        const uint8_t* const c[8] = {x[j], x[j + 1], x[j + 2], x[j + 3], x[j + 4], x[j + 5], x[j + 6], x[j + 7]};
        vd s[8] = {};
        dot_columns(a, c, n, s);
        totals<8, DOUBLES / 2>(s, out + j);
    }
    for (; j < k; j += 4) {  // a short last group repeats its last column
        const int last = k - 1 - j;
        const uint8_t* const c[4] = {x[j], x[j + (last < 1 ? last : 1)], x[j + (last < 2 ? last : 2)],
                                     x[j + (last < 3 ? last : 3)]};
        vd s[4] = {};
        dot_columns(a, c, n, s);
        for (int q = 0; q < 4 && q <= last; ++q) out[j + q] = total(s[q]);
    }
}

// Sixteen sums leave no room for the rows where there are sixteen registers.
#if defined(__AVX512F__)
constexpr int LEFT_AT_ONCE = 4;
#else
constexpr int LEFT_AT_ONCE = 2;
#endif

// sum[4 a + b] += left_a . right_b for 4 x 4 rows of floats.
inline void accumulate(const float* const* left, const float* const* right, int n, vf (&sum)[16]) {
    for (int first = 0; first < 4; first += LEFT_AT_ONCE) {
        vf part[4 * LEFT_AT_ONCE];
        for (int k = 0; k < 4 * LEFT_AT_ONCE; ++k) part[k] = sum[4 * first + k];
        for (int i = 0; i < n; i += FLOATS) {
            vf r[4];
            for (int b = 0; b < 4; ++b) r[b] = load<vf>(right[b] + i);
            for (int a = 0; a < LEFT_AT_ONCE; ++a) {
                const vf l = load<vf>(left[first + a] + i);
                for (int b = 0; b < 4; ++b) part[4 * a + b] += l * r[b];
            }
        }
        for (int k = 0; k < 4 * LEFT_AT_ONCE; ++k) sum[4 * first + k] = part[k];
    }
}

inline void dot_block(const float* const* left, const float* const* right, int n, float (&out)[16]) {
    vf sum[16] = {};
    accumulate(left, right, n, sum);
    totals<16, FLOATS / 2>(sum, out);
}

// Weighted sums of the ones and of the zeros of a column, apart: either may be far smaller than the other.
inline void split_sums(const float* wv, const uint8_t* x, int n, float* ones, float* zeros) {
    vf one{}, zero{};
    for (int i = 0; i < n; i += FLOATS) {
        const vf value = bytes_to_floats(x + i), weight = load<vf>(wv + i);
        one += weight * value;
        zero += weight * (1.0f - value);
    }
    *ones = total(one);
    *zeros = total(zero);
}

static void gram(const ColumnList& columns, const float* wv, const GramOut& out) {
    const uint8_t* const* x = columns.x;
    const int d = columns.count, n = columns.n, ld = out.ld;
    float *G = out.G, *sums = out.sums, *scratch = out.scratch.take(gram_scratch(d));
    for (int i = 0; i < d; ++i) __builtin_memset(G + static_cast<size_t>(i) * ld, 0, ld * sizeof(float));
    float *weighted = scratch, *plain = scratch + static_cast<size_t>(d) * tuning::GRAM_ROWS;
    float *low = plain + static_cast<size_t>(d) * tuning::GRAM_ROWS, *high = low + d;
    for (int j = 0; j < d; ++j) {
        float zeros;
        split_sums(wv, x[j], n, sums + j, &zeros);
        // Of curvatures so small that their inverse overflows, nothing is left to see in single precision.
        const float all = sums[j] + zeros, inverse = all > 3e-39f ? 1 / all : 0;
        low[j] = -sums[j] * inverse;  // x - mean for x = 0 and x = 1, neither by a difference
        high[j] = zeros * inverse;
    }
    for (int row = 0; row < n; row += tuning::GRAM_ROWS) {
        const int rows = n - row < tuning::GRAM_ROWS ? n - row : tuning::GRAM_ROWS;
        for (int j = 0; j < d; ++j)
            for (int i = 0; i < rows; i += FLOATS) {
                const vf value = bytes_to_floats(x[j] + row + i);
                const vf centered = value * high[j] + (1.0f - value) * low[j];
                store(plain + static_cast<size_t>(j) * tuning::GRAM_ROWS + i, centered);
                store(weighted + static_cast<size_t>(j) * tuning::GRAM_ROWS + i, centered * load<vf>(wv + row + i));
            }
        for (int i = 0; i < d; i += 4)
            for (int j = i; j < d; j += 4) {
                const float *left[4], *right[4];
                // The last block repeats its last row; the copies are not stored.
                for (int k = 0; k < 4; ++k) {
                    left[k] = weighted + static_cast<size_t>(i + k < d ? i + k : d - 1) * tuning::GRAM_ROWS;
                    right[k] = plain + static_cast<size_t>(j + k < d ? j + k : d - 1) * tuning::GRAM_ROWS;
                }
                float block[16];
                dot_block(left, right, rows, block);
                for (int a = 0; a < 4 && i + a < d; ++a)
                    for (int b = 0; b < 4 && j + b < d; ++b)
                        G[static_cast<size_t>(i + a) * ld + j + b] += block[4 * a + b];
            }
    }
    for (int i = 0; i < d; ++i)
        for (int j = 0; j < i; ++j) G[static_cast<size_t>(i) * ld + j] = G[static_cast<size_t>(j) * ld + i];
}

static void widen(const uint8_t* x, int n, float* out) {
    for (int i = 0; i < n; i += FLOATS) store(out + i, bytes_to_floats(x + i));
}

static void narrow(const double* a, size_t n, float* out) {
    for (size_t i = 0; i < n; i += FLOATS) store(out + i, doubles_to_floats(a + i));
}

static void gradient_tile(const TileSide& left, const TileSide& right, int n, double* tile, int ld) {
    vf sum[16] = {};
    float out[16];
    accumulate(left.r, right.x, n, sum);
    accumulate(left.x, right.r, n, sum);
    totals<16, FLOATS / 2>(sum, out);
    for (int a = 0; a < 4; ++a)
        for (int b = 0; b < 4; ++b) tile[a * ld + b] += out[4 * a + b];
}

// |g_t| may have grown to this since the reference; see Drift in kernels.hpp.
inline float bound(const float* reference, const Drift& a, int i) {
    return __builtin_fabsf(reference[i]) + a.slack + a.norm * a.sd_of[i] + a.sd * a.norm_of[i] +
           a.shift * a.mean_of[i] + a.mean * a.shift_of[i];
}

static int find_above(const float* reference, const Drift& a, const float* limit, int count, int* out) {
    constexpr int BLOCK = 64;
    int found = 0;
    for (int start = 0; start < count; start += BLOCK) {
        const int stop = start + BLOCK < count ? start + BLOCK : count;
        int any = 0;
        for (int i = start; i < stop; ++i) any |= !(bound(reference, a, i) < limit[i]);
        if (any)
            for (int i = start; i < stop; ++i)
                if (!(bound(reference, a, i) < limit[i])) out[found++] = i;
    }
    return found;
}

static int count_certified(const float* reference, const Drift& a, const float* limit, float c, float half_gap,
                           int count) {
    int certified = 0;
    for (int i = 0; i < count; ++i) {
        const float radius = __builtin_sqrtf(half_gap * (a.sd * a.sd + a.sd_of[i] * a.sd_of[i]));
        certified += c * bound(reference, a, i) + radius < limit[i];
    }
    return certified;
}

static void distance(const NodeRows& rows, const double* wr, const float* reference, double* square, double* sum) {
    vd squares{}, sums{};
    for (int i = 0; i < rows.n; i += DOUBLES) {
        const vd difference = load<vd>(wr + i) - __builtin_convertvector(load<vf_half>(reference + i), vd);
        squares += difference * difference * load<vd>(rows.inverse_w + i);
        sums += difference;
    }
    *square = total(squares);
    *sum = total(sums);
}

// softplus(z) = max(z, 0) + log1p(exp(-|z|))
inline vd softplus(vd z) {
    const vl positive = z > 0.0;
    return (positive ? z : vd{}) + log1p_unit(exp_negative(positive ? -z : z));
}

static double divergence(const NodeRows& rows, const double* eta, double c) {
    const double log_c = __builtin_log(c), log_rest = __builtin_log1p(-c);
    vd sum{};
    for (int i = 0; i < rows.n; i += DOUBLES) {
        const vd e = load<vd>(eta + i);
        const vd margin = bytes_to_doubles(rows.x + i) != 0.0 ? e : -e;
        const vl likely = margin >= 0.0;
        const vd y = exp_negative(likely ? -margin : margin);
        const vd wrong = (likely ? y : vd{} + 1.0) / (1.0 + y);  // probability of the answer not given
        sum += load<vd>(rows.w + i) * (c * log_c * wrong + (1.0 - c * wrong) * softplus(log_rest - margin));
    }
    return total(sum);
}

#include "rows/kernels_categories.hpp"
#include "rows/kernels_packed.hpp"
#include "rows/kernels_steps.hpp"

extern const Kernels table;
// clang-format off: several names in a line
const Kernels table = {
    .name = ISINGLASS_NAME, .lanes = FLOATS, .node_pass = node_pass, .curvatures = curvatures,
    .add_columns = add_columns, .dots = dots, .gram = gram, .add_rows = add_rows, .widen = widen, .narrow = narrow,
    .distance = distance, .gradient_tile = gradient_tile, .find_above = find_above,
    .count_certified = count_certified, .divergence = divergence, .category_pass = category_pass,
    .places_pass = places_pass, .places_products = places_products, .gather = gather_tables<double>,
    .gather_single = gather_tables<float>, .scatter = scatter_rows<double>, .scatter_single = scatter_rows<float>,
    .sum_listed = sum_listed<double>, .sum_listed_single = sum_listed<float>, .add_to_listed = add_to_listed,
    .softmax = softmax_pass, .curve = curve_rows, .variances = variance_rows, .row_distance = row_distance,
    .bit_sums = bit_sums, .bit_sums_double = bit_sums_double, .transpose_bits = transpose_bits, .scale = scale,
    .rough_product = ISINGLASS_ROUGH};
// clang-format on

}  // namespace ISINGLASS_ISA
}  // namespace isinglass
