// The search of landmarks.h for many points of few features.
//
// The landmarks compared with a point are stored in columns of four, and those around a landmark
// are sorted by their distance from it. A point that is `own` away from that landmark is at least r - own away from
// one at a distance of r:
// so only the first few are compared. The result is the same to the bit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "kmeans/landmarks.h"

namespace conclust {

// Number of features below which this search sums squares like the other one: one after the other.
inline constexpr std::size_t few_features = 8;

// `nearest_landmarks`, for d < few_features.
void nearest_in_columns(std::span<const double> x, const Landmarks& landmarks, std::size_t k,
                        std::span<std::int32_t> found, std::span<double> squares);

}  // namespace conclust
