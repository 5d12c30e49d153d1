// A custom divergence, computed by a function of the user.
#pragma once

#include <cstddef>

namespace conclust {

// out_j = value, slope or curvature (what = 0, 1, 2) of d at p_j = c / N and q_j in [least, 1 - least]. The
// function may throw.
struct OutsideDivergence {
    void (*call)(void* context, int what, const double* p, const double* q, double* out,
                 std::size_t count) = nullptr;
    void* context = nullptr;
    double* p = nullptr;  // scratch for one call: as long as the longest
    double* q = nullptr;
    double* out = nullptr;
};

}  // namespace conclust
