// Newton's method for one object among prototypes.
#pragma once

#include "pair_objective/divergence.h"
#include "pair_objective/pairwise/column.h"
#include "simplex/active_set.h"

namespace conclust {

enum class Bend { observed, expected };

// H = the curvature at the products `a`, over all clusters: of the divergence, or its expectation.
void bend(PairColumn& column, Divergence divergence, Bend which);

// Descends from y by steps of exact quadratics, the first with the metric in column.H, which the
// caller wrote; a metric is kept while the gap falls fast. True if the gap ends at most at
// column.enough. False: the steps do not converge from here, and y is anywhere.
bool newton(PairColumn& column, Divergence divergence, ActiveSet& quadratic);

}  // namespace conclust
