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
constexpr int most_rounds = 20;

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

CONCLUST_INLINE void find_gap(PairColumn& col) {
    double low = infinity;
    double high = -infinity;
    double mean = 0.0;
    for (std::size_t c = 0; c < col.k; ++c) {
        if (col.g[c] < low) {
            low = col.g[c];
            col.U = c;
        }
        if (col.y[c] > 0.0 && col.g[c] > high) {
            high = col.g[c];
            col.V = c;
        }
        mean += col.y[c] * col.g[c];
    }
    col.gap = high - low;
    col.possible = mean - low;
}

// The curvature of the quadratic.
CONCLUST_INLINE double hybrid(double newton, double fisher) { return newton < fisher ? newton : fisher; }

// A divergence of divergence.h. Its loops are over one column at a time.
template <Divergence D>
struct Known {
    static constexpr bool quadratic = D == Divergence::l2;

    // Slopes at a and, if wanted, the curvatures of the quadratic.
    template <bool curved>
    CONCLUST_INLINE void slopes(PairColumn* columns, std::size_t count) const {
        for (std::size_t o = 0; o < count; ++o) {
            if (columns[o].active) {
                slopes_of<curved>(columns[o]);
            }
        }
    }

    template <bool curved>
    CONCLUST_INLINE void slopes_of(const PairColumn& col) const {
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
                if constexpr (curved) {
                    h[j] = hybrid(together * in + apart * out, N[j] * (in * out));
                }
            } else {
                w[j] = divergence_slope<D>(c[j], N[j], a[j], power);
                if constexpr (curved) {
                    h[j] = hybrid(divergence_curvature<D>(c[j], N[j], a[j], power),
                                  divergence_fisher<D>(N[j], a[j], power));
                }
            }
        }
    }

    // value = the derivative of f along da, at a + t da.
    CONCLUST_INLINE void rho(PairColumn* columns, std::size_t count) const {
        for (std::size_t o = 0; o < count; ++o) {
            if (columns[o].active) {
                columns[o].value = rho_of(columns[o], columns[o].search.t);
            }
        }
    }

    CONCLUST_INLINE double rho_of(const PairColumn& col, double t) const {
        double terms[tile];
        double total = 0.0;
        const double power = col.parameter;
        for (std::size_t begin = 0; begin < col.length; begin += tile) {
            const std::size_t some = std::min(tile, col.length - begin);
            const double* c = col.c + begin;
            const double* N = col.N + begin;
            const double* a = col.a + begin;
            const double* da = col.da + begin;
            for (std::size_t j = 0; j < some; ++j) {
                terms[j] = divergence_slope<D>(c[j], N[j], a[j] + t * da[j], power) * da[j];
            }
            total += sum_tile(terms, some);
        }
        return total;
    }

    CONCLUST_INLINE void values(PairColumn* columns, std::size_t count) const {
        for (std::size_t o = 0; o < count; ++o) {
            if (columns[o].active) {
                columns[o].value = value_of(columns[o]);
            }
        }
    }

    CONCLUST_INLINE double value_of(const PairColumn& col) const {
        double terms[tile];
        double total = 0.0;
        const double power = col.parameter;
        for (std::size_t begin = 0; begin < col.length; begin += tile) {
            const std::size_t some = std::min(tile, col.length - begin);
            const double* c = col.c + begin;
            const double* N = col.N + begin;
            const double* a = col.a + begin;
            for (std::size_t j = 0; j < some; ++j) {
                terms[j] = divergence_value<D>(c[j], N[j], a[j], power);
            }
            total += sum_tile(terms, some);
        }
        return total;
    }
};

// A divergence computed outside, for all active columns in one call.
struct Outside {
    static constexpr bool quadratic = false;
    const OutsideDivergence* d;

