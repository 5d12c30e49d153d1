#include "pair_objective/greedy/step.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/clones.h"
#include "base/pack.h"

namespace conclust {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

CONCLUST_INLINE double lanes_of(const Pack& x) {
    double lane[pack_lanes];
    store(lane, x);
    return (lane[0] + lane[1]) + (lane[2] + lane[3]);
}

// Sum over two packs of lanes; the rest goes to the lanes in order.
CONCLUST_INLINE double lane_sum(const double* values, std::size_t count) {
    Pack low = spread(0.0);
    Pack high = spread(0.0);
    std::size_t e = 0;
    for (; e + 8 <= count; e += 8) {
        low += load(values + e);
        high += load(values + e + 4);
    }
    double rest = 0.0;
    for (; e < count; ++e) {
        rest += values[e];
    }
    low += high;
    return lanes_of(low) + rest;
}

CONCLUST_CLONES
double sum_all(const double* values, std::size_t count) { return lane_sum(values, count); }

template <int S>
CONCLUST_INLINE double dot(const double* x, const double* y, std::size_t stride) {
    const std::size_t s = S ? static_cast<std::size_t>(S) : stride;
    Pack sum = load(x) * load(y);
    for (std::size_t c = pack_lanes; c < s; c += pack_lanes) {
        sum += load(x + c) * load(y + c);
    }
    return lanes_of(sum);
}

template <int S, bool Along>
CONCLUST_INLINE void gather(const GreedyRecords& records, const double* y, std::size_t U, std::size_t V,
                            GreedyRow& row) {
    const std::size_t s = S ? static_cast<std::size_t>(S) : records.stride;
    const std::int32_t* partners = row.partners;
    const double* data = records.data;
    double* a = row.a;
    double* d = row.d;
    const std::size_t count = row.count;
    for (std::size_t e = 0; e < count; ++e) {
        const double* x = data + static_cast<std::size_t>(partners[e]) * 2 * s;
        a[e] = dot<S>(x, y, s);
        if constexpr (Along) {
            d[e] = x[U] - x[V];
        }
    }
    for (std::size_t e = count; e < row.whole; ++e) {
        a[e] = 0.5;
        d[e] = 0.0;
    }
}

template <int S>
CONCLUST_INLINE double gap(const double* y, const double* g, std::size_t stride) {
    const std::size_t s = S ? static_cast<std::size_t>(S) : stride;
    double high = -infinity;
    double low = infinity;
    for (std::size_t c = 0; c < s; ++c) {
        const double held = y[c] > 0.0 ? g[c] : -infinity;
        high = held > high ? held : high;
        low = g[c] < low ? g[c] : low;
    }
    return high - low;
}

template <int S>
CONCLUST_INLINE void weighted_sum(const GreedyRecords& records, const GreedyRow& row, double* g) {
    const std::size_t s = S ? static_cast<std::size_t>(S) : records.stride;
    for (std::size_t c = 0; c < s; ++c) {
        g[c] = 0.0;
    }
    for (std::size_t e = 0; e < row.count; ++e) {
        const double* x = records.data + static_cast<std::size_t>(row.partners[e]) * 2 * s;
        const Pack w = spread(row.before[e]);
        for (std::size_t c = 0; c < s; c += pack_lanes) {
            store(g + c, load(g + c) + w * load(x + c));
        }
    }
}

template <int S>
CONCLUST_INLINE double spread_move(const GreedyRecords& records, const double* y_old,
                                   const double* y_new, GreedyRow& row, double* g) {
    const std::size_t s = S ? static_cast<std::size_t>(S) : records.stride;
    const std::int32_t* partners = row.partners;
    const double* before = row.before;
    const double* after = row.after;
    double* gaps = row.first;
    const std::size_t count = row.count;
    double own[S ? S : 1];  // in registers where the stride is known
    double* sum = S ? own : g;
    for (std::size_t c = 0; c < s; ++c) {
        sum[c] = 0.0;
    }
    double largest = 0.0;
    for (std::size_t e = 0; e < count; ++e) {
        double* x = records.data + static_cast<std::size_t>(partners[e]) * 2 * s;
        double* gx = x + s;
        const Pack old_slope = spread(before[e]);
        const Pack new_slope = spread(after[e]);
        for (std::size_t c = 0; c < s; c += pack_lanes) {
            store(sum + c, load(sum + c) + new_slope * load(x + c));
            store(gx + c, load(gx + c) + (new_slope * load(y_new + c) - old_slope * load(y_old + c)));
        }
        gaps[e] = gap<S>(x, gx, s);
        largest = gaps[e] > largest ? gaps[e] : largest;
    }
    if constexpr (S != 0) {
        for (std::size_t c = 0; c < s; ++c) {
            g[c] = sum[c];
        }
    }
    return largest;
}

#define CONCLUST_STEP(S)                                                                                \
    CONCLUST_CLONES void gather_##S(const GreedyRecords& records, const double* y, GreedyRow& row) {    \
        gather<S, false>(records, y, 0, 0, row);                                                        \
    }                                                                                                   \
    CONCLUST_CLONES void gather_along_##S(const GreedyRecords& records, const double* y, std::size_t U, \
                                          std::size_t V, GreedyRow& row) {                              \
        gather<S, true>(records, y, U, V, row);                                                         \
    }                                                                                                   \
    CONCLUST_CLONES void gradient_##S(const GreedyRecords& records, const GreedyRow& row, double* g) {  \
        weighted_sum<S>(records, row, g);                                                               \
    }                                                                                                   \
    CONCLUST_CLONES double move_##S(const GreedyRecords& records, const double* y_old,                  \
                                    const double* y_new, GreedyRow& row, double* g) {                   \
        return spread_move<S>(records, y_old, y_new, row, g);                                           \
    }

