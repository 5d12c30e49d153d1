// Counts the pairs of objects that c of the N partitions observing both put together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace conclust {

// Adds to table (side x side) at [N, c] the pairs of objects i = first .. first + rows with all j > i.
// counts and present are rows x n; every N is below side.
template <class Count>
void pair_table(std::span<const Count> counts, std::span<const Count> present, std::size_t first,
                std::size_t n, std::size_t side, std::span<std::int64_t> table);

}  // namespace conclust
