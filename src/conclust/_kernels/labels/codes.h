// The label codes that every kernel reads.
//
// A label matrix is object-major: n rows (objects) of m codes (partitions), C-contiguous, of one
// unsigned type. In column u the codes 0 .. K_u - 1 are clusters, numbered by first appearance.
// The two largest values of the type are kept for the two facts that are not a cluster:
//   missing  the object was not observed by the partition: it counts in neither c_ij nor N_ij
//   noise    the object was observed and is apart from all: it counts in N_ij, never in c_ij
#pragma once

#include <cstdint>
#include <limits>

namespace conclust {

template <class Code>
inline constexpr Code missing_code = std::numeric_limits<Code>::max();

template <class Code>
inline constexpr Code noise_code = static_cast<Code>(std::numeric_limits<Code>::max() - 1);

// A cell holds a cluster exactly when its code is below this one.
template <class Code>
inline constexpr Code first_reserved_code = noise_code<Code>;

}  // namespace conclust
