// The output arrays of a linkage.
#pragma once

#include <cstdint>
#include <span>

namespace conclust {

// n - 1 entries each.
struct MergesOut {
    std::span<std::int64_t> left;
    std::span<std::int64_t> right;
    std::span<double> heights;
};

}  // namespace conclust
