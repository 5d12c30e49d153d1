#include "pair_objective/landmark/counting.h"

#include <algorithm>
#include <cmath>

#include "base/clones.h"
#include "base/pack.h"

namespace conclust {
namespace {

constexpr std::size_t count_lanes = 16;
constexpr std::size_t counts_at_once = 4 * count_lanes;
constexpr double most_counted = 65535.0;

#if defined(__GNUC__)
// Sixteen counts added together: the compiler would keep sums of an array in memory.
typedef std::uint16_t Counts __attribute__((vector_size(32), aligned(2), may_alias));

CONCLUST_INLINE Counts load_counts(const std::uint16_t* p) {
    return *reinterpret_cast<const Counts*>(p);
}
CONCLUST_INLINE void store_counts(std::uint16_t* p, const Counts& x) {
    *reinterpret_cast<Counts*>(p) = x;
}
#else
struct Counts {
    std::uint16_t v[count_lanes];
    Counts& operator+=(const Counts& o) {
        for (std::size_t i = 0; i < count_lanes; ++i) {
            v[i] = static_cast<std::uint16_t>(v[i] + o.v[i]);
        }
        return *this;
    }
};

inline Counts load_counts(const std::uint16_t* p) {
    Counts x;
    std::copy_n(p, count_lanes, x.v);
    return x;
}
inline void store_counts(std::uint16_t* p, const Counts& x) { std::copy_n(x.v, count_lanes, p); }
#endif

CONCLUST_CLONES
void add_rows(const double* table, std::size_t width, const std::int32_t* rows, const double* weights,
              std::size_t count, double* out) {
    std::fill(out, out + width, 0.0);
    std::size_t e = 0;
    for (; e + 4 <= count; e += 4) {
        const double* t0 = table + static_cast<std::size_t>(rows[e]) * width;
        const double* t1 = table + static_cast<std::size_t>(rows[e + 1]) * width;
        const double* t2 = table + static_cast<std::size_t>(rows[e + 2]) * width;
        const double* t3 = table + static_cast<std::size_t>(rows[e + 3]) * width;
        if (weights == nullptr) {
            for (std::size_t g = 0; g < width; g += pack_lanes) {
                store(out + g,
                      load(out + g) + ((load(t0 + g) + load(t1 + g)) + (load(t2 + g) + load(t3 + g))));
            }
        } else {
            const Pack w0 = spread(weights[e]), w1 = spread(weights[e + 1]), w2 = spread(weights[e + 2]),
                       w3 = spread(weights[e + 3]);
            for (std::size_t g = 0; g < width; g += pack_lanes) {
                store(out + g, load(out + g) + ((w0 * load(t0 + g) + w1 * load(t1 + g)) +
                                                (w2 * load(t2 + g) + w3 * load(t3 + g))));
            }
        }
    }
    for (; e < count; ++e) {
        const double* t = table + static_cast<std::size_t>(rows[e]) * width;
        const Pack w = spread(weights == nullptr ? 1.0 : weights[e]);
        for (std::size_t g = 0; g < width; g += pack_lanes) {
            store(out + g, load(out + g) + w * load(t + g));
        }
    }
}

CONCLUST_CLONES
void add_counts(const std::uint16_t* table, std::size_t table_width, const std::int32_t* rows,
                std::size_t count, std::size_t width, double* out) {
    std::uint16_t sums[counts_at_once];
    for (std::size_t begin = 0; begin < width; begin += counts_at_once) {
        const std::uint16_t* some = table + begin;
        Counts s0{}, s1{}, s2{}, s3{};
        for (std::size_t e = 0; e < count; ++e) {
            const std::uint16_t* t = some + static_cast<std::size_t>(rows[e]) * table_width;
            s0 += load_counts(t);
            s1 += load_counts(t + count_lanes);
            s2 += load_counts(t + 2 * count_lanes);
            s3 += load_counts(t + 3 * count_lanes);
        }
        store_counts(sums, s0);
        store_counts(sums + count_lanes, s1);
        store_counts(sums + 2 * count_lanes, s2);
        store_counts(sums + 3 * count_lanes, s3);
        const std::size_t here = std::min(counts_at_once, width - begin);
        for (std::size_t g = 0; g < here; ++g) {
            out[begin + g] = sums[g];
        }
    }
}

}  // namespace

RowSums::RowSums(std::span<const double> table, std::size_t rows, std::size_t columns, std::size_t width,
                 std::size_t most)
    : width_(width) {
    const double limit = most_counted / static_cast<double>(std::max<std::size_t>(most, 1));
    const bool whole = std::all_of(table.begin(), table.end(), [limit](double x) {
        return x >= 0.0 && x <= limit && x == std::floor(x);
    });
    if (whole) {
        whole_width_ = (width + counts_at_once - 1) / counts_at_once * counts_at_once;
        whole_.assign(rows * whole_width_, 0);
    }
    numbers_.assign(rows * width, 0.0);
    for (std::size_t r = 0; r < rows; ++r) {
        const double* row = table.data() + r * columns;
        std::copy_n(row, columns, numbers_.begin() + static_cast<std::ptrdiff_t>(r * width));
        for (std::size_t g = 0; whole && g < columns; ++g) {
            whole_[r * whole_width_ + g] = static_cast<std::uint16_t>(row[g]);
        }
    }
}

void RowSums::add(const std::int32_t* rows, const double* weights, std::size_t count,
                  double* out) const {
    if (weights == nullptr && whole_width_ > 0) {
        add_counts(whole_.data(), whole_width_, rows, count, width_, out);
    } else {
        add_rows(numbers_.data(), width_, rows, weights, count, out);
    }
}

}  // namespace conclust
