#include "evidence/pair_table.h"

#include <vector>

namespace conclust {

template <class Count>
void pair_table(std::span<const Count> counts, std::span<const Count> present, std::size_t first,
                std::size_t n, std::size_t side, std::span<std::int64_t> out) {
    std::int64_t* table = out.data();
    const std::size_t rows = counts.size() / n;
    // Adjacent pairs often have the same counts: two tables avoid waiting for the previous write.
    std::vector<std::int64_t> odd(side * side, 0);
    for (std::size_t r = 0; r < rows; ++r) {
        const Count* c = counts.data() + r * n;
        const Count* N = present.data() + r * n;
        std::size_t j = first + r + 1;
        for (; j + 1 < n; j += 2) {
            ++table[static_cast<std::size_t>(N[j]) * side + c[j]];
            ++odd[static_cast<std::size_t>(N[j + 1]) * side + c[j + 1]];
        }
        if (j < n) {
            ++table[static_cast<std::size_t>(N[j]) * side + c[j]];
        }
    }
    for (std::size_t at = 0; at < odd.size(); ++at) {
        table[at] += odd[at];
    }
}

template void pair_table(std::span<const std::uint16_t>, std::span<const std::uint16_t>, std::size_t,
                         std::size_t, std::size_t, std::span<std::int64_t>);
template void pair_table(std::span<const std::uint32_t>, std::span<const std::uint32_t>, std::size_t,
                         std::size_t, std::size_t, std::span<std::int64_t>);

}  // namespace conclust
