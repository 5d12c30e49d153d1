// Single linkage from labels, without a matrix: Prim's minimum spanning tree over 1 - c_ij / N_ij.
//
// A row of evidence is counted when it is needed, against the objects that are not in the tree yet. The
// planes of these stay contiguous: the last object moves into each gap. Memory: the planes and a few
// numbers per object.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/forms.h"
#include "evidence/bitsliced/slices.h"

namespace conclust {

// Grows the tree by a number of objects at a time, so that the caller can check for interrupts.
//
// order()[0] is object 0; order()[t + 1] joined at height heights()[t] = 1 - c/N to its nearest
// object in the tree, N = 0 counting as height 1. Among equal heights the object with the lowest
// index joins. Every cluster of single linkage is a run of this order, so that the dendrogram
// follows from order and heights alone.
class SpanningTree {
  public:
    // Preconditions: n >= 1, m >= 1, n < 2^32 - 1; weights, where there are any, are not all 0; this
    // processor supports `form`. Nothing points to the labels afterwards.
    SpanningTree(const LabelView& labels, Form form);
    ~SpanningTree();

    // Adds up to `objects` objects. Returns the number of objects outside of the tree.
    std::size_t grow(std::size_t objects);

    std::size_t n_samples() const;
    // The order (n) and the heights (n - 1), valid for the objects in the tree.
    const std::int64_t* order() const;
    const double* heights() const;

    class Prim;  // one per kind of evidence; see spanning_tree.cpp

  private:
    std::unique_ptr<Prim> prim_;
};

}  // namespace conclust
