// The pairs of objects with the most evidence: those of each object with the objects as similar to it as
// its k-th most similar one.
//
// Two objects are as similar as p = c / N, their shared clusters by the partitions that observed both.
// Candidates come from the clusters of the object, the smallest first, and each is compared once.
// Objects in none of the clusters so far share at most the remaining ones: once these cannot bring
// p to the k-th largest, the search ends. If members agree, most clusters of most partitions are
// never visited. If they do not, complete labels are counted with all objects by bits (counting.h),
// and the largest counts are taken.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "labels/label_view.h"

namespace conclust {

// For each object all others with p >= its k-th largest p, ties included, and p > 0: fewer than k
// where fewer share a cluster with it. Rows are sorted. Sums of weights are rounded to 2^-40 of all
// weights, so that values equal on paper are ties whatever the order of summation.
//
// Preconditions: 1 <= n < 2^31, k >= 1, hard labels with offsets, codes below the number of clusters.
class NearestPairs {
  public:
    // Only the rows of the objects from `first` on and before `last`, counted from 0 below. Ends early, with
    // exceeded(), once there are more than `most` entries. Precondition: first <= last <= n.
    NearestPairs(const LabelView& labels, std::size_t k, std::size_t first, std::size_t last,
                 std::size_t most, int threads);

    bool exceeded() const { return exceeded_; }
    // Precondition of the other functions: not exceeded().
    std::size_t n_entries() const { return static_cast<std::size_t>(indptr_.back()); }
    // Precondition: indptr has last - first + 1 places, indices n_entries().
    void read(std::span<std::int64_t> indptr, std::span<std::int32_t> indices) const;

  private:
    std::vector<std::int64_t> indptr_;
    std::vector<std::vector<std::int32_t>> parts_;  // the rows of one task after the other
    bool exceeded_ = false;
};

}  // namespace conclust
