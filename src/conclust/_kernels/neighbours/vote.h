// The majority label of an object's neighbours.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace conclust {

// Writes for each of q objects and each of N members the majority label of the object's k
// neighbours; ties go to the label of the nearest neighbour, whatever the numbers of the labels. `found` (q x k) has
// the neighbours, nearest first, `squares` their squared distances; `labels` (n x N) has labels from 0 on, and
// `decided` (q x N) is written. An object at the distance 0 of its nearest neighbour has that one's labels.
void vote(std::span<const std::int32_t> found, std::span<const double> squares, std::size_t k,
          std::span<const std::int32_t> labels, std::size_t members, std::span<std::int32_t> decided);

}  // namespace conclust
