// The symmetric graph of nearest neighbours: two objects are tied if one is among the k nearest of the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace conclust {

// Ties in compressed sparse rows, neighbours in rising order; no object is tied to itself.
struct NeighbourGraph {
    std::vector<std::int64_t> starts;  // n + 1
    std::vector<std::int32_t> ends;
    std::vector<double> weights;
};

// `found` (n x stride) has the nearest objects of each, nearest first, never itself; the first k count,
// 0 <= k <= stride. With `jaccard` the weight of a tie is |A and B| / |A or B| of the two lists of k,
// each with the object itself in it; otherwise 1.
NeighbourGraph neighbour_graph(std::span<const std::int32_t> found, std::size_t n, std::size_t stride,
                               std::size_t k, bool jaccard);

}  // namespace conclust
