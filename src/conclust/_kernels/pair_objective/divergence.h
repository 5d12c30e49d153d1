// Divergences between a frequency p = c / N and a probability q, weighted by the evidence N.
//
// All are Bregman divergences d(p, q) = h(p) - h(q) - (p - q) h'(q) of one convex function h, so that
// dd/dq = h''(q) (q - p). In terms of the counts c and N:
//   l2     h = q^2 - q                                    N d = (c - N q)^2 / N
//   kl     h = q log q + (1-q) log(1-q)                   N d = c log(p/q) + (N-c) log((1-p)/(1-q))
//   power  h = (q^a + (1-q)^a - 1) / (a (a-1)), 1 < a <= 2: l2 at a = 2, kl in the limit a = 1
// (the generalised I-divergence is kl, and every Mahalanobis divergence is a multiple of l2).
//
// Preconditions of all functions: 0 <= c <= N, q finite (rounding may put it a little outside of
// [0, 1]). With N = 0 everything is 0: a pair without evidence does not count. Divisors and
// arguments of logarithms (q or 1 - q) are at least `least`; 0 log 0 = 0.
// `a` is the parameter of power, in (1, 2]; the others ignore it.
//
// A further divergence: its name in the list, and a branch in each of the four functions, which do not compile
// without it; what is made for each divergence follows the list. Its code, the place in the list, is in divergences.py.
#pragma once

#include <cstdlib>
#include <type_traits>

#include "base/clones.h"
#include "base/special.h"

namespace conclust {

#define CONCLUST_DIVERGENCES(FOR_EACH) FOR_EACH(l2) FOR_EACH(kl) FOR_EACH(power)

#define CONCLUST_ENUMERATOR(NAME) NAME,
enum class Divergence : int { CONCLUST_DIVERGENCES(CONCLUST_ENUMERATOR) };
#undef CONCLUST_ENUMERATOR

template <Divergence D>
using Is = std::integral_constant<Divergence, D>;

// work(Is<divergence>{}): the only place where a divergence is chosen at run time.
template <class Work>
auto with_divergence(Divergence divergence, const Work& work) {
    switch (divergence) {
#define CONCLUST_CASE(NAME) \
    case Divergence::NAME: return work(Is<Divergence::NAME>{});
        CONCLUST_DIVERGENCES(CONCLUST_CASE)
#undef CONCLUST_CASE
    }
    std::abort();
}

inline constexpr double least = 1e-12;

CONCLUST_INLINE double at_least(double x, double low) { return x < low ? low : x; }

// (x^a - y^a - a (x - y) y^(a-1)) / (a (a-1)), one of the two halves of the power divergence, for y > 0.
CONCLUST_INLINE double power_half(double x, double y, double a) {
    const double from = raised(at_least(x, 1e-290), a - 1.0);
    const double to = raised(y, a - 1.0);
    return (x * (from - to) - (a - 1.0) * to * (x - y)) / (a * (a - 1.0));
}

// N d(c / N, q)
template <Divergence D>
CONCLUST_INLINE double divergence_value(double c, double N, double q, double a) {
    const double some = at_least(N, 1e-280);
    if constexpr (D == Divergence::l2) {
        const double r = c - N * q;
        return r * r / some;
    } else if constexpr (D == Divergence::kl) {
        const double in = at_least(q, least);
        const double out = at_least(1.0 - q, least);
        return c * natural_log(at_least(c / (some * in), 1e-290)) +
               (N - c) * natural_log(at_least((N - c) / (some * out), 1e-290));
    } else {
        static_assert(D == Divergence::power);
        const double p = c / some;
        const double in = at_least(q, least);
        const double out = at_least(1.0 - q, least);
        return N * (power_half(p, in, a) + power_half(1.0 - p, out, a));
    }
}

// The derivative of N d with respect to q.
template <Divergence D>
CONCLUST_INLINE double divergence_slope(double c, double N, double q, double a) {
    if constexpr (D == Divergence::l2) {
        return 2.0 * (N * q - c);
    } else if constexpr (D == Divergence::kl) {
        return (N - c) / at_least(1.0 - q, least) - c / at_least(q, least);
    } else {
        static_assert(D == Divergence::power);
        const double in = at_least(q, least);
        const double out = at_least(1.0 - q, least);
        return (raised(in, a - 2.0) + raised(out, a - 2.0)) * (N * q - c);
    }
}

// The second derivative of N d with respect to q: at least 0.
template <Divergence D>
CONCLUST_INLINE double divergence_curvature(double c, double N, double q, double a) {
    if constexpr (D == Divergence::l2) {
        return 2.0 * N;
    } else if constexpr (D == Divergence::kl) {
        const double in = at_least(q, least);
        const double out = at_least(1.0 - q, least);
        return c / (in * in) + (N - c) / (out * out);
    } else {
        static_assert(D == Divergence::power);
        const double in = at_least(q, least);
        const double out = at_least(1.0 - q, least);
        return raised(in, a - 2.0) / in * ((a - 1.0) * N * in + (2.0 - a) * c) +
               raised(out, a - 2.0) / out * ((a - 1.0) * N * out + (2.0 - a) * (N - c));
    }
}

// N h''(q): the second derivative where q = p, its expectation when c is binomial (Fisher).
template <Divergence D>
CONCLUST_INLINE double divergence_fisher(double N, double q, double a) {
    if constexpr (D == Divergence::l2) {
        return 2.0 * N;
    } else if constexpr (D == Divergence::kl) {
        return N / (at_least(q, least) * at_least(1.0 - q, least));
    } else {
        static_assert(D == Divergence::power);
        return N * (raised(at_least(q, least), a - 2.0) + raised(at_least(1.0 - q, least), a - 2.0));
    }
}

}  // namespace conclust
