// Four doubles processed together, element by element, in source order: every instruction set gives
// the same bits, and the compiler does not depend on automatic vectorisation.
#pragma once

#include <cstddef>

#include "base/clones.h"

namespace conclust {

#if defined(__GNUC__)

typedef double Pack __attribute__((vector_size(32), aligned(8), may_alias));

CONCLUST_INLINE Pack spread(double x) { return Pack{x, x, x, x}; }
CONCLUST_INLINE Pack load(const double* p) { return *reinterpret_cast<const Pack*>(p); }
CONCLUST_INLINE void store(double* p, const Pack& x) { *reinterpret_cast<Pack*>(p) = x; }
// x if a is less than b, else y, element by element.
CONCLUST_INLINE Pack where_less(const Pack& a, const Pack& b, const Pack& x, const Pack& y) {
    return a < b ? x : y;
}

#else

struct Pack {
    double v[4];
    Pack& operator+=(const Pack& o) {
        for (int i = 0; i < 4; ++i) v[i] += o.v[i];
        return *this;
    }
    Pack& operator-=(const Pack& o) {
        for (int i = 0; i < 4; ++i) v[i] -= o.v[i];
        return *this;
    }
    friend Pack operator+(Pack a, const Pack& b) { return a += b; }
    friend Pack operator-(Pack a, const Pack& b) { return a -= b; }
    friend Pack operator*(const Pack& a, const Pack& b) {
        return {{a.v[0] * b.v[0], a.v[1] * b.v[1], a.v[2] * b.v[2], a.v[3] * b.v[3]}};
    }
    friend Pack operator/(const Pack& a, const Pack& b) {
        return {{a.v[0] / b.v[0], a.v[1] / b.v[1], a.v[2] / b.v[2], a.v[3] / b.v[3]}};
    }
};

inline Pack spread(double x) { return {{x, x, x, x}}; }
inline Pack load(const double* p) { return {{p[0], p[1], p[2], p[3]}}; }
inline void store(double* p, const Pack& x) {
    for (int i = 0; i < 4; ++i) p[i] = x.v[i];
}
inline Pack where_less(const Pack& a, const Pack& b, const Pack& x, const Pack& y) {
    Pack chosen;
    for (int i = 0; i < 4; ++i) chosen.v[i] = a.v[i] < b.v[i] ? x.v[i] : y.v[i];
    return chosen;
}

#endif

inline constexpr std::size_t pack_lanes = 4;

// As those of wide.h, for code that is compiled for either.
CONCLUST_INLINE void load(const double* p, Pack& to) { to = load(p); }
CONCLUST_INLINE void spread(double x, Pack& to) { to = spread(x); }
CONCLUST_INLINE void where_less(const Pack& a, const Pack& b, const Pack& x, const Pack& y, Pack& to) {
    to = where_less(a, b, x, y);
}

// Four of the eight values of a and b, starting at index `from`.
template <int from>
CONCLUST_INLINE Pack shifted(const Pack& a, const Pack& b) {
#if defined(__GNUC__) && (defined(__clang__) || __GNUC__ >= 12)
    return __builtin_shufflevector(a, b, from, from + 1, from + 2, from + 3);
#else
    double both[2 * pack_lanes];
    store(both, a);
    store(both + pack_lanes, b);
    return load(both + from);
#endif
}

// Four rows of four become four columns.
CONCLUST_INLINE void transpose(Pack& a, Pack& b, Pack& c, Pack& d) {
#if defined(__GNUC__) && (defined(__clang__) || __GNUC__ >= 12)
    const Pack low = __builtin_shufflevector(a, b, 0, 4, 2, 6);
    const Pack high = __builtin_shufflevector(a, b, 1, 5, 3, 7);
    const Pack other_low = __builtin_shufflevector(c, d, 0, 4, 2, 6);
    const Pack other_high = __builtin_shufflevector(c, d, 1, 5, 3, 7);
    a = __builtin_shufflevector(low, other_low, 0, 1, 4, 5);
    b = __builtin_shufflevector(high, other_high, 0, 1, 4, 5);
    c = __builtin_shufflevector(low, other_low, 2, 3, 6, 7);
    d = __builtin_shufflevector(high, other_high, 2, 3, 6, 7);
#else
    double rows[4][4];
    double columns[4][4];
    store(rows[0], a);
    store(rows[1], b);
    store(rows[2], c);
    store(rows[3], d);
    for (std::size_t i = 0; i < 4; ++i) {
        for (std::size_t j = 0; j < 4; ++j) {
            columns[j][i] = rows[i][j];
        }
    }
    a = load(columns[0]);
    b = load(columns[1]);
    c = load(columns[2]);
    d = load(columns[3]);
#endif
}

}  // namespace conclust
