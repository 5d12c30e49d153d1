// The search of landmarks.h for many points, unless they have many features.
//
// The landmarks that a point looks at lie eight by eight as columns, and those around a landmark by their distance
// from it. A point that is `own` away from that landmark is at least r - own away from one at a distance of r:
// it looks at the first few only. Points go group by group, so that what they look at stays in the cache. What is
// found is the same to the bit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "kmeans/landmarks.h"

namespace conclust {

// Number of features below which this search is the faster one.
inline constexpr std::size_t many_features = 64;
// Squares are summed in so many lanes, feature by feature, then the lanes in order, then the rest.
inline constexpr std::size_t summed_lanes = 8;

// `nearest_landmarks`, for any d.
void nearest_in_columns(std::span<const double> x, const Landmarks& landmarks, std::size_t k,
                        std::span<std::int32_t> found, std::span<double> squares);

}  // namespace conclust
