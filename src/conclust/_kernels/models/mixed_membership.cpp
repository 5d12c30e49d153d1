#include "models/mixed_membership.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/clones.h"
#include "base/interrupt.h"
#include "base/pack.h"
#include "base/special.h"
#include "labels/codes.h"

namespace conclust {
namespace {

// Blocks of rows, which depend on n only. Each has its own sums, which are merged in order.
constexpr std::size_t most_blocks = 16;
constexpr std::size_t rows_per_block = 8192;
// Rows of one call of the special functions.
constexpr std::size_t batch = 32;

// The sums of a block of rows, and scratch memory. Clusters are padded to full packs.
struct Block {
    Block(const MixedModel& in, std::size_t padded)
        : width(padded),
          use(in.labels.n_clusters() * padded, 0.0),
          logs(in.k(), 0.0),
          values(batch * (in.k() + 1)),
          slopes(batch * (in.k() + 1)),
          odds(padded, 0.0),
          mass(padded),
          chance(in.labels.m),
          weight(in.labels.m),
          inverse(in.labels.m),
          cell(in.labels.m) {}

    std::size_t width;
    std::vector<double> use;     // T x width: sum of counts odds / chance
    std::vector<double> logs;    // k
    std::vector<double> values;  // log Gamma and digamma of gamma, then of its sums over clusters
    std::vector<double> slopes;
    std::vector<double> odds;    // width: e_ik over the largest of the row
    std::vector<double> mass;    // width
    std::vector<double> chance;  // labels of the row: sum_k odds_k beta_tk, and its weight
    std::vector<double> weight;
    std::vector<double> inverse;    // 1 / chance
    std::vector<std::size_t> cell;  // the place of the label's row
    double bound = 0.0;
};

CONCLUST_INLINE double lane_sum(const Pack& x) {
    double lanes[pack_lanes];
    store(lanes, x);
    return (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]);
}

// log Gamma and digamma of gamma for rows [begin, end), and of the sums of each row.
CONCLUST_INLINE void take_gammas(const MixedModel& in, std::size_t begin, std::size_t end,
                                 Block& block) {
    const std::size_t rows = end - begin;
    double* values = block.values.data();
    double* slopes = block.slopes.data();
    double* totals = values + rows * in.k();
    for (std::size_t r = 0; r < rows; ++r) {
        const double* mass = in.mass.data() + (begin + r) * in.k();
        double total = 0.0;
        for (std::size_t k = 0; k < in.k(); ++k) {
            const double gamma = in.alpha[k] + mass[k];
            values[r * in.k() + k] = gamma;
            total += gamma;
        }
        totals[r] = total;
    }
    const std::size_t cells = rows * (in.k() + 1);
    for (std::size_t c = 0; c < cells; ++c) {
        const GammaLogs both = gamma_logs(values[c]);
        values[c] = both.value;
        slopes[c] = both.derivative;
    }
}

// The shares of clusters in an object's labels: sums for `use` and, over the odds, the mass. Returns the number of labels,
// whose chances are in the block.
template <class Code>
CONCLUST_INLINE std::size_t share_labels(const Code* row, const MixedModel& in, const double* beta,
                                         double count, Block& block) {
    const std::size_t width = block.width;
    const double* odds = block.odds.data();
    double* mass = block.mass.data();
    std::fill(mass, mass + width, 0.0);
    std::size_t labels = 0;
    for (std::size_t u = 0; u < in.labels.m; ++u) {
        if (row[u] >= first_reserved_code<Code>) {
            continue;
        }
        const std::size_t t = static_cast<std::size_t>(in.labels.offsets[u]) + row[u];
        const double* b = beta + t * width;
        Pack sum = spread(0.0);
        for (std::size_t k = 0; k < width; k += pack_lanes) {
            sum += load(odds + k) * load(b + k);
        }
        const double chance = lane_sum(sum);
        const double inverse = 1.0 / chance;
        const Pack share = spread(in.labels.weights[u] * inverse);
        const Pack used = spread(count * inverse);
        double* use = block.use.data() + t * width;
        for (std::size_t k = 0; k < width; k += pack_lanes) {
            store(mass + k, load(mass + k) + share * load(b + k));
            store(use + k, load(use + k) + used * load(odds + k));
        }
        block.chance[labels] = chance;
        block.weight[labels++] = in.labels.weights[u];
    }
    return labels;
}

// The same for rows of `packs` packs, which stay in registers; in three passes, so that divisions become vectors.
template <std::size_t packs, class Code>
CONCLUST_INLINE std::size_t share_labels(const Code* row, const MixedModel& in, const double* beta,
                                         double count, Block& block) {
    constexpr std::size_t width = packs * pack_lanes;
    Pack odds[packs], mass[packs];
    for (std::size_t p = 0; p < packs; ++p) {
        odds[p] = load(block.odds.data() + p * pack_lanes);
        mass[p] = spread(0.0);
    }
    double* __restrict chance = block.chance.data();
    double* __restrict weight = block.weight.data();
    double* __restrict inverse = block.inverse.data();
    std::size_t* __restrict cell = block.cell.data();
    const std::int64_t* offsets = in.labels.offsets.data();
    const double* weights = in.labels.weights.data();
    std::size_t labels = 0;
    for (std::size_t u = 0; u < in.labels.m; ++u) {
        if (row[u] >= first_reserved_code<Code>) {
            continue;
        }
        cell[labels] = (static_cast<std::size_t>(offsets[u]) + row[u]) * width;
        const double* b = beta + cell[labels];
        Pack sum = spread(0.0);
        for (std::size_t p = 0; p < packs; ++p) {
            sum += odds[p] * load(b + p * pack_lanes);
        }
        chance[labels] = lane_sum(sum);
        weight[labels++] = weights[u];
    }
    for (std::size_t l = 0; l < labels; ++l) {
        inverse[l] = 1.0 / chance[l];
    }
    double* uses = block.use.data();
    for (std::size_t l = 0; l < labels; ++l) {
        const double* b = beta + cell[l];
        double* use = uses + cell[l];
        const Pack share = spread(weight[l] * inverse[l]);
        const Pack used = spread(count * inverse[l]);
        for (std::size_t p = 0; p < packs; ++p) {
            mass[p] += share * load(b + p * pack_lanes);
            store(use + p * pack_lanes, load(use + p * pack_lanes) + used * odds[p]);
        }
    }
    for (std::size_t p = 0; p < packs; ++p) {
        store(block.mass.data() + p * pack_lanes, mass[p]);
    }
    return labels;
}

template <class Code>
CONCLUST_INLINE void visit_row(const Code* row, const MixedModel& in, const double* beta, std::size_t i,
                               double log_scale, Block& block, double* new_mass) {
    const double count = in.counts[i];
    const double* odds = block.odds.data();
    const double* mass = block.mass.data();
    std::size_t labels = 0;
    switch (block.width / pack_lanes) {
        case 1: labels = share_labels<1>(row, in, beta, count, block); break;
        case 2: labels = share_labels<2>(row, in, beta, count, block); break;
        case 3: labels = share_labels<3>(row, in, beta, count, block); break;
        case 4: labels = share_labels<4>(row, in, beta, count, block); break;
        default: labels = share_labels(row, in, beta, count, block);
    }
    for (std::size_t l = 0; l < labels; ++l) {
        block.chance[l] = natural_log(block.chance[l]);
    }
    double sum = 0.0;
    for (std::size_t l = 0; l < labels; ++l) {
        sum += block.weight[l] * (block.chance[l] + log_scale);
    }
    block.bound += count * sum;
    for (std::size_t k = 0; k < in.k(); ++k) {
        new_mass[i * in.k() + k] = mass[k] * odds[k];
    }
}

template <class Code>
CONCLUST_INLINE void visit(const Code* codes, const MixedModel& in, const double* beta,
                           std::size_t first, std::size_t last, Block& block, double* new_mass) {
    double* odds = block.odds.data();
    for (std::size_t begin = first; begin < last; begin += batch) {
        const std::size_t end = std::min(last, begin + batch);
        take_gammas(in, begin, end, block);
        const double* values = block.values.data();
        const double* slopes = block.slopes.data();
        const std::size_t sums = (end - begin) * in.k();
        for (std::size_t i = begin; i < end; ++i) {
            const std::size_t r = i - begin;
            const double count = in.counts[i];
            double top = slopes[r * in.k()];
            for (std::size_t k = 1; k < in.k(); ++k) {
                top = std::max(top, slopes[r * in.k() + k]);
            }
            double own = -values[sums + r];
            for (std::size_t k = 0; k < in.k(); ++k) {
                const double expected = slopes[r * in.k() + k] - slopes[sums + r];
                own += values[r * in.k() + k] - in.mass[i * in.k() + k] * expected;
                block.logs[k] += count * expected;
                odds[k] = std::exp(slopes[r * in.k() + k] - top);
            }
            block.bound += count * own;
            // The odds are over the largest of the row, and so is every chance.
            visit_row(codes + i * in.labels.m, in, beta, i, top - slopes[sums + r], block, new_mass);
        }
    }
}

CONCLUST_CLONES void visit_rows(const std::uint8_t* codes, const MixedModel& in, const double* beta,
                                std::size_t first, std::size_t last, Block& block, double* new_mass) {
    visit(codes, in, beta, first, last, block, new_mass);
}

CONCLUST_CLONES void visit_rows(const std::uint16_t* codes, const MixedModel& in, const double* beta,
                                std::size_t first, std::size_t last, Block& block, double* new_mass) {
    visit(codes, in, beta, first, last, block, new_mass);
}

CONCLUST_CLONES void visit_rows(const std::uint32_t* codes, const MixedModel& in, const double* beta,
                                std::size_t first, std::size_t last, Block& block, double* new_mass) {
    visit(codes, in, beta, first, last, block, new_mass);
}

}  // namespace

