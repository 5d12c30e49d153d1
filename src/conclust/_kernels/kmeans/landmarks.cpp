#include "kmeans/landmarks.h"

#include <cmath>
#include <vector>

#include "base/clones.h"
#include "base/pack.h"

namespace conclust {
namespace {

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

}  // namespace conclust
