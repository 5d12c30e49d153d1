#include "search/resemblance/pair_resemblance.h"

#include <algorithm>

#include "base/clones.h"
#include "base/wide.h"

namespace conclust {
namespace {

// The kernel's terms after a unit has joined, for eight partitions. If no label is missing, a cluster has as many
// objects for each partition, and `own` and `norm` are those of the first eight.
struct Terms {
    Wide size, added, sum, part, own, shared, norm;
};

// 2 s (s - 1).
CONCLUST_INLINE void pairs_of(const Wide& s, Wide& to) {
    Wide one, two, less;
    spread(1.0, one);
    spread(2.0, two);
    less = s;
    less -= one;
    to = two;
    to *= s;
    to *= less;
}

// A total with a cluster's term replaced.
CONCLUST_INLINE void replace(const double* total, const double* before, const Wide& after, Wide& to) {
    Wide old;
    load(total, to);
    load(before, old);
    to -= old;
    to += after;
}

// A term, or the total before where a label is missing.
CONCLUST_INLINE void keep(const double* observed, const double* total, Wide& after) {
    Wide zero, seen, before;
    spread(0.0, zero);
    load(observed, seen);
    load(total, before);
    where_less(zero, seen, after, before, after);
}

// sum / size, or 0 without objects.
CONCLUST_INLINE void find_part(const Wide& sum, const Wide& size, Wide& to) {
    Wide zero;
    spread(0.0, zero);
    to = sum;
    to /= size;
    where_less(zero, size, to, zero, to);
}

// `missing`: whether some labels may be missing.
template <bool missing>
CONCLUST_INLINE void find_terms(const PairFixed& fixed, const PairUnit& unit, const PairCluster& cluster,
                                const PairTotals& totals, std::size_t u, Terms& terms) {
    Wide zero, mass, count, joined, sizes;
    spread(0.0, zero);
    spread(unit.mass, mass);
    if constexpr (missing) {
        Wide observed;
        load(unit.observed + u, observed);
        mass *= observed;
    }
    gather(cluster.counts, unit.columns + u, count);
    gather(fixed.cluster_sizes, unit.columns + u, sizes);
    joined = count;
    joined += mass;
    Wide fewer;
    pairs_of(joined, terms.added);
    pairs_of(count, fewer);
    terms.added -= fewer;
    terms.added /= sizes;
    load(cluster.sum + u, terms.sum);
    terms.sum += terms.added;
    load(cluster.size + u, terms.size);
    terms.size += mass;
    find_part(terms.sum, terms.size, terms.part);
    replace(totals.shared + u, cluster.part + u, terms.part, terms.shared);
    if (missing || u == 0) {
        Wide own, square;
        pairs_of(terms.size, own);
        square = terms.size;
        square *= terms.size;
        own /= square;
        where_less(zero, terms.size, own, zero, terms.own);
        replace(totals.norm + u, cluster.own + u, terms.own, terms.norm);
    }
    if constexpr (missing) {
        keep(unit.observed + u, totals.shared + u, terms.shared);
        keep(unit.observed + u, totals.norm + u, terms.norm);
    }
}

// shared / sqrt(norm), where the norm is not 0: it is 0, or at least 1. `root` is the root of the norm.
CONCLUST_INLINE void find_scores(const Wide& shared, const Wide& norm, const Wide& root, Wide& to) {
    Wide zero, half, score = shared;
    spread(0.0, zero);
    spread(0.5, half);
    score /= root;
    where_less(half, norm, score, zero, to);
}

CONCLUST_INLINE double add_scores(const Wide& scores, const double* factors, std::size_t count,
                                  double total) {
    double lanes[wide];
    store(lanes, scores);
    for (std::size_t i = 0; i < count; ++i) {
        total += factors[i] * lanes[i];
    }
    return total;
}

template <bool missing>
CONCLUST_INLINE void change_all(const PairFixed& fixed, const PairUnit& unit, const PairCluster& cluster,
                                const PairTotals& totals, double* before) {
    Terms terms;
    for (std::size_t u = 0; u < fixed.stride; u += wide) {
        if (before) {
            Wide own;
            load(cluster.own + u, own);
            store(before + fixed.stride + u, own);
        }
        find_terms<missing>(fixed, unit, cluster, totals, u, terms);
        store(cluster.size + u, terms.size);
        store(cluster.sum + u, terms.sum);
        store(cluster.part + u, terms.part);
        store(cluster.own + u, terms.own);
        store(totals.shared + u, terms.shared);
        store(totals.norm + u, terms.norm);
        if (before) {
            store(before + u, terms.added);
        }
    }
}

template <bool missing>
CONCLUST_INLINE double join_all(const PairFixed& fixed, const PairUnit& unit, const PairCluster& cluster,
                                const PairTotals& totals) {
    double total = 0.0;
    Terms terms;
    Wide root;
    for (std::size_t u = 0; u < fixed.m; u += wide) {
        find_terms<missing>(fixed, unit, cluster, totals, u, terms);
        if (missing || u == 0) {
            root = terms.norm;
            take_roots(root);
        }
        Wide scores;
        find_scores(terms.shared, terms.norm, root, scores);
        total = add_scores(scores, fixed.factors + u, std::min(wide, fixed.m - u), total);
    }
    return total;
}

template <bool missing>
CONCLUST_INLINE void return_all(const PairFixed& fixed, const PairUnit& unit, const PairCluster& cluster,
                                const PairTotals& totals, const double* before) {
    for (std::size_t u = 0; u < fixed.stride; u += wide) {
        Wide mass, added, sum, size, part, own, shared, norm;
        spread(unit.mass, mass);
        if constexpr (missing) {
            Wide observed;
            load(unit.observed + u, observed);
            mass *= observed;
        }
        load(cluster.size + u, size);
        size += mass;
        load(before + u, added);
        load(cluster.sum + u, sum);
        sum -= added;
        find_part(sum, size, part);
        load(before + fixed.stride + u, own);
        replace(totals.shared + u, cluster.part + u, part, shared);
        replace(totals.norm + u, cluster.own + u, own, norm);
        if constexpr (missing) {
            keep(unit.observed + u, totals.shared + u, shared);
            keep(unit.observed + u, totals.norm + u, norm);
        }
        store(cluster.size + u, size);
        store(cluster.sum + u, sum);
        store(cluster.part + u, part);
        store(cluster.own + u, own);
        store(totals.shared + u, shared);
        store(totals.norm + u, norm);
    }
}

}  // namespace

CONCLUST_CLONES void change_pairs(const PairFixed& fixed, const PairUnit& unit,
                                  const PairCluster& cluster, const PairTotals& totals, double* before) {
    if (unit.observed) {
        change_all<true>(fixed, unit, cluster, totals, before);
    } else {
        change_all<false>(fixed, unit, cluster, totals, before);
    }
}

CONCLUST_CLONES double joined_pairs(const PairFixed& fixed, const PairUnit& unit,
                                    const PairCluster& cluster, const PairTotals& totals) {
    return unit.observed ? join_all<true>(fixed, unit, cluster, totals)
                         : join_all<false>(fixed, unit, cluster, totals);
}

CONCLUST_CLONES void return_pairs(const PairFixed& fixed, const PairUnit& unit,
                                  const PairCluster& cluster, const PairTotals& totals,
                                  const double* before) {
    if (unit.observed) {
        return_all<true>(fixed, unit, cluster, totals, before);
    } else {
        return_all<false>(fixed, unit, cluster, totals, before);
    }
}

CONCLUST_CLONES double sum_pairs(const PairFixed& fixed, const PairTotals& totals) {
    double total = 0.0;
    for (std::size_t u = 0; u < fixed.m; u += wide) {
        Wide shared, norm, scores;
        load(totals.shared + u, shared);
        load(totals.norm + u, norm);
        Wide root = norm;
        take_roots(root);
        find_scores(shared, norm, root, scores);
        total = add_scores(scores, fixed.factors + u, std::min(wide, fixed.m - u), total);
    }
    return total;
}

}  // namespace conclust
