// Co-association counts c_ij and co-presence counts N_ij of a block of rows against all objects.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/forms.h"
#include "evidence/bitsliced/slices.h"

namespace conclust {

// c[i - begin, j] = partitions in which i and j have the same cluster, for begin <= i < end and all
// j; present[i - begin, j] = partitions in which both were observed. On the diagonal these are the
// partitions in which the object has a cluster, and in which it was observed.
//
// Preconditions: begin <= end <= n; `c` and `present` are (end - begin, n), or empty if not needed; Count
// holds n_partitions; this processor supports `form`.
template <class Count>
void coassociation(const BitSlices& slices, std::size_t begin, std::size_t end, std::span<Count> c,
                   std::span<Count> present, int threads, Form form);

// The same with weights: sums of the partitions' weights instead of counts, added up group by group
// in a fixed order, so that every form and number of threads gives the same bits.
//
// Preconditions: as above; weights has one finite value >= 0 per partition.
void weighted_coassociation(const BitSlices& slices, std::span<const double> weights, std::size_t begin,
                            std::size_t end, std::span<double> c, std::span<double> present, int threads,
                            Form form);

}  // namespace conclust
