// min 1/2 z'H z + b'z over the simplex by pair steps: move mass from the cluster that costs most to
// the one that costs least, exactly. H is positive semidefinite.
//
// q is the gradient H z + b and is kept up to date; z stays on the simplex and clusters that give up
// all their mass become exactly 0. k clusters in rows of `stride` doubles (S = stride if it is known at
// compile time, else 0), a multiple of pack_lanes; H, q and z are 0 in the padding. Ends when the gap
// (largest q where z > 0, minus smallest q) is at most `stop`, or after `most` steps. After an
// exact step two q are equal up to rounding: of those within `tie` of each other the first is
// taken, so that rounding does not determine the path.
#pragma once

#include <cstddef>
#include <limits>

#include "base/clones.h"
#include "base/pack.h"

namespace conclust {

template <int S>
CONCLUST_INLINE void pair_steps(const double* H, double* q, double* z, std::size_t stride, std::size_t k,
                                double stop, std::size_t most, double tie = 0.0) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    const std::size_t s = S ? static_cast<std::size_t>(S) : stride;
    for (std::size_t step = 0; step < most; ++step) {
        std::size_t U = 0;
        std::size_t V = 0;
        double low = infinity;
        double high = -infinity;
        for (std::size_t c = 0; c < k; ++c) {
            if (q[c] < low - tie) {
                low = q[c];
                U = c;
            }
            if (z[c] > 0.0 && q[c] > high + tie) {
                high = q[c];
                V = c;
            }
        }
        const double gap = high - low;
        if (!(gap > stop)) {
            return;
        }
        const double curvature = H[U * s + U] + H[V * s + V] - 2.0 * H[U * s + V];
        double e = z[V];
        if (curvature * e > gap) {
            e = gap / curvature;
            z[V] -= e;
        } else {
            z[V] = 0.0;
        }
        z[U] += e;
        const double* HU = H + U * s;
        const double* HV = H + V * s;
        for (std::size_t c = 0; c < s; c += pack_lanes) {
            store(q + c, load(q + c) + spread(e) * (load(HU + c) - load(HV + c)));
        }
    }
}

}  // namespace conclust
