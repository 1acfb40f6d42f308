// Kernels for columns with categories, part of kernels_impl.hpp.
//
// A node of category_pass has one predictor per row. The others work on rows of `ld` numbers side by side, one per
// category (padded with zeros), or of one number (ld = 1): a neighbor's category selects the row of
// a small table that is added, or to which is added. ld is 1, 4 or a multiple of 8.

// log(1 + y) for y >= 0: above 1 by the exponent of 1 + y.
inline vd log1p_large(vd y) {
    constexpr int64_t MANTISSA = (int64_t{1} << 52) - 1, ONE = int64_t{1023} << 52;
    constexpr double SHIFT = 4503599627370496.0;  // 2^52: its low bits are a whole number
    const vl is_small = y < 1.0, bits = (vl)(1.0 + y);
    const vd mantissa = (vd)((bits & MANTISSA) | ONE);
    const vd exponent = (vd)(((bits >> 52) - 1023) | (vl)(vd{} + SHIFT)) - SHIFT;
    return log1p_unit(is_small ? y : mantissa - 1.0) + (is_small ? vd{} : exponent * 0.6931471805599453);
}

// Whether powers of one exponential can be taken: no exponent comes near to underflow. spread: between the largest and
// the smallest field; range: of the scores.
inline bool powers_fit(const double* eta, int n, double spread, double range) {
    const double farthest = (600 - spread) / range;
    vl is_far{};
    for (int i = 0; i < n; i += DOUBLES) {
        const vd e = load<vd>(eta + i);
        is_far |= !((e < 0.0 ? -e : e) <= farthest);
    }
    return !any_of(is_far);
}

// Of few categories whose scores are in equal steps: exp(field_k + score_k eta) by powers of one exponential, up to a
// factor that all categories of a row share. The end that eta favors has the power 0.
template <int Q>
struct Powers {
    double start[Q] = {};      // exp(field - largest field)
    double step = 0;           // between two scores
    bool can_be_used = false;  // equal steps, and nothing comes near to underflow

    Powers(const Categories& c, const double* eta, int n) {
        double high = c.field[0], low = high;
        for (int k = 1; k < Q; ++k) {
            high = c.field[k] > high ? c.field[k] : high;
            low = c.field[k] < low ? c.field[k] : low;
            if (c.value[k] - c.value[k - 1] != c.value[1] - c.value[0]) return;
        }
        step = c.score[1] - c.score[0];
        can_be_used = powers_fit(eta, n, high - low, (Q - 1) * step);
        for (int k = 0; k < Q; ++k) start[k] = __builtin_exp(c.field[k] - high);
    }
    void operator()(vd e, vd* out) const {
        const vl is_up = e > 0.0;
        const vd y = exp_negative(-step * (is_up ? e : -e));
        vd power[Q];
        power[0] = vd{} + 1.0;
        for (int k = 1; k < Q; ++k) power[k] = power[k - 1] * y;
        for (int k = 0; k < Q; ++k) out[k] = start[k] * (is_up ? power[Q - 1 - k] : power[k]);
    }
};

// exp(field + score eta) of the observed category and of the others together, up to a factor, and the largest exponent
// less the observed one: 0 where powers are used.
struct Exponentials {
    vd own, others, behind;
};

// What the passes over few and over many categories end with, for a vector of rows.
struct PassEnd {
    vd loss{}, curvature{};

