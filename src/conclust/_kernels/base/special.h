// Special functions as plain arithmetic, without a branch or a call: loops over them become vectors,
// and all instruction sets give the same bits.
#pragma once

#include <bit>
#include <cstdint>

#include "base/clones.h"

namespace conclust {

// Natural logarithm of a normal x > 0 to about two units in the last place.
CONCLUST_INLINE double natural_log(double x) {
    constexpr std::uint64_t root_half = 0x3fe6a09e667f3bcdu;
    // The exponent + 2048, which is never negative.
    constexpr std::uint64_t bias = std::uint64_t{1} << 63;
    const std::uint64_t bits = std::bit_cast<std::uint64_t>(x);
    const std::uint64_t biased = (bits - root_half + bias) >> 52;
    // x = 2^exponent * m with m in [sqrt(1/2), sqrt(2)).
    const double exponent = std::bit_cast<double>(biased | 0x4330000000000000u) - (0x1p52 + 2048.0);
    const double m = std::bit_cast<double>(bits - ((biased << 52) - bias));
    const double s = (m - 1.0) / (m + 1.0);  // log m = 2 artanh s, |s| < 0.172
    const double z = s * s;
    double tail = 1.0 / 21.0;
    tail = tail * z + 1.0 / 19.0;
    tail = tail * z + 1.0 / 17.0;
    tail = tail * z + 1.0 / 15.0;
    tail = tail * z + 1.0 / 13.0;
    tail = tail * z + 1.0 / 11.0;
    tail = tail * z + 1.0 / 9.0;
    tail = tail * z + 1.0 / 7.0;
    tail = tail * z + 1.0 / 5.0;
    tail = tail * z + 1.0 / 3.0;
    constexpr double ln2_high = 0x1.62e42fee00000p-1;  // exact when multiplied by an exponent
    constexpr double ln2_low = 0x1.a39ef35793c76p-33;
    return exponent * ln2_high + (exponent * ln2_low + (2.0 * s + 2.0 * s * z * tail));
}

// e^x for |x| < 700 to about a unit in the last place.
CONCLUST_INLINE double natural_exp(double x) {
    constexpr double shift = 0x1.8p52;  // adding it leaves an integer in the last bits
    constexpr double ln2_high = 0x1.62e42fee00000p-1;
    constexpr double ln2_low = 0x1.a39ef35793c76p-33;
    const double shifted = x * 0x1.71547652b82fep0 + shift;
    const double exponent = shifted - shift;
    const double r = (x - exponent * ln2_high) - exponent * ln2_low;  // |r| < 0.347
    double sum = 1.0 / 6227020800.0;  // of r^i / i! from 13 down
    sum = sum * r + 1.0 / 479001600.0;
    sum = sum * r + 1.0 / 39916800.0;
    sum = sum * r + 1.0 / 3628800.0;
    sum = sum * r + 1.0 / 362880.0;
    sum = sum * r + 1.0 / 40320.0;
    sum = sum * r + 1.0 / 5040.0;
    sum = sum * r + 1.0 / 720.0;
    sum = sum * r + 1.0 / 120.0;
    sum = sum * r + 1.0 / 24.0;
    sum = sum * r + 1.0 / 6.0;
    sum = sum * r + 0.5;
    sum = sum * (r * r) + r + 1.0;
    return sum * std::bit_cast<double>((std::bit_cast<std::uint64_t>(shifted) + 1023) << 52);
}

// x^b for normal x > 0.
CONCLUST_INLINE double raised(double x, double b) { return natural_exp(b * natural_log(x)); }

struct GammaLogs {
    double value;       // log Gamma(x)
    double derivative;  // digamma(x)
};

// Precondition: 1e-30 < x < 1e40. Accurate to about 14 digits (absolute for digamma near its zero).
CONCLUST_INLINE GammaLogs gamma_logs(double x) {
    // Both by their expansions at y = x + 6: Gamma(x) = Gamma(y) / (x (x + 1) ... (x + 5)), with the
    // factors taken in pairs, x (x + 5) = q, (x + 1) (x + 4) = q + 4, (x + 2) (x + 3) = q + 6.
    const double y = x + 6.0;
    const double q = x * (x + 5.0);
    const double inner = (q + 4.0) * (q + 6.0);
    const double product = q * inner;
    const double slope = (2.0 * x + 5.0) * (inner + q * (2.0 * q + 10.0)) / product;
    const double log_y = natural_log(y);
    const double r = 1.0 / y;
    const double z = r * r;
    double tail = -3617.0 / 122400.0;
    tail = tail * z + 1.0 / 156.0;
    tail = tail * z - 691.0 / 360360.0;
    tail = tail * z + 1.0 / 1188.0;
    tail = tail * z - 1.0 / 1680.0;
    tail = tail * z + 1.0 / 1260.0;
    tail = tail * z - 1.0 / 360.0;
    tail = tail * z + 1.0 / 12.0;
    double steep = -3617.0 / 8160.0;
    steep = steep * z + 1.0 / 12.0;
    steep = steep * z - 691.0 / 32760.0;
    steep = steep * z + 1.0 / 132.0;
    steep = steep * z - 1.0 / 240.0;
    steep = steep * z + 1.0 / 252.0;
    steep = steep * z - 1.0 / 120.0;
    steep = steep * z + 1.0 / 12.0;
    constexpr double half_log_2pi = 0.91893853320467274178;
    return {(y - 0.5) * log_y - y + half_log_2pi + r * tail - natural_log(product),
            log_y - 0.5 * r - z * steep - slope};
}

}  // namespace conclust
