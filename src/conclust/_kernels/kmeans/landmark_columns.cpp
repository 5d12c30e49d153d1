#include "kmeans/landmark_columns.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "base/clones.h"
#include "base/pack.h"

namespace conclust {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr std::int32_t nobody = std::numeric_limits<std::int32_t>::max();
// Distances are far more accurate, unless their squares underflow.
constexpr double slack = 1e-12;
constexpr double least_gap = 1e-150;

constexpr std::size_t packs_of(std::size_t count) { return (count + pack_lanes - 1) / pack_lanes; }

// Feature j of the four points of pack b is at (b d + j) pack_lanes. The last pack is filled up with points
// that are infinitely far from all.
void add_columns(const double* points, std::span<const std::int32_t> which, std::size_t d,
                 std::vector<double>& columns) {
    for (std::size_t b = 0; b < packs_of(which.size()); ++b) {
        for (std::size_t j = 0; j < d; ++j) {
            for (std::size_t i = b * pack_lanes; i < (b + 1) * pack_lanes; ++i) {
                columns.push_back(i < which.size() ? points[static_cast<std::size_t>(which[i]) * d + j]
                                                   : infinity);
            }
        }
    }
}

// Landmarks as columns: heads, then group by group, then around each.
struct Columns {
    std::size_t d;
    std::size_t head_packs;
    std::size_t around_packs;  // of each landmark
    std::vector<double> heads;
    std::vector<double> grouped;
    std::vector<std::size_t> starts;  // g + 1, in packs
    std::vector<double> around;
    std::vector<std::int32_t> numbers;  // of those around, `nobody` where a pack is filled up
    std::vector<double> reach;  // how far the nearest of each pack around is from its landmark, at least

    Columns(const Landmarks& in)
        : d(in.d), head_packs(packs_of(in.starts.size() - 1)), around_packs(packs_of(in.c)) {
        const std::size_t groups = in.starts.size() - 1;
        std::vector<std::int32_t> all(groups);
        std::iota(all.begin(), all.end(), 0);
        add_columns(in.heads.data(), all, d, heads);
        starts.push_back(0);
        for (std::size_t g = 0; g < groups; ++g) {
            const auto begin = static_cast<std::size_t>(in.starts[g]);
            const std::size_t count = static_cast<std::size_t>(in.starts[g + 1]) - begin;
            add_columns(in.points.data(), in.grouped.subspan(begin, count), d, grouped);
            starts.push_back(starts.back() + packs_of(count));
        }
        for (std::size_t a = 0; a < in.points.size() / d; ++a) {
            add_around(in, a);
        }
    }

