// Sums over packed bits: the part of kernels_impl.hpp that has a body of its own per instruction set.
//
// Four bits of a word index a table of the sixteen sums their coefficients can give. With AVX-512 the table of
// single-precision sums is one register and the look-up one permutation, so that 64 products take three instructions;
// AVX2 has permutations of eight, hence three bits at a time.

// What 32 bits can pick out of 32 coefficients, four bits at a time: tables[16 q + i] = sum of the coefficients 4 q + b
// over the bits b of i.
template <class T>
inline void fill_tables(const T* coefficient, T* tables) {
    for (int q = 0; q < 8; ++q) {
        const T* c = coefficient + 4 * q;
        T* table = tables + 16 * q;
        table[0] = 0;
        for (int b = 0; b < 4; ++b)
            for (int i = 0; i < 1 << b; ++i) table[i + (1 << b)] = table[i] + c[b];
    }
}

template <class T>
inline void look_up_sums(const BitWords& bits, const T* coefficient, int lanes, T* out) {
    T tables[128];
    for (int g = 0; g < bits.groups; ++g) {
        fill_tables(coefficient + 32 * g, tables);
        const uint32_t* row = bits.words + g * bits.ld;
        for (int i = 0; i < lanes; ++i) {
            const uint32_t w = row[i];
            T sum[2] = {out[i], 0};
            for (int q = 0; q < 8; ++q) sum[q % 2] += tables[16 * q + (w >> 4 * q & 15)];
            out[i] = sum[0] + sum[1];
        }
    }
}

#if defined(__AVX512F__)

typedef uint32_t vu __attribute__((vector_size(64)));
typedef uint64_t vu_double __attribute__((vector_size(64)));
typedef uint16_t vu_short __attribute__((vector_size(64)));
typedef int32_t vi __attribute__((vector_size(64)));

constexpr int AHEAD = static_cast<int>(tuning::rows::PREFETCHED_WORDS);

inline void fill_registers(const float* coefficient, __m512 (&table)[8]) {
    // Entry i of a table: the pair i & 3 of the first two coefficients and the pair i >> 2 of the last two, each of
    // them zero, one coefficient or (from 16 on) the sum of both.
    const __m512i low = _mm512_setr_epi32(0, 0, 1, 16, 0, 0, 1, 16, 0, 0, 1, 16, 0, 0, 1, 16);
    const __m512i high = _mm512_setr_epi32(0, 0, 0, 0, 2, 2, 2, 2, 3, 3, 3, 3, 18, 18, 18, 18);
    for (int half = 0; half < 2; ++half) {
        const __m512 c = _mm512_loadu_ps(coefficient + 16 * half);
        const __m512 sums = _mm512_add_ps(c, _mm512_maskz_permute_ps(0xFFFF, c, 0xB1));
        for (int q = 0; q < 4; ++q) {
            const __m512i shift = _mm512_set1_epi32(4 * q);
            table[4 * half + q] =
                _mm512_add_ps(_mm512_maskz_permutex2var_ps(0xEEEE, c, _mm512_add_epi32(low, shift), sums),
                              _mm512_maskz_permutex2var_ps(0xFFF0, c, _mm512_add_epi32(high, shift), sums));
        }
    }
}

static void bit_sums(const BitWords& bits, const float* coefficient, int lanes, float* out) {
    for (int g = 0; g < bits.groups; ++g) {
        __m512 table[8];
        fill_registers(coefficient + 32 * g, table);
        const uint32_t* row = bits.words + g * bits.ld;
        for (int i = 0; i < lanes; i += 16) {
            __builtin_prefetch(row + i + AHEAD);
            const __m512i w = _mm512_loadu_si512(row + i);
            __m512 sum[2] = {_mm512_setzero_ps(), _mm512_loadu_ps(out + i)};
            for (int q = 0; q < 8; ++q) sum[q % 2] += _mm512_permutexvar_ps((__m512i)((vu)w >> 4 * q), table[q]);
            _mm512_storeu_ps(out + i, sum[1] + sum[0]);
        }
    }
}

