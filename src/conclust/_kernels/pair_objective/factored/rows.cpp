#include "pair_objective/factored/rows.h"

#include "base/clones.h"
#include "base/forms.h"
#include "labels/codes.h"

namespace conclust {
namespace {

#if CONCLUST_X86 && !defined(CONCLUST_NO_CLONES)

// Missing labels are unpredictable for branches, so sixteen cells are compacted at a time.
__attribute__((target("avx512f,avx512bw,avx512vl"))) void compact_avx512(const std::uint8_t* codes,
                                                                         std::size_t m, Row& row) {
    const __m128i reserved = _mm_set1_epi8(static_cast<char>(first_reserved_code<std::uint8_t>));
    std::size_t count = 0;
    for (std::size_t u = 0; u < m; u += 16) {
        const std::size_t left = m - u;
        const auto inside = static_cast<__mmask16>(left >= 16 ? 0xffffu : (1u << left) - 1u);
        const __m128i cells = _mm_maskz_loadu_epi8(inside, codes + u);
        const __mmask16 labelled = _mm_mask_cmplt_epu8_mask(inside, cells, reserved);
        const __m512i column =
            _mm512_add_epi32(_mm512_cvtepu8_epi32(cells), _mm512_loadu_si512(row.offsets.data() + u));
        _mm512_storeu_si512(row.columns.data() + count, _mm512_maskz_compress_epi32(labelled, column));
        count += static_cast<std::size_t>(__builtin_popcount(labelled));
    }
    row.n_clusters = count;
    row.self = static_cast<double>(count);
}

// Every partition is a group of its own, group u being partition u, in sets of four: sixteen sets at a time.
__attribute__((target("avx512f,avx512bw,avx512vl"))) void find_entries_avx512(const std::uint8_t* codes,
                                                                              std::size_t m,
                                                                              std::int32_t* entries) {
    const __m512i missing = _mm512_set1_epi8(static_cast<char>(missing_code<std::uint8_t>));
    const __m512i steps = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    const __m512i shifts = _mm512_setr_epi64(0, 8, 16, 24, 32, 40, 48, 56);
    for (std::size_t u = 0; u < m; u += 64) {
        const std::size_t left = std::min<std::size_t>(64, m - u);
        const __mmask64 inside = ~std::uint64_t{0} >> (64 - left);
        const auto sets = static_cast<__mmask16>(0xffffu >> (16 - (left + 3) / 4));
        const __m512i cells = _mm512_maskz_loadu_epi8(inside, codes + u);
        const __mmask64 present = _mm512_mask_cmpneq_epi8_mask(inside, cells, missing);
        // A byte of presence in each 64 bits: its low four to the lower half, its high four to the upper.
        const __m512i bytes =
            _mm512_srlv_epi64(_mm512_set1_epi64(static_cast<long long>(present)), shifts);
        const __m512i low = _mm512_and_si512(bytes, _mm512_set1_epi64(15));
        const __m512i high =
            _mm512_and_si512(_mm512_slli_epi64(bytes, 28), _mm512_set1_epi64(15LL << 32));
        const __m512i set = _mm512_add_epi32(steps, _mm512_set1_epi32(static_cast<int>(u / 4)));
        const __m512i entry = _mm512_or_si512(_mm512_slli_epi32(set, 4), _mm512_or_si512(low, high));
        _mm512_mask_storeu_epi32(entries + u / 4, sets, entry);
    }
}

bool can_compact() {
    static const bool can = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                            __builtin_cpu_supports("avx512vl");
    return can;
}

bool holds_bytes(const LabelView& labels) {
    return std::holds_alternative<std::span<const std::uint8_t>>(labels.codes);
}

#endif

template <class Code>
CONCLUST_INLINE void read_hard(const FactoredInput& in, const Code* codes, Row& row) {
    if (in.labels.complete && row.unit) {
        for (std::size_t u = 0; u < in.labels.m; ++u) {
            row.columns[u] =
                static_cast<std::int32_t>(in.labels.offsets[u]) + static_cast<std::int32_t>(codes[u]);
        }
        row.n_clusters = in.labels.m;
        row.self = static_cast<double>(in.labels.m);
        return;
    }
    std::size_t count = 0;
    if (row.unit) {
        for (std::size_t u = 0; u < in.labels.m; ++u) {
            row.columns[count] =
                static_cast<std::int32_t>(in.labels.offsets[u]) + static_cast<std::int32_t>(codes[u]);
            count += codes[u] < first_reserved_code<Code>;
        }
        row.n_clusters = count;
        row.self = static_cast<double>(count);
        return;
    }
    double self = 0.0;
    for (std::size_t u = 0; u < in.labels.m; ++u) {
        const bool labelled = codes[u] < first_reserved_code<Code>;
        row.columns[count] =
            static_cast<std::int32_t>(in.labels.offsets[u]) + static_cast<std::int32_t>(codes[u]);
        row.weighted[count] = in.labels.weights[u];
        self += labelled ? in.labels.weights[u] : 0.0;
        count += labelled;
    }
    row.n_clusters = count;
    row.self = self;
}

template <class Code>
CONCLUST_INLINE void fill_row(const Code* codes, const FactoredInput& in, const double* column_weights,
                              std::size_t i, Row& row) {
    if (!in.labels.soft) {
        read_hard(in, codes, row);
        return;
    }
    const SoftRows& soft = *in.labels.soft;
    const auto begin = static_cast<std::size_t>(soft.starts[i]);
    const auto end = static_cast<std::size_t>(soft.starts[i + 1]);
    row.hold(end - begin);
    row.n_clusters = end - begin;
    row.self = 0.0;
    for (std::size_t e = begin; e < end; ++e) {
        const double x = soft.values[e];
        const double wx = column_weights[soft.columns[e]] * x;
        row.columns[e - begin] = soft.columns[e];
        row.values[e - begin] = x;
        row.weighted[e - begin] = wx;
        row.self += wx * x;
    }
}

CONCLUST_CLONES
void read_codes(const std::uint8_t* codes, const FactoredInput& in, const double* column_weights,
                std::size_t i, Row& row) {
    fill_row(codes, in, column_weights, i, row);
}

CONCLUST_CLONES
void read_codes(const std::uint16_t* codes, const FactoredInput& in, const double* column_weights,
                std::size_t i, Row& row) {
    fill_row(codes, in, column_weights, i, row);
}

CONCLUST_CLONES
void read_codes(const std::uint32_t* codes, const FactoredInput& in, const double* column_weights,
                std::size_t i, Row& row) {
    fill_row(codes, in, column_weights, i, row);
}

template <class Code>
void find_observers(const FactoredInput& in, const Code* codes, Observers& observers) {
    std::fill(observers.dense.begin(), observers.dense.end(), 0.0);
    for (std::size_t u = 0; u < in.labels.m; ++u) {
        const double w = in.labels.weight(u);
        observers.dense[static_cast<std::size_t>(in.groups.of[u])] +=
            codes[u] != missing_code<Code> ? w : 0.0;
    }
    observers.n_groups = 0;
    observers.present = 0.0;
    for (std::size_t g = 0; g < in.groups.count; ++g) {
        if (observers.dense[g] > 0.0) {
            observers.groups[observers.n_groups] = static_cast<std::int32_t>(g);
            observers.weights[observers.n_groups] = observers.dense[g];
            observers.present += observers.dense[g];
            ++observers.n_groups;
        }
    }
}

template <class Code>
void find_entries(const PresenceTable& presence, const Code* codes, Entries& entries) {
    const std::int32_t* partition = presence.partitions.data();
    std::size_t left = presence.n_groups;
    for (std::size_t s = 0; s < entries.size(); ++s) {
        const std::size_t here = std::min(left, presence.bits);
        std::size_t entry = s << presence.bits;
        for (std::size_t bit = 0; bit < here; ++bit) {
            entry |= static_cast<std::size_t>(codes[*partition++] != missing_code<Code>) << bit;
        }
        entries[s] = static_cast<std::int32_t>(entry);
        left -= here;
    }
}

}  // namespace

void read_row(const FactoredInput& in, const double* column_weights, std::size_t i, Row& row) {
#if CONCLUST_X86 && !defined(CONCLUST_NO_CLONES)
    if (holds_bytes(in.labels) && !in.labels.complete && row.unit && can_compact()) {
        compact_avx512(in.labels.row<std::uint8_t>(i), in.labels.m, row);
        return;
    }
#endif
    with_codes(in.labels, [&](const auto* codes) {
        read_codes(codes + i * in.labels.m, in, column_weights, i, row);
    });
}

void read_observers(const FactoredInput& in, std::size_t i, Observers& observers) {
    with_codes(in.labels,
               [&](const auto* codes) { find_observers(in, codes + i * in.labels.m, observers); });
}

PresenceTable::PresenceTable(const FactoredInput& in, std::size_t most_bits)
    : n_groups(in.groups.count),
      bits(std::min(in.groups.count, most_bits)),
      partitions(in.groups.count) {
    for (std::size_t u = in.labels.m; u-- > 0;) {
        partitions[static_cast<std::size_t>(in.groups.of[u])] = static_cast<std::int32_t>(u);
    }
}

Entries all_entries(const PresenceTable& presence) {
    Entries entries(presence.n_sets());
    for (std::size_t s = 0; s < entries.size(); ++s) {
        const std::size_t here = std::min(presence.bits, presence.n_groups - s * presence.bits);
        entries[s] = static_cast<std::int32_t>((s << presence.bits) + (std::size_t{1} << here) - 1);
    }
    return entries;
}

void read_entries(const FactoredInput& in, const PresenceTable& presence, std::size_t i,
                  Entries& entries) {
    if (in.labels.complete) {
        return;
    }
#if CONCLUST_X86 && !defined(CONCLUST_NO_CLONES)
    if (holds_bytes(in.labels) && presence.bits == 4 && presence.n_groups == in.labels.m &&
        can_compact()) {
        return find_entries_avx512(in.labels.row<std::uint8_t>(i), in.labels.m, entries.data());
    }
#endif
    with_codes(in.labels,
               [&](const auto* codes) { find_entries(presence, codes + i * in.labels.m, entries); });
}

}  // namespace conclust
