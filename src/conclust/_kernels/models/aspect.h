// One step of EM for the dyadic aspect model: pairs (a, b) are draws of an aspect r, then of a and of
// b, with probability P_ab = sum_r x_ar beta_rb, where x_ar = alpha_r beta_ra: P_ab = P_ba.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace conclust {

// Pairs that fall together, each once: row a has columns[starts[a] .. starts[a + 1]), all >= a.
struct AspectPairs {
    std::span<const std::int64_t> starts;
    std::span<const std::int32_t> columns;
    std::span<const double> weights;  // the same for (a, b) and (b, a)
};

// For the pairs of rows a in [begin, end) adds weight_ab beta_b / P_ab to row a of `sums`, and with
// b != a weight_ab beta_a / P_ab to row b. Returns the sum of weight_ab log P_ab, with b != a twice.
// P_ab is raised to at least the smallest normal number.
//
// Preconditions: x, beta and sums have `stride` columns, a multiple of 4 (0 where there is no aspect);
// x and beta are not negative; sums is neither of them.
double aspect_pairs(const AspectPairs& pairs, std::span<const double> x, std::span<const double> beta,
                    std::size_t stride, std::size_t begin, std::size_t end, std::span<double> sums);

}  // namespace conclust
