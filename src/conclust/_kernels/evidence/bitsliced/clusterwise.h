// Dissimilarities of all pairs with weighted clusters, from which linkage starts.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/forms.h"
#include "evidence/bitsliced/slices.h"

namespace conclust {

// out[i, j] = 1 - c_ij / N_ij, held in [0, 1]; 1 where N_ij <= 0, 0 on the diagonal:
//   c_ij  sum of own[i, u] over the partitions u in which i and j have the same cluster
//   N_ij  sum of weights[u] over the partitions that observed both; without weights, the initial
//         out[i, j] for i < j
// Returns the sum of sizes[i] sizes[j] over the pairs i < j with N_ij <= 0. Sums are formed group by
// group in a fixed order, so that every form and number of threads gives the same bits.
//
// Preconditions: own is (n, n_partitions), out (n, n); own has finite values >= 0, the same for all
// objects of one cluster; weights has one finite value >= 0 per partition or is empty; sizes has n
// values; this processor supports `form`.
std::int64_t clusterwise_dissimilarities(const BitSlices& slices, std::span<const double> own,
                                         std::span<const double> weights,
                                         std::span<const std::int64_t> sizes, std::span<double> out,
                                         int threads, Form form);

}  // namespace conclust
