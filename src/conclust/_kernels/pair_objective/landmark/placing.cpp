#include "pair_objective/landmark/placing.h"

#include <algorithm>

#include "base/clones.h"
#include "base/interrupt.h"
#include "base/pack.h"
#include "pair_objective/pairwise/column.h"

namespace conclust {
namespace {

constexpr std::size_t block = 128;      // objects, between two looks of a thread for work
constexpr double interior = 0.02;       // share of the uniform membership in a start
constexpr int most_descents = 20;

// out (width, a multiple of 8) = sum over entries of weight times a row of the table.
CONCLUST_CLONES
void add_rows(const double* table, std::size_t width, const std::int32_t* rows, const double* weights,
              std::size_t count, double* out) {
    std::fill(out, out + width, 0.0);
    std::size_t e = 0;
    for (; e + 4 <= count; e += 4) {
        const double* t0 = table + static_cast<std::size_t>(rows[e]) * width;
        const double* t1 = table + static_cast<std::size_t>(rows[e + 1]) * width;
        const double* t2 = table + static_cast<std::size_t>(rows[e + 2]) * width;
        const double* t3 = table + static_cast<std::size_t>(rows[e + 3]) * width;
        if (weights == nullptr) {
            for (std::size_t g = 0; g < width; g += pack_lanes) {
                store(out + g,
                      load(out + g) + ((load(t0 + g) + load(t1 + g)) + (load(t2 + g) + load(t3 + g))));
            }
        } else {
            const Pack w0 = spread(weights[e]), w1 = spread(weights[e + 1]), w2 = spread(weights[e + 2]),
                       w3 = spread(weights[e + 3]);
            for (std::size_t g = 0; g < width; g += pack_lanes) {
                store(out + g, load(out + g) + ((w0 * load(t0 + g) + w1 * load(t1 + g)) +
                                                (w2 * load(t2 + g) + w3 * load(t3 + g))));
            }
        }
    }
    for (; e < count; ++e) {
        const double* t = table + static_cast<std::size_t>(rows[e]) * width;
        const Pack w = spread(weights == nullptr ? 1.0 : weights[e]);
        for (std::size_t g = 0; g < width; g += pack_lanes) {
            store(out + g, load(out + g) + w * load(t + g));
        }
    }
}

double sum_of_lanes(const Pack& lanes) {
    double parts[pack_lanes];
    store(parts, lanes);
    return (parts[0] + parts[1]) + (parts[2] + parts[3]);
}

// Sums over `width` numbers, a multiple of 8, in eight lanes.
CONCLUST_CLONES
double sum_of(const double* x, std::size_t width) {
    Pack even = spread(0.0), odd = even;
    for (std::size_t g = 0; g < width; g += 2 * pack_lanes) {
        even += load(x + g);
        odd += load(x + g + pack_lanes);
    }
    return sum_of_lanes(even + odd);
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

// A table of rows of `columns` doubles as rows of `width`, zeros beyond.
std::vector<double> widened(std::span<const double> table, std::size_t rows, std::size_t columns,
                            std::size_t width) {
    std::vector<double> wide(rows * width, 0.0);
    for (std::size_t r = 0; r < rows; ++r) {
        std::copy_n(table.data() + r * columns, columns, wide.data() + r * width);
    }
    return wide;
}

// The data that all objects share.
struct Ground {
    std::size_t k;
    std::size_t stride;
    std::size_t width;              // prototypes rounded up to eights
    std::vector<double> sums;       // T x width
    std::vector<double> present;    // n_groups x width
    std::vector<double> prototypes;  // stride x width, cluster by cluster
    std::vector<double> column_weights;
};

Ground ground_of(const FactoredInput& in, const LandmarkTable& table) {
    Ground ground;
    ground.k = table.k;
    ground.stride = (table.k + 3) / 4 * 4;
    ground.width = (table.n_prototypes + 7) / 8 * 8;
    const auto columns = in.labels.n_clusters();
    ground.sums = widened(table.sums, columns, table.n_prototypes, ground.width);
    ground.present = widened(table.present, in.groups.count, table.n_prototypes, ground.width);
    ground.prototypes.assign(ground.stride * ground.width, 0.0);
    for (std::size_t g = 0; g < table.n_prototypes; ++g) {
        for (std::size_t c = 0; c < table.k; ++c) {
            ground.prototypes[c * ground.width + g] = table.prototypes[g * table.k + c];
        }
    }
    ground.column_weights.assign(columns, 1.0);
    for (std::size_t u = 0; u < in.labels.m && !in.labels.weights.empty(); ++u) {
        for (auto t = in.labels.offsets[u]; t < in.labels.offsets[u + 1]; ++t) {
            ground.column_weights[static_cast<std::size_t>(t)] = in.labels.weights[u];
        }
    }
    return ground;
}

// Where an object starts: the mean membership of those it is found together with, moved inside.
void start(const Ground& ground, PairColumn& column) {
    const double together = sum_of(column.c, ground.width);
    double total = 0.0;
    for (std::size_t c = 0; c < ground.k; ++c) {
        column.y[c] = dot(column.c, ground.prototypes.data() + c * ground.width, ground.width);
        total += column.y[c];
    }
    const double even = 1.0 / static_cast<double>(ground.k);
    const double share = together > 0.0 && total > 0.0 ? (1.0 - interior) / total : 0.0;
    for (std::size_t c = 0; c < ground.k; ++c) {
        column.y[c] = share > 0.0 ? share * column.y[c] + interior * even : even;
    }
}

Placed place_block(const FactoredInput& in, const LandmarkTable& table, const Ground& ground,
                   std::size_t begin, std::size_t end, double tol, const double* masses, double* Y) {
    const std::size_t width = ground.width;
    std::vector<double> memory(6 * width, 0.0);
    ClusterScratch clusters(ground.k, 1);
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
        read_row(in, ground.column_weights.data(), i, row);
        add_rows(ground.sums.data(), width, row.columns.data(), row.unit ? nullptr : row.weighted.data(),
                 row.n_clusters, column.c);
        if (!alike || i == begin) {
            read_observers(in, i, observers);
            add_rows(ground.present.data(), width, observers.groups.data(), observers.weights.data(),
                     observers.n_groups, column.N);
            column.degree = sum_of(column.N, width);
        }
        const double degree = column.degree;
        for (std::size_t g = 0; g < width; ++g) {
            // Sums of posteriors can pass the number of observers by a rounding error.
            column.c[g] = std::min(column.c[g], column.N[g]);
        }
        start(ground, column);
        if (degree > 0.0) {
            column.enough = tol * degree;
            column.active = true;  // the work leaves columns that are at their end inactive
            pair_work(PairWork::curved, &column, 1, table.divergence, nullptr);
            for (int round = 0; round < most_descents && column.gap > column.enough; ++round) {
                column.moved = false;
                pair_work(PairWork::finish, &column, 1, table.divergence, nullptr);
                if (!column.moved) {
                    break;
                }
                column.active = true;
                pair_work(PairWork::curved, &column, 1, table.divergence, nullptr);
            }
            column.active = true;
            placed.residual = std::max(placed.residual, column.gap / degree);
            pair_work(PairWork::value, &column, 1, table.divergence, nullptr);
            placed.loss += masses[i] * column.value;
        }
        double total = 0.0;
        for (std::size_t c = 0; c < ground.k; ++c) {
            total += column.y[c];
        }
        for (std::size_t c = 0; c < ground.k; ++c) {
            Y[i * ground.k + c] = column.y[c] / total;
        }
    }
    return placed;
}

}  // namespace

Placed place_objects(const FactoredInput& input, const LandmarkTable& table, double tol,
                     std::span<const double> masses, std::span<double> Y, int threads) {
    const Ground ground = ground_of(input, table);
    const std::size_t blocks = (input.labels.n + block - 1) / block;
    std::vector<Placed> parts(blocks);
    const auto n_blocks = static_cast<std::ptrdiff_t>(blocks);
    Interruption interruption;
#pragma omp parallel for num_threads(threads) schedule(dynamic) default(none) \
    shared(input, table, ground, parts, interruption) firstprivate(n_blocks, tol, masses, Y)
    for (std::ptrdiff_t b = 0; b < n_blocks; ++b) {
        if (interruption.wanted()) {
            continue;
        }
        const std::size_t begin = static_cast<std::size_t>(b) * block;
        const std::size_t end = std::min(input.labels.n, begin + block);
        parts[static_cast<std::size_t>(b)] =
            place_block(input, table, ground, begin, end, tol, masses.data(), Y.data());
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
