#include "models/growth.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/clones.h"

namespace conclust {
namespace {

// The sum of a row of up to 128 numbers, in the order of NumPy: eight partial sums.
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

// The same of any row: the halves of a longer one are summed apart.
double row_sum(const double* x, std::size_t n) {
    if (n <= 128) {
        return sum_of_some(x, n);
    }
    const std::size_t half = n / 2 / 8 * 8;
    return row_sum(x, half) + row_sum(x + half, n - half);
}

CONCLUST_CLONES void grow_all(const Growth& in, double* observed, const double* fitted, double* grown,
                              double* __restrict room) {
    const std::size_t k = in.k;
    for (std::size_t i = 0; i < in.degree.size(); ++i) {
        const double* __restrict y = in.Y.data() + i * k;
        double* __restrict found = observed + i * k;
        const double* __restrict fit = fitted + i * k;
        double* __restrict next = grown + i * k;
        const double own_c = in.own_c[i];
        const double degree = in.degree[i];
        for (std::size_t c = 0; c < k; ++c) {
            found[c] -= own_c * y[c];
            room[c] = y[c] * std::max(degree + found[c] - fit[c], 0.0);
        }
        const double total = row_sum(room, k);
        if (total > 0.0) {
            for (std::size_t c = 0; c < k; ++c) {
                next[c] = room[c] / total;
            }
        } else {
            std::copy_n(y, k, next);
        }
    }
}

CONCLUST_CLONES void own_all(std::size_t n, std::size_t k, const double* Y, const double* own_N,
                             double* fitted) {
    for (std::size_t i = 0; i < n; ++i) {
        const double* __restrict y = Y + i * k;
        double* __restrict fit = fitted + i * k;
        for (std::size_t c = 0; c < k; ++c) {
            fit[c] = y[c] * y[c];
        }
        const double own = -own_N[i] * row_sum(fit, k);
        for (std::size_t c = 0; c < k; ++c) {
            fit[c] = own * y[c];
        }
    }
}

CONCLUST_CLONES void bend_all(std::size_t n, const double* __restrict first,
                              const double* __restrict second, const double* __restrict third,
                              double* __restrict change, double* __restrict bend) {
    for (std::size_t i = 0; i < n; ++i) {
        change[i] = second[i] - first[i];
        bend[i] = third[i] - second[i] - change[i];
    }
}

struct Leap {
    double twice, square, least;
};

CONCLUST_CLONES void leap_all(std::size_t n, std::size_t k, const double* first, const double* change,
                              const double* bend, const double* third, const Leap& leap, double* ahead) {
    for (std::size_t i = 0; i < n; ++i) {
        const double* __restrict x = first + i * k;
        const double* __restrict step = change + i * k;
        const double* __restrict curve = bend + i * k;
        const double* __restrict low = third + i * k;
        double* __restrict to = ahead + i * k;
        for (std::size_t c = 0; c < k; ++c) {
            to[c] = std::max(x[c] + leap.twice * step[c] + leap.square * curve[c], leap.least * low[c]);
        }
        const double total = row_sum(to, k);
        const double scale = total > 0.0 ? row_sum(low, k) / total : total;
        for (std::size_t c = 0; c < k; ++c) {
            to[c] *= scale;
        }
    }
}

CONCLUST_CLONES double largest_of(std::size_t n, const double* __restrict one,
                                  const double* __restrict other) {
    double top[8] = {};
    std::size_t i = 0;
    for (; i + 8 <= n; i += 8) {
        for (std::size_t l = 0; l < 8; ++l) {
            const double change = std::abs(one[i + l] - other[i + l]);
            top[l] = change > top[l] ? change : top[l];
        }
    }
    for (; i < n; ++i) {
        top[0] = std::max(top[0], std::abs(one[i] - other[i]));
    }
    return *std::max_element(top, top + 8);
}

}  // namespace

void own_rows(std::span<const double> Y, std::span<const double> own_N, std::size_t k,
              std::span<double> fitted) {
    own_all(own_N.size(), k, Y.data(), own_N.data(), fitted.data());
}

void grow_rows(const Growth& in, std::span<double> observed, std::span<const double> fitted,
               std::span<double> grown) {
    std::vector<double> room(in.k);
    grow_all(in, observed.data(), fitted.data(), grown.data(), room.data());
}

void bend_rows(std::span<const double> first, std::span<const double> second,
               std::span<const double> third, std::span<double> change, std::span<double> bend) {
    bend_all(first.size(), first.data(), second.data(), third.data(), change.data(), bend.data());
}

void leap_rows(std::span<const double> first, std::span<const double> change,
               std::span<const double> bend, std::span<const double> third, double twice, double square,
               double least, std::size_t k, std::span<double> ahead) {
    leap_all(first.size() / k, k, first.data(), change.data(), bend.data(), third.data(),
             {twice, square, least}, ahead.data());
}

double largest_change(std::span<const double> one, std::span<const double> other) {
    return largest_of(one.size(), one.data(), other.data());
}

}  // namespace conclust
