// Compares pairs of partitions: the terms of a contingency table needed by the losses of Binder,
// Rand and information theory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace conclust {

// Partitions as rows of n labels: clusters 0 .. size - 1, `size` for missing, `size + 1` for noise (a cluster
// of one object).
template <class Label>
struct PartitionRows {
    std::span<const Label> labels;         // count x n
    std::span<const std::int64_t> sizes;   // count
    std::size_t n = 0;

    std::size_t count() const { return sizes.size(); }
    const Label* row(std::size_t p) const { return labels.data() + p * n; }
};

// For each partition p of `first` and s of `second`, over the objects that both observed: the sums of f over the
// clusters of p, over those of s, over the cells of their table, and the number of objects. f(x) = x log2 x, or
// x^2 with `squares`. Writes terms (first.count() x second.count() x 4). With `symmetric` both are the same
// partitions, and each two are compared once.
template <class Label>
void partition_terms(const PartitionRows<Label>& first, const PartitionRows<Label>& second, bool squares,
                     bool symmetric, int threads, std::span<double> terms);

}  // namespace conclust
