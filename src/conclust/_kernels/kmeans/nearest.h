// One round of Lloyd over a block of rows: the nearest centre of each, and the sums of the next centres.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace conclust {

// The results of a round; labels and sums accumulate over blocks.
struct LloydRound {
    std::span<std::int64_t> labels;  // rows: before the centre of the last round, then the nearest
    std::span<double> distances;  // rows: squared, to the nearest
    std::span<double> sums;  // k x d: adds the rows of each centre, by their mass
    std::span<double> totals;  // k: adds their masses
};

// For rows x (b x d), each of some mass, finds the nearest of k centres, the first one if tied.
// Returns how many labels changed.
std::size_t lloyd_round(std::span<const double> x, std::span<const double> mass,
                        std::span<const double> centers, std::size_t d, const LloydRound& round);

}  // namespace conclust
