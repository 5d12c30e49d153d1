// Eight doubles worked on together, as the four of pack.h: element by element, in source order.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "base/clones.h"

namespace conclust {

inline constexpr std::size_t wide = 8;

#if defined(__GNUC__)

typedef double Wide __attribute__((vector_size(64), aligned(8), may_alias));

CONCLUST_INLINE void spread(double x, Wide& to) { to = Wide{x, x, x, x, x, x, x, x}; }
CONCLUST_INLINE void load(const double* p, Wide& to) { to = *reinterpret_cast<const Wide*>(p); }
CONCLUST_INLINE void store(double* p, const Wide& x) { *reinterpret_cast<Wide*>(p) = x; }
// The values at eight places.
CONCLUST_INLINE void gather(const double* p, const std::int32_t* at, Wide& to) {
    to = Wide{p[at[0]], p[at[1]], p[at[2]], p[at[3]], p[at[4]], p[at[5]], p[at[6]], p[at[7]]};
}
// x where a is less than b, else y.
CONCLUST_INLINE void where_less(const Wide& a, const Wide& b, const Wide& x, const Wide& y, Wide& to) {
    to = a < b ? x : y;
}

#else

struct Wide {
    double v[wide];
    Wide& operator+=(const Wide& o) {
        for (std::size_t i = 0; i < wide; ++i) v[i] += o.v[i];
        return *this;
    }
    Wide& operator-=(const Wide& o) {
        for (std::size_t i = 0; i < wide; ++i) v[i] -= o.v[i];
        return *this;
    }
    Wide& operator*=(const Wide& o) {
        for (std::size_t i = 0; i < wide; ++i) v[i] *= o.v[i];
        return *this;
    }
    Wide& operator/=(const Wide& o) {
        for (std::size_t i = 0; i < wide; ++i) v[i] /= o.v[i];
        return *this;
    }
};

inline void spread(double x, Wide& to) {
    for (std::size_t i = 0; i < wide; ++i) to.v[i] = x;
}
inline void load(const double* p, Wide& to) {
    for (std::size_t i = 0; i < wide; ++i) to.v[i] = p[i];
}
inline void store(double* p, const Wide& x) {
    for (std::size_t i = 0; i < wide; ++i) p[i] = x.v[i];
}
inline void gather(const double* p, const std::int32_t* at, Wide& to) {
    for (std::size_t i = 0; i < wide; ++i) to.v[i] = p[at[i]];
}
inline void where_less(const Wide& a, const Wide& b, const Wide& x, const Wide& y, Wide& to) {
    Wide chosen;
    for (std::size_t i = 0; i < wide; ++i) chosen.v[i] = a.v[i] < b.v[i] ? x.v[i] : y.v[i];
    to = chosen;
}

#endif

CONCLUST_INLINE void take_roots(Wide& x) {
    double lanes[wide];
    store(lanes, x);
    for (std::size_t i = 0; i < wide; ++i) {
        lanes[i] = std::sqrt(lanes[i]);
    }
    load(lanes, x);
}

}  // namespace conclust
