// The losses of expected_loss.h that are not sums over tables, and their slopes, from the sums A, J and B of a draw.
#pragma once

#include "base/clones.h"
#include "search/losses/expected_loss.h"

namespace conclust {

CONCLUST_INLINE double ratio(double part, double whole, double least) {
    return whole > least ? part / whole : 0.0;
}

// Below this a denominator counts as 0: for integer numbers of objects it is otherwise at least 1.
CONCLUST_INLINE double least_of(double scale) { return 1e-9 + 1e-12 * scale; }

CONCLUST_INLINE double nvi(double a, double j, double b, double whole) {
    return ratio(a + b - 2.0 * j, whole - j, least_of(whole));
}
CONCLUST_INLINE double id(double a, double j, double b, double n) { return ((a > b ? a : b) - j) / n; }
CONCLUST_INLINE double nid(double a, double j, double b, double whole) {
    return ratio((a > b ? a : b) - j, whole - (a > b ? b : a), least_of(whole));
}
// Sums of squares; whole: n^2.
CONCLUST_INLINE double omari(double a, double j, double b, double n, double whole) {
    const double all = 0.5 * (whole - n), first = 0.5 * (a - n), second = 0.5 * (b - n);
    const double mean = 0.5 * (first + second);
    const double expected = all > 0.0 ? first * second / all : 0.0;
    return ratio(mean - 0.5 * (j - n), mean - expected, least_of(all));
}

struct Slopes {
    double first, both;  // by A_s, by J_s
};

CONCLUST_INLINE Slopes slopes_of(Loss loss, double a, double j, double b, double n, double whole) {
    switch (loss) {
        case Loss::nvi: {
            const double rest = whole - j, share = nvi(a, j, b, whole);
            return rest > least_of(whole) ? Slopes{1.0 / rest, (share - 2.0) / rest} : Slopes{0.0, 0.0};
        }
        case Loss::id: return {a > b ? 1.0 / n : 0.0, -1.0 / n};
        case Loss::nid: {
            const double rest = whole - (a > b ? b : a), share = nid(a, j, b, whole);
            return rest > least_of(whole) ? Slopes{(a > b ? 1.0 : share) / rest, -1.0 / rest}
                                          : Slopes{0.0, 0.0};
        }
        default: {
            const double all = 0.5 * (whole - n), second = 0.5 * (b - n);
            const double chance = all > 0.0 ? second / all : 0.0;
            const double rest = 0.25 * (a - n + b - n) - 0.5 * (a - n) * chance;
            return rest > least_of(all)
                       ? Slopes{(0.25 - omari(a, j, b, n, whole) * (0.25 - 0.5 * chance)) / rest,
                                -0.5 / rest}
                       : Slopes{0.0, 0.0};
        }
    }
}

}  // namespace conclust