    // Calls for q = a (or a + t da): the numbers of column o begin where those of the one before end.
    CONCLUST_INLINE void ask(int what, const PairColumn* columns, std::size_t count, bool moved,
                             bool again = false) const {
        std::size_t total = 0;
        for (std::size_t o = 0; o < count; ++o) {
            const PairColumn& col = columns[o];
            if (!col.active) {
                continue;
            }
            if (!again) {
                const double t = moved ? col.search.t : 0.0;
                for (std::size_t j = 0; j < col.length; ++j) {
                    const double q = moved ? col.a[j] + t * col.da[j] : col.a[j];
                    d->p[total + j] = col.c[j] / at_least(col.N[j], 1e-280);
                    d->q[total + j] = 1.0 - at_least(1.0 - at_least(q, least), least);
                }
            }
            total += col.length;
        }
        if (total) {
            d->call(d->context, what, d->p, d->q, d->out, total);
        }
    }

    template <bool curved>
    CONCLUST_INLINE void slopes(PairColumn* columns, std::size_t count) const {
        ask(1, columns, count, false);
        std::size_t at = 0;
        for (std::size_t o = 0; o < count; ++o) {
            PairColumn& col = columns[o];
            if (col.active) {
                for (std::size_t j = 0; j < col.length; ++j) {
                    col.w[j] = col.N[j] > 0.0 ? col.N[j] * d->out[at + j] : 0.0;
                }
                at += col.length;
            }
        }
        if constexpr (curved) {
            ask(2, columns, count, false, true);
            at = 0;
            for (std::size_t o = 0; o < count; ++o) {
                PairColumn& col = columns[o];
                if (!col.active) {
                    continue;
                }
                for (std::size_t j = 0; j < col.length; ++j) {
                    // Of a Bregman divergence the second is Fisher's: d' = h''(q) (q - p).
                    const double newton = col.N[j] * d->out[at + j];
                    const double apart = d->q[at + j] - d->p[at + j];
                    const double fisher = std::fabs(apart) > 1e-7 ? col.w[j] / apart : newton;
                    col.h[j] = col.N[j] > 0.0 ? at_least(hybrid(newton, fisher), 0.0) : 0.0;
                }
                at += col.length;
            }
        }
    }

    CONCLUST_INLINE void rho(PairColumn* columns, std::size_t count) const {
        ask(1, columns, count, true);
        weigh(columns, count, true);
    }

    CONCLUST_INLINE void values(PairColumn* columns, std::size_t count) const {
        ask(0, columns, count, false);
        weigh(columns, count, false);
    }

    // value = the sum of N out (times da)
    CONCLUST_INLINE void weigh(PairColumn* columns, std::size_t count, bool along) const {
        std::size_t at = 0;
        for (std::size_t o = 0; o < count; ++o) {
            PairColumn& col = columns[o];
            if (!col.active) {
                continue;
            }
            double terms[tile];
            double total = 0.0;
            for (std::size_t begin = 0; begin < col.length; begin += tile) {
                const std::size_t some = std::min(tile, col.length - begin);
                for (std::size_t j = 0; j < some; ++j) {
                    const double x = col.N[begin + j] * (along ? col.da[begin + j] : 1.0);
                    terms[j] = col.N[begin + j] > 0.0 ? x * d->out[at + begin + j] : 0.0;
                }
                total += sum_tile(terms, some);
            }
            col.value = total;
            at += col.length;
        }
    }
};

template <bool curved, class D>
CONCLUST_INLINE void refresh(const D& divergence, PairColumn* columns, std::size_t count) {
    for (std::size_t o = 0; o < count; ++o) {
        if (columns[o].active) {
            products(columns[o], columns[o].y, columns[o].a);
        }
    }
    divergence.template slopes<curved>(columns, count);
    for (std::size_t o = 0; o < count; ++o) {
        if (columns[o].active) {
            gradient(columns[o]);
            find_gap(columns[o]);
        }
    }
}

// Runs the searches of the active columns; afterwards search.low holds each one's step.
template <class D>
CONCLUST_INLINE void search_steps(const D& divergence, PairColumn* columns, std::size_t count) {
    for (bool more = true; more;) {
        divergence.rho(columns, count);
        more = false;
        for (std::size_t o = 0; o < count; ++o) {
            PairColumn& col = columns[o];
            if (col.active) {
                col.active = col.search.feed(col.value);
                more = more || col.active;
            }
        }
    }
}

