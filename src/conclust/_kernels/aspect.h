// One step of EM for the dyadic aspect model: pairs (a, b) are draws of an aspect r, then of a and of
// b, with probability P_ab = sum_r x_ar beta_rb, where x_ar = alpha_r beta_ra.
#pragma once

#include <cstddef>

namespace conclust {

// For rows a in [begin, end) writes new_ar = x_ar sum_b pairs_ab beta_rb / P_ab, and returns
// sum_a counts_a sum_b pairs_ab log P_ab over pairs with b = a once and b > a twice: over all rows
// that is the sum over all pairs, since counts_a pairs_ab is symmetric. P_ab below the least normal
// number is taken for that.
//
// Preconditions: pairs (n, n), not negative; counts (n); x (n, k), not negative; beta (k, n), not
// negative; fresh (n, k), not x. All C-contiguous, begin <= end <= n.
double aspect_rows(const double* pairs, const double* counts, const double* x, const double* beta,
                   std::size_t n, std::size_t k, std::size_t begin, std::size_t end, double* fresh);

}  // namespace conclust
