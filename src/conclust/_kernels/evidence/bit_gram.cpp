#include "evidence/bit_gram.h"

#include <algorithm>
#include <bit>
#include <vector>

#include "base/clones.h"
#include "base/interrupt.h"

namespace conclust {
namespace {

// Number of words of 64 objects counted together: the bits of some hundred clusters stay in the L2 cache.
constexpr std::size_t panel = 64;
// Counting a label takes about this many times as long as counting a word.
constexpr std::size_t words_a_place = 3;
// Maximum number of clusters for which every thread has its own table.
constexpr std::size_t most_clusters = 1024;

// bits[t * panel + w]: which of the objects [64 w, 64 w + 64) of the panel are in cluster t.
template <class Code>
CONCLUST_INLINE void set_bits(const Code* codes, const LabelView& labels, std::size_t begin,
                              std::size_t end, std::uint64_t* bits) {
    const std::int64_t* offsets = labels.offsets.data();
    for (std::size_t i = begin; i < end; ++i) {
        const Code* row = codes + i * labels.m;
        std::uint64_t* word = bits + (i - begin) / 64;
        const std::uint64_t bit = std::uint64_t{1} << ((i - begin) % 64);
        for (std::size_t u = 0; u < labels.m; ++u) {
            if (row[u] < first_reserved_code<Code>) {
                word[(static_cast<std::size_t>(offsets[u]) + row[u]) * panel] |= bit;
            }
        }
    }
}

// Adds the number of objects that a cluster shares with each of some consecutive clusters.
template <int Clusters>
CONCLUST_INLINE void add_common(const std::uint64_t* own, const std::uint64_t* others,
                                std::uint32_t* counts) {
    std::uint64_t found[Clusters] = {};
    for (std::size_t w = 0; w < panel; ++w) {
        for (std::size_t c = 0; c < Clusters; ++c) {
            found[c] += static_cast<std::uint64_t>(std::popcount(own[w] & others[c * panel + w]));
        }
    }
    for (std::size_t c = 0; c < Clusters; ++c) {
        counts[c] += static_cast<std::uint32_t>(found[c]);
    }
}

// Adds the overlaps of clusters to a table of T rows: of each with itself and with clusters of later partitions.
CONCLUST_CLONES void count_bits(const std::uint64_t* bits, const std::int64_t* offsets, std::size_t m,
                                std::uint32_t* table) {
    const auto total = static_cast<std::size_t>(offsets[m]);
    for (std::size_t u = 0; u < m; ++u) {
        const auto next = static_cast<std::size_t>(offsets[u + 1]);
        for (auto k = static_cast<std::size_t>(offsets[u]); k < next; ++k) {
            const std::uint64_t* own = bits + k * panel;
            std::uint32_t* counts = table + k * total;
            add_common<1>(own, own, counts + k);
            std::size_t l = next;
            for (; l + 4 <= total; l += 4) {
                add_common<4>(own, bits + l * panel, counts + l);
            }
            for (; l < total; ++l) {
                add_common<1>(own, bits + l * panel, counts + l);
            }
        }
    }
}

}  // namespace

bool bits_count_faster(const LabelView& labels) {
    const std::size_t total = labels.n_clusters();
    return total <= most_clusters && total * total <= 64 * words_a_place * labels.m * labels.m;
}

void bit_gram(const LabelView& labels, std::span<std::int64_t> gram, int threads) {
    const std::size_t total = labels.n_clusters();
    const std::size_t objects = 64 * panel;
    const auto panels = static_cast<std::ptrdiff_t>((labels.n + objects - 1) / objects);
    const auto team = std::max<std::ptrdiff_t>(1, std::min<std::ptrdiff_t>(threads, panels));
    std::vector<std::vector<std::uint32_t>> tables(static_cast<std::size_t>(team));
    Interruption interruption;
#pragma omp parallel for num_threads(static_cast<int>(team)) schedule(static, 1) default(none) \
    shared(labels, total, objects, panels, team, tables, interruption)
    for (std::ptrdiff_t thread = 0; thread < team; ++thread) {
        interruption.guard([&] {
            std::vector<std::uint32_t>& table = tables[static_cast<std::size_t>(thread)];
            table.assign(total * total, 0);
            std::vector<std::uint64_t> bits(total * panel);
            for (std::ptrdiff_t p = thread; p < panels && !interruption.wanted(p, panels); p += team) {
                const std::size_t begin = static_cast<std::size_t>(p) * objects;
                std::fill(bits.begin(), bits.end(), 0);
                with_codes(labels, [&](const auto* codes) {
                    set_bits(codes, labels, begin, std::min(labels.n, begin + objects), bits.data());
                });
                count_bits(bits.data(), labels.offsets.data(), labels.m, table.data());
            }
        });
    }
    interruption.pass_on();
    std::fill(gram.begin(), gram.end(), 0);
    for (const std::vector<std::uint32_t>& table : tables) {
        for (std::size_t place = 0; place < table.size(); ++place) {
            gram[place] += table[place];
        }
    }
}

}  // namespace conclust