// Exact pair steps of the active columns, at most `most` each, until their gaps are at most `stop`.
// Leaves a, w, h and g of the new y.
template <class D>
CONCLUST_INLINE void exact_steps(const D& divergence, PairColumn* columns, std::size_t count,
                                 std::size_t most) {
    for (std::size_t o = 0; o < count; ++o) {
        columns[o].busy = columns[o].active && columns[o].gap > columns[o].stop;
    }
    for (std::size_t step = 0; step < most; ++step) {
        bool any = false;
        for (std::size_t o = 0; o < count; ++o) {
            PairColumn& col = columns[o];
            col.active = col.busy;
            if (!col.busy) {
                continue;
            }
            any = true;
            const double* tU = col.yt + col.U * col.ld;
            const double* tV = col.yt + col.V * col.ld;
            double terms[tile];
            double bend = 0.0;
            for (std::size_t begin = 0; begin < col.length; begin += tile) {
                const std::size_t some = std::min(tile, col.length - begin);
                for (std::size_t j = 0; j < some; ++j) {
                    const double x = tU[begin + j] - tV[begin + j];
                    col.da[begin + j] = x;
                    terms[j] = col.h[begin + j] * (x * x);
                }
                bend += sum_tile(terms, some);
            }
            col.search.start(-col.gap, col.y[col.V], 0.05, col.gap / bend);
        }
        if (!any) {
            return;
        }
        search_steps(divergence, columns, count);
        for (std::size_t o = 0; o < count; ++o) {
            PairColumn& col = columns[o];
            if (!col.busy) {
                continue;
            }
            const double e = col.search.low;
            col.busy = e > 0.0;
            if (col.busy) {
                const double mass = col.y[col.V];
                col.moved = true;
                col.lowered += 0.5 * e * col.gap;
                col.y[col.U] += e;
                col.y[col.V] = e < mass ? mass - e : 0.0;
            }
            col.active = col.busy;
        }
        refresh<true>(divergence, columns, count);
        for (std::size_t o = 0; o < count; ++o) {
            columns[o].busy = columns[o].busy && columns[o].gap > columns[o].stop;
        }
    }
}

// The quadratic's minimiser z and the search towards it.
CONCLUST_INLINE void aim(PairColumn& col, bool quadratic) {
    const std::size_t s = col.stride;
    curvature(col);
    std::copy(col.y, col.y + s, col.z);
    std::copy(col.g, col.g + s, col.q);
    pair_steps<0>(col.H, col.q, col.z, s, col.k, std::max(0.02 * col.gap, 0.1 * col.enough), 6 * col.k,
                  1e-8 * col.gap);
    double slope = 0.0;
    for (std::size_t c = 0; c < s; ++c) {
        col.d[c] = col.z[c] - col.y[c];
        slope += col.g[c] * col.d[c];
    }
    col.slope = slope;
    if (!(slope < 0.0)) {
        col.search.low = 0.0;
        col.active = false;
    } else if (quadratic) {
        col.search.low = 1.0;  // the quadratic is f itself
        col.active = false;
    } else {
        products(col, col.d, col.da);
        col.search.start(slope, 1.0, 0.2, 1.0);
    }
}

