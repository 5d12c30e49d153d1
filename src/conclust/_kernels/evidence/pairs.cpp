#include "evidence/pairs.h"

#include <algorithm>

#include "base/clones.h"
#include "base/interrupt.h"
#include "base/random.h"

namespace conclust {

namespace {

// Pairs between the prefetch of a row and its use.
constexpr std::size_t ahead = 20;
constexpr std::size_t cache_line = 64;

template <class Code>
CONCLUST_INLINE void prefetch_row(const Code* row, std::size_t m) {
#if defined(__GNUC__)
    const auto* bytes = reinterpret_cast<const char*>(row);
    for (std::size_t at = 0; at < m * sizeof(Code) && at < 4 * cache_line; at += cache_line) {
        __builtin_prefetch(bytes + at);
    }
    __builtin_prefetch(reinterpret_cast<const char*>(row + m) - 1);
#else
    (void)row;
    (void)m;
#endif
}

struct Counts {
    std::uint32_t c;
    std::uint32_t present;
};

// Lanes `skip` and later of L cells. The sums are 32 bits wide on purpose: gcc 12 adds up eight
// byte-wide comparisons as -1 instead of 1.
template <std::size_t L, class Code>
CONCLUST_INLINE void compare_lanes(const Code* a, const Code* b, std::size_t skip, Counts& counts) {
    std::uint32_t c = 0;
    std::uint32_t present = 0;
    for (std::size_t k = 0; k < L; ++k) {
        const bool wanted = k >= skip;
        const bool same = (a[k] == b[k]) & (a[k] < first_reserved_code<Code>);
        const bool a_is = a[k] != missing_code<Code>;
        const bool b_is = b[k] != missing_code<Code>;
        c += wanted & same;
        present += wanted & a_is & b_is;
    }
    counts.c += c;
    counts.present += present;
}

// Whole runs of L cells, then the last L cells once more, without those already counted.
template <std::size_t L, class Code>
CONCLUST_INLINE Counts compare_runs(const Code* a, const Code* b, std::size_t m) {
    Counts counts{0, 0};
    std::size_t u = 0;
    for (; u + L <= m; u += L) {
        compare_lanes<L>(a + u, b + u, 0, counts);
    }
    if (u < m) {
        compare_lanes<L>(a + m - L, b + m - L, u - (m - L), counts);
    }
    return counts;
}

template <class Code>
CONCLUST_INLINE Counts compare(const Code* a, const Code* b, std::size_t m) {
    constexpr std::size_t wide = 64 / sizeof(Code);
    if (m >= wide) {
        return compare_runs<wide>(a, b, m);
    }
    if (m >= 8) {
        return compare_runs<8>(a, b, m);
    }
    Counts counts{0, 0};
    for (std::size_t u = 0; u < m; ++u) {
        counts.c += a[u] == b[u] && a[u] < first_reserved_code<Code>;
        counts.present += a[u] != missing_code<Code> && b[u] != missing_code<Code>;
    }
    return counts;
}

// The first m of L cells: one run of fixed length is several times as fast as short runs of varying length.
// Precondition: L cells can be read from a and from b, whatever the last L - m of them are.
template <std::size_t L, class Code>
CONCLUST_INLINE Counts compare_head(const Code* a, const Code* b, std::size_t m) {
    std::uint32_t c = 0;
    std::uint32_t present = 0;
    const auto cells = static_cast<std::uint32_t>(m);
    for (std::uint32_t k = 0; k < L; ++k) {
        const bool wanted = k < cells;
        const bool same = (a[k] == b[k]) & (a[k] < first_reserved_code<Code>);
        const bool a_is = a[k] != missing_code<Code>;
        const bool b_is = b[k] != missing_code<Code>;
        c += wanted & same;
        present += wanted & a_is & b_is;
    }
    return {c, present};
}

// Eight running sums, added up pairwise at the end: the same order everywhere.
template <class Code>
CONCLUST_INLINE void compare_weighted(const Code* a, const Code* b, std::size_t m, const double* weights,
                                      double& c, double& present) {
    constexpr std::size_t L = 8;
    double c_lanes[L] = {};
    double present_lanes[L] = {};
    // Products with 0 or 1, not branches: these depend on the data and would be mispredicted.
    const auto add = [&](std::size_t u, std::size_t k) {
        const int same = (a[u] == b[u]) & (a[u] < first_reserved_code<Code>);
        const bool a_is = a[u] != missing_code<Code>;
        const bool b_is = b[u] != missing_code<Code>;
        c_lanes[k] += static_cast<double>(same) * weights[u];
        present_lanes[k] += static_cast<double>(a_is & b_is) * weights[u];
    };
    std::size_t u = 0;
    for (; u + L <= m; u += L) {
        for (std::size_t k = 0; k < L; ++k) {
            add(u + k, k);
        }
    }
    for (std::size_t k = 0; u < m; ++u, ++k) {
        add(u, k);
    }
    for (std::size_t width = L / 2; width > 0; width /= 2) {
        for (std::size_t k = 0; k < width; ++k) {
            c_lanes[k] += c_lanes[k + width];
            present_lanes[k] += present_lanes[k + width];
        }
    }
    c = c_lanes[0];
    present = present_lanes[0];
}

template <class Code, class Index>
CONCLUST_INLINE void prefetch_pair(const Code* codes, std::size_t m, std::size_t cells, const Index* i,
                                   const Index* j, std::size_t e, std::size_t count) {
    if (e + ahead < count) {
        prefetch_row(codes + static_cast<std::size_t>(i[e + ahead]) * m, cells);
        prefetch_row(codes + static_cast<std::size_t>(j[e + ahead]) * m, cells);
    }
}

// Rows of at most L cells. The last rows of the matrix have too few cells behind them to read that many.
template <std::size_t L, class Code, class Index>
CONCLUST_INLINE void count_short(const Code* codes, std::size_t n, std::size_t m, const Index* i,
                                 const Index* j, std::size_t count, std::uint32_t* c,
                                 std::uint32_t* present) {
    const std::size_t readable = n * m < L ? 0 : (n * m - L) / m + 1;
    for (std::size_t e = 0; e < count; ++e) {
        prefetch_pair(codes, m, L, i, j, e, count);
        const auto first = static_cast<std::size_t>(i[e]);
        const auto second = static_cast<std::size_t>(j[e]);
        const Code* a = codes + first * m;
        const Code* b = codes + second * m;
        const Counts counts =
            std::max(first, second) < readable ? compare_head<L>(a, b, m) : compare(a, b, m);
        c[e] = counts.c;
        present[e] = counts.present;
    }
}

template <class Code, class Index>
CONCLUST_INLINE void count_range(const Code* codes, std::size_t n, std::size_t m, const Index* i,
                                 const Index* j, std::size_t count, std::uint32_t* c,
                                 std::uint32_t* present) {
    constexpr std::size_t wide = cache_line / sizeof(Code);
    if (m <= wide / 2) {
        count_short<wide / 2>(codes, n, m, i, j, count, c, present);
        return;
    }
    if (m <= wide) {
        count_short<wide>(codes, n, m, i, j, count, c, present);
        return;
    }
    for (std::size_t e = 0; e < count; ++e) {
        prefetch_pair(codes, m, m, i, j, e, count);
        const Counts counts = compare(codes + static_cast<std::size_t>(i[e]) * m,
                                      codes + static_cast<std::size_t>(j[e]) * m, m);
        c[e] = counts.c;
        present[e] = counts.present;
    }
}

template <class Code, class Index>
CONCLUST_INLINE void weigh_range(const Code* codes, std::size_t m, const double* weights, const Index* i,
                                 const Index* j, std::size_t count, double* c, double* present) {
    for (std::size_t e = 0; e < count; ++e) {
        prefetch_pair(codes, m, m, i, j, e, count);
        compare_weighted(codes + static_cast<std::size_t>(i[e]) * m,
                         codes + static_cast<std::size_t>(j[e]) * m, m, weights, c[e], present[e]);
    }
}

// Plain functions, because templates are not cloned.
#define CONCLUST_INSTANTIATE(Code, Index)                                                            \
    CONCLUST_CLONES void count_pairs(const Code* codes, std::size_t n, std::size_t m, const double*, \
                                     const Index* i, const Index* j, std::size_t count,              \
                                     std::uint32_t* c, std::uint32_t* present) {                     \
        count_range(codes, n, m, i, j, count, c, present);                                           \
    }                                                                                                \
    CONCLUST_CLONES void count_pairs(const Code* codes, std::size_t, std::size_t m,                  \
                                     const double* weights, const Index* i, const Index* j,          \
                                     std::size_t count, double* c, double* present) {                \
        weigh_range(codes, m, weights, i, j, count, c, present);                                     \
    }

CONCLUST_INSTANTIATE(std::uint8_t, std::int32_t)
CONCLUST_INSTANTIATE(std::uint8_t, std::int64_t)
CONCLUST_INSTANTIATE(std::uint16_t, std::int32_t)
CONCLUST_INSTANTIATE(std::uint16_t, std::int64_t)
CONCLUST_INSTANTIATE(std::uint32_t, std::int32_t)
CONCLUST_INSTANTIATE(std::uint32_t, std::int64_t)
#undef CONCLUST_INSTANTIATE

// Pairs of one task: many enough that the prefetch is rarely cold.
constexpr std::size_t chunk = 8192;

// Uniform distinct partners of object i, by Floyd's algorithm: for each size the next number or, if
// the number drawn is taken, the largest one. `seen` has n places that are never i + 1; it is used
// if scanning the partners would be slower.
void draw_partners(std::size_t n, std::size_t i, std::size_t count, std::uint64_t seed,
                   std::vector<std::int32_t>& seen, std::int32_t* partners) {
    constexpr std::size_t few = 64;
    const auto mark = static_cast<std::int32_t>(i);
    for (std::size_t t = 0; t < count; ++t) {
        const std::size_t top = n - 1 - count + t;
        auto number = static_cast<std::int32_t>(random_below(top + 1, seed, i, t));
        const bool taken = count <= few ? std::find(partners, partners + t, number) != partners + t
                                        : seen[static_cast<std::size_t>(number)] == mark;
        if (taken) {
            number = static_cast<std::int32_t>(top);
        }
        partners[t] = number;
        if (count > few) {
            seen[static_cast<std::size_t>(number)] = mark;
        }
    }
    for (std::size_t t = 0; t < count; ++t) {
        partners[t] += partners[t] >= mark;  // step over the object itself
    }
    std::sort(partners, partners + count);
}

}  // namespace

template <class Index, class Sum>
void few_pair_counts(const LabelView& labels, std::span<const Index> i, std::span<const Index> j,
                     std::span<Sum> c, std::span<Sum> present) {
    with_codes(labels, [&](const auto* codes) {
        count_pairs(codes, labels.n, labels.m, labels.weights.data(), i.data(), j.data(), i.size(),
                    c.data(), present.data());
    });
}

template <class Index, class Sum>
void pair_counts(const LabelView& labels, std::span<const Index> i, std::span<const Index> j,
                 std::span<Sum> c, std::span<Sum> present, [[maybe_unused]] int threads) {
    const std::size_t count = i.size();
    const auto tasks = static_cast<std::ptrdiff_t>((count + chunk - 1) / chunk);
    Interruption interruption;
#pragma omp parallel for default(none) num_threads(threads) schedule(dynamic, 1) \
    shared(labels, i, j, count, c, present, tasks, interruption)
    for (std::ptrdiff_t task = 0; task < tasks; ++task) {
        if (interruption.wanted(task, tasks)) {
            continue;
        }
        const std::size_t begin = static_cast<std::size_t>(task) * chunk;
        const std::size_t size = std::min(begin + chunk, count) - begin;
        few_pair_counts(labels, i.subspan(begin, size), j.subspan(begin, size), c.subspan(begin, size),
                        present.subspan(begin, size));
    }
    interruption.pass_on();
}

template <class Sum>
void graph_counts(const LabelView& labels, std::span<const std::int64_t> indptr,
                  std::span<const std::int32_t> indices, std::span<Sum> c, std::span<Sum> present,
                  [[maybe_unused]] int threads) {
    const std::size_t count = indices.size();
    const auto tasks = static_cast<std::ptrdiff_t>((count + chunk - 1) / chunk);
    Interruption interruption;
#pragma omp parallel default(none) num_threads(threads) \
    shared(labels, indptr, indices, c, present, count, tasks, interruption)
    {
        std::vector<std::int32_t> rows;
        interruption.guard([&] { rows.resize(chunk); });
#pragma omp for schedule(dynamic, 1)
        for (std::ptrdiff_t task = 0; task < tasks; ++task) {
            if (interruption.wanted(task, tasks)) {
                continue;
            }
            const std::size_t begin = static_cast<std::size_t>(task) * chunk;
            const std::size_t size = std::min(begin + chunk, count) - begin;
            auto row = static_cast<std::size_t>(
                std::upper_bound(indptr.begin(), indptr.end(), static_cast<std::int64_t>(begin)) -
                indptr.begin() - 1);
            for (std::size_t e = 0; e < size; ++e) {
                while (static_cast<std::size_t>(indptr[row + 1]) <= begin + e) {
                    ++row;
                }
                rows[e] = static_cast<std::int32_t>(row);
            }
            with_codes(labels, [&](const auto* codes) {
                count_pairs(codes, labels.n, labels.m, labels.weights.data(), rows.data(),
                            indices.data() + begin, size, c.data() + begin, present.data() + begin);
            });
        }
    }
    interruption.pass_on();
}

#define CONCLUST_INSTANTIATE(Sum)                                                                  \
    template void few_pair_counts(const LabelView&, std::span<const std::int32_t>,                 \
                                  std::span<const std::int32_t>, std::span<Sum>, std::span<Sum>);  \
    template void pair_counts(const LabelView&, std::span<const std::int32_t>,                     \
                              std::span<const std::int32_t>, std::span<Sum>, std::span<Sum>, int); \
    template void pair_counts(const LabelView&, std::span<const std::int64_t>,                     \
                              std::span<const std::int64_t>, std::span<Sum>, std::span<Sum>, int); \
    template void graph_counts(const LabelView&, std::span<const std::int64_t>,                    \
                               std::span<const std::int32_t>, std::span<Sum>, std::span<Sum>, int);

CONCLUST_INSTANTIATE(std::uint32_t)
CONCLUST_INSTANTIATE(double)
#undef CONCLUST_INSTANTIATE

PairSample::PairSample(std::size_t n, std::size_t per_object, std::uint64_t seed,
                       [[maybe_unused]] int threads)
    : n_(n),
      drawn_(std::min(per_object, n - 1)),
      partners_(n * drawn_),
      admirers_at_(n + 1, 0),
      admirers_(n * drawn_),
      indptr_(n + 1, 0) {
    const auto last = static_cast<std::ptrdiff_t>(n_);
    Interruption interruption;
#pragma omp parallel default(none) num_threads(threads) shared(seed, last, interruption)
    {
        std::vector<std::int32_t> seen;
        interruption.guard([&] { seen.assign(n_, -1); });
#pragma omp for schedule(static)
        for (std::ptrdiff_t i = 0; i < last; ++i) {
            if (interruption.wanted(i, last)) {
                continue;
            }
            const auto at = static_cast<std::size_t>(i);
            draw_partners(n_, at, drawn_, seed, seen, partners_.data() + at * drawn_);
        }
    }
    interruption.pass_on();

    // Counting sort by partner. Objects come in increasing order, so the rows of drawing objects are sorted.
    for (const std::int32_t partner : partners_) {
        ++admirers_at_[static_cast<std::size_t>(partner) + 1];
    }
    for (std::size_t i = 0; i < n_; ++i) {
        admirers_at_[i + 1] += admirers_at_[i];
    }
    std::vector<std::int64_t> next(admirers_at_.begin(), admirers_at_.end() - 1);
    for (std::size_t i = 0; i < n_; ++i) {
        for (std::size_t t = 0; t < drawn_; ++t) {
            const auto partner = static_cast<std::size_t>(partners_[i * drawn_ + t]);
            admirers_[static_cast<std::size_t>(next[partner]++)] = static_cast<std::int32_t>(i);
        }
    }

#pragma omp parallel for default(none) num_threads(threads) schedule(static) shared(last)
    for (std::ptrdiff_t i = 0; i < last; ++i) {
        std::int64_t size = 0;
        merge(static_cast<std::size_t>(i), [&size](std::int32_t) { ++size; });
        indptr_[static_cast<std::size_t>(i) + 1] = size;
    }
    for (std::size_t i = 0; i < n_; ++i) {
        indptr_[i + 1] += indptr_[i];
    }
}

// The union of the two sorted lists of object i.
template <class Take>
void PairSample::merge(std::size_t i, Take take) const {
    const std::int32_t* a = partners_.data() + i * drawn_;
    const std::int32_t* a_end = a + drawn_;
    const std::int32_t* b = admirers_.data() + admirers_at_[i];
    const std::int32_t* b_end = admirers_.data() + admirers_at_[i + 1];
    while (a < a_end && b < b_end) {
        const std::int32_t least = std::min(*a, *b);
        a += *a == least;
        b += *b == least;
        take(least);
    }
    std::for_each(a, a_end, take);
    std::for_each(b, b_end, take);
}

void PairSample::read(std::span<std::int64_t> indptr, std::span<std::int32_t> indices,
                      [[maybe_unused]] int threads) const {
    std::copy(indptr_.begin(), indptr_.end(), indptr.begin());
    const auto last = static_cast<std::ptrdiff_t>(n_);
#pragma omp parallel for default(none) num_threads(threads) schedule(static) shared(indices, last)
    for (std::ptrdiff_t i = 0; i < last; ++i) {
        std::int32_t* to = indices.data() + indptr_[static_cast<std::size_t>(i)];
        merge(static_cast<std::size_t>(i), [&to](std::int32_t object) { *to++ = object; });
    }
}

}  // namespace conclust
