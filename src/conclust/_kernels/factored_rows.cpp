#include "factored_rows.h"

#include "clones.h"
#include "codes.h"
#include "forms.h"

namespace conclust {
namespace {

#if CONCLUST_X86 && !defined(CONCLUST_NO_CLONES)

// Which labels are there is a coin toss per cell: sixteen cells are compacted at a time.
__attribute__((target("avx512f,avx512bw,avx512vl"))) void compact_avx512(const std::uint8_t* codes,
                                                                         std::size_t m, Row& row) {
    const __m128i missing = _mm_set1_epi8(static_cast<char>(missing_code<std::uint8_t>));
    const __m128i reserved = _mm_set1_epi8(static_cast<char>(first_reserved_code<std::uint8_t>));
    const __m512i steps = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    std::size_t n_columns = 0;
    std::size_t n_groups = 0;
    for (std::size_t u = 0; u < m; u += 16) {
        const std::size_t left = m - u;
        const auto inside = static_cast<__mmask16>(left >= 16 ? 0xffffu : (1u << left) - 1u);
        const __m128i cells = _mm_maskz_loadu_epi8(inside, codes + u);
        const __mmask16 labelled = _mm_mask_cmplt_epu8_mask(inside, cells, reserved);
        const __mmask16 present = _mm_mask_cmpneq_epi8_mask(inside, cells, missing);
        const __m512i column = _mm512_add_epi32(_mm512_cvtepu8_epi32(cells),
                                                _mm512_loadu_si512(row.offsets.data() + u));
        const __m512i group = _mm512_add_epi32(steps, _mm512_set1_epi32(static_cast<int>(u)));
        _mm512_storeu_si512(row.columns.data() + n_columns,
                            _mm512_maskz_compress_epi32(labelled, column));
        _mm512_storeu_si512(row.groups.data() + n_groups,
                            _mm512_maskz_compress_epi32(present, group));
        n_columns += static_cast<std::size_t>(__builtin_popcount(labelled));
        n_groups += static_cast<std::size_t>(__builtin_popcount(present));
    }
    row.n_clusters = n_columns;
    row.self = static_cast<double>(n_columns);
    row.n_groups = n_groups;
    row.present = static_cast<double>(n_groups);
}

bool can_compact() {
    static const bool can = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                            __builtin_cpu_supports("avx512vl");
    return can;
}

#endif

template <class Code>
CONCLUST_INLINE void read_presence(const FactoredInput& in, const Code* codes, Row& row) {
    if (row.unit_groups) {
        std::size_t count = 0;
        for (std::size_t u = 0; u < in.m; ++u) {  // branch-free: presence is a coin toss
            row.groups[count] = in.group_of[u];
            count += codes[u] != missing_code<Code>;
        }
        row.n_groups = count;
        row.present = static_cast<double>(count);
        return;
    }
    row.n_groups = 0;
    row.present = 0.0;
    std::fill(row.dense.begin(), row.dense.end(), 0.0);
    for (std::size_t u = 0; u < in.m; ++u) {
        const double w = in.weights ? in.weights[u] : 1.0;
        row.dense[static_cast<std::size_t>(in.group_of[u])] += codes[u] != missing_code<Code> ? w : 0.0;
    }
    for (std::size_t g = 0; g < in.n_groups; ++g) {
        if (row.dense[g] > 0.0) {
            row.groups[row.n_groups] = static_cast<std::int32_t>(g);
            row.group_weights[row.n_groups] = row.dense[g];
            row.present += row.dense[g];
            ++row.n_groups;
        }
    }
}

template <class Code>
CONCLUST_INLINE void read_hard(const FactoredInput& in, const Code* codes, Row& row) {
    if (in.complete && row.unit) {
        for (std::size_t u = 0; u < in.m; ++u) {
            row.columns[u] = static_cast<std::int32_t>(in.offsets[u]) + static_cast<std::int32_t>(codes[u]);
        }
        row.n_clusters = in.m;
        row.self = static_cast<double>(in.m);
        return;
    }
    std::size_t count = 0;
    if (row.unit) {
        for (std::size_t u = 0; u < in.m; ++u) {
            row.columns[count] = static_cast<std::int32_t>(in.offsets[u]) + static_cast<std::int32_t>(codes[u]);
            count += codes[u] < first_reserved_code<Code>;
        }
        row.n_clusters = count;
        row.self = static_cast<double>(count);
        return;
    }
    double self = 0.0;
    for (std::size_t u = 0; u < in.m; ++u) {
        const bool labelled = codes[u] < first_reserved_code<Code>;
        row.columns[count] = static_cast<std::int32_t>(in.offsets[u]) + static_cast<std::int32_t>(codes[u]);
        row.weighted[count] = in.weights[u];
        self += labelled ? in.weights[u] : 0.0;
        count += labelled;
    }
    row.n_clusters = count;
    row.self = self;
}

template <class Code>
CONCLUST_INLINE void fill_row(const FactoredInput& in, const double* column_weights, std::size_t i, Row& row) {
    const Code* codes = static_cast<const Code*>(in.codes) + i * in.m;
    row.unit = in.soft_starts == nullptr && in.weights == nullptr;
    if (in.complete && in.n_groups == 1 && row.unit) {
        row.n_groups = 1;
        row.groups[0] = 0;
        row.present = static_cast<double>(in.m);
        row.group_weights[0] = row.present;
    } else {
        read_presence(in, codes, row);
    }
    if (in.soft_starts == nullptr) {
        read_hard(in, codes, row);
        return;
    }
    const auto begin = static_cast<std::size_t>(in.soft_starts[i]);
    const auto end = static_cast<std::size_t>(in.soft_starts[i + 1]);
    row.hold(end - begin);
    row.n_clusters = end - begin;
    row.self = 0.0;
    for (std::size_t e = begin; e < end; ++e) {
        const double x = in.soft_values[e];
        const double wx = column_weights[in.soft_columns[e]] * x;
        row.columns[e - begin] = in.soft_columns[e];
        row.values[e - begin] = x;
        row.weighted[e - begin] = wx;
        row.self += wx * x;
    }
}

CONCLUST_CLONES
void fill_row8(const FactoredInput& in, const double* column_weights, std::size_t i, Row& row) {
    fill_row<std::uint8_t>(in, column_weights, i, row);
}

void fill_byte_row(const FactoredInput& in, const double* column_weights, std::size_t i, Row& row) {
#if CONCLUST_X86 && !defined(CONCLUST_NO_CLONES)
    // Every partition is a presence group of its own, group u being partition u.
    if (!in.complete && in.n_groups == in.m && !in.weights && !in.soft_starts && can_compact()) {
        row.unit = true;
        compact_avx512(static_cast<const std::uint8_t*>(in.codes) + i * in.m, in.m, row);
        return;
    }
#endif
    fill_row8(in, column_weights, i, row);
}

CONCLUST_CLONES
void fill_row16(const FactoredInput& in, const double* column_weights, std::size_t i, Row& row) {
    fill_row<std::uint16_t>(in, column_weights, i, row);
}

CONCLUST_CLONES
void fill_row32(const FactoredInput& in, const double* column_weights, std::size_t i, Row& row) {
    fill_row<std::uint32_t>(in, column_weights, i, row);
}

template <class Code>
CONCLUST_INLINE void sign_rows(const Code* codes, std::size_t begin, std::size_t end, std::size_t m,
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
void sign_rows8(const std::uint8_t* codes, std::size_t begin, std::size_t end, std::size_t m,
                std::uint64_t* signature) {
    sign_rows(codes, begin, end, m, signature);
}

bool all_differ(const std::uint64_t* signature, std::size_t m) {
    std::vector<std::uint64_t> sorted(signature, signature + m);
    std::sort(sorted.begin(), sorted.end());
    return std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end();
}

}  // namespace

void read_row(const FactoredInput& in, const double* column_weights, std::size_t i, Row& row) {
    switch (in.code_bytes) {
        case 1: return fill_byte_row(in, column_weights, i, row);
        case 2: return fill_row16(in, column_weights, i, row);
        default: return fill_row32(in, column_weights, i, row);
    }
}

void presence_signatures(const void* codes, int code_bytes, std::size_t n, std::size_t m,
                         std::uint64_t* signature) {
    constexpr std::size_t chunk = 4096;
    std::fill(signature, signature + m, std::uint64_t{0});
    for (std::size_t begin = 0; begin < n; begin += chunk) {
        const std::size_t end = std::min(n, begin + chunk);
        switch (code_bytes) {
            case 1: sign_rows8(static_cast<const std::uint8_t*>(codes), begin, end, m, signature); break;
            case 2: sign_rows(static_cast<const std::uint16_t*>(codes), begin, end, m, signature); break;
            default: sign_rows(static_cast<const std::uint32_t*>(codes), begin, end, m, signature); break;
        }
        if (all_differ(signature, m)) {
            return;
        }
    }
}

}  // namespace conclust