CONCLUST_STEP(4)
CONCLUST_STEP(8)
CONCLUST_STEP(12)
CONCLUST_STEP(16)
CONCLUST_STEP(0)

template <Divergence D>
CONCLUST_INLINE double all_values(GreedyRow& row, double power) {
    double* __restrict term = row.first;
    const std::size_t count = row.whole;
    for (std::size_t e = 0; e < count; ++e) {
        term[e] = divergence_value<D>(row.c[e], row.N[e], row.a[e], power);
    }
    return lane_sum(term, count);
}

// Slope and curvature of N d at q: all slopes of this file are these, to the bit. For kl by one division
// instead of four.
template <Divergence D>
CONCLUST_INLINE double slope_and_curvature(double c, double N, double q, double power,
                                           double& curvature) {
    if constexpr (D == Divergence::kl) {
        const double in = at_least(q, least);
        const double out = at_least(1.0 - q, least);
        const double scale = 1.0 / (in * out);
        curvature = ((N - c) * (in * in) + c * (out * out)) * scale * scale;
        return ((N - c) * in - c * out) * scale;
    } else {
        curvature = divergence_curvature<D>(c, N, q, power);
        return divergence_slope<D>(c, N, q, power);
    }
}

template <Divergence D>
CONCLUST_INLINE void all_slopes(const GreedyRow& row, double power, double* __restrict out) {
    const std::size_t count = row.whole;
    for (std::size_t e = 0; e < count; ++e) {
        double curvature;  // left out by the compiler
        out[e] = slope_and_curvature<D>(row.c[e], row.N[e], row.a[e], power, curvature);
    }
}

// Slope and curvature of the sum along the line, at `step`. At the start the slopes of the partners go
// to row.before.
template <Divergence D>
struct KnownLine {
    static constexpr bool quadratic = D == Divergence::l2;
    double power;