// The same in double precision: sixteen sums are two registers, and one permutation reads both.
static void bit_sums_double(const BitWords& bits, const double* coefficient, int lanes, double* out) {
    for (int g = 0; g < bits.groups; ++g) {
        __m512d low[8], high[8];
        for (int q = 0; q < 8; ++q) {
            const double* c = coefficient + 32 * g + 4 * q;
            low[q] = _mm512_maskz_mov_pd(0xAA, _mm512_set1_pd(c[0]));
            low[q] = _mm512_mask_add_pd(low[q], 0xCC, low[q], _mm512_set1_pd(c[1]));
            low[q] = _mm512_mask_add_pd(low[q], 0xF0, low[q], _mm512_set1_pd(c[2]));
            high[q] = low[q] + _mm512_set1_pd(c[3]);
        }
        const uint32_t* row = bits.words + g * bits.ld;
        for (int i = 0; i < lanes; i += 8) {
            __builtin_prefetch(row + i + AHEAD);
            const __m256i half = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(row + i));
            const __m512i w = _mm512_maskz_cvtepu32_epi64(0xFF, half);
            __m512d sum[2] = {_mm512_setzero_pd(), _mm512_loadu_pd(out + i)};
            for (int q = 0; q < 8; ++q)
                sum[q % 2] += _mm512_permutex2var_pd(low[q], (__m512i)((vu_double)w >> 4 * q), high[q]);
            _mm512_storeu_pd(out + i, sum[1] + sum[0]);
        }
    }
}

static void transpose_bits(const uint32_t* words, uint32_t* out) {
    const __m512i low = _mm512_loadu_si512(words), high = _mm512_loadu_si512(words + 16);
    for (int b = 0; b < 32; ++b) {
        const __m512i bit = _mm512_set1_epi32(static_cast<int>(1u << b));
        out[b] = static_cast<uint32_t>(_mm512_test_epi32_mask(low, bit)) |
                 static_cast<uint32_t>(_mm512_test_epi32_mask(high, bit)) << 16;
    }
}

// Sums of short integers: a table has 32 sums of five coefficients, or 64 of six in two registers, and a register holds
// the sums of 32 lanes. Words are taken in pairs, lane i and lane i + 16 of 32 in the two halves of one word: so are
// the results in out.
inline __m512i sums_of_five(const int16_t* c) {
    __m512i table = _mm512_setzero_si512();
    const __mmask32 bits[5] = {0xAAAAAAAA, 0xCCCCCCCC, 0xF0F0F0F0, 0xFF00FF00, 0xFFFF0000};
    for (int b = 0; b < 5; ++b) table = _mm512_mask_add_epi16(table, bits[b], table, _mm512_set1_epi16(c[b]));
    return table;
}

static void bit_sums_short(const BitWords& bits, const int16_t* coefficient, int lanes, int16_t* out) {
    for (int g = 0; g < bits.groups; ++g) {
        __m512i table[2][4];
        for (int half = 0; half < 2; ++half) {
            const int16_t* c = coefficient + 32 * g + 16 * half;
            table[half][0] = sums_of_five(c);
            table[half][1] = _mm512_add_epi16(table[half][0], _mm512_set1_epi16(c[5]));
            table[half][2] = sums_of_five(c + 6);
            table[half][3] = sums_of_five(c + 11);
        }
        const uint32_t* row = bits.words + g * bits.ld;
        for (int i = 0; i < lanes; i += 32) {
            __builtin_prefetch(row + i + AHEAD);
            __builtin_prefetch(row + i + AHEAD + 16);
            const __m512i a = _mm512_loadu_si512(row + i);
            const __m512i b = i + 16 < lanes ? _mm512_loadu_si512(row + i + 16) : _mm512_setzero_si512();
            const __m512i low = _mm512_mask_blend_epi16(0xAAAAAAAA, a, (__m512i)((vu)b << 16));
            const __m512i high = _mm512_mask_blend_epi16(0xAAAAAAAA, (__m512i)((vu)a >> 16), b);
            const auto look_up = [](__m512i words, int by, __m512i sums) {
                return _mm512_permutexvar_epi16((__m512i)((vu_short)words >> by), sums);
            };
            __m512i one = _mm512_permutex2var_epi16(table[0][0], low, table[0][1]);
            __m512i two = _mm512_permutex2var_epi16(table[1][0], high, table[1][1]);
            one = _mm512_add_epi16(one, look_up(low, 6, table[0][2]));
            two = _mm512_add_epi16(two, look_up(high, 6, table[1][2]));
            one = _mm512_add_epi16(one, look_up(low, 11, table[0][3]));
            two = _mm512_add_epi16(two, look_up(high, 11, table[1][3]));
            const __m512i sum = _mm512_add_epi16(_mm512_loadu_si512(out + i), _mm512_add_epi16(one, two));
            _mm512_storeu_si512(out + i, sum);
        }
    }
}

