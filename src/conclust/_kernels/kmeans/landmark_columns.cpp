#include "kmeans/landmark_columns.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "base/clones.h"
#include "base/wide.h"

namespace conclust {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr std::int32_t no_landmark = std::numeric_limits<std::int32_t>::max();
// Distances are far more accurate, unless their squares underflow.
constexpr double slack = 1e-12;
constexpr double least_gap = 1e-150;

constexpr std::size_t packs_of(std::size_t count) { return (count + wide - 1) / wide; }

// Feature j of the eight points of pack b is at (b d + j) wide. The last pack is filled up with points
// that are infinitely far from all.
void add_columns(const double* points, std::span<const std::int32_t> which, std::size_t d,
                 std::vector<double>& columns) {
    for (std::size_t b = 0; b < packs_of(which.size()); ++b) {
        for (std::size_t j = 0; j < d; ++j) {
            for (std::size_t i = b * wide; i < (b + 1) * wide; ++i) {
                columns.push_back(i < which.size() ? points[static_cast<std::size_t>(which[i]) * d + j]
                                                   : infinity);
            }
        }
    }
}

// Points as columns, set by set.
struct Sets {
    std::vector<double> columns;
    std::vector<std::size_t> starts = {0};  // in packs

    void add(const double* points, std::span<const std::int32_t> which, std::size_t d) {
        add_columns(points, which, d, columns);
        starts.push_back(starts.back() + packs_of(which.size()));
    }
};

// The landmarks around one, as columns, the nearest to it first.
struct Around {
    std::vector<double> columns;
    std::vector<std::int32_t> numbers;  // `no_landmark` in the padding of the last pack
    std::vector<double> reach;  // how far the nearest of each pack is from the landmark, at least

    void set(const Landmarks& in, std::size_t landmark) {
        columns.clear();
        numbers.clear();
        reach.clear();
        const double* own = in.points.data() + landmark * in.d;
        near_.clear();
        for (const std::int32_t number : in.around.subspan(landmark * in.c, in.c)) {
            const double* other = in.points.data() + static_cast<std::size_t>(number) * in.d;
            double square = 0.0;
            for (std::size_t j = 0; j < in.d; ++j) {
                square += (own[j] - other[j]) * (own[j] - other[j]);
            }
            near_.emplace_back(square, number);
        }
        std::sort(near_.begin(), near_.end());
        for (std::size_t i = 0; i < near_.size(); ++i) {
            if (i % wide == 0) {
                // An infinite square carries no information.
                const double square = near_[i].first < infinity ? near_[i].first : 0.0;
                reach.push_back(std::sqrt(square) * (1.0 - slack));
            }
            numbers.push_back(near_[i].second);
        }
        add_columns(in.points.data(), numbers, in.d, columns);
        numbers.resize(reach.size() * wide, no_landmark);
    }

  private:
    std::vector<std::pair<double, std::int32_t>> near_;
};

// The points in order of a number that each has, and where those of each number begin.
struct Order {
    std::vector<std::uint32_t> points;
    std::vector<std::size_t> starts;

