#include "pair_objective/landmark/placing.h"

#include <algorithm>

#include "base/clones.h"
#include "base/interrupt.h"
#include "base/pack.h"
#include "pair_objective/landmark/ground.h"
#include "pair_objective/landmark/newton.h"
#include "pair_objective/pairwise/column.h"
#include "simplex/active_set.h"

namespace conclust {
namespace {

constexpr std::size_t block = 128;      // objects, between two looks of a thread for work
constexpr double interior = 0.02;       // share of the uniform membership in a start
constexpr int most_descents = 20;

// Sums over `width` numbers, a multiple of 8, in eight lanes.
CONCLUST_CLONES
double sum_of(const double* x, std::size_t width) {
    Pack even = spread(0.0), odd = even;
    for (std::size_t g = 0; g < width; g += 2 * pack_lanes) {
        even += load(x + g);
        odd += load(x + g + pack_lanes);
    }
    double parts[pack_lanes];
    store(parts, even + odd);
    return (parts[0] + parts[1]) + (parts[2] + parts[3]);
}

// Moves a guess inside; without one, the uniform membership.
void start(const Ground& ground, bool guessed, const double* guess, double* y) {
    const double even = 1.0 / static_cast<double>(ground.k);
    for (std::size_t c = 0; c < ground.k; ++c) {
        y[c] = guessed ? (1.0 - interior) * guess[c] + interior * even : even;
    }
}

// Descends from a start anywhere: quadratics with line searches.
void descend(PairColumn& column, Divergence divergence) {
    column.active = true;  // the work leaves columns that are at their end inactive
    pair_work(PairWork::curved, &column, 1, divergence, nullptr);
    for (int round = 0; round < most_descents && column.gap > column.enough; ++round) {
        column.moved = false;
        pair_work(PairWork::finish, &column, 1, divergence, nullptr);
        if (!column.moved) {
            break;
        }
        column.active = true;
        pair_work(PairWork::curved, &column, 1, divergence, nullptr);
    }
    column.active = true;
}

Placed place_block(const FactoredInput& in, const LandmarkTable& table, const Ground& ground,
                   const References& references, std::size_t begin, std::size_t end, double tol,
                   const double* masses, double* Y) {
    const std::size_t width = ground.width;
    const std::size_t square = ground.stride * ground.stride;
    std::vector<double> memory(6 * width, 0.0);
    std::vector<double> first(ground.stride);
    ClusterScratch clusters(ground.k, 1);
    ActiveSet quadratic(ground.k);
    PairColumn column;
    column.parameter = table.a;
    clusters.lend(0, column);
    column.length = width;
    column.ld = width;
    column.yt = ground.prototypes.data();
    double* at = memory.data();
    for (double** part : {&column.c, &column.N, &column.a, &column.w, &column.h, &column.da}) {
        *part = at;
        at += width;
    }
    Row row(in);
    Observers observers(in);
    Placed placed{0.0, 0.0};
    // Whom all partitions observed is counted with the same objects.
    const bool alike = in.labels.complete && !in.labels.soft;
    for (std::size_t i = begin; i < end; ++i) {
        double* own = Y + i * table.k;
        read_row(in, ground.column_weights.data(), i, row);
        ground.sums.add(row.columns.data(), row.unit ? nullptr : row.weighted.data(), row.n_clusters,
                        column.c);
        if (!alike || i == begin) {
            read_observers(in, i, observers);
            const double* weights = observers.weights.data();
            const bool unit = std::all_of(weights, weights + observers.n_groups,
                                          [](double weight) { return weight == 1.0; });
            ground.present.add(observers.groups.data(), unit ? nullptr : weights, observers.n_groups,
                               column.N);
            column.degree = sum_of(column.N, width);
        }
        const double degree = column.degree;
        if (!(degree > 0.0)) {
            std::fill_n(own, table.k, 1.0 / static_cast<double>(table.k));
            continue;
        }
        for (std::size_t g = 0; g < width; ++g) {
            // Sums of posteriors can pass the number of observers by a rounding error.
            column.c[g] = std::min(column.c[g], column.N[g]);
        }
        column.enough = tol * degree;
        const bool guessed = guess(ground, column.c, first.data());
        bool there = false;
        if (guessed && references.count > 0) {
            const std::size_t r = references.nearest(ground, first.data(), column.a);
            std::copy_n(references.y.data() + r * ground.stride, ground.stride, column.y);
            const double share = degree / references.degree;
            const double* H = references.H.data() + r * square;
            for (std::size_t e = 0; e < square; ++e) {
                column.H[e] = share * H[e];
            }
            column.active = true;
            there = newton(column, table.divergence, quadratic);
        }
        if (!there) {
            start(ground, guessed, first.data(), column.y);
            descend(column, table.divergence);
        }
        placed.residual = std::max(placed.residual, column.gap / degree);
        pair_work(PairWork::value, &column, 1, table.divergence, nullptr);
        placed.loss += masses[i] * column.value;
        double total = 0.0;
        for (std::size_t c = 0; c < ground.k; ++c) {
            total += column.y[c];
        }
        std::fill_n(own, table.k, 0.0);
        for (std::size_t c = 0; c < ground.k; ++c) {
            own[ground.kept[c]] = column.y[c] / total;
        }
    }
    return placed;
}

}  // namespace

Placed place_objects(const FactoredInput& input, const LandmarkTable& table, double tol,
                     std::span<const double> masses, std::span<double> Y, int threads) {
    const Ground ground(input, table);
    const References references(input, table, ground);
    const std::size_t blocks = (input.labels.n + block - 1) / block;
    std::vector<Placed> parts(blocks);
    const auto n_blocks = static_cast<std::ptrdiff_t>(blocks);
    Interruption interruption;
#pragma omp parallel for num_threads(threads) schedule(dynamic) default(none) shared( \
        input, table, ground, references, parts, interruption) firstprivate(n_blocks, tol, masses, Y)
    for (std::ptrdiff_t b = 0; b < n_blocks; ++b) {
        if (interruption.wanted()) {
            continue;
        }
        const std::size_t begin = static_cast<std::size_t>(b) * block;
        const std::size_t end = std::min(input.labels.n, begin + block);
        parts[static_cast<std::size_t>(b)] =
            place_block(input, table, ground, references, begin, end, tol, masses.data(), Y.data());
    }
    (void)threads;
    interruption.pass_on();
    Placed all{0.0, 0.0};
    for (const Placed& part : parts) {
        all.loss += part.loss;
        all.residual = std::max(all.residual, part.residual);
    }
    return all;
}

}  // namespace conclust
