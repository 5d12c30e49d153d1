#include "kmeans/seeds.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "base/clones.h"
#include "base/interrupt.h"
#include "base/pack.h"

namespace conclust {
namespace {

// Squared distances up to this are rounding errors of 0.
constexpr double same_place = 1e-12;
constexpr std::size_t options_at_once = 4;

// For some points y: the smaller of the squared distance to y and of `nearest` for all points, and their sums by mass.
struct Options {
    const double* columns;
    const double* mass;
    const double* nearest;
    std::size_t n;
    std::size_t d;
};

template <std::size_t count>
CONCLUST_INLINE void some_options(const Options& in, const std::size_t* points, double* distances,
                                  double* sums) {
    Pack total[count];
    for (std::size_t o = 0; o < count; ++o) {
        total[o] = spread(0.0);
    }
    std::size_t i = 0;
    for (; i + pack_lanes <= in.n; i += pack_lanes) {
        Pack squares[count];
        for (std::size_t o = 0; o < count; ++o) {
            squares[o] = spread(0.0);
        }
        for (std::size_t j = 0; j < in.d; ++j) {
            const double* column = in.columns + j * in.n;
            const Pack x = load(column + i);
            for (std::size_t o = 0; o < count; ++o) {
                const Pack apart = x - spread(column[points[o]]);
                squares[o] += apart * apart;
            }
        }
        const Pack before = load(in.nearest + i);
        const Pack mass = load(in.mass + i);
        for (std::size_t o = 0; o < count; ++o) {
            const Pack least = where_less(squares[o], before, squares[o], before);
            store(distances + o * in.n + i, least);
            total[o] += least * mass;
        }
    }
    for (std::size_t o = 0; o < count; ++o) {
        double lanes[pack_lanes];
        store(lanes, total[o]);
        for (std::size_t at = i; at < in.n; ++at) {
            double square = 0.0;
            for (std::size_t j = 0; j < in.d; ++j) {
                const double* column = in.columns + j * in.n;
                const double apart = column[at] - column[points[o]];
                square += apart * apart;
            }
            const double least = std::min(square, in.nearest[at]);
            distances[o * in.n + at] = least;
            lanes[at - i] += least * in.mass[at];
        }
        sums[o] = (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]);
    }
}

CONCLUST_CLONES void find_options(const Options& in, const std::size_t* points, std::size_t count,
                                  double* distances, double* sums) {
    std::size_t o = 0;
    for (; o + options_at_once <= count; o += options_at_once) {
        some_options<options_at_once>(in, points + o, distances + o * in.n, sums + o);
    }
    switch (count - o) {
        case 3: some_options<3>(in, points + o, distances + o * in.n, sums + o); break;
        case 2: some_options<2>(in, points + o, distances + o * in.n, sums + o); break;
        case 1: some_options<1>(in, points + o, distances + o * in.n, sums + o); break;
        default: break;
    }
}

// Returns the first point at which the running sum is above a share of the whole.
std::size_t place_of(const std::vector<double>& sums, double share) {
    const auto at = std::upper_bound(sums.begin(), sums.end(), share * sums.back());
    return std::min(static_cast<std::size_t>(at - sums.begin()), sums.size() - 1);
}

}  // namespace

std::size_t seed_points(const SeedPoints& in, std::span<const double> uniform, std::size_t options,
                        std::span<std::int64_t> chosen) {
    const std::size_t n = in.mass.size();
    std::vector<double> nearest(n, std::numeric_limits<double>::infinity());
    std::vector<double> distances(options * n);
    std::vector<double> running(n);
    std::vector<double> sums(options);
    std::vector<std::size_t> points(options);
    const Options read{in.columns.data(), in.mass.data(), nearest.data(), n, in.columns.size() / n};
    double sum = 0.0;
    for (std::size_t i = 0; i < n; ++i) {
        sum += in.mass[i];
        running[i] = sum;
    }
    points[0] = place_of(running, uniform[0]);
    find_options(read, points.data(), 1, distances.data(), sums.data());
    std::copy_n(distances.begin(), n, nearest.begin());
    chosen[0] = static_cast<std::int64_t>(points[0]);
    for (std::size_t k = 1; k < chosen.size(); ++k) {
        stop_if_interrupted();
        sum = 0.0;
        for (std::size_t i = 0; i < n; ++i) {
            sum += nearest[i] > same_place ? nearest[i] * in.mass[i] : 0.0;
            running[i] = sum;
        }
        if (!(sum > 0.0)) {
            return k;
        }
        for (std::size_t o = 0; o < options; ++o) {
            points[o] = place_of(running, uniform[1 + (k - 1) * options + o]);
        }
        find_options(read, points.data(), options, distances.data(), sums.data());
        const auto best =
            static_cast<std::size_t>(std::min_element(sums.begin(), sums.end()) - sums.begin());
        std::copy_n(distances.begin() + static_cast<std::ptrdiff_t>(best * n), n, nearest.begin());
        chosen[k] = static_cast<std::int64_t>(points[best]);
    }
    return chosen.size();
}

}  // namespace conclust
