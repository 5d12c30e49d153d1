#include "models/chains/mixed_gibbs.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/clones.h"
#include "base/interrupt.h"
#include "base/random.h"
#include "base/special.h"
#include "labels/codes.h"

namespace conclust {
namespace {

// The components of the odds of the clusters behind one label: arrays of length k.
struct Cell {
    const double* alpha;
    const double* mass;  // of the object, in its other labels
    const double* use;   // of the label, by other objects
    const double* size;  // of the clusters in this partition, without this object
    double weight;
    double b;
    double all;  // b K_u
};

CONCLUST_CLONES void plain_odds(const Cell& cell, std::size_t k, double* odds) {
    for (std::size_t c = 0; c < k; ++c) {
        odds[c] = (cell.alpha[c] + cell.mass[c]) * (cell.use[c] + cell.b) / (cell.size[c] + cell.all);
    }
}

// Logarithms for a weight other than 1: the mass rises by the weight at once.
CONCLUST_CLONES void weighted_log_odds(const Cell& cell, std::size_t k, double* odds) {
    for (std::size_t c = 0; c < k; ++c) {
        const double before = cell.alpha[c] + cell.mass[c];
        const double likely = natural_log(cell.use[c] + cell.b) - natural_log(cell.size[c] + cell.all);
        odds[c] =
            gamma_logs(before + cell.weight).value - gamma_logs(before).value + cell.weight * likely;
    }
}

void find_odds(const Cell& cell, std::size_t k, double* odds) {
    if (cell.weight == 1.0) {
        return plain_odds(cell, k, odds);
    }
    weighted_log_odds(cell, k, odds);
    const double top = *std::max_element(odds, odds + k);
    for (std::size_t c = 0; c < k; ++c) {
        odds[c] = std::exp(odds[c] - top);
    }
}

template <class Code>
void count_all(const Code* codes, const LabelView& view, std::size_t k, const MixedState& state,
               std::vector<double>& sizes) {
    std::fill(state.mass.begin(), state.mass.end(), 0.0);
    std::fill(state.use.begin(), state.use.end(), 0.0);
    for (std::size_t i = 0; i < view.n; ++i) {
        for (std::size_t u = 0; u < view.m; ++u) {
            const Code code = codes[i * view.m + u];
            if (code < first_reserved_code<Code>) {
                const auto c = static_cast<std::size_t>(state.clusters[i * view.m + u]);
                state.mass[i * k + c] += view.weight(u);
                state.use[(view.first_cluster(u) + code) * k + c] += 1.0;
                sizes[u * k + c] += 1.0;
            }
        }
    }
}

template <class Code>
void sweep(const Code* codes, const MixedChain& chain, std::uint64_t seed, const MixedState& state) {
    const LabelView& view = chain.labels;
    const std::size_t k = chain.alpha.size();
    std::vector<double> sizes(view.m * k, 0.0);
    std::vector<double> odds(k);
    count_all(codes, view, k, state, sizes);
    for (std::size_t i = 0; i < view.n; ++i) {
        if (i % 256 == 0) {
            stop_if_interrupted();
        }
        double* mass = state.mass.data() + i * k;
        for (std::size_t u = 0; u < view.m; ++u) {
            const Code code = codes[i * view.m + u];
            if (code >= first_reserved_code<Code>) {
                continue;
            }
            const std::size_t first = view.first_cluster(u);
            const double width = static_cast<double>(view.first_cluster(u + 1) - first);
            double* use = state.use.data() + (first + code) * k;
            double* size = sizes.data() + u * k;
            std::int32_t& cluster = state.clusters[i * view.m + u];
            const auto own = static_cast<std::size_t>(cluster);
            use[own] -= 1.0;
            size[own] -= 1.0;
            // Fractional weights leave rounding errors, which may be negative.
            mass[own] = std::max(mass[own] - view.weight(u), 0.0);
            const Cell cell{chain.alpha.data(),     mass, use, size, view.weight(u), chain.smoothing,
                            chain.smoothing * width};
            find_odds(cell, k, odds.data());
            const std::size_t drawn = drawn_class(odds.data(), k, random_bits(seed, i, u));
            use[drawn] += 1.0;
            size[drawn] += 1.0;
            mass[drawn] += view.weight(u);
            cluster = static_cast<std::int32_t>(drawn);
        }
    }
}

}  // namespace

void mixed_gibbs_sweep(const MixedChain& chain, std::uint64_t seed, const MixedState& state) {
    with_codes(chain.labels, [&](const auto* codes) { sweep(codes, chain, seed, state); });
}

}  // namespace conclust
