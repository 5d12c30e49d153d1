#include "pairwise_column.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "clones.h"
#include "pack.h"
#include "simplex_qp.h"

namespace conclust {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
// Elements worked on between two sums.
constexpr std::size_t tile = 64;
// A step below this share of the quadratic's is cut short: exact pair steps follow.
constexpr double cut_short = 0.1;

CONCLUST_INLINE double sum_of(const Pack& p) {
    double lane[4];
    store(lane, p);
    return (lane[0] + lane[1]) + (lane[2] + lane[3]);
}

// The sum of a tile of doubles over eight lanes.
CONCLUST_INLINE double sum_tile(const double* values, std::size_t count) {
    Pack even = spread(0.0);
    Pack odd = spread(0.0);
    for (std::size_t j = 0; j < count; j += 8) {
        even += load(values + j);
        odd += load(values + j + 4);
    }
    return sum_of(even + odd);
}

// out_j = sum_k x_k y_jk
CONCLUST_INLINE void products(const PairColumn& col, const double* x, double* out) {
    const std::size_t ld = col.ld;
    for (std::size_t r = 0; r < col.stride; r += 4) {
        const double* t0 = col.yt + r * ld;
        const double* t1 = t0 + ld;
        const double* t2 = t1 + ld;
        const double* t3 = t2 + ld;
        const Pack x0 = spread(x[r]), x1 = spread(x[r + 1]), x2 = spread(x[r + 2]), x3 = spread(x[r + 3]);
        for (std::size_t j = 0; j < col.length; j += pack_lanes) {
            const Pack s = (x0 * load(t0 + j) + x1 * load(t1 + j)) + (x2 * load(t2 + j) + x3 * load(t3 + j));
            store(out + j, r ? load(out + j) + s : s);
        }
    }
}

// g_k = sum_j w_j y_jk
CONCLUST_INLINE void gradient(const PairColumn& col) {
    const std::size_t ld = col.ld;
    for (std::size_t r = 0; r < col.stride; r += 4) {
        const double* t0 = col.yt + r * ld;
        const double* t1 = t0 + ld;
        const double* t2 = t1 + ld;
        const double* t3 = t2 + ld;
        Pack s0 = spread(0.0), s1 = s0, s2 = s0, s3 = s0, u0 = s0, u1 = s0, u2 = s0, u3 = s0;
        for (std::size_t j = 0; j < col.length; j += 8) {
            const Pack w = load(col.w + j);
            const Pack v = load(col.w + j + 4);
            s0 += w * load(t0 + j);
            u0 += v * load(t0 + j + 4);
            s1 += w * load(t1 + j);
            u1 += v * load(t1 + j + 4);
            s2 += w * load(t2 + j);
            u2 += v * load(t2 + j + 4);
            s3 += w * load(t3 + j);
            u3 += v * load(t3 + j + 4);
        }
        col.g[r] = sum_of(s0 + u0);
        col.g[r + 1] = sum_of(s1 + u1);
        col.g[r + 2] = sum_of(s2 + u2);
        col.g[r + 3] = sum_of(s3 + u3);
    }
}

// H_kl = sum_j h_j y_jk y_jl, in tiles of partners that stay in the nearest cache.
CONCLUST_INLINE void curvature(const PairColumn& col) {
    constexpr std::size_t near = 256;
    const std::size_t s = col.stride;
    const std::size_t ld = col.ld;
    std::fill(col.H, col.H + s * s, 0.0);
    for (std::size_t begin = 0; begin < col.length; begin += near) {
        const std::size_t end = std::min(col.length, begin + near);
        for (std::size_t r = 0; r < s; r += 2) {
            const double* p0 = col.yt + r * ld;
            const double* p1 = p0 + ld;
            for (std::size_t l = r & ~std::size_t{3}; l < s; l += 4) {
                const double* t0 = col.yt + l * ld;
                const double* t1 = t0 + ld;
                const double* t2 = t1 + ld;
                const double* t3 = t2 + ld;
                Pack a0 = spread(0.0), a1 = a0, a2 = a0, a3 = a0, b0 = a0, b1 = a0, b2 = a0, b3 = a0;
                for (std::size_t j = begin; j < end; j += pack_lanes) {
                    const Pack h = load(col.h + j);
                    const Pack x = h * load(p0 + j);
                    const Pack y = h * load(p1 + j);
                    const Pack v0 = load(t0 + j), v1 = load(t1 + j), v2 = load(t2 + j), v3 = load(t3 + j);
                    a0 += x * v0;
                    b0 += y * v0;
                    a1 += x * v1;
                    b1 += y * v1;
                    a2 += x * v2;
                    b2 += y * v2;
                    a3 += x * v3;
                    b3 += y * v3;
                }
                double* H0 = col.H + r * s + l;
                double* H1 = H0 + s;
                H0[0] += sum_of(a0);
                H0[1] += sum_of(a1);
                H0[2] += sum_of(a2);
                H0[3] += sum_of(a3);
                H1[0] += sum_of(b0);
                H1[1] += sum_of(b1);
                H1[2] += sum_of(b2);
                H1[3] += sum_of(b3);
            }
        }
    }
    for (std::size_t r = 0; r < s; ++r) {
        for (std::size_t l = 0; l < r; ++l) {
            col.H[r * s + l] = col.H[l * s + r];
        }
    }
}

// Slopes at a, and (H wanted) the curvatures of the quadratic.
template <Divergence D, bool with_h>
CONCLUST_INLINE void slopes(const PairColumn& col) {
    const double* c = col.c;
    const double* N = col.N;
    const double* a = col.a;
    double* w = col.w;
    double* h = col.h;
    const double power = col.parameter;
    for (std::size_t j = 0; j < col.length; ++j) {
        if constexpr (D == Divergence::kl) {
            const double in = 1.0 / at_least(a[j], least);
            const double out = 1.0 / at_least(1.0 - a[j], least);
            const double apart = (N[j] - c[j]) * out;
            const double together = c[j] * in;
            w[j] = apart - together;
            if constexpr (with_h) {
                const double newton = together * in + apart * out;
                const double fisher = N[j] * (in * out);
                h[j] = newton < fisher ? newton : fisher;
            }
        } else {
            w[j] = divergence_slope<D>(c[j], N[j], a[j], power);
            if constexpr (with_h) {
                const double newton = divergence_curvature<D>(c[j], N[j], a[j], power);
                const double fisher = divergence_fisher<D>(N[j], a[j], power);
                h[j] = newton < fisher ? newton : fisher;
            }
        }
    }
}

CONCLUST_INLINE Gap gap_of(const PairColumn& col) {
    Gap found{0, 0, 0.0, 0.0};
    double low = infinity;
    double high = -infinity;
    double mean = 0.0;
    for (std::size_t c = 0; c < col.k; ++c) {
        if (col.g[c] < low) {
            low = col.g[c];
            found.U = c;
        }
        if (col.y[c] > 0.0 && col.g[c] > high) {
            high = col.g[c];
            found.V = c;
        }
        mean += col.y[c] * col.g[c];
    }
    found.gap = high - low;
    found.possible = mean - low;
    return found;
}

struct Rho {
    double value;
    double slope;
};

// The derivative of f along da at a + t da, and its derivative.
template <Divergence D>
CONCLUST_INLINE Rho rho_at(const PairColumn& col, double t) {
    double first[tile];
    double second[tile];
    Rho rho{0.0, 0.0};
    const double power = col.parameter;
    for (std::size_t begin = 0; begin < col.length; begin += tile) {
        const std::size_t count = std::min(tile, col.length - begin);
        const double* c = col.c + begin;
        const double* N = col.N + begin;
        const double* a = col.a + begin;
        const double* da = col.da + begin;
        for (std::size_t j = 0; j < count; ++j) {
            const double at = a[j] + t * da[j];
            if constexpr (D == Divergence::kl) {
                const double in = 1.0 / at_least(at, least);
                const double out = 1.0 / at_least(1.0 - at, least);
                const double apart = (N[j] - c[j]) * out;
                const double together = c[j] * in;
                first[j] = (apart - together) * da[j];
                second[j] = (together * in + apart * out) * (da[j] * da[j]);
            } else {
                first[j] = divergence_slope<D>(c[j], N[j], at, power) * da[j];
                second[j] = divergence_curvature<D>(c[j], N[j], at, power) * (da[j] * da[j]);
            }
        }
        rho.value += sum_tile(first, count);
        rho.slope += sum_tile(second, count);
    }
    return rho;
}

// A t in (0, full] with rho(t) <= 0 and, unless t = full, rho(t) >= -accept * |rho(0)|: Newton's steps
// in a bracket. `start` = rho(0) < 0 and an estimate of its slope. 0 if there is none that can be told
// from 0.
template <Divergence D>
CONCLUST_INLINE double search(const PairColumn& col, const Rho& start, double full, double accept) {
    double low = 0.0;
    double high = full;
    Rho at_low = start;
    Rho last = rho_at<D>(col, full);
    if (!(last.value > 0.0)) {
        return full;
    }
    double t = high;
    double before = high - low;
    for (int step = 0; step < 60; ++step) {
        double next = t - last.value / last.slope;
        const double other = low - at_low.value / at_low.slope;
        if (!(next > low && next < high)) {
            next = other;
        }
        const bool slow = step % 3 == 2 && high - low > 0.5 * before;
        if (step % 3 == 2) {
            before = high - low;
        }
        if (slow || !(next > low && next < high)) {
            next = 0.5 * (low + high);
        }
        t = next;
        last = rho_at<D>(col, t);
        if (last.value <= 0.0) {
            low = t;
            at_low = last;
            if (last.value >= accept * start.value) {
                break;
            }
        } else {
            high = t;
        }
        if (high - low <= 1e-12 * high) {
            break;
        }
    }
    return low;
}

template <Divergence D, bool with_h>
CONCLUST_INLINE Gap refresh(PairColumn& col) {
    products(col, col.y, col.a);
    slopes<D, with_h>(col);
    gradient(col);
    return gap_of(col);
}

// Exact pair steps until the gap is at most `stop`. Leaves a, w, g of the new y.
template <Divergence D>
CONCLUST_INLINE Gap exact_steps(PairColumn& col, Gap gap, double stop, std::size_t most, bool& moved) {
    for (std::size_t step = 0; step < most && gap.gap > stop; ++step) {
        const double* tU = col.yt + gap.U * col.ld;
        const double* tV = col.yt + gap.V * col.ld;
        double bend = 0.0;
        for (std::size_t begin = 0; begin < col.length; begin += tile) {
            double second[tile];
            const std::size_t count = std::min(tile, col.length - begin);
            for (std::size_t j = 0; j < count; ++j) {
                const double d = tU[begin + j] - tV[begin + j];
                col.da[begin + j] = d;
                second[j] = col.h[begin + j] * (d * d);
            }
            bend += sum_tile(second, count);
        }
        const double mass = col.y[gap.V];
        const double e = search<D>(col, {-gap.gap, bend}, mass, 0.05);
        if (!(e > 0.0)) {
            return gap;
        }
        moved = true;
        col.y[gap.U] += e;
        col.y[gap.V] = e < mass ? mass - e : 0.0;
        gap = refresh<D, true>(col);
    }
    return gap;
}

template <Divergence D>
CONCLUST_INLINE bool descend(PairColumn& col, Gap gap, double enough, bool finish) {
    const std::size_t s = col.stride;
    const std::size_t k = col.k;
    bool moved = false;
    for (int round = 0; round < (finish ? 20 : 1) && gap.gap > enough; ++round) {
        const double first = gap.gap;
        curvature(col);
        std::copy(col.y, col.y + s, col.z);
        std::copy(col.g, col.g + s, col.q);
        pair_steps<0>(col.H, col.q, col.z, s, k, std::max(0.02 * gap.gap, 0.1 * enough), 6 * k);
        double slope = 0.0;
        for (std::size_t c = 0; c < s; ++c) {
            col.d[c] = col.z[c] - col.y[c];
            slope += col.g[c] * col.d[c];
        }
        double t = 0.0;
        if (slope < 0.0) {
            if constexpr (D == Divergence::l2) {
                t = 1.0;  // the quadratic is f itself
            } else {
                products(col, col.d, col.da);
                t = search<D>(col, {slope, -slope}, 1.0, 0.2);
            }
        }
        if (t >= 1.0) {
            std::copy(col.z, col.z + s, col.y);
        } else if (t > 0.0) {
            for (std::size_t c = 0; c < s; ++c) {
                col.y[c] += t * col.d[c];
            }
        }
        moved = moved || t > 0.0;
        if (finish || t < cut_short) {
            gap = refresh<D, true>(col);
            if (t < cut_short || gap.gap > 0.5 * first) {
                gap = exact_steps<D>(col, gap, std::max(enough, 0.1 * gap.gap), 2 * k, moved);
            }
        }
    }
    return moved;
}

template <Divergence D>
CONCLUST_INLINE double value(PairColumn& col) {
    products(col, col.y, col.a);
    double terms[tile];
    double total = 0.0;
    const double power = col.parameter;
    for (std::size_t begin = 0; begin < col.length; begin += tile) {
        const std::size_t count = std::min(tile, col.length - begin);
        for (std::size_t j = 0; j < count; ++j) {
            terms[j] = divergence_value<D>(col.c[begin + j], col.N[begin + j], col.a[begin + j], power);
        }
        total += sum_tile(terms, count);
    }
    return total;
}

#define CONCLUST_COLUMN(name)                                                                   \
    CONCLUST_CLONES Gap gradient_##name(PairColumn& col) {                                      \
        return refresh<Divergence::name, false>(col);                                           \
    }                                                                                           \
    CONCLUST_CLONES Gap curved_##name(PairColumn& col) {                                        \
        return refresh<Divergence::name, true>(col);                                            \
    }                                                                                           \
    CONCLUST_CLONES bool descend_##name(PairColumn& col, Gap gap, double enough, bool finish) { \
        return descend<Divergence::name>(col, gap, enough, finish);                             \
    }                                                                                           \
    CONCLUST_CLONES double value_##name(PairColumn& col) { return value<Divergence::name>(col); }

CONCLUST_COLUMN(l2)
CONCLUST_COLUMN(kl)
CONCLUST_COLUMN(power)

}  // namespace

Gap pair_gradient(PairColumn& column, bool with_curvature) {
    switch (column.divergence) {
        case Divergence::l2: return with_curvature ? curved_l2(column) : gradient_l2(column);
        case Divergence::kl: return with_curvature ? curved_kl(column) : gradient_kl(column);
        default: return with_curvature ? curved_power(column) : gradient_power(column);
    }
}

bool pair_descend(PairColumn& column, Gap gap, double enough, bool finish) {
    switch (column.divergence) {
        case Divergence::l2: return descend_l2(column, gap, enough, finish);
        case Divergence::kl: return descend_kl(column, gap, enough, finish);
        default: return descend_power(column, gap, enough, finish);
    }
}

double pair_value(PairColumn& column) {
    switch (column.divergence) {
        case Divergence::l2: return value_l2(column);
        case Divergence::kl: return value_kl(column);
        default: return value_power(column);
    }
}

}  // namespace conclust
