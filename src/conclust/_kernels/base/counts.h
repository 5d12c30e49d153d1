// Counts of partitions, or sums of their weights, in arrays of one of four types.
#pragma once

#include <cstddef>

namespace conclust {

struct Counts {
    const void* data = nullptr;
    int bytes = 8;  // 1, 2, 4: unsigned integers; 8: double
    std::size_t size = 0;  // number of values
};

// Converts `count` values starting at index `from`, and appends zeros up to a multiple of 8.
void to_doubles(const Counts& counts, std::size_t from, std::size_t count, double* out);

}  // namespace conclust
