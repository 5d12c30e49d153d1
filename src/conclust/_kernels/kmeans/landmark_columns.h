// The search of landmarks.h for many points of few features.
//
// The landmarks that a point looks at lie four by four as columns, and those around a landmark by their distance
// from it. A point that is `own` away from that landmark is at least r - own away from one at a distance of r:
// it looks at the first few only. What is found is the same to the bit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "kmeans/landmarks.h"

namespace conclust {

// Features below which this search sums squares as the other one: one after the other.
inline constexpr std::size_t few_features = 8;

// `nearest_landmarks`, for d < few_features.
void nearest_in_columns(std::span<const double> x, const Landmarks& landmarks, std::size_t k,
                        std::span<std::int32_t> found, std::span<double> squares);

}  // namespace conclust
