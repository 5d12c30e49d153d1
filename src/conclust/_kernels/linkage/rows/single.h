// Single linkage on similarities that are found row by row: Prim's maximum spanning tree.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "linkage/rows/similarity.h"

namespace conclust {

// Grows the tree by a number of clusters at a time, so that the caller can check for interrupts.
//
// order()[0] is cluster 0; order()[t + 1] joined at height heights()[t] = 1 - S, not below 0, with the one of
// the tree that is most similar to it. Among equal heights the lowest cluster joins. Every cluster of
// single linkage is a run of this order.
class SingleTree {
  public:
    // Preconditions: those of RowSimilarity.
    explicit SingleTree(const RowPairs& pairs);

    // Adds up to `clusters` clusters. Returns the number of clusters outside of the tree.
    std::size_t grow(std::size_t clusters);

    std::span<const std::int64_t> order() const { return order_; }
    std::span<const double> heights() const { return heights_; }

  private:
    void take(std::size_t cluster);

    RowSimilarity pairs_;
    std::vector<double> nearest_;  // S with the tree; -1 inside
    std::vector<double> highest_;  // of each block of these
    std::vector<std::int64_t> order_;
    std::vector<double> heights_;
};

}  // namespace conclust