    // r, square: the first two moments of the score less that of the row.
    template <bool BY_POWERS>
    void add(const Exponentials& at, vd r, vd square, vd weight, double* wr, float* wv, double* margin) {
        // log((own + others) / own). An exponential that has underflowed is known by its logarithm alone; else
        // whichever is at the top is 1.
        const vd rest = BY_POWERS ? at.others / at.own : at.behind == 0.0 ? at.others : (at.others - 1.0) + at.own;
        const vd cost = at.behind + log1p_large(rest);
        // Of rows predicted wrongly with confidence the curvature is bounded, as for two values (bound_curvature).
        const vd variance = square - r * r, bound = cost > tuning::BADLY_PREDICTED ? r * r / (2.0 * cost) : vd{};
        const vd curve = weight * (variance > bound ? variance : bound);
        store(wr, weight * r);
        store(wv, __builtin_convertvector(curve > 0.0 ? curve : vd{}, vf_half));
        loss += weight * cost;
        curvature += curve;
        for (int j = 0; margin && j < DOUBLES; ++j)
            margin[j] = -at.behind[j] - __builtin_log(BY_POWERS ? rest[j] : at.others[j]);
    }
    LossSums sums() const { return {total(loss), total(curvature)}; }
};

// The compiler knows the number of categories, which keeps a row's numbers and the sums at hand. BY_POWERS: see above.
template <int Q, bool BY_POWERS>
static LossSums category_rows(const Categories& c, const Powers<Q>& powers, const NodeRows& rows, const double* eta,
                              const CategoryOut& out) {
    const int n = rows.n;
    double *P = out.P.take(static_cast<size_t>(Q) * n), *margin = out.margin;
    vd here[Q], given[Q * Q] = {}, products[Q * Q] = {};
    PassEnd end;
    for (int i = 0; i < n; i += DOUBLES) {
        const vd e = load<vd>(eta + i), weight = load<vd>(rows.w + i), value = bytes_to_doubles(rows.x + i);
        vd top = vd{} + c.field[0] + c.score[0] * e, logit = top;
        if constexpr (BY_POWERS) {
            powers(e, here);
        } else {
            for (int k = 0; k < Q; ++k) {
                const vd z = c.field[k] + c.score[k] * e;
                top = z > top ? z : top;
                logit = value == c.value[k] ? z : logit;
            }
            for (int k = 0; k < Q; ++k) here[k] = exp_negative(c.field[k] + c.score[k] * e - top);
        }
        vd own{}, others{}, score{};
        vl is_of[Q];
        for (int k = 0; k < Q; ++k) {
            is_of[k] = value == c.value[k];
            own = is_of[k] ? here[k] : own;
            others += is_of[k] ? vd{} : here[k];
            score = is_of[k] ? vd{} + c.score[k] : score;
        }
        const vd inverse = 1.0 / (own + others), scaled = weight * inverse;
        vd r{}, square{};
        for (int k = 0; k < Q; ++k) {
            const vd off = c.score[k] - score, share = here[k] * scaled;
            here[k] *= inverse;
            store(P + static_cast<size_t>(k) * n + i, here[k]);
            const vd along = here[k] * off;
            r += along;
            square += along * off;
            for (int j = 0; j < Q; ++j)
                if (j != k) given[Q * j + k] = is_of[j] ? given[Q * j + k] + share : given[Q * j + k];
            for (int l = 0; l < k; ++l) products[Q * k + l] += share * here[l];
        }
        end.add<BY_POWERS>({own, others, BY_POWERS ? vd{} : top - logit}, r, square, weight, out.wr + i, out.wv + i,
                           margin ? margin + i : nullptr);
    }
    double *all_given = out.given.take(Q * Q), *all_products = out.products.take(Q * Q);
    for (int k = 0; k < Q * Q; ++k) all_given[k] = total(given[k]), all_products[k] = total(products[k]);
    return end.sums();
}

template <int Q>
static LossSums few_categories(const Categories& c, const NodeRows& rows, const double* eta, const CategoryOut& out) {
    const Powers<Q> powers(c, eta, rows.n);
    return (powers.can_be_used ? category_rows<Q, true> : category_rows<Q, false>)(c, powers, rows, eta, out);
}

static LossSums category_pass(const Categories& c, const NodeRows& rows, const double* eta, const CategoryOut& out) {
    constexpr decltype(&few_categories<2>) OF[] = {few_categories<2>, few_categories<3>, few_categories<4>,
                                                   few_categories<5>, few_categories<6>, few_categories<7>,
                                                   few_categories<8>};
    return OF[c.q - 2](c, rows, eta, out);
}

