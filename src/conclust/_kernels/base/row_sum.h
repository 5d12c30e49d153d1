// The sum of a row, in the order of NumPy: eight partial sums, and halves of rows that are longer than 128.
#pragma once

#include <cstddef>

#include "base/clones.h"

namespace conclust {

CONCLUST_INLINE double sum_of_some(const double* x, std::size_t n) {
    if (n < 8) {
        double sum = 0.0;
        for (std::size_t i = 0; i < n; ++i) {
            sum += x[i];
        }
        return sum;
    }
    double r[8];
    for (std::size_t k = 0; k < 8; ++k) {
        r[k] = x[k];
    }
    std::size_t i = 8;
    for (; i + 8 <= n; i += 8) {
        for (std::size_t k = 0; k < 8; ++k) {
            r[k] += x[i + k];
        }
    }
    double sum = ((r[0] + r[1]) + (r[2] + r[3])) + ((r[4] + r[5]) + (r[6] + r[7]));
    for (; i < n; ++i) {
        sum += x[i];
    }
    return sum;
}

inline double sum_of_halves(const double* x, std::size_t n) {
    if (n <= 128) {
        return sum_of_some(x, n);
    }
    const std::size_t half = n / 2 / 8 * 8;
    return sum_of_halves(x, half) + sum_of_halves(x + half, n - half);
}

CONCLUST_INLINE double row_sum(const double* x, std::size_t n) {
    return n <= 128 ? sum_of_some(x, n) : sum_of_halves(x, n);
}

}  // namespace conclust
