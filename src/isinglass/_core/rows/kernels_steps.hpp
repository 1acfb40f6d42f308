// Kernels for a column with many ordered categories, part of kernels_impl.hpp. The numbers of a row are side by side,
// one for every place, so that a row costs as much as there are places, and the row of the observed category gets its
// weights by one addition per vector.

// exp(field - largest field) of every place, and whether powers of one exponential can be used: the places are in equal
// steps and nothing comes near to underflow.
struct PlacePowers {
    double start[MOST_PLACES];
    bool can_be_used = false;

    PlacePowers(const Places& c, const double* eta, int n) {
        if (!c.in_steps) return;
        double high = NOWHERE, low = -NOWHERE;
        for (int k = 0; k < c.ld; ++k) {
            if (c.field[k] <= NOWHERE) continue;
            high = c.field[k] > high ? c.field[k] : high;
            low = c.field[k] < low ? c.field[k] : low;
        }
        can_be_used = powers_fit(eta, n, high - low, (c.ld - 1) * c.step);
        for (int k = 0; k < c.ld && can_be_used; ++k)
            start[k] = c.field[k] <= NOWHERE ? 0.0 : __builtin_exp(c.field[k] - high);
    }
};

// What is known of a vector of rows before they are divided by their sums, with the first two moments of the number of
// the place less that of the observed one.
struct PlaceRows {
    Exponentials of;
    vd first, second;
    vd inverse() const { return 1.0 / (of.own + of.others); }
};

// Sums over the places of one row whose observed category has this number.
struct PlaceMoments {
    double number;
    vd others{}, first{}, second{};

    void add(vd t, vd numbers) {
        const vd off = numbers - number, moment = t * off;
        others += off == 0.0 ? vd{} : t;
        first += moment;
        second += moment * off;
    }
};

// A row's numbers by powers of y = exp(-step |eta|). The end that eta favors has the power 0. (The sign of eta is any
// row's own: no branches.)
inline void powers_of_row(const Places& c, const double* start, double y, bool is_up, double* T, PlaceMoments& sums) {
    const vl lane = __builtin_convertvector(lane_numbers<DOUBLES, vd>(), vl), up = vl{} - static_cast<int64_t>(is_up);
    const vl exponent = (up & (DOUBLES - 1 - lane)) | (~up & lane);
    vd power = vd{} + 1.0;
    for (int bit = 1; bit < DOUBLES; bit *= 2, y *= y) power *= (exponent & bit) != 0 ? vd{} + y : vd{} + 1.0;
    const int count = c.ld / DOUBLES, step = DOUBLES * (1 - 2 * is_up);
    int at = is_up * (c.ld - DOUBLES);
    for (int v = 0; v < count; ++v, at += step, power *= y) {
        const vd t = load<vd>(start + at) * power;
        store(T + at, t);
        sums.add(t, load<vd>(c.number + at));
    }
}

// By one exponential for each place; returns the largest exponent less that of place x.
inline double exponentials_of_row(const Places& c, double slope, int x, double* T, PlaceMoments& sums) {
    vd top = vd{} + NOWHERE;
    for (int v = 0; v < c.ld; v += DOUBLES) {
        const vd z = load<vd>(c.field + v) + slope * load<vd>(c.number + v);
        top = z > top ? z : top;
        store(T + v, z);
    }
    double highest = top[0];
    for (int i = 1; i < DOUBLES; ++i) highest = highest > top[i] ? highest : top[i];
    const double behind = highest - T[x];
    for (int v = 0; v < c.ld; v += DOUBLES) {
        const vd t = load<vd>(c.field + v) > NOWHERE ? exp_negative(load<vd>(T + v) - highest) : vd{};
        store(T + v, t);
        sums.add(t, load<vd>(c.number + v));
    }
    return behind;
}

