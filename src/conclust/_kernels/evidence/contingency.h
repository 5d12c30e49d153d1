// The contingency tables of all pairs of partitions at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "labels/label_view.h"

namespace conclust {

// B'B: gram[k, l] = objects that are in both of the clusters k and l, where cluster `code` of
// partition u is number offsets[u] + code. The block of rows of u and columns of v is the
// contingency table of u and v; cells that are missing or noise in either are not counted.
//
// Preconditions: hard labels of n < 2^32 objects; gram is (T, T), T < 2^32. Every entry of it is written.
void contingency_gram(const LabelView& labels, std::span<std::int64_t> gram, int threads);

// Rows of B'B: those of the clusters of partitions [first, last), one after another. Preconditions as above, first < last <= m.
void contingency_rows(const LabelView& labels, std::size_t first, std::size_t last,
                      std::span<std::int64_t> rows, int threads);

// B' diag(mass) B: the same, where object i counts mass[i].
void contingency_gram(const LabelView& labels, std::span<const double> mass, std::span<double> gram,
                      int threads);

// Sums of squares of the contingency tables of all pairs of partitions: sums[u, v] (m x m), object i counting counts[i].
//
// Preconditions: hard labels without missing ones and noise; the counts sum to less than 2^32.
void squared_tables(const LabelView& labels, std::span<const std::int64_t> counts,
                    std::span<double> sums);

// B' diag(root)^2 B of sparse rows, summed object by object. No row names a column twice.
void sparse_gram(const SoftRows& rows, std::span<const double> root, std::span<double> gram);

}  // namespace conclust
