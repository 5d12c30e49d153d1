// Single linkage on the ties of nearest neighbours, by mutual reachability (Campello, Moulavi and Sander 2013).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace conclust {

// The ties of a spanning forest, from the shortest to the longest.
struct Forest {
    std::vector<std::int32_t> from;
    std::vector<std::int32_t> to;
};

// The minimum spanning forest of the ties between objects (n) and their k nearest: `found` has these, `squares`
// their squared distances (n x k each). The length of a tie is the largest of its distance and the two `cores`.
// Equal lengths: the tie of the lower numbers is the shorter one.
Forest spanning_forest(std::span<const std::int32_t> found, std::span<const double> squares,
                       std::span<const double> cores, std::size_t k);

// Cuts ties from the longest on: each that leaves a mass of `least` on both of its sides, `cuts` of them at most.
// Writes the number of each object's part, by first appearance, and returns the number of parts.
std::size_t cut_forest(const Forest& forest, std::span<const double> masses, std::size_t cuts,
                       double least, std::span<std::int32_t> labels);

}  // namespace conclust
