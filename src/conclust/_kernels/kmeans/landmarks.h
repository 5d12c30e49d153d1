// The nearest of some landmarks to each point, nearly always: a search in two steps for many points.
//
// Landmarks form groups. The search finds the nearest group, in it the nearest landmark, and the
// nearest among the landmarks around that one. With p landmarks in sqrt(p) groups this takes about
// 2 sqrt(p) + c distances per point instead of p.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace conclust {

struct Landmarks {
    std::span<const double> points;  // p x d
    std::span<const double> heads;  // g x d: the centre of each group
    std::span<const std::int64_t> starts;  // g + 1, rising strictly: no group is empty
    std::span<const std::int32_t> grouped;  // p: the landmarks, group by group
    std::span<const std::int32_t> around;  // p x c: the nearest landmarks of each, itself among them
    std::size_t d = 0;
    std::size_t c = 0;
};

// Finds the k <= c nearest of the searched landmarks (n x k) for n points x (n x d), nearest first,
// ties by the lowest number, and their squared distances.
void nearest_landmarks(std::span<const double> x, const Landmarks& landmarks, std::size_t k,
                       std::span<std::int32_t> found, std::span<double> squares);

// The clusters of n points that are tied to k landmarks each (found, weights: n x k): a point stands at the
// mean of their loads (p x r), weighted by its ties and brought to unit length, and goes to the nearest of the
// centres (r x K, a column each; half: halves of their squared lengths), the first one of a tie. No bit of a
// label depends on the other points. Inner products with the centres are found once a landmark, and averaged.
void landmark_labels(std::span<const std::int32_t> found, std::span<const double> weights, std::size_t k,
                     std::span<const double> loads, std::span<const double> centers,
                     std::span<const double> half, std::span<std::int64_t> labels);

}  // namespace conclust
