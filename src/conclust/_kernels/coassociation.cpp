#include "coassociation.h"

#include <algorithm>
#include <vector>

namespace conclust {

namespace {

// Rows of one task. Each row is a page or more apart from the next, so few enough of them for the
// translation buffers, many enough that the objects' bytes are read from the first cache.
constexpr std::size_t row_block = 64;
// Bytes of the objects that a task holds against all of its rows before it moves on.
constexpr std::size_t tile_bytes = 24 * 1024;

namespace portable {
#include "bitslice_form.h"
#include "coassociation_form.h"
}
#if CONCLUST_X86
CONCLUST_BEGIN_AVX2
namespace avx2 {
#include "bitslice_form.h"
#include "coassociation_form.h"
}
CONCLUST_END
CONCLUST_BEGIN_AVX512
namespace avx512 {
#include "bitslice_form.h"
#include "coassociation_form.h"
}
CONCLUST_END
#endif

template <bool Matches, bool Presence, class Count>
void rows(const BitSlices& slices, const std::vector<Segment>& parts, std::size_t begin,
          std::size_t end, std::uint32_t* b, Count* c, Count* present, Form form) {
    switch (form) {
#if CONCLUST_X86
        case Form::avx512: return avx512::rows<Matches, Presence>(slices, parts, begin, end, b, c, present);
        case Form::avx2: return avx2::rows<Matches, Presence>(slices, parts, begin, end, b, c, present);
#endif
        default: return portable::rows<Matches, Presence>(slices, parts, begin, end, b, c, present);
    }
}

void weighted_row(const BitSlices& slices, const double* tables, std::size_t i, std::uint32_t* b,
                  double* c, double* present, Form form) {
    switch (form) {
#if CONCLUST_X86
        case Form::avx512: return avx512::weighted_row(slices, tables, i, b, c, present);
        case Form::avx2: return avx2::weighted_row(slices, tables, i, b, c, present);
#endif
        default: return portable::weighted_row(slices, tables, i, b, c, present);
    }
}

}  // namespace

template <class Count>
void coassociation(const BitSlices& slices, std::size_t begin, std::size_t end, Count* c,
                   Count* present, int threads, Form form) {
    const std::size_t n = slices.n_samples();
    const std::vector<Segment> parts = segments(slices, slices.n_partitions() <= 255 ? 32 : 31);
    const auto tasks = static_cast<std::ptrdiff_t>((end - begin + row_block - 1) / row_block);
#pragma omp parallel default(none) num_threads(threads) \
    shared(slices, parts, begin, end, c, present, form, n, tasks)
    {
        std::vector<std::uint32_t> b(row_block * slices.n_slices());
#pragma omp for schedule(dynamic, 1)
        for (std::ptrdiff_t task = 0; task < tasks; ++task) {
            const std::size_t first = begin + static_cast<std::size_t>(task) * row_block;
            const std::size_t last = std::min(end, first + row_block);
            const std::size_t offset = (first - begin) * n;
            if (present && slices.complete()) {
                std::fill_n(present + offset, (last - first) * n, static_cast<Count>(slices.n_partitions()));
            }
            if (c && present && !slices.complete()) {
                rows<true, true>(slices, parts, first, last, b.data(), c + offset, present + offset, form);
            } else if (c) {
                rows<true, false>(slices, parts, first, last, b.data(), c + offset, c, form);
            } else if (present && !slices.complete()) {
                rows<false, true>(slices, parts, first, last, b.data(), present, present + offset, form);
            }
        }
    }
}

template void coassociation(const BitSlices&, std::size_t, std::size_t, std::uint8_t*, std::uint8_t*, int, Form);
template void coassociation(const BitSlices&, std::size_t, std::size_t, std::uint16_t*, std::uint16_t*, int, Form);
template void coassociation(const BitSlices&, std::size_t, std::size_t, std::uint32_t*, std::uint32_t*, int, Form);

void weighted_coassociation(const BitSlices& slices, const double* weights, std::size_t begin,
                            std::size_t end, double* c, double* present, int threads, Form form) {
    const std::size_t n = slices.n_samples();
    const std::vector<double> tables = weight_tables(slices, weights);
    const auto count = static_cast<std::ptrdiff_t>(end - begin);
#pragma omp parallel default(none) num_threads(threads) \
    shared(slices, tables, begin, c, present, form, n, count)
    {
        std::vector<std::uint32_t> b(slices.n_slices());
#pragma omp for schedule(dynamic, 16)
        for (std::ptrdiff_t row = 0; row < count; ++row) {
            const auto r = static_cast<std::size_t>(row);
            weighted_row(slices, tables.data(), begin + r, b.data(), c ? c + r * n : nullptr,
                         present ? present + r * n : nullptr, form);
        }
    }
}

}  // namespace conclust