template <class T, int LANES>
struct Wide {
    typedef T type __attribute__((vector_size(LANES * sizeof(T))));
};

// out_n += sum_j tables_j[code_jn] for the numbers [0, LANES * COUNT) of every row.
template <class T, int LANES, int COUNT>
static void gather_part(const CodeTables<const T>& of, int first, T* out) {
    using V = typename Wide<T, LANES>::type;
    const auto [codes, tables, count, ld, n] = of;
    for (int i = 0; i < n; ++i) {
        T* row = out + static_cast<size_t>(i) * ld + first;
        V sum[COUNT];
        for (int v = 0; v < COUNT; ++v) sum[v] = load<V>(row + v * LANES);
        for (int j = 0; j < count; ++j) {
            const T* line = tables[j] + codes[j][i] * ld + first;
            for (int v = 0; v < COUNT; ++v) sum[v] += load<V>(line + v * LANES);
        }
        for (int v = 0; v < COUNT; ++v) store(row + v * LANES, sum[v]);
    }
}

// table_j[code_jn] += a_n for up to four tables: their chains of additions run side by side.
template <class T, int LANES, int COUNT, int TABLES>
static void scatter_part(const CodeTables<T>& to, int begin, int first, const T* a) {
    using V = typename Wide<T, LANES>::type;
    const uint8_t* const* codes = to.codes + begin;
    T* const* tables = to.tables + begin;
    const int ld = to.ld, n = to.n;
    for (int i = 0; i < n; ++i) {
        const T* row = a + static_cast<size_t>(i) * ld + first;
        V value[COUNT];
        for (int v = 0; v < COUNT; ++v) value[v] = load<V>(row + v * LANES);
        for (int j = 0; j < TABLES; ++j) {
            T* line = tables[j] + codes[j][i] * ld + first;
            for (int v = 0; v < COUNT; ++v) store(line + v * LANES, load<V>(line + v * LANES) + value[v]);
        }
    }
}

template <int LANES_, int COUNT_>
struct Piece {
    static constexpr int LANES = LANES_, COUNT = COUNT_;
};
// part(piece, first) for pieces of a row of ld numbers, in vectors that fit into a register: GCC takes wider ones
// apart, conditions number by number.
template <class T, class Part>
inline void each_piece(int ld, Part part) {
    constexpr int WIDEST = FLOATS * 4 / sizeof(T), LANES = WIDEST < 8 ? WIDEST : 8, HALF = LANES < 4 ? LANES : 4;
    if (ld == 1) return part(Piece<1, 1>(), 0);
    if (ld == 4) return part(Piece<HALF, 4 / HALF>(), 0);
    int first = 0;
    for (; first + 24 <= ld; first += 24) part(Piece<LANES, 24 / LANES>(), first);
    if (first + 16 == ld) part(Piece<LANES, 16 / LANES>(), first);
    if (first + 8 == ld) part(Piece<LANES, 8 / LANES>(), first);
}

template <class T>
static void gather_tables(const CodeTables<const T>& of, T* out) {
    each_piece<T>(of.ld, [&](auto piece, int first) {
        using P = decltype(piece);
        gather_part<T, P::LANES, P::COUNT>(of, first, out);
    });
}

template <class T>
static void scatter_rows(const CodeTables<T>& to, const T* a) {
    each_piece<T>(to.ld, [&](auto piece, int first) {
        using P = decltype(piece);
        int j = 0;
        for (; j + 4 <= to.count; j += 4) scatter_part<T, P::LANES, P::COUNT, 4>(to, j, first, a);
        for (; j + 2 <= to.count; j += 2) scatter_part<T, P::LANES, P::COUNT, 2>(to, j, first, a);
        if (j < to.count) scatter_part<T, P::LANES, P::COUNT, 1>(to, j, first, a);
    });
}

