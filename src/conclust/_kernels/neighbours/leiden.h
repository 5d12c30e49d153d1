// Communities of a weighted graph by the Leiden algorithm (Traag, Waltman and van Eck 2019).
//
// The objective to maximise: the sum over communities of (the weight of ties inside - rate L^2 / 2), L the sum of the
// loads of its nodes. With the degrees as loads and rate = resolution / (sum of all degrees) that is modularity,
// with the numbers of objects as loads the constant Potts model.
//
// A round moves single nodes, from a queue in random order, to the neighbouring community with the largest gain
// (the lowest number if tied) until no move gains; refines each community from single nodes by merging
// those that are well connected to it; and continues with the refined communities as nodes. At the end single nodes
// move once more, until no move gains. Every random number is a function of the seed, and every sum has one order:
// the result does not depend on the machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace conclust {

// Symmetric, in compressed sparse rows; no node is tied to itself, and weights are above 0.
struct WeightedGraph {
    std::span<const std::int64_t> starts;  // n + 1
    std::span<const std::int32_t> ends;
    std::span<const double> weights;
    std::span<const double> loads;  // n, not negative
};

// Writes the community of each node, numbered by first appearance, and returns their number. Communities
// are connected.
std::size_t find_communities(const WeightedGraph& graph, double rate, std::uint64_t seed, int rounds,
                             std::span<std::int32_t> labels);

}  // namespace conclust
