// One object against its partners: the arithmetic of a visit (pairwise.h says what a visit is).
#pragma once

#include <cstddef>
#include <vector>

#include "divergence.h"

namespace conclust {

// The partners lie side by side: arrays of `length` doubles, a multiple of 8 with no evidence in the
// padding (c = N = 0, memberships 0). Memberships are cluster by cluster: yt[k * ld + j].
struct PairColumn {
    Divergence divergence = Divergence::l2;
    double parameter = 2.0;
    std::size_t k = 0;
    std::size_t stride = 0;  // k rounded up to a multiple of 4: rows of yt and of H
    std::size_t length = 0;
    std::size_t ld = 0;
    const double* yt = nullptr;
    double degree = 0.0;  // sum of N
    // scratch of `length` doubles each
    double* c = nullptr;   // counts
    double* N = nullptr;   // co-presence
    double* a = nullptr;   // y_i'y_j
    double* w = nullptr;   // slope of the divergence at a
    double* h = nullptr;   // curvature used by the quadratic
    double* da = nullptr;  // change of a along a direction
    // scratch of `stride` doubles each, and H of stride x stride
    double* y = nullptr;
    double* g = nullptr;
    double* q = nullptr;
    double* z = nullptr;
    double* d = nullptr;
    double* H = nullptr;
};

struct Gap {
    std::size_t U;    // cheapest cluster
    std::size_t V;    // dearest cluster with mass
    double gap;       // g_V - g_U
    double possible;  // g'y - g_U: what the object can lower f by, at most
};

// a = products with y, w = slopes, g = gradient; returns its gap. with_curvature: h too, for pair_descend.
Gap pair_gradient(PairColumn& column, bool with_curvature);

// Moves y (column.y) downhill from the state that pair_gradient left, curvature included. finish: until
// the gap is at most `enough`; else by one step of the quadratic, with exact pair steps after it if it
// was cut short. Returns whether y moved.
bool pair_descend(PairColumn& column, Gap gap, double enough, bool finish);

// The sum over partners of N d(c / N, y'y_j).
double pair_value(PairColumn& column);

}  // namespace conclust
