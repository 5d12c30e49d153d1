// The step of many objects at once, from y to y + e d, and F along it: an exact quartic in e.
//
// Along the step the cluster sums change by e A, A = sum x_t d', the Grams by e P + e^2 Q,
//
//     P = sum y d' + d y',   Q = sum d d',
//
// and the sums of squares and of fourths (solver.h) by the powers below. All of these are plain sums over
// objects, so steps of parts of the objects add up.
#pragma once

#include <array>
#include <cstddef>

#include "pair_objective/factored/rows.h"

namespace conclust {

// l and p: the weights of the partitions that labelled an object, and that observed it.
enum Power : std::size_t {
    square_1,  // 2 sum l y.d
    square_2,  // sum l |d|^2
    fourth_1,  // 4 sum p |y|^2 (y.d)
    fourth_2,  // sum p (4 (y.d)^2 + 2 |y|^2 |d|^2)
    fourth_3,  // 4 sum p (y.d) |d|^2
    fourth_4,  // sum p |d|^4
    n_powers
};

using Powers = std::array<double, n_powers>;

// The change of squares and fourths at e.
double squares_along(const Powers& powers, double e);
double fourths_along(const Powers& powers, double e);

// One part of a step: objects [begin, end) of `before` and `after` (rows of Y) are added.
struct Stepping {
    const FactoredInput* in;
    const double* column_weights;
    const PresenceTable* presence;
    const double* fields;  // of which only the weights are read
    std::size_t stride;
    std::size_t begin;
    std::size_t end;
    const double* before;
    const double* after;
    double* sums;  // T x stride: A is added; or null
    double* first;  // tables (grams.h): P and Q are added as moves
    double* second;
    Powers* powers;
};

void step_block(const Stepping& part);

// The step in [0, most] that minimises c1 e + c2 e^2 + c3 e^3 + c4 e^4.
double best_step(const std::array<double, 4>& c, double most);

}  // namespace conclust
