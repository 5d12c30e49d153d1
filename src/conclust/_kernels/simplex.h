// The projection of rows on the probability simplex.
#pragma once

#include <cstddef>

namespace conclust {

// Row v becomes scale_c max(v_c - theta, 0), with the theta that makes its sum 1.
//
// Preconditions: V and X (n, k), C-contiguous, k > 0; in each row of V no NaN or +inf, and a number
// above -inf; scale (k) above 0. X may be V.
void project_rows(const double* V, std::size_t n, std::size_t k, const double* scale, double* X);

}  // namespace conclust