// The rows [i, i + DOUBLES); T has ld numbers for each.
template <bool BY_POWERS>
inline PlaceRows rows_at_places(const Places& c, const double* start, const uint8_t* x, const double* eta, double* T) {
    const vd e = load<vd>(eta), y = exp_negative(-c.step * (e < 0.0 ? -e : e));
    vd others[DOUBLES], first[DOUBLES], second[DOUBLES];
    double sums[DOUBLES], own[DOUBLES], behind[DOUBLES];
    for (int r = 0; r < DOUBLES; ++r, T += c.ld) {
        const int at = c.place[x[r]];
        PlaceMoments row{c.number[at]};
        if (BY_POWERS)
            powers_of_row(c, start, y[r], e[r] > 0, T, row);
        else
            behind[r] = exponentials_of_row(c, c.step * e[r], at, T, row);
        own[r] = T[at];
        others[r] = row.others, first[r] = row.first, second[r] = row.second;
    }
    PlaceRows found;
    found.of.own = load<vd>(own), found.of.behind = BY_POWERS ? vd{} : load<vd>(behind);
    totals<DOUBLES, DOUBLES / 2>(others, sums), found.of.others = load<vd>(sums);
    totals<DOUBLES, DOUBLES / 2>(first, sums), found.first = load<vd>(sums);
    totals<DOUBLES, DOUBLES / 2>(second, sums), found.second = load<vd>(sums);
    return found;
}

template <bool BY_POWERS>
static LossSums place_rows(const Places& places, const double* start, const NodeRows& rows, const double* eta,
                           const PlacesOut& out) {
    const Places c = places;  // what is written cannot change it
    const size_t square = static_cast<size_t>(c.ld) * c.ld;
    double T[DOUBLES * MOST_PLACES], *given = out.given.take(square);
    PassEnd end;
    __builtin_memset(given, 0, square * sizeof(double));
    for (int i = 0; i < rows.n; i += DOUBLES) {
        const vd weight = load<vd>(rows.w + i);
        const PlaceRows at = rows_at_places<BY_POWERS>(c, start, rows.x + i, eta + i, T);
        const vd inverse = at.inverse(), scaled = weight * inverse;
        for (int r = 0; r < DOUBLES; ++r) {
            double* line = given + static_cast<size_t>(c.place[rows.x[i + r]]) * c.ld;
            const double* row = T + r * c.ld;
            for (int v = 0; v < c.ld; v += DOUBLES) store(line + v, load<vd>(line + v) + scaled[r] * load<vd>(row + v));
        }
        end.add<BY_POWERS>(at.of, at.first * inverse * c.step, at.second * inverse * (c.step * c.step), weight,
                           out.wr + i, out.wv + i, out.margin ? out.margin + i : nullptr);
    }
    return end.sums();
}

static LossSums places_pass(const Places& c, const NodeRows& rows, const double* eta, const PlacesOut& out) {
    const PlacePowers powers(c, eta, rows.n);
    return (powers.can_be_used ? place_rows<true> : place_rows<false>)(c, powers.start, rows, eta, out);
}

// out[l ld + k] += sum_n left[n n_left + l] right[n ld + k] over a batch of rows, for LEFT lines and VECTORS vectors.
template <int LEFT, int VECTORS>
inline void cross_tile(const double* left, int n_left, const double* right, int ld, double* out) {
    vd sum[LEFT][VECTORS];
    for (int l = 0; l < LEFT; ++l)
        for (int v = 0; v < VECTORS; ++v) sum[l][v] = load<vd>(out + l * ld + v * DOUBLES);
    for (int i = 0; i < ROW_ALIGN; ++i, left += n_left, right += ld)
        for (int v = 0; v < VECTORS; ++v) {
            const vd value = load<vd>(right + v * DOUBLES);
            for (int l = 0; l < LEFT; ++l) sum[l][v] += left[l] * value;
        }
    for (int l = 0; l < LEFT; ++l)
        for (int v = 0; v < VECTORS; ++v) store(out + l * ld + v * DOUBLES, sum[l][v]);
}

template <int LEFT>
inline void cross_lines(const double* left, int n_left, const double* right, int ld, int stop, double* out) {
    int k = 0;
    for (; k + 2 * DOUBLES <= stop; k += 2 * DOUBLES) cross_tile<LEFT, 2>(left, n_left, right + k, ld, out + k);
    for (; k < stop; k += DOUBLES) cross_tile<LEFT, 1>(left, n_left, right + k, ld, out + k);
}

