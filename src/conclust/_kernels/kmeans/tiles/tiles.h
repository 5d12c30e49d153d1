// Scores of points and centres in single precision, a tile of points at a time, and a bound of their error.
//
// A score is x'c - |c|^2 / 2 of points and centres that are moved and scaled alike, such that coordinates are at
// most about 1. With u the unit of single precision and lengths X of the point, C of the longest centre, a score is
// off by at most (f + 4) u (X C + C^2 / 2): two units for the rounded inputs, one for each addition, and f u well
// below 1. Sums in doubles are off by (f + 3) 2^-53 (X + C)^2 each. What lies further apart than twice all of it
// (and a little) has the order of the sums in doubles, however these are added up.
//
// A tile of points stays in the first cache, six centres at a time in registers; the best two scores of a member
// are kept while its centres go by, and no score is stored.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/forms.h"

namespace conclust {

// Centres whose scores are in registers together.
inline constexpr std::size_t together = 6;
// Points of the largest tile of a form.
inline constexpr std::size_t most_rows = 64;

inline constexpr double single_unit = 0x1p-24;  // the relative error of one rounding
inline constexpr double double_unit = 0x1p-53;
// Above and below these the squares in doubles leave their range.
inline constexpr double largest_known = 1e150;
inline constexpr double smallest_known = 1e-140;
inline constexpr double longest_known = 1e30;  // of points, scaled
inline constexpr std::size_t most_features_known = 100'000;
// What underflow may take away, in units of the largest coordinate of a centre.
inline constexpr double underflow = 0x1p-120;
inline constexpr double bound_slack = 1.0 + 1e-6;

// A member's centres as the scores read them, and the two parts of its bound.
struct PackedMember {
    std::size_t clusters = 0;
    std::size_t features = 0;
    const std::int32_t* columns = nullptr;
    const float* centers = nullptr;  // six by six: feature by feature, the centres beside each other
    const float* minus_half = nullptr;  // -|c|^2 / 2
    float per_length = 0.0F;  // the bound: this by the length of the point,
    float extra = 0.0F;  // and this
    const double* turned = nullptr;  // features x stride: the centres as they are
    std::size_t stride = 0;
};

// Feature j of point r is at j * (rows of the form's tile) + r.
struct Tile {
    const float* values;
    const float* lengths;  // of the points
    const float* extras;  // of the bound, by the point alone
};

// Index of centre k among `clusters` packed centres of f features, feature by feature at a distance of `beside`.
struct PackedPlace {
    std::size_t first;
    std::size_t beside;
};
inline PackedPlace packed_place(std::size_t k, std::size_t clusters, std::size_t f) {
    const std::size_t group = k / together * together;
    const std::size_t left = clusters - group;
    return {group * f + (k - group), left < together ? left : together};
}

// The bound of a member with this squared length of its longest centre.
void bound_errors(PackedMember& member, double longest);

// Points of a tile.
std::size_t rows_of(Form form);

// The centre with the largest score of each member for each point of a tile (which: members x rows), and a bit
// for each point left in doubt (a word a member).
void score_tile(Form form, const Tile& tile, std::span<const PackedMember> members, std::int32_t* which,
                std::uint64_t* doubts);

}  // namespace conclust
