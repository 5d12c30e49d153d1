// Gathers the memberships of an object's partners.
#pragma once

#include <cstddef>
#include <cstdint>

namespace conclust {

// out[c * ld + j] = Y[partners[j] * stride + c] for all c < stride; 0 for `count` <= j < ld. stride and ld
// are multiples of 4.
void gather_columns(const double* Y, std::size_t stride, const std::int32_t* partners, std::size_t count,
                    double* out, std::size_t ld);

}  // namespace conclust
