#include "labels/rows.h"

#include <algorithm>
#include <cstring>

#include "base/clones.h"
#include "labels/codes.h"

namespace conclust {
namespace {

std::uint64_t mix(std::uint64_t x) {
    x ^= x >> 32;
    x *= 0xd6e8feb86659fd93ull;
    x ^= x >> 32;
    x *= 0xd6e8feb86659fd93ull;
    return x ^ (x >> 32);
}

std::uint64_t hash_row(const std::uint8_t* row, std::size_t bytes) {
    std::uint64_t h = 0x9e3779b97f4a7c15ull ^ bytes;
    std::uint64_t word = 0;
    for (; bytes >= sizeof(word); row += sizeof(word), bytes -= sizeof(word)) {
        std::memcpy(&word, row, sizeof(word));
        h = mix(h ^ word);
    }
    word = 0;
    std::memcpy(&word, row, bytes);
    return mix(h ^ word);
}

// Blocks keep the 32-bit counters of a lane from overflowing and let the compiler vectorise.
constexpr std::size_t count_block = std::size_t{1} << 20;

template <class Code>
CONCLUST_INLINE void count_block_body(const Code* codes, std::size_t rows, std::size_t m,
                                      std::uint32_t* missing, std::uint32_t* noise) {
    for (std::size_t i = 0; i < rows; ++i) {
        const Code* row = codes + i * m;
        for (std::size_t u = 0; u < m; ++u) {
            missing[u] += row[u] == missing_code<Code>;
            noise[u] += row[u] == noise_code<Code>;
        }
    }
}

CONCLUST_CLONES
void count_in_block(const std::uint8_t* codes, std::size_t rows, std::size_t m, std::uint32_t* missing,
                    std::uint32_t* noise) {
    count_block_body(codes, rows, m, missing, noise);
}

void count_in_block(const std::uint16_t* codes, std::size_t rows, std::size_t m, std::uint32_t* missing,
                    std::uint32_t* noise) {
    count_block_body(codes, rows, m, missing, noise);
}

void count_in_block(const std::uint32_t* codes, std::size_t rows, std::size_t m, std::uint32_t* missing,
                    std::uint32_t* noise) {
    count_block_body(codes, rows, m, missing, noise);
}

template <class Code>
CONCLUST_INLINE Code largest_body(const Code* codes, std::size_t size) {
    Code largest = 0;
    for (std::size_t i = 0; i < size; ++i) {
        largest = std::max(largest, codes[i]);
    }
    return largest;
}

CONCLUST_CLONES
std::uint8_t largest_code(const std::uint8_t* codes, std::size_t size) {
    return largest_body(codes, size);
}

template <class Code>
Code largest_code(const Code* codes, std::size_t size) {
    return largest_body(codes, size);
}

// `counts` has one more entry than there are clusters.
template <class Code>
void count_clusters(const Code* codes, std::size_t n, std::size_t m, const std::int64_t* offsets,
                    std::int64_t* counts) {
    const auto aside = static_cast<std::size_t>(offsets[m]);
    for (std::size_t i = 0; i < n; ++i) {
        const Code* row = codes + i * m;
        for (std::size_t u = 0; u < m; ++u) {
            const std::size_t place = static_cast<std::size_t>(offsets[u]) + row[u];
            ++counts[row[u] < first_reserved_code<Code> ? place : aside];
        }
    }
}

template <class Code>
CONCLUST_INLINE void sign_rows_of(const Code* codes, std::size_t begin, std::size_t end, std::size_t m,
                                  std::uint64_t* signature) {
    for (std::size_t i = begin; i < end; ++i) {
        std::uint64_t h = (i + 1) * 0x9e3779b97f4a7c15ull;  // splitmix64 of the object
        h = (h ^ (h >> 30)) * 0xbf58476d1ce4e5b9ull;
        h = (h ^ (h >> 27)) * 0x94d049bb133111ebull;
        h ^= h >> 31;
        const Code* row = codes + i * m;
        for (std::size_t u = 0; u < m; ++u) {
            signature[u] += row[u] == missing_code<Code> ? h : 0;
        }
    }
}

CONCLUST_CLONES
void sign_rows(const std::uint8_t* codes, std::size_t begin, std::size_t end, std::size_t m,
               std::uint64_t* signature) {
    sign_rows_of(codes, begin, end, m, signature);
}

template <class Code>
void sign_rows(const Code* codes, std::size_t begin, std::size_t end, std::size_t m,
               std::uint64_t* signature) {
    sign_rows_of(codes, begin, end, m, signature);
}

bool all_differ(std::span<const std::uint64_t> signature) {
    std::vector<std::uint64_t> sorted(signature.begin(), signature.end());
    std::sort(sorted.begin(), sorted.end());
    return std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end();
}

}  // namespace

std::vector<std::int64_t> group_rows(std::span<const std::uint8_t> rows, std::size_t row_bytes,
                                     std::span<std::int64_t> inverse) {
    std::vector<std::int64_t> first;
    std::vector<std::uint64_t> hashes;  // of each group, so that rows are compared rarely
    std::size_t capacity = 1024;
    std::vector<std::int64_t> slots(capacity, -1);
    for (std::size_t i = 0; i < inverse.size(); ++i) {
        const std::uint8_t* row = rows.data() + i * row_bytes;
        const std::uint64_t h = hash_row(row, row_bytes);
        std::size_t at = h & (capacity - 1);
        while (true) {
            const std::int64_t group = slots[at];
            if (group < 0) {
                slots[at] = static_cast<std::int64_t>(first.size());
                inverse[i] = slots[at];
                first.push_back(static_cast<std::int64_t>(i));
                hashes.push_back(h);
                break;
            }
            const auto g = static_cast<std::size_t>(group);
            if (hashes[g] == h &&
                std::memcmp(rows.data() + static_cast<std::size_t>(first[g]) * row_bytes, row,
                            row_bytes) == 0) {
                inverse[i] = group;
                break;
            }
            at = (at + 1) & (capacity - 1);
        }
        if (2 * first.size() > capacity) {
            capacity *= 4;
            slots.assign(capacity, -1);
            for (std::size_t g = 0; g < first.size(); ++g) {
                std::size_t slot = hashes[g] & (capacity - 1);
                while (slots[slot] >= 0) {
                    slot = (slot + 1) & (capacity - 1);
                }
                slots[slot] = static_cast<std::int64_t>(g);
            }
        }
    }
    return first;
}

void count_reserved(const LabelView& labels, std::span<std::int64_t> missing,
                    std::span<std::int64_t> noise) {
    const std::size_t m = labels.m;
    std::vector<std::uint32_t> block_missing(m);
    std::vector<std::uint32_t> block_noise(m);
    // Most ensembles have neither, which the largest code shows at the speed of reading.
    if (with_codes(labels, [&]<class Code>(const Code* codes) {
        return largest_code(codes, labels.n * m) < first_reserved_code<Code>;
    })) {
        return;
    }
    for (std::size_t begin = 0; begin < labels.n; begin += count_block) {
        std::fill(block_missing.begin(), block_missing.end(), 0u);
        std::fill(block_noise.begin(), block_noise.end(), 0u);
        with_codes(labels, [&](const auto* codes) {
            count_in_block(codes + begin * m, std::min(count_block, labels.n - begin), m,
                           block_missing.data(), block_noise.data());
        });
        for (std::size_t u = 0; u < m; ++u) {
            missing[u] += block_missing[u];
            noise[u] += block_noise[u];
        }
    }
}

void cluster_sizes(const LabelView& labels, std::span<std::int64_t> sizes) {
    // Reserved codes are counted too, in places of their own: no branch that would be a coin toss.
    std::vector<std::int64_t> counts(labels.n_clusters() + 1);
    with_codes(labels, [&]<class Code>(const Code* codes) {
        count_clusters(codes, labels.n, labels.m, labels.offsets.data(), counts.data());
    });
    for (std::size_t t = 0; t < labels.n_clusters(); ++t) {
        sizes[t] += counts[t];
    }
}

void presence_signatures(const LabelView& labels, std::span<std::uint64_t> signature) {
    constexpr std::size_t chunk = 4096;
    std::fill(signature.begin(), signature.end(), std::uint64_t{0});
    for (std::size_t begin = 0; begin < labels.n; begin += chunk) {
        const std::size_t end = std::min(labels.n, begin + chunk);
        with_codes(labels,
                   [&](const auto* codes) { sign_rows(codes, begin, end, labels.m, signature.data()); });
        if (all_differ(signature)) {
            return;
        }
    }
}

}  // namespace conclust
