// The search of landmarks.h for many points, unless they have many features.
//
// The landmarks compared with a point are stored in columns of eight, and those around a landmark are sorted by
// their distance from it. A point that is `own` away from that landmark is at least r - own away from one at a
// distance of r, so only the first few are compared. Points are processed group by group, so that these columns
// stay in the cache. The result is the same to the bit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "kmeans/landmarks.h"

namespace conclust {

// Number of features below which this search is the faster one.
inline constexpr std::size_t many_features = 64;
// Number of lanes in which squares are summed, feature by feature; then the lanes in order, then the remainder.
inline constexpr std::size_t summed_lanes = 8;

// `nearest_landmarks`, for any d.
void nearest_in_columns(std::span<const double> x, const Landmarks& landmarks, std::size_t k,
                        std::span<std::int32_t> found, std::span<double> squares);

}  // namespace conclust