    Order(const std::vector<std::uint32_t>& numbers, std::size_t count)
        : points(numbers.size()), starts(count + 1, 0) {
        for (const std::uint32_t number : numbers) {
            ++starts[number + 1];
        }
        std::partial_sum(starts.begin(), starts.end(), starts.begin());
        std::vector<std::size_t> next(starts.begin(), starts.end() - 1);
        for (std::size_t i = 0; i < numbers.size(); ++i) {
            points[next[numbers[i]]++] = static_cast<std::uint32_t>(i);
        }
    }
};

// Adds the squares of x - column, element by element.
CONCLUST_INLINE void add_squares(double x, const double* column, Wide& sums) {
    Wide away;
    Wide other;
    spread(x, away);
    load(column, other);
    away -= other;
    away *= away;
    sums += away;
}

// Squared distances to eight points, summed in the order of `squared_distance` (landmarks.cpp). A `known` number
// of features is known to the compiler.
template <std::size_t known>
CONCLUST_INLINE void squares_to(const double* x, const double* columns, std::size_t features,
                                Wide& sums) {
    const std::size_t d = known > 0 ? known : features;
    const std::size_t whole = d / summed_lanes * summed_lanes;
    spread(0.0, sums);
    if (whole > 0) {
        for (std::size_t l = 0; l < summed_lanes; ++l) {
            Wide lane;
            spread(0.0, lane);
            for (std::size_t j = l; j < whole; j += summed_lanes) {
                add_squares(x[j], columns + j * wide, lane);
            }
            sums += lane;
        }
    }
    for (std::size_t j = whole; j < d; ++j) {
        add_squares(x[j], columns + j * wide, sums);
    }
}

// The index of the nearest point of some packs, the first one if tied, and its squared distance.
template <std::size_t known>
CONCLUST_INLINE std::size_t nearest_of(const double* x, const double* columns, std::size_t packs,
                                       std::size_t d, double* square) {
    Wide least;
    Wide pack_of;
    Wide number;
    Wide one;
    spread(infinity, least);
    spread(0.0, pack_of);
    spread(0.0, number);
    spread(1.0, one);
    for (std::size_t b = 0; b < packs; ++b) {
        Wide squares;
        squares_to<known>(x, columns + b * d * wide, d, squares);
        where_less(squares, least, number, pack_of, pack_of);
        where_less(squares, least, squares, least, least);
        number += one;
    }
    double values[wide];
    double packs_of_values[wide];
    store(values, least);
    store(packs_of_values, pack_of);
    std::size_t best = 0;
    for (std::size_t l = 1; l < wide; ++l) {
        const bool first = values[l] == values[best] && packs_of_values[l] < packs_of_values[best];
        best = values[l] < values[best] || first ? l : best;
    }
    *square = values[best];
    return static_cast<std::size_t>(packs_of_values[best]) * wide + best;
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

// Finds for each of some points the index of the nearest point of a set, and its squared distance.
template <std::size_t known>
CONCLUST_INLINE void nearest_of_all(const double* x, const std::uint32_t* which, std::size_t count,
                                    std::size_t d, const double* columns, std::size_t packs,
                                    std::uint32_t* place, double* square) {
    for (std::size_t q = 0; q < count; ++q) {
        const std::size_t i = which[q];
        place[i] =
            static_cast<std::uint32_t>(nearest_of<known>(x + i * d, columns, packs, d, square + i));
    }
}

template <std::size_t known>
CONCLUST_INLINE void search_around(const double* x, const std::uint32_t* which, std::size_t count,
                                   std::size_t d, const Around& in, const double* nearest, std::size_t k,
                                   std::int32_t* found, double* squares) {
    const std::size_t step = d * wide;
    for (std::size_t q = 0; q < count; ++q) {
        const std::size_t i = which[q];
        const double own = std::sqrt(nearest[i]) * (1.0 + slack);
        double* square = squares + i * k;
        std::int32_t* best = found + i * k;
        std::fill(square, square + k, infinity);
        std::fill(best, best + k, no_landmark);
        for (std::size_t b = 0; b < in.reach.size(); ++b) {
            const double gap = in.reach[b] - own;
            if (gap > least_gap && gap * gap * (1.0 - slack) > square[k - 1]) {
                break;
            }
            double near[wide];
            Wide sums;
            squares_to<known>(x + i * d, in.columns.data() + b * step, d, sums);
            store(near, sums);
            for (std::size_t l = 0; l < wide; ++l) {
                if (near[l] <= square[k - 1]) {
                    insert(near[l], in.numbers[b * wide + l], k, square, best);
                }
            }
        }
    }
}

CONCLUST_CLONES void nearest_in_set(const double* x, const std::uint32_t* which, std::size_t count,
                                    std::size_t d, const double* columns, std::size_t packs,
                                    std::uint32_t* place, double* square) {
    if (d == 2) {
        nearest_of_all<2>(x, which, count, d, columns, packs, place, square);
    } else if (d == 16) {
        nearest_of_all<16>(x, which, count, d, columns, packs, place, square);
    } else {
        nearest_of_all<0>(x, which, count, d, columns, packs, place, square);
    }
}

CONCLUST_CLONES void nearest_around(const double* x, const std::uint32_t* which, std::size_t count,
                                    std::size_t d, const Around& in, const double* nearest,
                                    std::size_t k, std::int32_t* found, double* squares) {
    if (d == 2) {
        search_around<2>(x, which, count, d, in, nearest, k, found, squares);
    } else if (d == 16) {
        search_around<16>(x, which, count, d, in, nearest, k, found, squares);
    } else {
        search_around<0>(x, which, count, d, in, nearest, k, found, squares);
    }
}

}  // namespace

void nearest_in_columns(std::span<const double> x, const Landmarks& in, std::size_t k,
                        std::span<std::int32_t> found, std::span<double> squares) {
    const std::size_t d = in.d;
    const std::size_t n = found.size() / k;
    const std::size_t groups = in.starts.size() - 1;
    std::vector<std::int32_t> all(groups);
    std::iota(all.begin(), all.end(), 0);
    Sets heads;
    heads.add(in.heads.data(), all, d);
    Sets grouped;
    for (std::size_t g = 0; g < groups; ++g) {
        const auto begin = static_cast<std::size_t>(in.starts[g]);
        grouped.add(in.points.data(),
                    in.grouped.subspan(begin, static_cast<std::size_t>(in.starts[g + 1]) - begin), d);
    }
    // Each step takes the points group by group: what they are compared with stays in the cache.
    std::vector<std::uint32_t> place(n);
    std::vector<double> nearest(n);
    const Order every(place, 1);
    nearest_in_set(x.data(), every.points.data(), n, d, heads.columns.data(), heads.starts[1],
                   place.data(), nearest.data());
    const Order by_group(place, groups);
    for (std::size_t g = 0; g < groups; ++g) {
        const std::uint32_t* which = by_group.points.data() + by_group.starts[g];
        const std::size_t count = by_group.starts[g + 1] - by_group.starts[g];
        nearest_in_set(x.data(), which, count, d, grouped.columns.data() + grouped.starts[g] * d * wide,
                       grouped.starts[g + 1] - grouped.starts[g], place.data(), nearest.data());
        for (std::size_t q = 0; q < count; ++q) {
            const auto at = static_cast<std::size_t>(in.starts[g]) + place[which[q]];
            place[which[q]] = static_cast<std::uint32_t>(in.grouped[at]);
        }
    }
    const std::size_t landmarks = in.points.size() / d;
    const Order by_landmark(place, landmarks);
    Around around;
    for (std::size_t a = 0; a < landmarks; ++a) {
        const std::size_t count = by_landmark.starts[a + 1] - by_landmark.starts[a];
        if (count > 0) {
            around.set(in, a);
            nearest_around(x.data(), by_landmark.points.data() + by_landmark.starts[a], count, d, around,
                           nearest.data(), k, found.data(), squares.data());
        }
    }
}

}  // namespace conclust