    template <bool Start>
    CONCLUST_INLINE void along(GreedyRow& row, double step, double& slope, double& curvature) const {
        ++row.evaluations;
        const std::size_t count = row.whole;
        const double* c = row.c;
        const double* N = row.N;
        const double* a = row.a;
        const double* d = row.d;
        double* __restrict before = row.before;
        double lanes[2][8] = {};
        for (std::size_t e = 0; e < count; e += 8) {
            for (std::size_t lane = 0; lane < 8; ++lane) {
                const std::size_t j = e + lane;
                double bend;
                const double q = Start ? a[j] : a[j] + step * d[j];
                const double one = slope_and_curvature<D>(c[j], N[j], q, power, bend);
                if constexpr (Start) {
                    before[j] = one;
                }
                lanes[0][lane] += one * d[j];
                lanes[1][lane] += bend * (d[j] * d[j]);
            }
        }
        slope = lanes_of(load(lanes[0]) + load(lanes[0] + 4));
        curvature = lanes_of(load(lanes[1]) + load(lanes[1] + 4));
    }
};

// Writes N times the values of a custom divergence for the pairs to `out`, and 0 in the padding.
void ask(const OutsideDivergence& outside, int what, const GreedyRow& row, const double* q,
         double* out) {
    const std::size_t count = row.count;
    for (std::size_t e = 0; e < count; ++e) {
        outside.p[e] = row.c[e] / at_least(row.N[e], 1e-280);
        outside.q[e] = 1.0 - at_least(1.0 - at_least(q[e], least), least);
    }
    if (count) {
        outside.call(outside.context, what, outside.p, outside.q, outside.out, count);
    }
    for (std::size_t e = 0; e < count; ++e) {
        out[e] = row.N[e] * outside.out[e];
    }
    std::fill(out + count, out + row.whole, 0.0);
}

// The same for a custom divergence.
struct OutsideLine {
    static constexpr bool quadratic = false;
    const OutsideDivergence* outside;

    template <bool Start>
    void along(GreedyRow& row, double step, double& slope, double& curvature) const {
        ++row.evaluations;
        const std::size_t count = row.whole;
        double* q = row.first;
        double* term = row.second;
        for (std::size_t e = 0; e < count; ++e) {
            q[e] = Start ? row.a[e] : row.a[e] + step * row.d[e];
        }
        ask(*outside, 1, row, q, term);
        if constexpr (Start) {
            std::copy(term, term + count, row.before);
        }
        for (std::size_t e = 0; e < count; ++e) {
            term[e] *= row.d[e];
        }
        slope = lane_sum(term, count);
        ask(*outside, 2, row, q, term);
        for (std::size_t e = 0; e < count; ++e) {
            term[e] *= row.d[e] * row.d[e];
        }
        curvature = lane_sum(term, count);
    }
};

// Newton's method within a bracket: the slope rises along the line.
template <class Line>
CONCLUST_INLINE double search(const Line& line, GreedyRow& row, double most) {
    double slope = 0.0;
    double curvature = 0.0;
    line.template along<true>(row, 0.0, slope, curvature);
    if (!(slope < 0.0)) {
        return 0.0;
    }
    if constexpr (Line::quadratic) {
        return curvature * most > -slope ? -slope / curvature : most;
    }
    const double enough = 1e-3 * -slope;  // one more step of Newton's squares it
    double left = 0.0;     // the slope is negative here
    double right = most;   // and positive here, once it is known
    bool known = false;
    double step = -slope / curvature;
    for (int evaluation = 0; evaluation < 100; ++evaluation) {
        if (!known && !(step < most)) {
            step = most;
        } else if (!(step > left && step < right) || evaluation % 4 == 3) {
            step = 0.5 * (left + right);
        }
        line.template along<false>(row, step, slope, curvature);
        if (slope <= 0.0 && step == most) {
            return most;
        }
        const bool near = std::fabs(slope) <= enough;
        if (slope < 0.0) {
            left = step;
        } else {
            right = step;
            known = true;
        }
        if (right - left <= 1e-10 * right) {
            break;
        }
        step -= slope / curvature;
        if (near && step > left && step < right) {
            return step;
        }
    }
    return left;
}

