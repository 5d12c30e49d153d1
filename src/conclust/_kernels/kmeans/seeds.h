// k-means++: centres that are drawn from points by their squared distances to those drawn before.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace conclust {

struct SeedPoints {
    std::span<const double> columns;  // d x n: a row for each coordinate
    std::span<const double> mass;     // n
};

// Draws centres, the points chosen[0], chosen[1], ..., and returns their number: fewer than asked for where all points
// coincide with one of them. The first is drawn by the masses, with uniform[0]; each of the others is the best of
// `options` draws by mass times squared distance, with the following numbers. The best leaves the smallest sum of distances.
std::size_t seed_points(const SeedPoints& in, std::span<const double> uniform, std::size_t options,
                        std::span<std::int64_t> chosen);

}  // namespace conclust
