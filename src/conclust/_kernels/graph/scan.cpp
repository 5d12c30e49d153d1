#include "graph/scan.h"

#include <algorithm>

#include "base/clones.h"
#include "base/pack.h"

namespace conclust {

namespace {

template <class S>
CONCLUST_INLINE std::size_t find_largest(const S* a, const S* b, const S* c, std::size_t n) {
    constexpr std::size_t lanes = 64 / sizeof(S), block = 8 * lanes;
    S largest = Marks<S>::least;
    std::size_t where = n;
    for (std::size_t begin = 0; begin < n; begin += block) {
        const std::size_t end = std::min(n, begin + block);
        S most[lanes];
        for (std::size_t l = 0; l < lanes; ++l) most[l] = Marks<S>::least;
        std::size_t i = begin;
        for (; i + lanes <= end; i += lanes)
            for (std::size_t l = 0; l < lanes; ++l) {
                const S x = a[i + l] - b[i + l] + c[i + l];
                most[l] = x > most[l] ? x : most[l];
            }
        for (; i < end; ++i) most[0] = std::max<S>(most[0], a[i] - b[i] + c[i]);
        const S here = *std::max_element(most, most + lanes);
        if (here > largest) {
            largest = here;
            where = begin;
        }
    }
    if (where < n)
        while (a[where] - b[where] + c[where] != largest) ++where;
    return where;
}

template <class W>
CONCLUST_INLINE double largest_weight(const W* x, std::size_t n) {
    constexpr std::size_t lanes = 64 / sizeof(W);
    W most[lanes] = {};
    std::size_t i = 0;
    for (; i + lanes <= n; i += lanes)
        for (std::size_t l = 0; l < lanes; ++l) most[l] = x[i + l] > most[l] ? x[i + l] : most[l];
    for (; i < n; ++i) most[0] = std::max(most[0], x[i]);
    return static_cast<double>(*std::max_element(most, most + lanes));
}

template <class W, class S>
CONCLUST_INLINE void add_row(const W* row, S* x, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) x[i] += static_cast<S>(row[i]);
}

template <class W, class S>
CONCLUST_INLINE void shift_row(const W* row, S* x, S* y, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) {
        const auto weight = static_cast<S>(row[i]);
        x[i] -= weight;
        y[i] += weight;
    }
}

}  // namespace

CONCLUST_CLONES std::size_t first_largest(const double* a, const double* b, const double* c,
                                          std::size_t n) {
    return find_largest(a, b, c, n);
}
CONCLUST_CLONES std::size_t first_largest(const std::int32_t* a, const std::int32_t* b,
                                          const std::int32_t* c, std::size_t n) {
    return find_largest(a, b, c, n);
}

CONCLUST_CLONES double largest_of(const double* x, std::size_t n) { return largest_weight(x, n); }
CONCLUST_CLONES double largest_of(const std::uint8_t* x, std::size_t n) { return largest_weight(x, n); }
CONCLUST_CLONES double largest_of(const std::uint16_t* x, std::size_t n) { return largest_weight(x, n); }

CONCLUST_CLONES void add(const double* row, double* x, std::size_t n) { add_row(row, x, n); }
CONCLUST_CLONES void add(const std::uint8_t* row, std::int32_t* x, std::size_t n) { add_row(row, x, n); }
CONCLUST_CLONES void add(const std::uint16_t* row, std::int32_t* x, std::size_t n) {
    add_row(row, x, n);
}

CONCLUST_CLONES void sum_rows(const double* table, std::size_t stride, const std::int32_t* rows,
                              std::size_t count, double* x) {
    static_assert(kLanes == 2 * pack_lanes);
    for (std::size_t t = 0; t < stride; t += kLanes) {
        Pack low = spread(0.0), high = spread(0.0);
        for (std::size_t i = 0; i < count; ++i) {
            const double* row = table + static_cast<std::size_t>(rows[i]) * stride + t;
            low += load(row);
            high += load(row + pack_lanes);
        }
        store(x + t, low);
        store(x + t + pack_lanes, high);
    }
}

CONCLUST_CLONES void shift(const double* row, double* x, double* y, std::size_t n) {
    shift_row(row, x, y, n);
}
CONCLUST_CLONES void shift(const std::uint8_t* row, std::int32_t* x, std::int32_t* y, std::size_t n) {
    shift_row(row, x, y, n);
}
CONCLUST_CLONES void shift(const std::uint16_t* row, std::int32_t* x, std::int32_t* y, std::size_t n) {
    shift_row(row, x, y, n);
}

}  // namespace conclust
