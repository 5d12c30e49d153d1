#include "kmeans/nearest.h"

#include <algorithm>
#include <vector>

#include "base/clones.h"
#include "base/pack.h"

namespace conclust {
namespace {

// scores[c] = x'centre - |centre|^2 / 2 for all centres, which are turned: column c of `turned` is one.
template <std::size_t packs>
CONCLUST_INLINE void some_scores(const double* x, std::size_t d, const double* turned,
                                 const double* halves, std::size_t stride, double* scores) {
    Pack sums[packs];
    for (std::size_t p = 0; p < packs; ++p) {
        sums[p] = load(halves + p * pack_lanes);
    }
    for (std::size_t j = 0; j < d; ++j) {
        const Pack value = spread(x[j]);
        for (std::size_t p = 0; p < packs; ++p) {
            sums[p] += value * load(turned + j * stride + p * pack_lanes);
        }
    }
    for (std::size_t p = 0; p < packs; ++p) {
        store(scores + p * pack_lanes, sums[p]);
    }
}

CONCLUST_INLINE void scores_of(const double* x, std::size_t d, const double* turned,
                               const double* halves, std::size_t stride, double* scores) {
    std::size_t c = 0;
    for (; c + 4 * pack_lanes <= stride; c += 4 * pack_lanes) {
        some_scores<4>(x, d, turned + c, halves + c, stride, scores + c);
    }
    switch ((stride - c) / pack_lanes) {
        case 3: some_scores<3>(x, d, turned + c, halves + c, stride, scores + c); break;
        case 2: some_scores<2>(x, d, turned + c, halves + c, stride, scores + c); break;
        case 1: some_scores<1>(x, d, turned + c, halves + c, stride, scores + c); break;
        default: break;
    }
}

CONCLUST_CLONES std::size_t all_rows(const double* x, const double* mass, std::size_t rows,
                                     std::size_t d, const double* turned, const double* halves,
                                     std::size_t stride, std::size_t k, double* scores,
                                     std::int64_t* labels, double* distances, double* sums,
                                     double* totals) {
    std::size_t changed = 0;
    for (std::size_t i = 0; i < rows; ++i) {
        const double* row = x + i * d;
        scores_of(row, d, turned, halves, stride, scores);
        std::size_t best = 0;
        double top = scores[0];
        for (std::size_t c = 1; c < k; ++c) {
            const bool better = scores[c] > top;
            top = better ? scores[c] : top;
            best = better ? c : best;
        }
        double* sum = sums + best * d;
        Pack squares = spread(0.0);
        const Pack weight = spread(mass[i]);
        std::size_t j = 0;
        for (; j + pack_lanes <= d; j += pack_lanes) {
            const Pack values = load(row + j);
            squares += values * values;
            store(sum + j, load(sum + j) + weight * values);
        }
        double lanes[pack_lanes];
        store(lanes, squares);
        double square = (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]);
        for (; j < d; ++j) {
            square += row[j] * row[j];
            sum[j] += mass[i] * row[j];
        }
        totals[best] += mass[i];
        distances[i] = std::max(0.0, square - 2.0 * top);
        changed += labels[i] != static_cast<std::int64_t>(best);
        labels[i] = static_cast<std::int64_t>(best);
    }
    return changed;
}

}  // namespace

std::size_t lloyd_round(std::span<const double> x, std::span<const double> mass,
                        std::span<const double> centers, std::size_t d, const LloydRound& round) {
    const std::size_t k = round.totals.size();
    const std::size_t stride = (k + pack_lanes - 1) / pack_lanes * pack_lanes;
    std::vector<double> turned(d * stride, 0.0);
    std::vector<double> halves(stride, 0.0);
    std::vector<double> scores(stride);
    for (std::size_t c = 0; c < k; ++c) {
        double square = 0.0;
        for (std::size_t j = 0; j < d; ++j) {
            const double value = centers[c * d + j];
            turned[j * stride + c] = value;
            square += value * value;
        }
        halves[c] = -0.5 * square;
    }
    return all_rows(x.data(), mass.data(), mass.size(), d, turned.data(), halves.data(), stride, k,
                    scores.data(), round.labels.data(), round.distances.data(), round.sums.data(),
                    round.totals.data());
}

}  // namespace conclust
