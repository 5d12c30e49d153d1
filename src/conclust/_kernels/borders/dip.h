// The dip: how far a sample is from the nearest distribution with one mode.
//
// Hartigan and Hartigan, The dip test of unimodality, Annals of Statistics 13 (1985): the greatest convex
// minorant of the distribution function left of the mode, the least concave majorant right of it, and an
// interval that holds the mode and shrinks until the two are nearer inside than outside.
#pragma once

#include <cstddef>
#include <span>

namespace conclust {

// Writes the dip of each row of `samples` (dips.size() x n), in [0, 1/4].
//
// A mode may have an atom, so that values which are all equal have the dip 0; n > 1 different values have
// 1/(2n) at least. Rows are sorted, finite, n > 0.
void dips_of_sorted(std::span<const double> samples, std::size_t n, std::span<double> dips, int threads);

}  // namespace conclust
