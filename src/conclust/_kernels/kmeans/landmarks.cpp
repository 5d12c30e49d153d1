#include "kmeans/landmarks.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "base/clones.h"

namespace conclust {
namespace {

constexpr std::size_t lanes = 8;

// Summed lane by lane, then the lanes in order.
CONCLUST_INLINE double squared_distance(const double* a, const double* b, std::size_t d) {
    double sums[lanes] = {};
    std::size_t j = 0;
    for (; j + lanes <= d; j += lanes) {
        for (std::size_t l = 0; l < lanes; ++l) {
            const double x = a[j + l] - b[j + l];
            sums[l] += x * x;
        }
    }
    double rest = 0.0;
    for (; j < d; ++j) {
        const double x = a[j] - b[j];
        rest += x * x;
    }
    if (d >= lanes) {
        for (std::size_t l = 0; l < lanes; ++l) {
            rest += sums[l];
        }
    }
    return rest;
}

CONCLUST_CLONES void distances_to(const double* x, const double* points, const std::int32_t* which,
                                  std::size_t count, std::size_t d, double* squares) {
    for (std::size_t i = 0; i < count; ++i) {
        squares[i] = squared_distance(x, points + static_cast<std::size_t>(which[i]) * d, d);
    }
}

}  // namespace

void nearest_landmarks(std::span<const double> x, const Landmarks& in, std::size_t k,
                       std::span<std::int32_t> found, std::span<double> squares) {
    const std::size_t d = in.d;
    const std::size_t groups = in.starts.size() - 1;
    std::vector<std::int32_t> heads(groups);
    for (std::size_t g = 0; g < groups; ++g) {
        heads[g] = static_cast<std::int32_t>(g);
    }
    std::vector<double> near(std::max({groups, in.grouped.size(), in.c}));
    const std::size_t n = found.size() / k;
    for (std::size_t i = 0; i < n; ++i) {
        const double* point = x.data() + i * d;
        distances_to(point, in.heads.data(), heads.data(), groups, d, near.data());
        const auto g = static_cast<std::size_t>(
            std::min_element(near.begin(), near.begin() + static_cast<std::ptrdiff_t>(groups)) -
            near.begin());
        const auto begin = static_cast<std::size_t>(in.starts[g]);
        const auto count = static_cast<std::size_t>(in.starts[g + 1]) - begin;
        const std::int32_t* members = in.grouped.data() + begin;
        distances_to(point, in.points.data(), members, count, d, near.data());
        const auto nearest = static_cast<std::size_t>(
            std::min_element(near.begin(), near.begin() + static_cast<std::ptrdiff_t>(count)) -
            near.begin());
        const std::int32_t* around =
            in.around.data() + static_cast<std::size_t>(members[nearest]) * in.c;
        distances_to(point, in.points.data(), around, in.c, d, near.data());
        // The k nearest so far, kept in order.
        std::int32_t* best = found.data() + i * k;
        double* square = squares.data() + i * k;
        std::fill(square, square + k, std::numeric_limits<double>::infinity());
        std::fill(best, best + k, std::numeric_limits<std::int32_t>::max());
        for (std::size_t a = 0; a < in.c; ++a) {
            const double s = near[a];
            const std::int32_t which = around[a];
            std::size_t at = k;
            while (at > 0 && (s < square[at - 1] || (s == square[at - 1] && which < best[at - 1]))) {
                --at;
            }
            if (at < k) {
                std::copy_backward(square + at, square + k - 1, square + k);
                std::copy_backward(best + at, best + k - 1, best + k);
                square[at] = s;
                best[at] = which;
            }
        }
    }
}

}  // namespace conclust
