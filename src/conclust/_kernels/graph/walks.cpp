#include "graph/walks.h"

#include <algorithm>
#include <vector>

#include "base/clones.h"
#include "base/interrupt.h"

namespace conclust {

namespace {

// Size in bytes of a panel that stays in the L2 cache.
constexpr std::size_t cached = std::size_t{1} << 20;
// Entries between the prefetch of a row of a panel and its use.
constexpr std::size_t ahead = 12;
constexpr std::size_t line = 8;  // doubles of a cache line

// Rows begin to end of P x, for a panel of W columns.
template <std::size_t W>
CONCLUST_INLINE void rows_times(const std::int64_t* starts, const std::int32_t* columns,
                                const double* chances, std::size_t begin, std::size_t end,
                                const double* x, double* y) {
    const auto last = static_cast<std::size_t>(starts[end]);
    for (std::size_t i = begin; i < end; ++i) {
        double sums[W] = {};
        for (auto e = static_cast<std::size_t>(starts[i]); e < static_cast<std::size_t>(starts[i + 1]);
             ++e) {
#if defined(__GNUC__)
            const double* next =
                x + static_cast<std::size_t>(columns[std::min(e + ahead, last - 1)]) * W;
            for (std::size_t l = 0; l < W; l += line) __builtin_prefetch(next + l);
#endif
            const double* row = x + static_cast<std::size_t>(columns[e]) * W;
            for (std::size_t l = 0; l < W; ++l) sums[l] += chances[e] * row[l];
        }
        std::copy(sums, sums + W, y + i * W);
    }
}

// Plain functions, because templates are not cloned.
#define CONCLUST_INSTANTIATE(W)                                                                    \
    CONCLUST_CLONES void rows_times_##W(const std::int64_t* starts, const std::int32_t* columns,   \
                                        const double* chances, std::size_t begin, std::size_t end, \
                                        const double* x, double* y) {                              \
        rows_times<W>(starts, columns, chances, begin, end, x, y);                                 \
    }

CONCLUST_INSTANTIATE(8)
CONCLUST_INSTANTIATE(16)
CONCLUST_INSTANTIATE(32)
#undef CONCLUST_INSTANTIATE

struct Panels {
    std::size_t width;  // of a panel
    std::size_t count;

    Panels(std::size_t n, std::size_t columns) {
        const std::size_t fits = cached / (sizeof(double) * n);
        width = fits >= 32 && columns > 16 ? 32 : fits >= 16 && columns > 8 ? 16 : 8;
        count = (columns + width - 1) / width;
    }

    void multiply(const Walk& P, std::size_t begin, const double* x, double* y) const {
        const auto run = width == 32 ? rows_times_32 : width == 16 ? rows_times_16 : rows_times_8;
        run(P.starts.data(), P.columns.data(), P.chances.data(), begin, P.n(), x, y);
    }
};

// A panel and its product; padding columns stay 0.
struct Buffers {
    std::vector<double> x, y;

    Buffers(std::size_t n, const Panels& panels) : x(n * panels.width, 0.0), y(n * panels.width, 0.0) {}
};

}  // namespace

void walk_step(const Walk& P, std::span<const double> x, std::size_t width, std::span<double> y,
               [[maybe_unused]] int threads) {
    const std::size_t n = P.n();
    const Panels panels(n, width);
    const std::size_t W = panels.width;
    const auto last = static_cast<std::ptrdiff_t>(panels.count);
    Interruption interruption;
#pragma omp parallel default(none) num_threads(threads) \
    shared(P, x, y, width, n, panels, W, last, interruption)
    {
        Buffers buffers(n, panels);
#pragma omp for schedule(dynamic, 1)
        for (std::ptrdiff_t panel = 0; panel < last; ++panel) {
            if (interruption.wanted(panel, last)) {
                continue;
            }
            const std::size_t begin = static_cast<std::size_t>(panel) * W;
            const std::size_t some = std::min(W, width - begin);
            for (std::size_t i = 0; i < n; ++i) {
                const auto from = x.begin() + static_cast<std::ptrdiff_t>(i * width + begin);
                std::copy(from, from + static_cast<std::ptrdiff_t>(some), buffers.x.data() + i * W);
            }
            panels.multiply(P, 0, buffers.x.data(), buffers.y.data());
            for (std::size_t i = 0; i < n; ++i) {
                const double* from = buffers.y.data() + i * W;
                std::copy(from, from + some, y.data() + i * width + begin);
            }
        }
    }
    interruption.pass_on();
}

void walk_gram_step(const Walk& P, std::span<double> M, std::span<double> between,
                    [[maybe_unused]] int threads) {
    const std::size_t n = P.n();
    for (std::size_t i = 0; i < n; ++i) M[i * n + i] += 1.0;
    walk_step(P, M, n, between, threads);
    const Panels panels(n, n);
    const std::size_t W = panels.width;
    const auto last = static_cast<std::ptrdiff_t>(panels.count);
    Interruption interruption;
#pragma omp parallel default(none) num_threads(threads) \
    shared(P, M, between, n, panels, W, last, interruption)
    {
        Buffers buffers(n, panels);
#pragma omp for schedule(dynamic, 1)
        for (std::ptrdiff_t panel = 0; panel < last; ++panel) {
            if (interruption.wanted(panel, last)) {
                continue;
            }
            // Columns of `between` transposed are its rows; of the product, those from the diagonal on.
            const std::size_t begin = static_cast<std::size_t>(panel) * W;
            const std::size_t some = std::min(W, n - begin);
            for (std::size_t l = 0; l < some; ++l) {
                const double* row = between.data() + (begin + l) * n;
                for (std::size_t k = 0; k < n; ++k) buffers.x[k * W + l] = row[k];
            }
            panels.multiply(P, begin, buffers.x.data(), buffers.y.data());
            for (std::size_t i = begin; i < n; ++i)
                for (std::size_t l = 0; l < std::min(some, i - begin + 1); ++l) {
                    M[i * n + begin + l] = M[(begin + l) * n + i] = buffers.y[i * W + l];
                }
        }
    }
    interruption.pass_on();
}

}  // namespace conclust
