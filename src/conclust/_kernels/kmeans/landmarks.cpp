#include "kmeans/landmarks.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "base/clones.h"

namespace conclust {
namespace {

constexpr std::size_t lanes = 8;

// Summed lane by lane, then the lanes in order, then the rest.
CONCLUST_INLINE double squared_distance(const double* a, const double* b, std::size_t d) {
    double rest = 0.0;
    std::size_t j = 0;
    if (d >= lanes) {
        double sums[lanes] = {};
        for (; j + lanes <= d; j += lanes) {
            for (std::size_t l = 0; l < lanes; ++l) {
                const double x = a[j + l] - b[j + l];
                sums[l] += x * x;
            }
        }
        for (std::size_t l = 0; l < lanes; ++l) {
            rest += sums[l];
        }
    }
    for (; j < d; ++j) {
        const double x = a[j] - b[j];
        rest += x * x;
    }
    return rest;
}

CONCLUST_INLINE void distances_in(const double* x, const double* points, const std::int32_t* which,
                                  std::size_t count, std::size_t d, double* squares) {
    for (std::size_t i = 0; i < count; ++i) {
        squares[i] = squared_distance(x, points + static_cast<std::size_t>(which[i]) * d, d);
    }
}

CONCLUST_CLONES void distances_to(const double* x, const double* points, const std::int32_t* which,
                                  std::size_t count, std::size_t d, double* squares) {
    if (d == 2) {  // known to the compiler
        distances_in(x, points, which, count, 2, squares);
    } else {
        distances_in(x, points, which, count, d, squares);
    }
}

// The place of the smallest, the first one of a tie.
CONCLUST_CLONES std::size_t place_of_smallest(const double* values, std::size_t count) {
    double least[lanes];
    std::fill(least, least + lanes, std::numeric_limits<double>::infinity());
    std::size_t i = 0;
    for (; i + lanes <= count; i += lanes) {
        for (std::size_t l = 0; l < lanes; ++l) {
            least[l] = values[i + l] < least[l] ? values[i + l] : least[l];
        }
    }
    double smallest = least[0];
    for (std::size_t l = 1; l < lanes; ++l) {
        smallest = least[l] < smallest ? least[l] : smallest;
    }
    for (; i < count; ++i) {
        smallest = values[i] < smallest ? values[i] : smallest;
    }
    std::size_t place = 0;
    while (place + 1 < count && values[place] != smallest) {
        ++place;
    }
    return place;
}

// A row shorter than this is the rounding error of one that is 0 on paper.
constexpr double least_length = 1e-12;

CONCLUST_CLONES void mean_of_rows(const double* loads, const std::int32_t* found, const double* weights,
                                  std::size_t k, std::size_t r, double* row) {
    double total = 0.0;
    for (std::size_t a = 0; a < k; ++a) {
        total += weights[a];
    }
    std::fill(row, row + r, 0.0);
    for (std::size_t a = 0; a < k; ++a) {
        const double* load = loads + static_cast<std::size_t>(found[a]) * r;
        const double share = weights[a] / total;
        for (std::size_t j = 0; j < r; ++j) {
            row[j] += share * load[j];
        }
    }
    double square = 0.0;
    for (std::size_t j = 0; j < r; ++j) {
        square += row[j] * row[j];
    }
    const double length = std::sqrt(square);
    for (std::size_t j = 0; j < r; ++j) {
        row[j] = length < least_length ? 0.0 : row[j] / length;
    }
}

// Inner products with the centres less half their squared lengths: the largest belongs to the nearest centre.
CONCLUST_CLONES void score_centers(const double* row, const double* centers, const double* half,
                                   std::size_t r, std::size_t K, double* scores) {
    for (std::size_t c = 0; c < K; ++c) {
        scores[c] = -half[c];
    }
    for (std::size_t j = 0; j < r; ++j) {
        const double y = row[j];
        const double* of_axis = centers + j * K;
        for (std::size_t c = 0; c < K; ++c) {
            scores[c] += y * of_axis[c];
        }
    }
}

}  // namespace

void landmark_labels(std::span<const std::int32_t> found, std::span<const double> weights, std::size_t k,
                     std::span<const double> loads, std::span<const double> centers,
                     std::span<const double> half, std::span<std::int64_t> labels) {
    const std::size_t K = half.size();
    const std::size_t r = centers.size() / K;
    std::vector<double> row(r);
    std::vector<double> scores(K);
    for (std::size_t i = 0; i < labels.size(); ++i) {
        mean_of_rows(loads.data(), found.data() + i * k, weights.data() + i * k, k, r, row.data());
        score_centers(row.data(), centers.data(), half.data(), r, K, scores.data());
        labels[i] = std::max_element(scores.begin(), scores.end()) - scores.begin();
    }
}

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
        const std::size_t g = place_of_smallest(near.data(), groups);
        const auto begin = static_cast<std::size_t>(in.starts[g]);
        const auto count = static_cast<std::size_t>(in.starts[g + 1]) - begin;
        const std::int32_t* members = in.grouped.data() + begin;
        distances_to(point, in.points.data(), members, count, d, near.data());
        const std::size_t nearest = place_of_smallest(near.data(), count);
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
