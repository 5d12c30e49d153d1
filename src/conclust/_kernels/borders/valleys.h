// Borders between pieces of points, each projected on the line from one centre to the other.
//
// Points and centres are given by their inner products, in a space where the pieces are round. The place of a
// point on the line of a border is 0 at the first centre and 1 at the second. The region of a border is the
// intersection of half-spaces, one for each other centre c: with u the point of the segment nearest to c, the
// plane through the middle of c and u, perpendicular to c - u, bounds it. It is convex and contains the segment.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace conclust {

struct Centres {
    std::span<const double> scores;  // n x K: inner products of points and centres
    std::span<const double> gram;  // K x K: inner products of the centres
    std::size_t count;  // K
};

// The two centres of each border: m x 2 numbers in [0, K).
using Borders = std::span<const std::int64_t>;

// Writes into each row of places (m x n) the places along a border of the points of the second part (first[i] == 0) that lie
// in its region, and their number into sizes (m): none where the two centres are one point.
void border_places(const Centres& centres, std::span<const std::uint8_t> first, Borders borders,
                   std::span<double> places, std::span<std::int64_t> sizes);

// Writes three counts per border (m x 3): of points of the second part in the windows of the first
// peak, the valley and the second peak.
//
// Windows are .3 wide, their centres on a grid of .1 from -.3 to 1.3, and chosen by points of the first part
// (first[i] != 0). The valley is the window with the fewest of them among those centred at .3 to
// .7; ties go to the window nearest to the middle, then to the lower one. A peak is the window with
// the most points at least .3 away from the valley on its side; ties go to the window nearest to
// the valley.
void count_valleys(const Centres& centres, std::span<const std::uint8_t> first, Borders borders,
                   std::span<std::int64_t> counts, int threads);

}  // namespace conclust
