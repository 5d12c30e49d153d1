// A divergence over the pairs of columns: slopes, curvatures, sums along a line, values. Two
// kinds with the same functions: Known (divergence.h) and Outside (a function of the user's).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "base/clones.h"
#include "pair_objective/divergence.h"
#include "pair_objective/pairwise/algebra.h"
#include "pair_objective/pairwise/column.h"

namespace conclust {

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

    // Calls for q = a (or a + t da). The columns' numbers stand one after the other.
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
                    // For a Bregman divergence the second is Fisher's: d' = h''(q) (q - p).
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

}  // namespace conclust
