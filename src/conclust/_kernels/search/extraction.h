// Extraction of the cluster with the highest semi-average.
#pragma once

#include <cstdint>
#include <span>

namespace conclust {

// AddRemAdd (Mirkin and Muchnik 1981): from {start}, add or remove the unit that raises the
// semi-average q(S) / |S| most, until none does; the best S over the starts (the first of equals).
// a (n x n) holds the similarity of an object of unit i and an object of unit j; on the diagonal, of two
// objects of the same unit. Only units with alive[i] != 0 take part, among them the starts (at least one). Writes
// members (n) as 0 or 1 and returns the semi-average.
double add_rem_add(std::span<const double> a, std::span<const double> mass,
                   std::span<const std::uint8_t> alive, std::span<const std::int64_t> starts,
                   std::span<std::uint8_t> members);

}  // namespace conclust
