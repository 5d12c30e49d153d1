#include "pair_objective/pairwise/column.h"

#include <algorithm>

#include "base/clones.h"
#include "pair_objective/pairwise/algebra.h"
#include "pair_objective/pairwise/slopes.h"
#include "simplex/quadratic.h"

namespace conclust {
namespace {

// A step below this share of the quadratic's is cut short: exact pair steps follow.
constexpr double cut_short = 0.1;
constexpr int most_rounds = 20;
// Cost of slopes, and of sums along a line, per partner.
constexpr std::size_t of_slopes = 16;
constexpr std::size_t of_search = 8;

// The loops over partners, each a function that is compiled for every instruction set: templates are not.

template <bool curved, class D>
CONCLUST_INLINE void refresh_as(const D& divergence, PairColumn* columns, std::size_t count) {
    for (std::size_t o = 0; o < count; ++o) {
        if (columns[o].active) {
            products(columns[o], columns[o].y, columns[o].a);
        }
    }
    divergence.template slopes<curved>(columns, count);
    for (std::size_t o = 0; o < count; ++o) {
        if (columns[o].active) {
            gradient(columns[o]);
            find_gap(columns[o]);
            columns[o].spent += columns[o].length * (columns[o].stride + of_slopes);
        }
    }
}

// Runs the searches of the active columns; afterwards search.low holds each one's step.
template <class D>
CONCLUST_INLINE void search_as(const D& divergence, PairColumn* columns, std::size_t count) {
    for (bool more = true; more;) {
        divergence.rho(columns, count);
        more = false;
        for (std::size_t o = 0; o < count; ++o) {
            PairColumn& col = columns[o];
            if (col.active) {
                col.spent += of_search * col.length;
                col.active = col.search.feed(col.value);
                more = more || col.active;
            }
        }
    }
}

// value = the sum over partners of N d(c / N, y'y_j).
template <class D>
CONCLUST_INLINE void value_as(const D& divergence, PairColumn* columns, std::size_t count) {
    for (std::size_t o = 0; o < count; ++o) {
        if (columns[o].active) {
            products(columns[o], columns[o].y, columns[o].a);
        }
    }
    divergence.values(columns, count);
}

#define CONCLUST_INSTANTIATE(D)                                                                      \
    CONCLUST_CLONES void refresh(const D& divergence, PairColumn* columns, std::size_t count,        \
                                 bool curved) {                                                      \
        curved ? refresh_as<true>(divergence, columns, count)                                        \
               : refresh_as<false>(divergence, columns, count);                                      \
    }                                                                                                \
    CONCLUST_CLONES void search_steps(const D& divergence, PairColumn* columns, std::size_t count) { \
        search_as(divergence, columns, count);                                                       \
    }                                                                                                \
    CONCLUST_CLONES void find_values(const D& divergence, PairColumn* columns, std::size_t count) {  \
        value_as(divergence, columns, count);                                                        \
    }

#define CONCLUST_KNOWN(NAME) CONCLUST_INSTANTIATE(Known<Divergence::NAME>)
CONCLUST_DIVERGENCES(CONCLUST_KNOWN)
#undef CONCLUST_KNOWN
CONCLUST_INSTANTIATE(Outside)
#undef CONCLUST_INSTANTIATE

// The clusters of the quadratic: those that hold mass of the object, and those that cost less than they do
// on average. Any other would gain nothing by a small step; a cluster that should is in the next visit's.
// Of those that no partner holds, which are alike, the first is enough.
CONCLUST_INLINE std::size_t choose_clusters(const PairColumn& col) {
    double mean = 0.0;
    for (std::size_t c = 0; c < col.k; ++c) {
        mean += col.y[c] * col.g[c];
    }
    std::size_t count = 0;
    bool untouched = false;
    for (std::size_t c = 0; c < col.k; ++c) {
        const bool held = col.y[c] > 0.0;
        if (held || (col.g[c] < mean && !(untouched && col.g[c] == 0.0))) {
            untouched = untouched || (!held && col.g[c] == 0.0);
            col.some[count++] = c;
        }
    }
    return count;
}

// The quadratic's minimiser z and the search towards it.
CONCLUST_CLONES void aim(PairColumn& col, bool quadratic) {
    const std::size_t count = choose_clusters(col);
    const std::size_t s = (count + 3) / 4 * 4;
    curvature(col, count, s);
    col.spent += (col.length / 2 + 4) * s * s;
    for (std::size_t r = 0; r < s; ++r) {
        col.x[r] = r < count ? col.y[col.some[r]] : 0.0;
        col.q[r] = r < count ? col.g[col.some[r]] : 0.0;
    }
    const double stop = std::max(0.02 * col.gap, 0.1 * col.enough);
    const double tie = 1e-8 * col.gap;
    if (s == 4) {
        pair_steps<4>(col.H, col.q, col.x, s, count, stop, 6 * count, tie);
    } else {
        pair_steps<0>(col.H, col.q, col.x, s, count, stop, 6 * count, tie);
    }
    std::fill(col.z, col.z + col.stride, 0.0);
    for (std::size_t r = 0; r < count; ++r) {
        col.z[col.some[r]] = col.x[r];
    }
    double slope = 0.0;
    for (std::size_t c = 0; c < col.stride; ++c) {
        col.d[c] = col.z[c] - col.y[c];
        slope += col.g[c] * col.d[c];
    }
    col.slope = slope;
    if (!(slope < 0.0)) {
        col.search.low = 0.0;
        col.active = false;
    } else if (quadratic) {
        col.search.low = 1.0;  // the quadratic is f itself
        col.active = false;
    } else {
        products(col, col.d, col.da);
        col.search.start(slope, 1.0, 0.2, 1.0);
    }
}

// Aims the exact step of a column from its dearest cluster V to its cheapest U: da. Returns the curvature.
CONCLUST_CLONES double take_pair(PairColumn& col) {
    const double* tU = col.yt + col.U * col.ld;
    const double* tV = col.yt + col.V * col.ld;
    double terms[tile];
    double bend = 0.0;
    for (std::size_t begin = 0; begin < col.length; begin += tile) {
        const std::size_t some = std::min(tile, col.length - begin);
        for (std::size_t j = 0; j < some; ++j) {
            const double x = tU[begin + j] - tV[begin + j];
            col.da[begin + j] = x;
            terms[j] = col.h[begin + j] * (x * x);
        }
        bend += sum_tile(terms, some);
    }
    return bend;
}

// Exact pair steps of the active columns, at most `most` each, until their gaps are at most `stop`.
// Leaves a, w, h and g of the new y.
template <class D>
void exact_steps(const D& divergence, PairColumn* columns, std::size_t count, std::size_t most) {
    for (std::size_t o = 0; o < count; ++o) {
        columns[o].busy = columns[o].active && columns[o].gap > columns[o].stop;
    }
    for (std::size_t step = 0; step < most; ++step) {
        bool any = false;
        for (std::size_t o = 0; o < count; ++o) {
            PairColumn& col = columns[o];
            col.active = col.busy;
            if (!col.busy) {
                continue;
            }
            any = true;
            col.search.start(-col.gap, col.y[col.V], 0.05, col.gap / take_pair(col));
        }
        if (!any) {
            return;
        }
        search_steps(divergence, columns, count);
        for (std::size_t o = 0; o < count; ++o) {
            PairColumn& col = columns[o];
            if (!col.busy) {
                continue;
            }
            const double e = col.search.low;
            col.busy = e > 0.0;
            if (col.busy) {
                const double mass = col.y[col.V];
                col.moved = true;
                col.lowered += 0.5 * e * col.gap;
                col.y[col.U] += e;
                col.y[col.V] = e < mass ? mass - e : 0.0;
            }
            col.active = col.busy;
        }
        refresh(divergence, columns, count, true);
        for (std::size_t o = 0; o < count; ++o) {
            columns[o].busy = columns[o].busy && columns[o].gap > columns[o].stop;
        }
    }
}

template <class D>
void descend(const D& divergence, PairColumn* columns, std::size_t count, bool finish) {
    bool going[max_batch];
    for (std::size_t o = 0; o < count; ++o) {
        going[o] = columns[o].active;
        columns[o].moved = false;
        columns[o].lowered = 0.0;
    }
    for (int round = 0; round < (finish ? most_rounds : 1); ++round) {
        bool any = false;
        for (std::size_t o = 0; o < count; ++o) {
            PairColumn& col = columns[o];
            going[o] = going[o] && col.gap > col.enough;
            col.active = going[o];
            any = any || going[o];
            if (going[o]) {
                col.first = col.gap;
                aim(col, D::quadratic);
            }
        }
        if (!any) {
            return;
        }
        search_steps(divergence, columns, count);
        bool again = false;
        for (std::size_t o = 0; o < count; ++o) {
            PairColumn& col = columns[o];
            if (!going[o]) {
                continue;
            }
            const double t = col.search.low;
            if (t >= 1.0) {
                std::copy(col.z, col.z + col.stride, col.y);
            } else if (t > 0.0) {
                for (std::size_t c = 0; c < col.stride; ++c) {
                    col.y[c] += t * col.d[c];
                }
            }
            col.moved = col.moved || t > 0.0;
            col.lowered += t > 0.0 ? t * (0.5 * t - 1.0) * col.slope : 0.0;
            col.active = finish || t < cut_short;
            again = again || col.active;
        }
        if (!again) {
            return;
        }
        refresh(divergence, columns, count, true);
        std::size_t k = 0;
        for (std::size_t o = 0; o < count; ++o) {
            PairColumn& col = columns[o];
            if (col.active) {
                col.active = col.search.low < cut_short || col.gap > 0.5 * col.first;
                col.stop = std::max(col.enough, 0.1 * col.gap);
                k = col.k;
            }
        }
        exact_steps(divergence, columns, count, 2 * k);
    }
}

template <class D>
void work_on(const D& divergence, PairWork work, PairColumn* columns, std::size_t count) {
    switch (work) {
        case PairWork::gradient: return refresh(divergence, columns, count, false);
        case PairWork::curved: return refresh(divergence, columns, count, true);
        case PairWork::step:
        case PairWork::finish: return descend(divergence, columns, count, work == PairWork::finish);
        case PairWork::value: return find_values(divergence, columns, count);
    }
}

}  // namespace

void pair_work(PairWork work, PairColumn* columns, std::size_t count, Divergence divergence,
               const OutsideDivergence* outside) {
    if (outside) {
        return work_on(Outside{outside}, work, columns, count);
    }
    with_divergence(divergence, [&](auto known) { work_on(Known<known.value>{}, work, columns, 1); });
}

}  // namespace conclust