// The rows of a batch: their probabilities, these times the weights, and the mean number of the place.
template <bool BY_POWERS>
inline void batch_of_rows(const Places& c, const double* start, const NodeRows& rows, const double* eta, int i,
                          double* P, double* weighted, double* mean) {
    for (int b = 0; b < ROW_ALIGN; b += DOUBLES) {
        const PlaceRows at = rows_at_places<BY_POWERS>(c, start, rows.x + i + b, eta + i + b, P + b * c.ld);
        const vd inverse = at.inverse(), moved = at.first * inverse;
        for (int r = 0; r < DOUBLES; ++r) {
            double *row = P + (b + r) * c.ld, *scaled = weighted + (b + r) * c.ld;
            mean[b + r] = c.number[c.place[rows.x[i + b + r]]] + moved[r];
            for (int v = 0; v < c.ld; v += DOUBLES) {
                const vd p = load<vd>(row + v) * inverse[r];
                store(row + v, p);
                store(scaled + v, rows.w[i + b + r] * p);
            }
        }
    }
}

// Adds the mixed derivatives of a batch of rows, four columns at a time; behind the columns there is one of ones.
inline void add_mixed(const ColumnList& columns, const double* weighted, int ld, int i, double* out) {
    constexpr int AT_ONCE = 4;
    double x[ROW_ALIGN * AT_ONCE];
    const int count = columns.count + 1;
    for (int j = 0; j < count; j += AT_ONCE) {
        const int width = count - j < AT_ONCE ? count - j : AT_ONCE;
        for (int l = 0; l < width; ++l)
            for (int b = 0; b < ROW_ALIGN; ++b)
                x[b * AT_ONCE + l] = j + l == columns.count ? 1.0 : static_cast<double>(columns.x[j + l][i + b]);
        double* lines = out + static_cast<size_t>(j) * ld;
        if (width == AT_ONCE)
            cross_lines<AT_ONCE>(x, AT_ONCE, weighted, ld, ld, lines);
        else
            for (int l = 0; l < width; ++l) cross_lines<1>(x + l, AT_ONCE, weighted, ld, ld, lines + l * ld);
    }
}

template <bool BY_POWERS>
static void place_products(const Places& places, const double* start, const NodeRows& rows, const double* eta,
                           const PlaceProducts& out) {
    const Places c = places;
    const int ld = c.ld;
    double P[ROW_ALIGN * MOST_PLACES], weighted[ROW_ALIGN * MOST_PLACES], mean[ROW_ALIGN];
    const size_t square = static_cast<size_t>(ld) * ld, n_mixed = static_cast<size_t>(ld) * (out.columns.count + 1);
    double *products = out.products.take(square), *mixed = out.mixed.size > 0 ? out.mixed.take(n_mixed) : nullptr;
    __builtin_memset(products, 0, square * sizeof(double));
    if (mixed) __builtin_memset(mixed, 0, n_mixed * sizeof(double));
    for (int i = 0; i < rows.n; i += ROW_ALIGN) {
        batch_of_rows<BY_POWERS>(c, start, rows, eta, i, P, weighted, mean);
        for (int l = 0; l < ld; l += 4)
            cross_lines<4>(weighted + l, ld, P, ld, l + 4, products + static_cast<size_t>(l) * ld);
        if (!mixed) continue;
        for (int b = 0; b < ROW_ALIGN; ++b)
            for (int v = 0; v < ld; v += DOUBLES) {
                const vd off = (load<vd>(c.number + v) - mean[b]) * c.step;
                store(weighted + b * ld + v, load<vd>(weighted + b * ld + v) * off);
            }
        add_mixed(out.columns, weighted, ld, i, mixed);
    }
}

static void places_products(const Places& c, const NodeRows& rows, const double* eta, const PlaceProducts& out) {
    const PlacePowers powers(c, eta, rows.n);
    (powers.can_be_used ? place_products<true> : place_products<false>)(c, powers.start, rows, eta, out);
}
