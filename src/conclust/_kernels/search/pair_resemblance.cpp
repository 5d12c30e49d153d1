#include "search/pair_resemblance.h"

#include <algorithm>

#include "base/clones.h"
#include "base/wide.h"

namespace conclust {
namespace {

// The kernel's terms after a unit has joined, for eight partitions.
struct Terms {
    Wide size, sum, part, own, shared, norm;
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

CONCLUST_INLINE void find_terms(const PairFixed& fixed, const PairUnit& unit, const PairCluster& cluster,
                                const PairTotals& totals, std::size_t u, Terms& terms) {
    Wide zero, mass, count, joined, before, sizes;
    spread(0.0, zero);
    spread(unit.mass, mass);
    Wide observed;
    spread(1.0, observed);
    if (unit.observed) {
        load(unit.observed + u, observed);
        mass *= observed;
    }
    gather(cluster.counts, unit.columns + u, count);
    gather(fixed.cluster_sizes, unit.columns + u, sizes);
    joined = count;
    joined += mass;
    Wide more, fewer;
    pairs_of(joined, more);
    pairs_of(count, fewer);
    more -= fewer;
    more /= sizes;
    load(cluster.sum + u, terms.sum);
    terms.sum += more;
    load(cluster.size + u, terms.size);
    terms.size += mass;
    Wide part = terms.sum;
    part /= terms.size;
    where_less(zero, terms.size, part, zero, terms.part);
    Wide own, square;
    pairs_of(terms.size, own);
    square = terms.size;
    square *= terms.size;
    own /= square;
    where_less(zero, terms.size, own, zero, terms.own);
    const auto replace = [&](const double* total, const double* own_part, const Wide& with, Wide& to) {
        Wide now, other;
        load(total + u, now);
        load(own_part + u, before);
        other = now;
        other -= before;
        other += with;
        where_less(zero, observed, other, now, to);
    };
    replace(totals.shared, cluster.part, terms.part, terms.shared);
    replace(totals.norm, cluster.own, terms.own, terms.norm);
}

// shared / sqrt(norm), where the norm is not 0: it is 0, or at least 1.
CONCLUST_INLINE void find_scores(const Wide& shared, const Wide& norm, Wide& to) {
    Wide zero, half, score = shared, root = norm;
    spread(0.0, zero);
    spread(0.5, half);
    take_roots(root);
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

}  // namespace

CONCLUST_CLONES void change_pairs(const PairFixed& fixed, const PairUnit& unit,
                                  const PairCluster& cluster, const PairTotals& totals) {
    for (std::size_t u = 0; u < fixed.stride; u += wide) {
        Terms terms;
        find_terms(fixed, unit, cluster, totals, u, terms);
        store(cluster.size + u, terms.size);
        store(cluster.sum + u, terms.sum);
        store(cluster.part + u, terms.part);
        store(cluster.own + u, terms.own);
        store(totals.shared + u, terms.shared);
        store(totals.norm + u, terms.norm);
    }
}

CONCLUST_CLONES double joined_pairs(const PairFixed& fixed, const PairUnit& unit,
                                    const PairCluster& cluster, const PairTotals& totals) {
    double total = 0.0;
    for (std::size_t u = 0; u < fixed.m; u += wide) {
        Terms terms;
        find_terms(fixed, unit, cluster, totals, u, terms);
        Wide scores;
        find_scores(terms.shared, terms.norm, scores);
        total = add_scores(scores, fixed.factors + u, std::min(wide, fixed.m - u), total);
    }
    return total;
}

CONCLUST_CLONES double sum_pairs(const PairFixed& fixed, const PairTotals& totals) {
    double total = 0.0;
    for (std::size_t u = 0; u < fixed.m; u += wide) {
        Wide shared, norm, scores;
        load(totals.shared + u, shared);
        load(totals.norm + u, norm);
        find_scores(shared, norm, scores);
        total = add_scores(scores, fixed.factors + u, std::min(wide, fixed.m - u), total);
    }
    return total;
}

}  // namespace conclust
