#include "evidence/bitsliced/coassociation.h"

#include <algorithm>
#include <vector>

#include "base/interrupt.h"
#include "base/prefetch.h"

namespace conclust {

namespace {

// Rows of one task. Each row is a page or more apart from the next, so few enough of them for the
// translation buffers, many enough that the objects' bytes are read from the first cache.
constexpr std::size_t row_block = 64;
// Bytes of the objects that a task holds against all of its rows before it moves on.
constexpr std::size_t tile_bytes = 24 * 1024;

// The output: two arrays (or null). Their column 0 is object `first`, their last column object `last` - 1.
template <class Count>
struct Target {
    Count* c;
    Count* present;
    std::size_t stride;
    std::size_t first;
    std::size_t last;
};

// Objects along a side of the squares by which a whole matrix is filled: three registers of 64 bytes
// twice, so that the widest tiles fit without remainder.
constexpr std::size_t band = 384;

#if CONCLUST_X86
// Sixteen rows of sixteen bytes become columns: four rounds of interleaving row r with row r + 8.
inline void transpose16(const std::uint8_t* from, std::size_t from_stride, std::uint8_t* to,
                        std::size_t to_stride) {
    __m128i rows[16];
    for (std::size_t r = 0; r < 16; ++r) {
        rows[r] = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + r * from_stride));
    }
    for (int round = 0; round < 4; ++round) {
        __m128i mixed[16];
        for (std::size_t r = 0; r < 8; ++r) {
            mixed[2 * r] = _mm_unpacklo_epi8(rows[r], rows[r + 8]);
            mixed[2 * r + 1] = _mm_unpackhi_epi8(rows[r], rows[r + 8]);
        }
        std::copy_n(mixed, 16, rows);
    }
    for (std::size_t r = 0; r < 16; ++r) {
        _mm_storeu_si128(reinterpret_cast<__m128i*>(to + r * to_stride), rows[r]);
    }
}
#else
inline void transpose16(const std::uint8_t* from, std::size_t from_stride, std::uint8_t* to,
                        std::size_t to_stride) {
    for (std::size_t r = 0; r < 16; ++r) {
        for (std::size_t k = 0; k < 16; ++k) {
            to[k * to_stride + r] = from[r * from_stride + k];
        }
    }
}
#endif

// The square of rows [begin, end) and columns [from, to), which lies in scratch with `band` columns,
// to its place in the (n, n) output and, if it is not on the diagonal, to the mirrored place.
void mirror(const std::uint8_t* square, std::uint8_t* out, std::size_t n, std::size_t begin,
            std::size_t end, std::size_t from, std::size_t to) {
    const std::size_t height = end - begin;
    const std::size_t width = to - from;
    for (std::size_t r = 0; r < height; ++r) {
        std::copy_n(square + r * band, width, out + (begin + r) * n + from);
    }
    if (from == begin) {
        return;
    }
    std::uint8_t* below = out + from * n + begin;
    for (std::size_t k = 0; k < width; k += 16) {
        // The hardware prefetcher cannot predict the next sixteen rows.
        for (std::size_t kk = k + 16; kk < std::min(width, k + 32); ++kk) {
            for (std::size_t r = 0; r < height; r += 64) {
                prefetch_for_writing(below + kk * n + r);
            }
        }
        for (std::size_t r = 0; r < height; r += 16) {
            if (k + 16 <= width && r + 16 <= height) {
                transpose16(square + r * band + k, band, below + k * n + r, n);
                continue;
            }
            for (std::size_t kk = k; kk < std::min(width, k + 16); ++kk) {
                for (std::size_t rr = r; rr < std::min(height, r + 16); ++rr) {
                    below[kk * n + rr] = square[rr * band + kk];
                }
            }
        }
    }
}

namespace portable {
#include "evidence/bitsliced/coassociation_form.h"
}
#if CONCLUST_X86
CONCLUST_BEGIN_AVX2
namespace avx2 {
#include "evidence/bitsliced/coassociation_form.h"
}
CONCLUST_END
CONCLUST_BEGIN_AVX512
namespace avx512 {
#include "evidence/bitsliced/coassociation_form.h"
}
CONCLUST_END
#endif

// Calls a function of the form's namespace.
#if CONCLUST_X86
#define CONCLUST_CALL(form, ...)                           \
    switch (form) {                                        \
        case Form::avx512: avx512::__VA_ARGS__; break;     \
        case Form::avx2: avx2::__VA_ARGS__; break;         \
        case Form::portable: portable::__VA_ARGS__; break; \
    }
#else
#define CONCLUST_CALL(form, ...) \
    (void)form;                  \
    portable::__VA_ARGS__;
#endif

template <bool Matches, bool Presence, class Count>
void by_rows(const BitSlices& slices, std::size_t begin, std::size_t end, Count* c, Count* present,
             [[maybe_unused]] int threads, Form form) {
    const std::size_t n = slices.n_samples();
    const std::vector<Segment> parts = segments(slices, slices.n_partitions() <= 255 ? 32 : 31);
    const auto tasks = static_cast<std::ptrdiff_t>((end - begin + row_block - 1) / row_block);
    Interruption interruption;
#pragma omp parallel default(none) num_threads(threads) \
    shared(slices, parts, begin, end, c, present, form, n, tasks, interruption)
    {
        std::vector<std::uint32_t> b;
        interruption.guard([&] { b.resize(row_block * slices.n_slices()); });
#pragma omp for schedule(dynamic, 1)
        for (std::ptrdiff_t task = 0; task < tasks; ++task) {
            if (interruption.wanted(task, tasks)) {
                continue;
            }
            const std::size_t first = begin + static_cast<std::size_t>(task) * row_block;
            const std::size_t last = std::min(end, first + row_block);
            const std::size_t offset = (first - begin) * n;
            const Target<Count> to{c ? c + offset : nullptr, present ? present + offset : nullptr, n, 0,
                                   n};
            CONCLUST_CALL(form, rows<Matches, Presence>(slices, parts, first, last, b.data(), to))
        }
    }
    interruption.pass_on();
}