#define CONCLUST_KNOWN(NAME)                                                                    \
    CONCLUST_CLONES void slopes_known(Is<Divergence::NAME>, const GreedyRow& row, double power, \
                                      double* out) {                                            \
        all_slopes<Divergence::NAME>(row, power, out);                                          \
    }                                                                                           \
    CONCLUST_CLONES double value_known(Is<Divergence::NAME>, GreedyRow& row, double power) {    \
        return all_values<Divergence::NAME>(row, power);                                        \
    }                                                                                           \
    CONCLUST_CLONES double search_known(Is<Divergence::NAME>, GreedyRow& row, double power,     \
                                        double most) {                                          \
        return search(KnownLine<Divergence::NAME>{power}, row, most);                           \
    }
CONCLUST_DIVERGENCES(CONCLUST_KNOWN)
#undef CONCLUST_KNOWN

}  // namespace

double sum_of(const double* values, std::size_t count) { return sum_all(values, count); }

void products(const GreedyRecords& records, const double* y, GreedyRow& row) {
    switch (records.stride) {
        case 4: return gather_4(records, y, row);
        case 8: return gather_8(records, y, row);
        case 12: return gather_12(records, y, row);
        case 16: return gather_16(records, y, row);
        default: return gather_0(records, y, row);
    }
}

void products_along(const GreedyRecords& records, const double* y, std::size_t U, std::size_t V,
                    GreedyRow& row) {
    switch (records.stride) {
        case 4: return gather_along_4(records, y, U, V, row);
        case 8: return gather_along_8(records, y, U, V, row);
        case 12: return gather_along_12(records, y, U, V, row);
        case 16: return gather_along_16(records, y, U, V, row);
        default: return gather_along_0(records, y, U, V, row);
    }
}

void gradient(const GreedyRecords& records, const GreedyRow& row, double* g) {
    switch (records.stride) {
        case 4: return gradient_4(records, row, g);
        case 8: return gradient_8(records, row, g);
        case 12: return gradient_12(records, row, g);
        case 16: return gradient_16(records, row, g);
        default: return gradient_0(records, row, g);
    }
}

double move_gradients(const GreedyRecords& records, const double* y_old, const double* y_new,
                      GreedyRow& row, double* g) {
    switch (records.stride) {
        case 4: return move_4(records, y_old, y_new, row, g);
        case 8: return move_8(records, y_old, y_new, row, g);
        case 12: return move_12(records, y_old, y_new, row, g);
        case 16: return move_16(records, y_old, y_new, row, g);
        default: return move_0(records, y_old, y_new, row, g);
    }
}

void finish_row(GreedyRow& row, std::size_t count) {
    row.count = count;
    row.whole = (count + 7) / 8 * 8;
    std::fill(row.c + count, row.c + row.whole, 0.0);
    std::fill(row.N + count, row.N + row.whole, 0.0);
}

double gap_of(const double* y, const double* g, std::size_t stride) { return gap<0>(y, g, stride); }

void slopes(const GreedyDivergence& divergence, const GreedyRow& row, double* out) {
    if (divergence.outside.call) {
        return ask(divergence.outside, 1, row, row.a, out);
    }
    with_divergence(divergence.known,
                    [&](auto known) { slopes_known(known, row, divergence.power, out); });
}

double value(const GreedyDivergence& divergence, GreedyRow& row) {
    if (divergence.outside.call) {
        ask(divergence.outside, 0, row, row.a, row.first);
        return sum_all(row.first, row.whole);
    }
    return with_divergence(divergence.known,
                           [&](auto known) { return value_known(known, row, divergence.power); });
}

double line_search(const GreedyDivergence& divergence, GreedyRow& row, double most) {
    if (divergence.outside.call) {
        return search(OutsideLine{&divergence.outside}, row, most);
    }
    return with_divergence(divergence.known,
                           [&](auto known) { return search_known(known, row, divergence.power, most); });
}

}  // namespace conclust