  private:
    void add_around(const Landmarks& in, std::size_t landmark) {
        const double* own = in.points.data() + landmark * d;
        std::vector<std::pair<double, std::int32_t>> near;
        for (const std::int32_t number : in.around.subspan(landmark * in.c, in.c)) {
            const double* other = in.points.data() + static_cast<std::size_t>(number) * d;
            double square = 0.0;
            for (std::size_t j = 0; j < d; ++j) {
                square += (own[j] - other[j]) * (own[j] - other[j]);
            }
            near.emplace_back(square, number);
        }
        std::sort(near.begin(), near.end());
        std::vector<std::int32_t> which;
        for (std::size_t i = 0; i < near.size(); ++i) {
            if (i % pack_lanes == 0) {
                // An infinite square carries no information.
                const double square = near[i].first < infinity ? near[i].first : 0.0;
                reach.push_back(std::sqrt(square) * (1.0 - slack));
            }
            which.push_back(near[i].second);
        }
        add_columns(in.points.data(), which, d, around);
        which.resize(around_packs * pack_lanes, nobody);
        numbers.insert(numbers.end(), which.begin(), which.end());
    }
};

// Squared distances to four points. A `known` number of features is known to the compiler.
template <std::size_t known>
CONCLUST_INLINE Pack squares_to(const double* x, const double* columns, std::size_t features) {
    const std::size_t d = known > 0 ? known : features;
    Pack away = spread(x[0]);
    away -= load(columns);
    Pack sums = away * away;
    for (std::size_t j = 1; j < d; ++j) {
        away = spread(x[j]);
        away -= load(columns + j * pack_lanes);
        sums += away * away;
    }
    return sums;
}

// The index of the nearest point of some packs, the first one if tied, and its squared distance.
template <std::size_t known>
CONCLUST_INLINE std::size_t nearest_of(const double* x, const double* columns, std::size_t packs,
                                       std::size_t d, double* square) {
    Pack least = spread(infinity);
    Pack pack_of = spread(0.0);
    Pack number = spread(0.0);
    for (std::size_t b = 0; b < packs; ++b) {
        const Pack squares = squares_to<known>(x, columns + b * d * pack_lanes, d);
        pack_of = where_less(squares, least, number, pack_of);
        least = where_less(squares, least, squares, least);
        number += spread(1.0);
    }
    double values[pack_lanes];
    double packs_of_values[pack_lanes];
    store(values, least);
    store(packs_of_values, pack_of);
    std::size_t best = 0;
    for (std::size_t l = 1; l < pack_lanes; ++l) {
        const bool first = values[l] == values[best] && packs_of_values[l] < packs_of_values[best];
        best = values[l] < values[best] || first ? l : best;
    }
    *square = values[best];
    return static_cast<std::size_t>(packs_of_values[best]) * pack_lanes + best;
}

// Puts a landmark among the k nearest so far, which are kept in order.
CONCLUST_INLINE void insert(double s, std::int32_t which, std::size_t k, double* square,
                            std::int32_t* best) {
    std::size_t at = k;
    while (at > 0 && (s < square[at - 1] || (s == square[at - 1] && which < best[at - 1]))) {
        if (at < k) {
            square[at] = square[at - 1];
            best[at] = best[at - 1];
        }
        --at;
    }
    if (at < k) {
        square[at] = s;
        best[at] = which;
    }
}

template <std::size_t known>
CONCLUST_INLINE void search(const double* x, std::size_t n, const Columns& in,
                            const std::int32_t* grouped, const std::int64_t* starts, std::size_t k,
                            std::int32_t* found, double* squares) {
    const std::size_t d = known > 0 ? known : in.d;
    const std::size_t step = d * pack_lanes;
    for (std::size_t i = 0; i < n; ++i) {
        const double* point = x + i * d;
        double own = 0.0;
        const std::size_t g = nearest_of<known>(point, in.heads.data(), in.head_packs, d, &own);
        const std::size_t place = nearest_of<known>(point, in.grouped.data() + in.starts[g] * step,
                                                    in.starts[g + 1] - in.starts[g], d, &own);
        const auto landmark =
            static_cast<std::size_t>(grouped[static_cast<std::size_t>(starts[g]) + place]);
        own = std::sqrt(own) * (1.0 + slack);
        double* square = squares + i * k;
        std::int32_t* best = found + i * k;
        std::fill(square, square + k, infinity);
        std::fill(best, best + k, nobody);
        for (std::size_t b = landmark * in.around_packs; b < (landmark + 1) * in.around_packs; ++b) {
            const double gap = in.reach[b] - own;
            if (gap > least_gap && gap * gap * (1.0 - slack) > square[k - 1]) {
                break;
            }
            double near[pack_lanes];
            store(near, squares_to<known>(point, in.around.data() + b * step, d));
            for (std::size_t l = 0; l < pack_lanes; ++l) {
                if (near[l] <= square[k - 1]) {
                    insert(near[l], in.numbers[b * pack_lanes + l], k, square, best);
                }
            }
        }
    }
}

CONCLUST_CLONES void search_all(const double* x, std::size_t n, const Columns& in,
                                const std::int32_t* grouped, const std::int64_t* starts, std::size_t k,
                                std::int32_t* found, double* squares) {
    if (in.d == 2) {
        search<2>(x, n, in, grouped, starts, k, found, squares);
    } else {
        search<0>(x, n, in, grouped, starts, k, found, squares);
    }
}

}  // namespace

void nearest_in_columns(std::span<const double> x, const Landmarks& landmarks, std::size_t k,
                        std::span<std::int32_t> found, std::span<double> squares) {
    const Columns columns(landmarks);
    search_all(x.data(), found.size() / k, columns, landmarks.grouped.data(), landmarks.starts.data(), k,
               found.data(), squares.data());
}

}  // namespace conclust
