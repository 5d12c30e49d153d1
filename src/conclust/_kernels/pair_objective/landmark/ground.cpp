#include "pair_objective/landmark/ground.h"

#include <algorithm>
#include <limits>

#include "base/clones.h"
#include "base/pack.h"
#include "pair_objective/landmark/newton.h"

namespace conclust {
namespace {

// The share of a reference that is spread over all clusters that some prototype holds so much of.
constexpr double interior = 0.02;

double sum_of_lanes(const Pack& lanes) {
    double parts[pack_lanes];
    store(parts, lanes);
    return (parts[0] + parts[1]) + (parts[2] + parts[3]);
}

CONCLUST_CLONES
double dot(const double* x, const double* y, std::size_t width) {
    Pack even = spread(0.0), odd = even;
    for (std::size_t g = 0; g < width; g += 2 * pack_lanes) {
        even += load(x + g) * load(y + g);
        odd += load(x + g + pack_lanes) * load(y + g + pack_lanes);
    }
    return sum_of_lanes(even + odd);
}

CONCLUST_CLONES
double total_of(const double* x, std::size_t width) {
    Pack even = spread(0.0), odd = even;
    for (std::size_t g = 0; g < width; g += 2 * pack_lanes) {
        even += load(x + g);
        odd += load(x + g + pack_lanes);
    }
    return sum_of_lanes(even + odd);
}

// out_r = half the squared length of guess r - y, but for y's own.
CONCLUST_CLONES
void distances(const double* guesses, const double* norms, const double* y, std::size_t k,
               std::size_t width, double* out) {
    std::copy_n(norms, width, out);
    for (std::size_t c = 0; c < k; ++c) {
        const Pack share = spread(y[c]);
        const double* row = guesses + c * width;
        for (std::size_t r = 0; r < width; r += pack_lanes) {
            store(out + r, load(out + r) - share * load(row + r));
        }
    }
}

std::vector<std::size_t> kept_of(const LandmarkTable& table) {
    std::vector<char> held(table.k, 0);
    for (std::size_t g = 0; g < table.n_prototypes; ++g) {
        for (std::size_t c = 0; c < table.k; ++c) {
            held[c] = held[c] || table.prototypes[g * table.k + c] > 0.0;
        }
    }
    std::vector<std::size_t> kept;
    bool untouched = false;
    for (std::size_t c = 0; c < table.k; ++c) {
        if (held[c] || !untouched) {
            kept.push_back(c);
            untouched = untouched || !held[c];
        }
    }
    return kept;
}

}  // namespace

double row_sum(const double* x, std::size_t width) { return total_of(x, width); }

Ground::Ground(const FactoredInput& in, const LandmarkTable& table)
    : kept(kept_of(table)),
      k(kept.size()),
      stride((k + 3) / 4 * 4),
      width((table.n_prototypes + 7) / 8 * 8),
      sums(table.sums, in.labels.n_clusters(), table.n_prototypes, width, in.labels.m),
      present(table.present, in.groups.count, table.n_prototypes, width, in.labels.m),
      prototypes(stride * width, 0.0),
      column_weights(in.labels.n_clusters(), 1.0) {
    for (std::size_t g = 0; g < table.n_prototypes; ++g) {
        for (std::size_t c = 0; c < k; ++c) {
            prototypes[c * width + g] = table.prototypes[g * table.k + kept[c]];
        }
    }
    for (std::size_t u = 0; u < in.labels.m && !in.labels.weights.empty(); ++u) {
        for (auto t = in.labels.offsets[u]; t < in.labels.offsets[u + 1]; ++t) {
            column_weights[static_cast<std::size_t>(t)] = in.labels.weights[u];
        }
    }
}

bool guess(const Ground& ground, const double* c, double* y) {
    double total = 0.0;
    for (std::size_t k = 0; k < ground.k; ++k) {
        y[k] = dot(c, ground.prototypes.data() + k * ground.width, ground.width);
        total += y[k];
    }
    for (std::size_t k = 0; total > 0.0 && k < ground.k; ++k) {
        y[k] /= total;
    }
    return total > 0.0;
}

References::References(const FactoredInput& in, const LandmarkTable& table, const Ground& ground) {
    const std::size_t width = ground.width;
    if (ground.k > most_exact) {
        return;
    }
    count = table.n_prototypes;
    guesses.assign(ground.k * width, 0.0);
    norms.assign(width, std::numeric_limits<double>::infinity());
    y.assign(count * ground.stride, 0.0);
    H.assign(count * ground.stride * ground.stride, 0.0);
    std::vector<double> spread_over(ground.k, 0.0);
    double n_over = 0.0;
    for (std::size_t c = 0; c < ground.k; ++c) {
        const double* row = ground.prototypes.data() + c * width;
        spread_over[c] = *std::max_element(row, row + width) > interior ? 1.0 : 0.0;
        n_over += spread_over[c];
    }
    std::vector<double> memory(5 * width, 0.0);
    ClusterScratch clusters(ground.k, 1);
    PairColumn column;
    column.parameter = table.a;
    clusters.lend(0, column);
    column.length = column.ld = width;
    column.yt = ground.prototypes.data();
    double* at = memory.data();
    for (double** part : {&column.N, &column.a, &column.h, &column.c, &column.w}) {
        *part = at;
        at += width;
    }
    for (std::size_t u = 0; u < in.labels.m; ++u) {
        const double weight = in.labels.weights.empty() ? 1.0 : in.labels.weights[u];
        ground.present.add(in.groups.of.data() + u, &weight, 1, column.c);
        for (std::size_t g = 0; g < width; ++g) {
            column.N[g] += column.c[g];
            degree += column.c[g];
        }
    }
    for (std::size_t r = 0; r < count; ++r) {
        double* own = y.data() + r * ground.stride;
        std::fill(column.a, column.a + width, 0.0);
        for (std::size_t c = 0; c < ground.k; ++c) {
            const double* row = ground.prototypes.data() + c * width;
            const double even = n_over > 0.0 ? spread_over[c] / n_over : row[r];
            own[c] = (1.0 - interior) * row[r] + interior * even;
            for (std::size_t g = 0; g < width; ++g) {
                column.a[g] += own[c] * row[g];
            }
        }
        bend(column, table.divergence, Bend::expected);
        std::copy_n(column.H, ground.stride * ground.stride,
                    H.begin() + static_cast<std::ptrdiff_t>(r * ground.stride * ground.stride));
        for (std::size_t g = 0; g < width; ++g) {
            column.c[g] = column.N[g] * column.a[g];
        }
        guess(ground, column.c, column.y);
        norms[r] = 0.0;
        for (std::size_t c = 0; c < ground.k; ++c) {
            guesses[c * width + r] = column.y[c];
            norms[r] += 0.5 * column.y[c] * column.y[c];
        }
    }
}

std::size_t References::nearest(const Ground& ground, const double* guess, double* scratch) const {
    distances(guesses.data(), norms.data(), guess, ground.k, ground.width, scratch);
    return static_cast<std::size_t>(std::min_element(scratch, scratch + count) - scratch);
}

}  // namespace conclust
