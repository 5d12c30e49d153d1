// The nearest centre of each point, for many sets of centres (members) in one pass over the points.
//
// Definition: a label is the centre with the smallest sum of squared differences, added up feature
// by feature in doubles (without expansion into products); ties go to the first centre. The label
// of a point therefore does not depend on other points, threads or the instruction set.
//
// Algorithm: a product in single precision, x'c - |c|^2 / 2 of points and centres moved to the mean of
// all centres, whose error has a bound. If the best two scores of a member are further apart than
// the bound, the largest is the nearest centre; otherwise the sums are added up as above. The arithmetic of the
// product may therefore differ from form to form (fused or not, wide or narrow): the labels cannot.
//
// The product runs at the rate of multiply-adds (tiles/tiles.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <variant>

#include "base/forms.h"

namespace conclust {

// The centres of all members, one member after the other. All numbers are finite.
struct CenterTable {
    std::span<const double> centers;  // of member u: K_u x f_u, row after row
    std::span<const std::int64_t>
        starts;  // N + 1: the clusters of member u are starts[u] .. starts[u + 1]
    std::span<const std::int32_t> columns;  // of member u: the f_u features that it reads
    std::span<const std::int64_t> column_starts;  // N + 1
    std::span<const std::int32_t> places;  // N: the column of the labels for each member
};

// A block of points (n x d) of single or double precision, and its labels (n x stride).
struct LabelledBlock {
    std::variant<std::span<const float>, std::span<const double>> points;
    std::variant<std::span<std::uint8_t>, std::span<std::uint16_t>, std::span<std::int32_t>> labels;
    std::size_t n = 0;
    std::size_t d = 0;  // at least 1
    std::size_t stride = 0;  // at least 1
};

// Writes the labels of all points in the columns of all members, which have at least one cluster
// each and no more than the type of the labels can represent. Returns the number of labels for
// which the sums were needed.
std::size_t label_block(const CenterTable& table, const LabelledBlock& block, int threads, Form form);

}  // namespace conclust
