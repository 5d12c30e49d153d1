// The terms of a search for the partition that resembles others most (resemblance.h), where only pairs
// count: for eight partitions at a time.
#pragma once

#include <cstddef>
#include <cstdint>

namespace conclust {

// A unit that joins a cluster, or with a negative mass leaves it. All rows have `stride` places, a multiple of 8; those
// beyond the partitions have no label.
struct PairUnit {
    const std::int32_t* columns;  // of its labels among all clusters; their number: no label
    const double* observed;       // 1 or 0 for each partition; null: all 1
    double mass;
};

// A cluster: its objects by label (the last place 0), and, for each partition: objects observed, f summed over labels, and
// its terms of the totals.
struct PairCluster {
    const double* counts;
    double* size;
    double* sum;
    double* part;
    double* own;
};

// For each partition the kernel with the searched partition, and that one's with itself.
struct PairTotals {
    double* shared;
    double* norm;
};

// What does not change: objects of each cluster of each partition, the last place infinite; the partitions' factors.
struct PairFixed {
    const double* cluster_sizes;
    const double* factors;
    std::size_t m;
    std::size_t stride;
};

// Changes the terms of the cluster and the totals, but not the counts. `before` (2 x stride), if not null, is what
// `return_pairs` needs.
void change_pairs(const PairFixed& fixed, const PairUnit& unit, const PairCluster& cluster,
                  const PairTotals& totals, double* before);

// Undoes that a unit has left the cluster (but for rounding errors), as `change_pairs` would if the counts had been
// changed then; they must not have been.
void return_pairs(const PairFixed& fixed, const PairUnit& unit, const PairCluster& cluster,
                  const PairTotals& totals, const double* before);

// The objective after the unit joins the cluster.
double joined_pairs(const PairFixed& fixed, const PairUnit& unit, const PairCluster& cluster,
                    const PairTotals& totals);

// The objective.
double sum_pairs(const PairFixed& fixed, const PairTotals& totals);

}  // namespace conclust