template <class D>
CONCLUST_INLINE void descend(const D& divergence, PairColumn* columns, std::size_t count, bool finish) {
    bool going[max_batch];
    for (std::size_t o = 0; o < count; ++o) {
        going[o] = columns[o].active;
        columns[o].moved = false;
        columns[o].lowered = 0.0;
    }
    for (int round = 0; round < (finish ? most_rounds : 1); ++round) {
        bool any = false;
        for (std::size_t o = 0; o < count; ++o) {
            PairColumn& col = columns[o];
            going[o] = going[o] && col.gap > col.enough;
            col.active = going[o];
            any = any || going[o];
            if (going[o]) {
                col.first = col.gap;
                aim(col, D::quadratic);
            }
        }
        if (!any) {
            return;
        }
        search_steps(divergence, columns, count);
        bool again = false;
        for (std::size_t o = 0; o < count; ++o) {
            PairColumn& col = columns[o];
            if (!going[o]) {
                continue;
            }
            const double t = col.search.low;
            if (t >= 1.0) {
                std::copy(col.z, col.z + col.stride, col.y);
            } else if (t > 0.0) {
                for (std::size_t c = 0; c < col.stride; ++c) {
                    col.y[c] += t * col.d[c];
                }
            }
            col.moved = col.moved || t > 0.0;
            col.lowered += t > 0.0 ? t * (0.5 * t - 1.0) * col.slope : 0.0;
            col.active = finish || t < cut_short;
            again = again || col.active;
        }
        if (!again) {
            return;
        }
        refresh<true>(divergence, columns, count);
        std::size_t k = 0;
        for (std::size_t o = 0; o < count; ++o) {
            PairColumn& col = columns[o];
            if (col.active) {
                col.active = col.search.low < cut_short || col.gap > 0.5 * col.first;
                col.stop = std::max(col.enough, 0.1 * col.gap);
                k = col.k;
            }
        }
        exact_steps(divergence, columns, count, 2 * k);
    }
}

template <class D>
CONCLUST_INLINE void work_on(const D& divergence, PairWork work, PairColumn* columns, std::size_t count) {
    switch (work) {
        case PairWork::gradient: return refresh<false>(divergence, columns, count);
        case PairWork::curved: return refresh<true>(divergence, columns, count);
        case PairWork::step: return descend(divergence, columns, count, false);
        case PairWork::finish: return descend(divergence, columns, count, true);
        case PairWork::value:
            for (std::size_t o = 0; o < count; ++o) {
                if (columns[o].active) {
                    products(columns[o], columns[o].y, columns[o].a);
                }
            }
            return divergence.values(columns, count);
    }
}

CONCLUST_CLONES void work_l2(PairWork work, PairColumn* columns) {
    work_on(Known<Divergence::l2>{}, work, columns, 1);
}
CONCLUST_CLONES void work_kl(PairWork work, PairColumn* columns) {
    work_on(Known<Divergence::kl>{}, work, columns, 1);
}
CONCLUST_CLONES void work_power(PairWork work, PairColumn* columns) {
    work_on(Known<Divergence::power>{}, work, columns, 1);
}
CONCLUST_CLONES void work_outside(PairWork work, PairColumn* columns, std::size_t count,
                                  const OutsideDivergence* outside) {
    work_on(Outside{outside}, work, columns, count);
}

}  // namespace

void StepSearch::start(double rho0, double whole, double accept, double first_guess) {
    low = 0.0;
    high = full = t = whole;
    at_low = rho0;
    at_high = 0.0;
    target = accept * rho0;
    guess = first_guess;
    steps = 0;
}

bool StepSearch::feed(double rho) {
    const bool below = rho <= 0.0;
    if (below) {
        low = t;
        if (t >= full || rho >= target) {
            return false;
        }
        at_low = rho;
        at_high *= 0.5;  // Illinois: the end that stays counts for less
    } else {
        high = t;
        at_high = rho;
        at_low *= steps ? 0.5 : 1.0;
    }
    if (++steps > 80 || high - low <= 1e-13 * high) {
        return false;
    }
    if (steps == 1 && guess > 0.0 && guess < 0.9 * high) {
        t = guess;
    } else if (at_high > -30.0 * at_low || steps % 4 == 0) {
        t = low + (low > 0.0 || steps < 4 ? 0.5 : 0.1) * (high - low);
    } else {
        // Aimed at the middle of what is accepted, not at its edge, 0.
        const double aim = std::max(0.5 * target, at_low);
        t = low + (high - low) * ((at_low - aim) / (at_low - at_high));
    }
    if (!(t > low && t < high)) {
        t = low + 0.5 * (high - low);
    }
    return true;
}

void pair_work(PairWork work, PairColumn* columns, std::size_t count, Divergence divergence,
               const OutsideDivergence* outside) {
    if (outside) {
        return work_outside(work, columns, count, outside);
    }
    switch (divergence) {
        case Divergence::l2: return work_l2(work, columns);
        case Divergence::kl: return work_kl(work, columns);
        default: return work_power(work, columns);
    }
}

}  // namespace conclust