// The whole matrix: the squares right of the diagonal are counted, the others mirrored.
template <bool Matches, bool Presence>
void by_squares(const BitSlices& slices, std::uint8_t* c, std::uint8_t* present,
                [[maybe_unused]] int threads, Form form) {
    const std::size_t n = slices.n_samples();
    const std::vector<Segment> parts = segments(slices, 32);
    const auto tasks = static_cast<std::ptrdiff_t>((n + band - 1) / band);
    Interruption interruption;
#pragma omp parallel default(none) num_threads(threads) \
    shared(slices, parts, c, present, form, n, tasks, interruption)
    {
        std::vector<std::uint32_t> b;
        std::vector<std::uint8_t> scratch;
        interruption.guard([&] {
            b.resize(band * slices.n_slices());
            scratch.resize(2 * band * band);
        });
        const Target<std::uint8_t> square{scratch.data(), scratch.data() + band * band, band, 0, 0};
        // The first rows are the longest.
#pragma omp for schedule(dynamic, 1)
        for (std::ptrdiff_t task = 0; task < tasks; ++task) {
            if (interruption.wanted(done_of_shrinking(task, tasks))) {
                continue;
            }
            const std::size_t first = static_cast<std::size_t>(task) * band;
            const std::size_t last = std::min(n, first + band);
            CONCLUST_CALL(form, symmetric_rows<Matches, Presence>(slices, parts, first, last, b.data(),
                                                                  square, c, present))
        }
    }
    interruption.pass_on();
}

template <bool Matches, bool Presence, class Count>
void fill(const BitSlices& slices, std::size_t begin, std::size_t end, Count* c, Count* present,
          [[maybe_unused]] int threads, Form form) {
    if constexpr (sizeof(Count) == 1) {
        if (begin == 0 && end == slices.n_samples()) {
            by_squares<Matches, Presence>(slices, c, present, threads, form);
            return;
        }
    }
    by_rows<Matches, Presence>(slices, begin, end, c, present, threads, form);
}

}  // namespace

template <class Count>
void coassociation(const BitSlices& slices, std::size_t begin, std::size_t end, std::span<Count> c,
                   std::span<Count> present, [[maybe_unused]] int threads, Form form) {
    if (!present.empty() && slices.complete()) {
        const auto total = static_cast<std::ptrdiff_t>(end - begin);
        const std::size_t n = slices.n_samples();
        const auto m = static_cast<Count>(slices.n_partitions());
#pragma omp parallel for default(none) num_threads(threads) schedule(static) shared(present, total, n, m)
        for (std::ptrdiff_t row = 0; row < total; ++row) {
            std::fill_n(present.data() + static_cast<std::size_t>(row) * n, n, m);
        }
        present = {};
    }
    if (!c.empty() && !present.empty()) {
        fill<true, true>(slices, begin, end, c.data(), present.data(), threads, form);
    } else if (!c.empty()) {
        fill<true, false>(slices, begin, end, c.data(), present.data(), threads, form);
    } else if (!present.empty()) {
        fill<false, true>(slices, begin, end, c.data(), present.data(), threads, form);
    }
}

#define CONCLUST_INSTANTIATE(Count)                                                           \
    template void coassociation(const BitSlices&, std::size_t, std::size_t, std::span<Count>, \
                                std::span<Count>, int, Form);

CONCLUST_INSTANTIATE(std::uint8_t)
CONCLUST_INSTANTIATE(std::uint16_t)
CONCLUST_INSTANTIATE(std::uint32_t)
#undef CONCLUST_INSTANTIATE

void weighted_coassociation(const BitSlices& slices, std::span<const double> weights, std::size_t begin,
                            std::size_t end, std::span<double> c, std::span<double> present,
                            [[maybe_unused]] int threads, Form form) {
    const std::size_t n = slices.n_samples();
    const std::vector<double> tables = weight_tables(slices, weights, form);
    const auto count = static_cast<std::ptrdiff_t>(end - begin);
    Interruption interruption;
#pragma omp parallel default(none) num_threads(threads) \
    shared(slices, tables, begin, c, present, form, n, count, interruption)
    {
        std::vector<std::uint32_t> b;
        interruption.guard([&] { b.resize(slices.n_slices()); });
#pragma omp for schedule(dynamic, 16)
        for (std::ptrdiff_t row = 0; row < count; ++row) {
            if (interruption.wanted(row, count)) {
                continue;
            }
            const auto r = static_cast<std::size_t>(row);
            double* c_row = c.empty() ? nullptr : c.data() + r * n;
            double* present_row = present.empty() ? nullptr : present.data() + r * n;
            CONCLUST_CALL(form,
                          weighted_row(slices, tables.data(), begin + r, b.data(), c_row, present_row))
        }
    }
    interruption.pass_on();
}

}  // namespace conclust
