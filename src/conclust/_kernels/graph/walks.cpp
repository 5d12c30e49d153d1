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

    Panels(std::size_t columns, std::size_t each) : width(each), count((columns + each - 1) / each) {}

    static Panels that_fit(std::size_t n, std::size_t columns) {
        const std::size_t fits = cached / (sizeof(double) * n);
        return {columns, fits >= 32 && columns > 16  ? std::size_t{32}
                         : fits >= 16 && columns > 8 ? std::size_t{16}
                                                     : std::size_t{8}};
    }

    void multiply(const Walk& P, std::size_t begin, const double* x, double* y) const {
        const auto run = width == 32 ? rows_times_32 : width == 16 ? rows_times_16 : rows_times_8;
        run(P.starts.data(), P.columns.data(), P.chances.data(), begin, P.n(), x, y);
    }
};

// A panel and its product; padding columns stay 0.
struct Buffers {
    std::vector<double> x, y;

    void fill(std::size_t n, const Panels& panels) {
        x.assign(n * panels.width, 0.0);
        y.assign(n * panels.width, 0.0);
    }
};

// A square matrix as panels one after the other. Each has all rows of its columns, so that a block of W
// rows is contiguous: of a matrix stored by rows, every row of a block is on a page of its own.
struct Panelled {
    double* data;
    std::size_t n;
    std::size_t W;

    std::size_t width(std::size_t panel) const { return std::min(W, n - panel * W); }
    double* block(std::size_t row, std::size_t panel) const {
        return data + panel * W * n + row * width(panel);
    }
};

// to[c * to_stride + r] = from[r * from_stride + c].
CONCLUST_INLINE void transpose(const double* from, std::size_t from_stride, std::size_t rows,
                               std::size_t columns, double* to, std::size_t to_stride) {
    for (std::size_t c = 0; c < columns; ++c)
        for (std::size_t r = 0; r < rows; ++r) to[c * to_stride + r] = from[r * from_stride + c];
}

// x (n x W): the columns of a panel of M transposed.
CONCLUST_CLONES
void gather_transposed(const Panelled& M, std::size_t panel, double* x) {
    const std::size_t begin = panel * M.W;
    for (std::size_t other = 0; other * M.W < M.n; ++other) {
        transpose(M.block(begin, other), M.width(other), M.width(panel), M.width(other),
                  x + other * M.W * M.W, M.W);
    }
}

// Writes the columns y (n x W) of a panel from the diagonal on, and their mirror image.
CONCLUST_CLONES
void scatter_symmetric(const double* y, const Panelled& M, std::size_t panel) {
    const std::size_t begin = panel * M.W;
    const std::size_t some = M.width(panel);
    for (std::size_t r = 0; r < some; ++r)
        for (std::size_t c = 0; c <= r; ++c) {
            const double value = y[(begin + r) * M.W + c];
            M.block(begin + r, panel)[c] = M.block(begin + c, panel)[r] = value;
        }
    // `some` is W if there are more panels.
    std::copy(y + (begin + some) * M.W, y + M.n * M.W, M.block(begin + some, panel));
    for (std::size_t other = panel + 1; other * M.W < M.n; ++other) {
        transpose(y + other * M.W * M.W, M.W, M.width(other), some, M.block(begin, other),
                  M.width(other));
    }
}

}  // namespace

void walk_step(const Walk& P, std::span<const double> x, std::size_t width, std::span<double> y,
               [[maybe_unused]] int threads) {
    const std::size_t n = P.n();
    const auto panels = Panels::that_fit(n, width);
    const std::size_t W = panels.width;
    const auto last = static_cast<std::ptrdiff_t>(panels.count);
    Interruption interruption;
#pragma omp parallel default(none) num_threads(threads) \
    shared(P, x, y, width, n, panels, W, last, interruption)
    {
        Buffers buffers;
        interruption.guard([&] { buffers.fill(n, panels); });
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

void walk_gram(const Walk& P, std::size_t times, std::span<double> M, std::span<double> between,
               [[maybe_unused]] int threads) {
    const std::size_t n = P.n();
    const Panels panels(n, 32);  // copies and transpositions cost more than a larger cache
    const std::size_t W = panels.width;
    const Panelled sums{between.data(), n, W};
    const Panelled half{M.data(), n, W};
    const auto count = static_cast<std::ptrdiff_t>(panels.count);
    const auto all = static_cast<std::ptrdiff_t>(times) * 2 * count;
    std::ptrdiff_t before = 0;
    Interruption interruption;
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t panel = 0; panel < panels.count; ++panel) {
            std::copy_n(M.data() + i * n + panel * W, sums.width(panel), sums.block(i, panel));
        }
#pragma omp parallel default(none) num_threads(threads) \
    shared(P, times, n, panels, W, sums, half, count, all, before, interruption)
    {
        Buffers buffers;
        interruption.guard([&] { buffers.fill(n, panels); });
        for (std::size_t step = 0; step < times; ++step) {
#pragma omp single
            for (std::size_t i = 0; i < n; ++i) sums.block(i, i / W)[i % W] += 1.0;
#pragma omp for schedule(dynamic, 1)
            for (std::ptrdiff_t p = 0; p < count; ++p) {
                if (interruption.wanted(before + p, all)) {
                    continue;
                }
                const auto panel = static_cast<std::size_t>(p);
                if (sums.width(panel) == W) {
                    panels.multiply(P, 0, sums.block(0, panel), half.block(0, panel));
                    continue;
                }
                const std::size_t some = sums.width(panel);
                for (std::size_t i = 0; i < n; ++i) {
                    std::copy_n(sums.block(i, panel), some, buffers.x.data() + i * W);
                }
                panels.multiply(P, 0, buffers.x.data(), buffers.y.data());
                for (std::size_t i = 0; i < n; ++i) {
                    std::copy_n(buffers.y.data() + i * W, some, half.block(i, panel));
                }
            }
#pragma omp for schedule(dynamic, 1)
            for (std::ptrdiff_t p = 0; p < count; ++p) {
                if (interruption.wanted(before + count + p, all)) {
                    continue;
                }
                const auto panel = static_cast<std::size_t>(p);
                gather_transposed(half, panel, buffers.x.data());
                panels.multiply(P, panel * W, buffers.x.data(), buffers.y.data());
                scatter_symmetric(buffers.y.data(), sums, panel);
            }
#pragma omp single
            before += 2 * count;
        }
    }
    interruption.pass_on();
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t panel = 0; panel < panels.count; ++panel) {
            std::copy_n(sums.block(i, panel), sums.width(panel), M.data() + i * n + panel * W);
        }
}

}  // namespace conclust