double mixed_membership_round(const MixedModel& model, int threads, const MixedSums& sums) {
    const std::size_t n = model.labels.n;
    const std::size_t k_all = model.k();
    const std::size_t total = model.labels.n_clusters();
    const std::size_t width = (k_all + pack_lanes - 1) / pack_lanes * pack_lanes;
    std::vector<double> beta(total * width, 0.0);
    for (std::size_t t = 0; t < total; ++t) {
        std::copy_n(model.beta.data() + t * k_all, k_all, beta.data() + t * width);
    }
    const std::size_t parts = std::clamp<std::size_t>(n / rows_per_block, 1, most_blocks);
    const std::size_t size = (n + parts - 1) / parts;
    std::vector<Block> blocks(parts, Block(model, width));
    const auto n_parts = static_cast<std::ptrdiff_t>(parts);
    Interruption interruption;
#pragma omp parallel for num_threads(threads) schedule(static) default(none) \
    shared(model, beta, size, blocks, sums, n, n_parts, interruption)
    for (std::ptrdiff_t p = 0; p < n_parts; ++p) {
        if (interruption.wanted()) {
            continue;
        }
        const auto at = static_cast<std::size_t>(p);
        const std::size_t begin = std::min(n, at * size);
        with_codes(model.labels, [&](const auto* codes) {
            visit_rows(codes, model, beta.data(), begin, std::min(n, begin + size), blocks[at],
                       sums.mass.data());
        });
    }
    interruption.pass_on();
    double bound = 0.0;
    std::fill(sums.use.begin(), sums.use.end(), 0.0);
    std::fill(sums.logs.begin(), sums.logs.end(), 0.0);
    for (const Block& block : blocks) {
        bound += block.bound;
        for (std::size_t t = 0; t < total; ++t) {
            for (std::size_t k = 0; k < k_all; ++k) {
                sums.use[t * k_all + k] += block.use[t * width + k] * model.beta[t * k_all + k];
            }
        }
        for (std::size_t k = 0; k < k_all; ++k) {
            sums.logs[k] += block.logs[k];
        }
    }
    return bound;
}

}  // namespace conclust
