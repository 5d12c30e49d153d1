// By how much less is lost when all copies of a row join each cluster: of any row, by its blocks, for the losses of squares.
#pragma once

#include <cmath>
#include <cstddef>
#include <span>

#include "base/clones.h"
#include "labels/row_reader.h"

namespace conclust {

// (kept + gain) / (D + d) - kept / D, over one denominator; 0 / 0 is 0.
inline double cut_gain(double gain, double kept, double degree, double d) {
    const double held = degree > 0.0 ? degree : 1.0;
    const double both = degree + d;
    return both > 0.0 ? (gain * held - d * kept) / (held * both) : 0.0;
}

// (square + crossed) / (p + c) - square / p, over one denominator; 0 / 0 is 0.
CONCLUST_INLINE double quadratic_gain(double w, double crossed, double square, double p, double c) {
    const double held = p > 0.0 ? p : 1.0;
    return w * (crossed * held - c * square) / (held * (p + c));
}

// sqrt(square + crossed) - sqrt(square), without the difference; 0 / 0 is 0.
CONCLUST_INLINE double norm_gain(double w, double crossed, double square, double norm) {
    const double both = std::sqrt(square + crossed) + norm;
    return w * crossed / (both > 0.0 ? both : 1.0);
}

// The current row, and what clusters hold, in rows of `width` numbers, for the losses of squares.
struct RowGains {
    std::span<const RowBlock> blocks;
    const RowEntry* entries;
    const double* weights;
    const double* sums;
    const double* squares;
    const double* third;  // objects present; of norm: the norms
    double count;  // copies of the row
    std::size_t width;
};

// Adds the gains, partition by partition, to gain (width); cross (width): space.
void quadratic_gains(const RowGains& in, double* gain, double* cross);
void norm_gains(const RowGains& in, double* gain, double* cross);
void cut_gains(const RowGains& in, double* gain, double* cross);

}  // namespace conclust