// Short integers for n numbers, a multiple of 16, of which no sum of some overflows; returns their unit.
static float shorten(const float* a, int n, int16_t* out) {
    vf up{}, down{};
    for (int i = 0; i < n; i += 16) {
        const vf here = load<vf>(a + i);
        up += here > 0.0f ? here : vf{};
        down += here < 0.0f ? here : vf{};
    }
    const float most = __builtin_fmaxf(total(up), -total(down));
    const float inverse = most > 0 ? (32750.0f - 0.5f * static_cast<float>(n)) / most : 0.0f;
    for (int i = 0; i < n; i += 16) {
        const __m512i rounded = _mm512_maskz_cvtps_epi32(0xFFFF, load<vf>(a + i) * inverse);
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + i), _mm512_maskz_cvtepi32_epi16(0xFFFF, rounded));
    }
    return most > 0 ? 1 / inverse : 0.0f;
}

// The two halves of 32 sums.
inline __m512 lower_sums(__m512i sums) {
    return __builtin_convertvector((vi)sums << 16 >> 16, __m512);
}
inline __m512 upper_sums(__m512i sums) {
    return __builtin_convertvector((vi)sums >> 16, __m512);
}

static void rough_product(const BitMatrix& X, const float* d, const float* curves, float center, float* out) {
    const int n_rows = 32 * X.by_column.groups, lanes = static_cast<int>(X.by_column.ld);
    const int columns = 32 * X.by_row.groups;
    const RoughSizes sizes = rough_sizes(n_rows, columns);
    int16_t *shorts = X.shorts.take(sizes.shorts), *sums = X.sums.take(sizes.sums);
    const __m512 unit = _mm512_set1_ps(shorten(d, columns, shorts)), middle = _mm512_set1_ps(center);
    __builtin_memset(sums, 0, sizeof(int16_t) * n_rows);
    bit_sums_short(X.by_row, shorts, n_rows, sums);
    float* a = X.line.take(sizes.line);
    for (int n = 0; n < n_rows; n += 32) {
        const __m512i z = _mm512_loadu_si512(sums + n);
        _mm512_storeu_ps(a + n, _mm512_loadu_ps(curves + n) * (lower_sums(z) * unit - middle));
        _mm512_storeu_ps(a + n + 16, _mm512_loadu_ps(curves + n + 16) * (upper_sums(z) * unit - middle));
    }
    __builtin_memset(out, 0, sizeof(float) * lanes);
    for (int n = 0; n < n_rows; n += tuning::rows::SHORT_ROWS) {
        const int rows = n_rows - n < tuning::rows::SHORT_ROWS ? n_rows - n : tuning::rows::SHORT_ROWS;
        const __m512 size = _mm512_set1_ps(shorten(a + n, rows, shorts));
        __builtin_memset(sums, 0, sizeof(int16_t) * columns);  // at least the lanes, in steps of 32
        const size_t skipped = n / 32 * X.by_column.ld;
        bit_sums_short({X.by_column.words + skipped, X.by_column.ld, rows / 32}, shorts, lanes, sums);
        for (int k = 0; k < lanes; k += 32) {
            const __m512i found = _mm512_loadu_si512(sums + k);
            _mm512_storeu_ps(out + k, _mm512_loadu_ps(out + k) + lower_sums(found) * size);
            if (k + 16 < lanes)
                _mm512_storeu_ps(out + k + 16, _mm512_loadu_ps(out + k + 16) + upper_sums(found) * size);
        }
    }
}

#define ISINGLASS_ROUGH rough_product

#else

#define ISINGLASS_ROUGH nullptr

#if defined(__AVX2__)

typedef uint32_t vu __attribute__((vector_size(32)));

