#include "evidence/bitsliced/clusterwise.h"

#include <algorithm>
#include <vector>

#include "base/clones.h"
#include "base/interrupt.h"
#include "base/pack.h"
#include "base/prefetch.h"

namespace conclust {

namespace {

// Rows of one task. The task fills the mirrored columns too: below the diagonal its entries of one row are
// contiguous, and rows are a page or more apart. A whole block of them fills whole cache lines.
constexpr std::size_t band = BitSlices::block_size;
// Blocks of objects that a task compares with its rows before mirroring them: few enough to be
// still in the L2 cache.
constexpr std::size_t tile = 16;

struct Pairs {
    const BitSlices& slices;
    const std::vector<double>& weights;  // tables, none where `out` holds the denominators
    double whole;                       // the sum of all weights
    const std::int64_t* sizes;
    double* out;
    std::size_t n;
};

// Rows [begin, end), columns [from, to) to the mirrored place.
CONCLUST_CLONES void mirror(double* out, std::size_t n, std::size_t begin, std::size_t end,
                            std::size_t from, std::size_t to) {
    const std::size_t whole_rows = begin + (end - begin) / pack_lanes * pack_lanes;
    const std::size_t whole_columns = from + (to - from) / pack_lanes * pack_lanes;
    for (std::size_t j = from; j < whole_columns; j += pack_lanes) {
        for (std::size_t next = j + pack_lanes; next < std::min(to, j + 2 * pack_lanes); ++next) {
            // The hardware prefetcher cannot predict the next rows.
            for (std::size_t i = begin; i < end; i += 8) {
                prefetch_for_writing(out + next * n + i);
            }
        }
        for (std::size_t i = begin; i < whole_rows; i += pack_lanes) {
            Pack a = load(out + i * n + j);
            Pack b = load(out + (i + 1) * n + j);
            Pack c = load(out + (i + 2) * n + j);
            Pack d = load(out + (i + 3) * n + j);
            transpose(a, b, c, d);
            store(out + j * n + i, a);
            store(out + (j + 1) * n + i, b);
            store(out + (j + 2) * n + i, c);
            store(out + (j + 3) * n + i, d);
        }
    }
    for (std::size_t j = from; j < to; ++j) {
        for (std::size_t i = j < whole_columns ? whole_rows : begin; i < end; ++i) {
            out[j * n + i] = out[i * n + j];
        }
    }
}

namespace portable {
#include "evidence/bitsliced/clusterwise_form.h"
}
#if CONCLUST_X86
CONCLUST_BEGIN_AVX2
namespace avx2 {
#include "evidence/bitsliced/clusterwise_form.h"
}
CONCLUST_END
CONCLUST_BEGIN_AVX512
namespace avx512 {
#include "evidence/bitsliced/clusterwise_form.h"
}
CONCLUST_END
#endif

std::int64_t row_of(const Pairs& pairs, std::size_t i, std::size_t from, std::size_t to,
                    const double* tables, const std::uint32_t* b, Form form) {
    switch (form) {
#if CONCLUST_X86
        case Form::avx512: return avx512::dissimilar_row(pairs, i, from, to, tables, b);
        case Form::avx2: return avx2::dissimilar_row(pairs, i, from, to, tables, b);
#endif
        default: return portable::dissimilar_row(pairs, i, from, to, tables, b);
    }
}

}  // namespace

std::int64_t clusterwise_dissimilarities(const BitSlices& slices, std::span<const double> own,
                                         std::span<const double> weights,
                                         std::span<const std::int64_t> sizes, std::span<double> out,
                                         [[maybe_unused]] int threads, Form form) {
    const std::size_t n = slices.n_samples();
    const std::size_t m = slices.n_partitions();
    const std::size_t groups = slices.groups().size();
    const std::vector<double> tables_of_weights =
        weights.empty() ? std::vector<double>{} : weight_tables(slices, weights, form);
    double whole = 0.0;
    for (const double weight : weights) {
        whole += weight;
    }
    const Pairs pairs{slices, tables_of_weights, whole, sizes.data(), out.data(), n};
    const auto tasks = static_cast<std::ptrdiff_t>((n + band - 1) / band);
    std::int64_t unobserved = 0;
    Interruption interruption;
#pragma omp parallel default(none) num_threads(threads) \
    shared(pairs, slices, own, out, form, n, m, groups, tasks, interruption) reduction(+ : unobserved)
    {
        std::vector<double> tables;
        std::vector<std::uint32_t> b;
        interruption.guard([&] {
            tables.resize(table_size(form) * groups);
            b.resize(slices.n_slices());
        });
        // The first rows are the longest.
#pragma omp for schedule(dynamic, 1)
        for (std::ptrdiff_t task = 0; task < tasks; ++task) {
            if (interruption.wanted(done_of_shrinking(task, tasks))) {
                continue;
            }
            const std::size_t begin = static_cast<std::size_t>(task) * band;
            const std::size_t end = std::min(n, begin + band);
            for (std::size_t i = begin; i < end; ++i) {
                out[i * n + i] = 0.0;
            }
            for (std::size_t from = begin / BitSlices::block_size; from < slices.n_blocks();
                 from += tile) {
                const std::size_t to = std::min(slices.n_blocks(), from + tile);
                for (std::size_t i = begin; i < end; ++i) {
                    weight_tables(slices, own.subspan(i * m, m), form, tables.data());
                    spread_object(slices, i, b.data(), 1);
                    unobserved += row_of(pairs, i, from, to, tables.data(), b.data(), form);
                }
                const std::size_t last = std::min(n, to * BitSlices::block_size);
                mirror(out.data(), n, begin, end, std::max(end, from * BitSlices::block_size), last);
            }
            for (std::size_t i = begin; i < end; ++i) {
                mirror(out.data(), n, begin, i, i, i + 1);
            }
        }
    }
    interruption.pass_on();
    return unobserved;
}

}  // namespace conclust