// Two rows at a time: their chains of additions run side by side.
template <class T>
static void sum_listed(const RowList& list, const T* a, T* sum) {
    each_piece<T>(list.ld, [&](auto piece, int first) {
        using P = decltype(piece);
        using V = typename Wide<T, P::LANES>::type;
        V even[P::COUNT] = {}, odd[P::COUNT] = {};
        const auto add = [&](int i, V* to) {
            const T* row = a + static_cast<size_t>(list.rows[i]) * list.ld + first;
            for (int v = 0; v < P::COUNT; ++v) to[v] += load<V>(row + v * P::LANES);
        };
        int i = 0;
        for (; i + 2 <= list.count; i += 2) add(i, even), add(i + 1, odd);
        if (i < list.count) add(i, even);
        for (int v = 0; v < P::COUNT; ++v) store(sum + first + v * P::LANES, even[v] + odd[v]);
    });
}

static void add_to_listed(const RowList& list, const float* line, float* out) {
    each_piece<float>(list.ld, [&](auto piece, int first) {
        using P = decltype(piece);
        using V = typename Wide<float, P::LANES>::type;
        V value[P::COUNT];
        for (int v = 0; v < P::COUNT; ++v) value[v] = load<V>(line + first + v * P::LANES);
        for (int i = 0; i < list.count; ++i) {
            float* row = out + static_cast<size_t>(list.rows[i]) * list.ld + first;
            for (int v = 0; v < P::COUNT; ++v) store(row + v * P::LANES, load<V>(row + v * P::LANES) + value[v]);
        }
    });
}

template <int LANES, class V>
inline V lane_numbers() {
    V v;
    for (int i = 0; i < LANES; ++i) v[i] = i;
    return v;
}

// Rows [i, i + ROWS) of a node: probabilities, residuals and margins; sums are added.
constexpr int ROWS = 8;
template <int LANES>
static void softmax_row(const Softmax& c, const double* eta, int x, double w, double* wr, double* margin, double* P,
                        double* given) {
    using V = typename Wide<double, LANES>::type;
    const int ld = c.ld;
    const V lane = lane_numbers<LANES, V>();
    V top = V{} - 1e300;
    for (int v = 0; v < ld; v += LANES) {
        const V z = load<V>(c.field + v) + load<V>(eta + v);
        top = z > top ? z : top;
        store(P + v, z);
    }
    double highest = top[0];
    for (int i = 1; i < LANES; ++i) highest = highest > top[i] ? highest : top[i];
    const double logit = P[x] - highest;
    V sum{};
    for (int v = 0; v < ld; v += LANES) {
        const V y = lane + static_cast<double>(v) < c.q ? exp_negative(load<V>(P + v) - highest) : V{};
        sum += lane + static_cast<double>(v) == static_cast<double>(x) ? V{} : y;
        store(P + v, y);
    }
    const double others = total_of<LANES>(sum), inverse = 1 / (P[x] + others);
    for (int v = 0; v < ld; v += LANES) {
        const auto is_own = lane + static_cast<double>(v) == static_cast<double>(x);
        const V p = load<V>(P + v) * inverse, share = is_own ? V{} : w * p;
        store(P + v, p);
        store(given + x * ld + v, load<V>(given + x * ld + v) + share);
        store(wr + v, is_own ? V{} - w * (others * inverse) : share);
    }
    *margin = logit - __builtin_log(others);
}

template <int LANES>
static void softmax_rows(const Softmax& c, const NodeRows& rows, const double* eta, const SoftmaxOut& out) {
    using V = typename Wide<double, LANES>::type;
    const uint8_t* x = rows.x;
    const double* w = rows.w;
    const int q = c.q, ld = c.ld;
    const size_t square = static_cast<size_t>(q) * ld;
    double *P = out.P.take(static_cast<size_t>(rows.n) * ld), *given = out.given.take(square),
           *products = out.products.take(square);
    __builtin_memset(given, 0, square * sizeof(double));
    __builtin_memset(products, 0, square * sizeof(double));
    for (int i = 0; i < rows.n; i += ROWS) {
        double* block = P + static_cast<size_t>(i) * ld;
        for (int r = 0; r < ROWS; ++r) {
            const size_t row = static_cast<size_t>(i + r) * ld;
            softmax_row<LANES>(c, eta + row, x[i + r], w[i + r], out.wr + row, out.margin + i + r, block + r * ld,
                               given);
        }
        for (int k = 0; k < q; ++k)
            for (int v = 0; v <= k; v += LANES) {
                V sum = load<V>(products + k * ld + v);
                for (int r = 0; r < ROWS; ++r) sum += (w[i + r] * block[r * ld + k]) * load<V>(block + r * ld + v);
                store(products + k * ld + v, sum);
            }
    }
}