static void bit_sums(const BitWords& bits, const float* coefficient, int lanes, float* out) {
    // Eleven tables of eight sums: ten of three bits and the last of two.
    const __m256i one = _mm256_setr_epi32(0, -1, 0, -1, 0, -1, 0, -1);
    const __m256i two = _mm256_setr_epi32(0, 0, -1, -1, 0, 0, -1, -1);
    const __m256i four = _mm256_setr_epi32(0, 0, 0, 0, -1, -1, -1, -1);
    for (int g = 0; g < bits.groups; ++g) {
        __m256 table[11];
        for (int q = 0; q < 11; ++q) {
            const float* c = coefficient + 32 * g + 3 * q;
            table[q] = _mm256_and_ps(_mm256_castsi256_ps(one), _mm256_set1_ps(c[0]));
            table[q] += _mm256_and_ps(_mm256_castsi256_ps(two), _mm256_set1_ps(c[1]));
            if (q < 10) table[q] += _mm256_and_ps(_mm256_castsi256_ps(four), _mm256_set1_ps(c[2]));
        }
        const uint32_t* row = bits.words + g * bits.ld;
        for (int i = 0; i < lanes; i += 8) {
            const __m256i w = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(row + i));
            __m256 sum[2] = {_mm256_setzero_ps(), _mm256_loadu_ps(out + i)};
            for (int q = 0; q < 11; ++q) sum[q % 2] += _mm256_permutevar8x32_ps(table[q], (__m256i)((vu)w >> 3 * q));
            _mm256_storeu_ps(out + i, sum[1] + sum[0]);
        }
    }
}

// The same in double precision: the lower and the upper halves of eight sums are a register each, which the same bits
// permute; unpacking puts the numbers of rows 0, 1, 4, 5 and of rows 2, 3, 6, 7 together again.
static void bit_sums_double(const BitWords& bits, const double* coefficient, int lanes, double* out) {
    const __m256d odd = _mm256_castsi256_pd(_mm256_setr_epi64x(0, -1, 0, -1));
    const __m256d upper = _mm256_castsi256_pd(_mm256_setr_epi64x(0, 0, -1, -1));
    for (int g = 0; g < bits.groups; ++g) {
        __m256 low[11], high[11];
        for (int q = 0; q < 11; ++q) {
            const double* c = coefficient + 32 * g + 3 * q;
            __m256d without = _mm256_and_pd(odd, _mm256_set1_pd(c[0]));
            if (q < 10) without += _mm256_and_pd(upper, _mm256_set1_pd(c[2]));
            const __m256 one = _mm256_castpd_ps(without), other = _mm256_castpd_ps(without + _mm256_set1_pd(c[1]));
            low[q] = _mm256_shuffle_ps(one, other, 0x88);
            high[q] = _mm256_shuffle_ps(one, other, 0xDD);
        }
        const uint32_t* row = bits.words + g * bits.ld;
        for (int i = 0; i < lanes; i += 8) {
            const __m256i w = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(row + i));
            __m256d even = _mm256_setzero_pd(), rest = _mm256_setzero_pd();
            for (int q = 0; q < 11; ++q) {
                const __m256i place = (__m256i)((vu)w >> 3 * q);
                const __m256 lows = _mm256_permutevar8x32_ps(low[q], place);
                const __m256 highs = _mm256_permutevar8x32_ps(high[q], place);
                even += _mm256_castps_pd(_mm256_unpacklo_ps(lows, highs));
                rest += _mm256_castps_pd(_mm256_unpackhi_ps(lows, highs));
            }
            _mm256_storeu_pd(out + i, _mm256_loadu_pd(out + i) + _mm256_permute2f128_pd(even, rest, 0x20));
            _mm256_storeu_pd(out + i + 4, _mm256_loadu_pd(out + i + 4) + _mm256_permute2f128_pd(even, rest, 0x31));
        }
    }
}

#else

static void bit_sums(const BitWords& bits, const float* coefficient, int lanes, float* out) {
    look_up_sums(bits, coefficient, lanes, out);
}

static void bit_sums_double(const BitWords& bits, const double* coefficient, int lanes, double* out) {
    look_up_sums(bits, coefficient, lanes, out);
}

#endif

// Blocks of halves, quarters, ... change places.
static void transpose_bits(const uint32_t* words, uint32_t* out) {
    for (int b = 0; b < 32; ++b) out[b] = words[b];
    uint32_t mask = 0x0000FFFF;
    for (int half = 16; half > 0; half /= 2, mask ^= mask << half)
        for (int b = 0; b < 32; b = (b + half + 1) & ~half) {
            const uint32_t swapped = (out[b] >> half ^ out[b + half]) & mask;
            out[b] ^= swapped << half;
            out[b + half] ^= swapped;
        }
}

#endif

static void scale(const float* factor, int n, float* z) {
    for (int i = 0; i < n; i += FLOATS) store(z + i, load<vf>(factor + i) * load<vf>(z + i));
}
