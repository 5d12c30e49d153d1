// Agglomerative clustering of a dense dissimilarity matrix by the nearest-neighbour chain.
//
// O(n^2) time, in place: the matrix is the only memory of size n x n. A starting cluster may be a distinct
// row of labels, of several objects; the tree is then the same as from single objects.
//
// The matrix is symmetric, C-contiguous, finite, >= 0 (the diagonal is not read as
// evidence, but must be finite too):
//   single, complete  the dissimilarity of the two starting clusters
//   average           the sum of the dissimilarities over all pairs of their objects
//   ward              the sum of the squared dissimilarities over all pairs of their objects,
//                     objects of one starting cluster being at distance 0
// Sums are additive under merging, so that integers (disagreements, not yet divided by the number
// of partitions) stay exact, and equal averages are equal to the bit whatever the order of merges.
// The matrix is destroyed.
//
// Ties: among the nearest clusters the one that holds the lowest object, unless the previous
// cluster of the chain is as near. Written are n - 1 merges: the lowest starting cluster of either
// side (left < right), and the height; children come before their parents, and no parent lies below
// its child. Heights are the dissimilarity (single, complete), its mean (average), and for ward
// sqrt(2ab / (a + b)) times the distance of the two centroids, as SciPy reports it.
#pragma once

#include <cstdint>
#include <span>

#include "linkage/merges.h"

namespace conclust {

enum class Linkage { single, average, complete, ward };

// `sizes` (n): how many objects each starting cluster holds, >= 1 and whole.
template <Linkage linkage>
void agglomerate(std::span<double> matrix, std::span<const double> sizes, const MergesOut& merges);

// out (rows of `sizes.size()` each) = table[count], times the objects of the row's and the column's starting clusters.
// Preconditions: counts are below table.size(); row_sizes: one for each row.
template <class Count>
void summed_dissimilarities(std::span<const Count> counts, std::span<const double> table,
                            std::span<const double> row_sizes, std::span<const double> sizes,
                            std::span<double> out);

}  // namespace conclust
