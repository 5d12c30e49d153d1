// The clusters of points that are tied to landmarks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace conclust {

// The clusters of n points that are tied to k landmarks each (found, weights: n x k): a point stands at the
// mean of their loads (p x r), weighted by its ties and brought to unit length, and goes to the nearest of the
// centres (r x K, a column each; half: halves of their squared lengths), the first one of a tie. No bit of a
// label depends on the other points. Inner products with the centres are found once a landmark, and averaged.
void landmark_labels(std::span<const std::int32_t> found, std::span<const double> weights, std::size_t k,
                     std::span<const double> loads, std::span<const double> centers,
                     std::span<const double> half, std::span<std::int64_t> labels);

}  // namespace conclust
