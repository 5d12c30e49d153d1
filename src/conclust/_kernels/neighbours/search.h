// The k nearest points of each query, exact among the points that it is compared with.
//
// Points are ordered by the sum of squared differences to the query, added up feature by feature in doubles;
// ties go to the lower index. The result therefore does not depend on threads or on the instruction set.
//
// Algorithm: a product in single precision, x'p - |p|^2 / 2 of queries and points moved to the mean of the
// points, whose error has a bound (kmeans/tiles/tiles.h has its derivation). A query keeps the points whose
// score is within the bound of its k-th best score so far; the sums of these alone are added up in doubles.
// The arithmetic of the product may therefore differ between forms, but the result cannot.
//
// Queries lie group by group, and points cell by cell. The queries of a group are compared with the points of
// the cells that the group lists: one group and one cell compare all with all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/forms.h"

namespace conclust {

// All coordinates are finite.
struct NeighbourSearch {
    std::span<const double> points;  // n x d, cell by cell
    std::span<const std::int32_t> names;  // n: distinct numbers from 0 on
    std::span<const std::int64_t> cells;  // of cell c: the points cells[c] .. cells[c + 1]
    std::span<const double> queries;  // q x d, group by group
    std::span<const std::int32_t>
        excluded;  // q: the name of the point that a query leaves out; -1: none
    std::span<const std::int64_t> groups;  // of group g: the queries groups[g] .. groups[g + 1]
    std::span<const std::int64_t> list_starts;  // of group g: its part of `listed`
    std::span<const std::int32_t> listed;  // the cells of each group, which hold k points at least
    // in addition to one that is left out
    std::size_t d = 0;  // at least 1
    std::size_t k = 0;  // at least 1
};

// Writes the names of the k nearest points of each query, nearest first, and the squared distances (q x k each).
void nearest_points(const NeighbourSearch& search, std::span<std::int32_t> found,
                    std::span<double> squares, int threads, Form form);

}  // namespace conclust
