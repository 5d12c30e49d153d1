#include "evidence/nearest/counting.h"

#include <algorithm>
#include <span>

#include "base/clones.h"
#include "evidence/bitsliced/coassociation.h"

namespace conclust {

namespace {

// Number of bytes compared together.
constexpr std::size_t line = 64;

// Number of the `count` bytes that are at least `least`.
CONCLUST_CLONES std::size_t count_from(const std::uint8_t* bytes, std::size_t count,
                                       std::uint8_t least) {
    std::size_t found = 0;
    for (std::size_t begin = 0; begin < count; begin += 192) {
        // This number of ones fits into a byte, and the compiler adds bytes in full registers.
        const std::size_t end = std::min(count, begin + 192);
        std::uint8_t some = 0;
        for (std::size_t j = begin; j < end; ++j) {
            some = static_cast<std::uint8_t>(some + (bytes[j] >= least));
        }
        found += some;
    }
    return found;
}

// Whether one of 64 bytes is at least `least`.
CONCLUST_CLONES bool any_from(const std::uint8_t* bytes, std::uint8_t least) {
    std::uint8_t any = 0;
    for (std::size_t j = 0; j < line; ++j) {
        any = static_cast<std::uint8_t>(any | (bytes[j] >= least));
    }
    return any != 0;
}

}  // namespace

void Counting::rows(std::size_t begin, std::size_t end, std::vector<std::int32_t>& found,
                    std::int64_t* lengths) {
    const std::size_t n = slices_.n_samples();
    for (std::size_t i = begin; i < end; ++i) {
        if ((i - begin) % at_once == 0) {
            const std::size_t last = std::min(end, i + at_once);
            coassociation<std::uint8_t>(slices_, i, last, std::span(counts_.data(), (last - i) * n), {},
                                        1, form_);
        }
        std::uint8_t* counts = counts_.data() + (i - begin) % at_once * n;
        counts[i] = 0;
        const std::size_t before = found.size();
        take(counts, found);
        lengths[i - begin] = static_cast<std::int64_t>(found.size() - before);
    }
}

void Counting::take(const std::uint8_t* counts, std::vector<std::int32_t>& found) const {
    const std::size_t n = slices_.n_samples();
    // The largest number of shared clusters that k objects have or pass; 1 if fewer share any.
    std::size_t least = 1, above = slices_.n_partitions() + 1;
    while (above - least > 1) {
        const std::size_t middle = (least + above) / 2;
        (count_from(counts, n, static_cast<std::uint8_t>(middle)) >= k_ ? least : above) = middle;
    }
    const auto from = static_cast<std::uint8_t>(least);
    for (std::size_t begin = 0; begin < n; begin += line) {
        const std::size_t end = std::min(n, begin + line);
        if (end - begin == line && !any_from(counts + begin, from)) continue;
        for (std::size_t j = begin; j < end; ++j)
            if (counts[j] >= from) found.push_back(static_cast<std::int32_t>(j));
    }
}

}  // namespace conclust
