#include "kmeans/landmarks.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "base/clones.h"
#include "base/pack.h"
#include "kmeans/landmark_columns.h"

namespace conclust {
namespace {

constexpr std::size_t lanes = summed_lanes;

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

CONCLUST_CLONES void distances_to(const double* x, const double* points, const std::int32_t* which,
                                  std::size_t count, std::size_t d, double* squares) {
    for (std::size_t i = 0; i < count; ++i) {
        squares[i] = squared_distance(x, points + static_cast<std::size_t>(which[i]) * d, d);
    }
}

// The index of the smallest value, the first one if tied.
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

constexpr std::size_t padded(std::size_t count) {
    return (count + pack_lanes - 1) / pack_lanes * pack_lanes;
}

// For each landmark that a point is tied to: its load, and the inner products of the load with the centres: both are
// padded with zeros. Computed when the first point needs them.
struct Loads {
    std::size_t r;
    std::size_t K;
    std::size_t length;  // of a padded load
    std::size_t stride;
    std::vector<double> table;
    std::vector<char> made;

    Loads(std::size_t landmarks, std::size_t axes, std::size_t clusters)
        : r(axes),
          K(clusters),
          length(padded(r)),
          stride(length + padded(K)),
          table(landmarks * stride),
          made(landmarks) {}
};

CONCLUST_INLINE void make_load(const double* loads, const double* centers, std::size_t landmark,
                               Loads& of) {
    double* row = of.table.data() + landmark * of.stride;
    double* products = row + of.length;
    for (std::size_t j = 0; j < of.r; ++j) {
        const double value = loads[landmark * of.r + j];
        row[j] = value;
        for (std::size_t c = 0; c < of.K; ++c) {
            products[c] += value * centers[j * of.K + c];
        }
    }
    of.made[landmark] = 1;
}

// `packs` packs of the mean of k rows of a table by their shares.
template <std::size_t packs>
CONCLUST_INLINE void mean_of(const double* table, std::size_t stride, const std::int32_t* found,
                             const double* shares, std::size_t k, double* out) {
    Pack sums[packs];
    for (std::size_t p = 0; p < packs; ++p) {
        sums[p] = spread(0.0);
    }
    for (std::size_t a = 0; a < k; ++a) {
        const double* row = table + static_cast<std::size_t>(found[a]) * stride;
        const Pack share = spread(shares[a]);
        for (std::size_t p = 0; p < packs; ++p) {
            sums[p] += share * load(row + p * pack_lanes);
        }
    }
    for (std::size_t p = 0; p < packs; ++p) {
        store(out + p * pack_lanes, sums[p]);
    }
}

CONCLUST_INLINE void mean_of_rows(const double* table, std::size_t stride, const std::int32_t* found,
                                  const double* shares, std::size_t k, double* out) {
    std::size_t j = 0;
    for (; j + 4 * pack_lanes <= stride; j += 4 * pack_lanes) {
        mean_of<4>(table + j, stride, found, shares, k, out + j);
    }
    switch ((stride - j) / pack_lanes) {
        case 3: mean_of<3>(table + j, stride, found, shares, k, out + j); break;
        case 2: mean_of<2>(table + j, stride, found, shares, k, out + j); break;
        case 1: mean_of<1>(table + j, stride, found, shares, k, out + j); break;
        default: break;
    }
}

CONCLUST_INLINE double length_of(const double* row, std::size_t padded_length) {
    Pack squares = spread(0.0);
    for (std::size_t j = 0; j < padded_length; j += pack_lanes) {
        squares += load(row + j) * load(row + j);
    }
    double sums[pack_lanes];
    store(sums, squares);
    return std::sqrt((sums[0] + sums[1]) + (sums[2] + sums[3]));
}

// For k ties a point; `row` has room for a row of the table, `shares` for k numbers.
CONCLUST_CLONES void label_all(const std::int32_t* found, const double* weights, std::size_t n,
                               std::size_t k, const double* loads, const double* centers,
                               const double* half, Loads& of, double* row, double* shares,
                               std::int64_t* labels) {
    for (std::size_t i = 0; i < n; ++i) {
        double total = 0.0;
        for (std::size_t a = 0; a < k; ++a) {
            total += weights[i * k + a];
            if (!of.made[static_cast<std::size_t>(found[i * k + a])]) {
                make_load(loads, centers, static_cast<std::size_t>(found[i * k + a]), of);
            }
        }
        for (std::size_t a = 0; a < k; ++a) {
            shares[a] = weights[i * k + a] / total;
        }
        mean_of_rows(of.table.data(), of.stride, found + i * k, shares, k, row);
        const double length = length_of(row, of.length);
        const double scale = length < least_length ? 0.0 : 1.0 / length;
        // Inner products with the centres less half their squared lengths: the largest belongs to the nearest.
        const double* products = row + of.length;
        std::size_t best = 0;
        double most = scale * products[0] - half[0];
        for (std::size_t c = 1; c < of.K; ++c) {
            const double score = scale * products[c] - half[c];
            best = score > most ? c : best;
            most = score > most ? score : most;
        }
        labels[i] = static_cast<std::int64_t>(best);
    }
}

}  // namespace

void landmark_labels(std::span<const std::int32_t> found, std::span<const double> weights, std::size_t k,
                     std::span<const double> loads, std::span<const double> centers,
                     std::span<const double> half, std::span<std::int64_t> labels) {
    const std::size_t K = half.size();
    const std::size_t r = centers.size() / K;
    Loads of(loads.size() / r, r, K);
    std::vector<double> row(of.stride);
    std::vector<double> shares(k);
    label_all(found.data(), weights.data(), labels.size(), k, loads.data(), centers.data(), half.data(),
              of, row.data(), shares.data(), labels.data());
}

void nearest_landmarks(std::span<const double> x, const Landmarks& in, std::size_t k,
                       std::span<std::int32_t> found, std::span<double> squares) {
    const std::size_t d = in.d;
    const std::size_t n = found.size() / k;
    if (d < many_features && n >= in.grouped.size()) {  // else columns cost more than they save
        nearest_in_columns(x, in, k, found, squares);
        return;
    }
    const std::size_t groups = in.starts.size() - 1;
    std::vector<std::int32_t> heads(groups);
    for (std::size_t g = 0; g < groups; ++g) {
        heads[g] = static_cast<std::int32_t>(g);
    }
    std::vector<double> near(std::max({groups, in.grouped.size(), in.c}));
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
