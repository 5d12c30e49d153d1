#include "pair_objective/landmark/newton.h"

#include <limits>

#include "base/clones.h"
#include "pair_objective/pairwise/algebra.h"

namespace conclust {
namespace {

constexpr int most_steps = 12;
// A metric is kept while a step leaves at most this share of the gap; a new one that leaves more than
// `slow` is far from where Newton's method converges.
constexpr double fast = 0.03;
constexpr double slow = 0.5;

template <Divergence D>
CONCLUST_INLINE void bend_as(PairColumn& col, Bend which) {
    const double power = col.parameter;
    if (which == Bend::observed) {
        for (std::size_t j = 0; j < col.length; ++j) {
            col.h[j] = divergence_curvature<D>(col.c[j], col.N[j], col.a[j], power);
        }
    } else {
        for (std::size_t j = 0; j < col.length; ++j) {
            col.h[j] = divergence_fisher<D>(col.N[j], col.a[j], power);
        }
    }
    for (std::size_t c = 0; c < col.k; ++c) {
        col.some[c] = c;
    }
    curvature(col, col.k, col.stride);
}

#define CONCLUST_BEND(NAME)                                                              \
    CONCLUST_CLONES void bend_known(Is<Divergence::NAME>, PairColumn& col, Bend which) { \
        bend_as<Divergence::NAME>(col, which);                                           \
    }
CONCLUST_DIVERGENCES(CONCLUST_BEND)
#undef CONCLUST_BEND

}  // namespace

void bend(PairColumn& column, Divergence divergence, Bend which) {
    with_divergence(divergence, [&](auto known) { bend_known(known, column, which); });
}

bool newton(PairColumn& column, Divergence divergence, ActiveSet& quadratic) {
    double before = std::numeric_limits<double>::infinity();
    int bends = 0;
    bool fresh = false;  // H is of the point before the last step
    for (int step = 0; step < most_steps; ++step) {
        pair_work(PairWork::gradient, &column, 1, divergence, nullptr);
        if (column.gap <= column.enough) {
            return true;
        }
        if (fresh && !(column.gap <= slow * before)) {
            return false;
        }
        fresh = step > 0 && (bends == 0 || column.gap > fast * before);
        if (fresh) {
            bend(column, divergence, Bend::observed);
            ++bends;
        }
        before = column.gap;
        if (!quadratic.minimise(column.H, column.stride, column.g, column.y)) {
            return false;
        }
    }
    return false;
}

}  // namespace conclust