static double softmax_pass(const Softmax& c, const NodeRows& rows, const double* eta, const SoftmaxOut& out) {
    (c.ld % DOUBLES == 0 ? softmax_rows<DOUBLES> : softmax_rows<4>)(c, rows, eta, out);
    vd loss{};
    for (int i = 0; i < rows.n; i += DOUBLES) loss += load<vd>(rows.w + i) * softplus(-load<vd>(out.margin + i));
    return total(loss);
}

// w (diag P - P P^T) (z + shift) of one row. Numbers are taken relative to that of the likeliest category: of one that
// is all but certain nothing would be left otherwise.
template <int LANES>
static void curve_part(const Curve& c, const float* z, const float* shift, double* sums, float* out) {
    using V = typename Wide<float, LANES>::type;
    constexpr int MOST = 256 / LANES, BATCH = 256;
    const int count = c.ld / LANES;
    for (int start = 0; start < c.n; start += BATCH) {
        const int stop = start + BATCH < c.n ? start + BATCH : c.n;
        V sum[MOST] = {};
        for (int i = start; i < stop; ++i) {
            const size_t row = static_cast<size_t>(i) * c.ld;
            const float* P = c.P + row;
            const int top = c.likeliest[i];
            const float apart = shift ? shift[top] : 0.0f, at_top = z[row + top];
            V value[MOST], mean{};
            for (int v = 0; v < count; ++v) {
                value[v] = load<V>(z + row + v * LANES) - at_top;
                if (shift) value[v] += load<V>(shift + v * LANES) - apart;
                mean += load<V>(P + v * LANES) * value[v];
            }
            const float middle = total_of<LANES>(mean), w = c.w[i];
            for (int v = 0; v < count; ++v) {
                const V u = w * load<V>(P + v * LANES) * (value[v] - middle);
                if (sums) sum[v] += u;
                if (out) store(out + row + v * LANES, u);
            }
        }
        if (sums)
            for (int k = 0; k < c.ld; ++k) sums[k] += sum[k / LANES][k % LANES];
    }
}

static void curve_rows(const Curve& c, const float* z, const float* shift, double* sums, float* out) {
    constexpr int LANES = FLOATS < 8 ? FLOATS : 8;
    (c.ld == 4 ? curve_part<4> : curve_part<LANES>)(c, z, shift, sums, out);
}

static void variance_rows(const Curve& c, float* out) {
    for (int i = 0; i < c.n; ++i, out += c.ld) {
        const float* P = c.P + static_cast<size_t>(i) * c.ld;
        const int top = c.likeliest[i];
        float rest = 0;
        for (int k = 0; k < c.ld; ++k) {
            out[k] = c.w[i] * P[k] * (1 - P[k]);
            rest += k == top ? 0.0f : P[k];
        }
        out[top] = c.w[i] * P[top] * rest;
    }
}

static double row_distance(const NodeRows& rows, const double* wr, const float* reference, int ld) {
    double sum = 0;
    for (int i = 0; i < rows.n; ++i) {
        double square = 0;
        for (int k = 0; k < ld; ++k) {
            const double off = wr[static_cast<size_t>(i) * ld + k] - reference[static_cast<size_t>(i) * ld + k];
            square += off * off;
        }
        sum += square * rows.inverse_w[i];
    }
    return sum;
}
