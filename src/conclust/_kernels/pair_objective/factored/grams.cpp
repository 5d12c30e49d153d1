#include "pair_objective/factored/grams.h"

#include <algorithm>

namespace conclust {
namespace {

constexpr std::size_t most = 8;  // packs of a Gram processed at a time: they stay in registers

// P packs of the sum. Short Grams are added up over several lanes, so that additions overlap; the
// order of summation is fixed.
template <std::size_t P>
CONCLUST_INLINE void add_part(const double* fields, std::size_t width, const Entries& entries,
                              double* out) {
    constexpr std::size_t lanes = P <= 2 ? 4 : P <= 4 ? 2 : 1;
    const auto term = [&](std::size_t e, std::size_t c) {
        return load(fields + static_cast<std::size_t>(entries[e]) * width + c * pack_lanes);
    };
    Pack sum[lanes][P];
    for (std::size_t l = 0; l < lanes; ++l) {
        for (std::size_t c = 0; c < P; ++c) {
            sum[l][c] = spread(0.0);
        }
    }
    const std::size_t count = entries.size();
    std::size_t e = 0;
    for (; e + lanes <= count; e += lanes) {
        for (std::size_t l = 0; l < lanes; ++l) {
            for (std::size_t c = 0; c < P; ++c) {
                sum[l][c] += term(e + l, c);
            }
        }
    }
    for (; e < count; ++e) {
        for (std::size_t c = 0; c < P; ++c) {
            sum[0][c] += term(e, c);
        }
    }
    for (std::size_t half = lanes / 2; half > 0; half /= 2) {
        for (std::size_t l = 0; l < half; ++l) {
            for (std::size_t c = 0; c < P; ++c) {
                sum[l][c] += sum[l + half][c];
            }
        }
    }
    for (std::size_t c = 0; c < P; ++c) {
        store(out + c * pack_lanes, sum[0][c]);
    }
}

template <std::size_t P>
CONCLUST_INLINE void move_part(double* moves, std::size_t width, const Entries& entries,
                               const double* delta) {
    Pack moved[P];
    for (std::size_t c = 0; c < P; ++c) {
        moved[c] = load(delta + c * pack_lanes);
    }
    for (const std::int32_t entry : entries) {
        double* at = moves + static_cast<std::size_t>(entry) * width;
        for (std::size_t c = 0; c < P; ++c) {
            store(at + c * pack_lanes, load(at + c * pack_lanes) + moved[c]);
        }
    }
}

#define CONCLUST_BY_PACKS(packs, part, ...)      \
    switch (packs) {                             \
        case 1: part<1>(__VA_ARGS__); break;     \
        case 2: part<2>(__VA_ARGS__); break;     \
        case 3: part<3>(__VA_ARGS__); break;     \
        case 4: part<4>(__VA_ARGS__); break;     \
        case 5: part<5>(__VA_ARGS__); break;     \
        case 6: part<6>(__VA_ARGS__); break;     \
        case 7: part<7>(__VA_ARGS__); break;     \
        default: part<most>(__VA_ARGS__); break; \
    }

}  // namespace

CONCLUST_CLONES
void add_entries(const double* fields, std::size_t width, const Entries& entries, double* out) {
    for (std::size_t c = 0; c < width; c += most * pack_lanes) {
        CONCLUST_BY_PACKS((width - c) / pack_lanes, add_part, fields + c, width, entries, out + c)
    }
}

CONCLUST_CLONES
void move_entries(double* moves, std::size_t width, const Entries& entries, const double* delta) {
    for (std::size_t c = 0; c < width; c += most * pack_lanes) {
        CONCLUST_BY_PACKS((width - c) / pack_lanes, move_part, moves + c, width, entries, delta + c)
    }
}

CONCLUST_CLONES
void sum_by_entry(const PresenceTable& presence, std::size_t k, const double* grams,
                  const double* weights, const double* sizes, double* fields) {
    const std::size_t width = gram_width(k);
    const std::size_t weight_at = gram_weight(k);
    const std::size_t bits = presence.bits;
    for (std::size_t first = 0; first < presence.n_groups; first += bits) {
        std::fill(fields, fields + width, 0.0);
        // A subset is a smaller one plus one group.
        for (std::size_t bit = 0; bit < bits; ++bit) {
            const std::size_t g = first + bit;
            const std::size_t half = std::size_t{1} << bit;
            for (std::size_t p = 0; p < half; ++p) {
                const double* from = fields + p * width;
                double* to = fields + (half + p) * width;
                if (g >= presence.n_groups) {
                    std::fill(to, to + width, 0.0);
                    continue;
                }
                const double* gram = grams + g * width;
                const Pack weight = spread(weights[g]);
                for (std::size_t c = 0; c < width; c += pack_lanes) {
                    store(to + c, load(from + c) + weight * load(gram + c));
                }
                to[weight_at] = from[weight_at] + weights[g];
                to[weight_at + 1] = from[weight_at + 1] + weights[g] * sizes[g];
            }
        }
        fields += width << bits;
    }
}

CONCLUST_CLONES
void gather_moves(const PresenceTable& presence, std::size_t width, const double* moves, double* grams) {
    const std::size_t n_subsets = std::size_t{1} << presence.bits;
    for (std::size_t g = 0; g < presence.n_groups; ++g) {
        const double* set = moves + g / presence.bits * n_subsets * width;
        const std::size_t bit = std::size_t{1} << g % presence.bits;
        double* gram = grams + g * width;
        for (std::size_t p = bit; p < n_subsets; p = (p + 1) | bit) {
            for (std::size_t c = 0; c < width; c += pack_lanes) {
                store(gram + c, load(gram + c) + load(set + p * width + c));
            }
        }
    }
}

double gram_dot(const double* A, const double* B, std::size_t k) {
    const std::size_t size = gram_weight(k);
    Pack lane = spread(0.0);
    std::size_t c = 0;
    for (; c + pack_lanes <= size; c += pack_lanes) {
        lane += load(A + c) * load(B + c);
    }
    double parts[pack_lanes];
    store(parts, lane);
    double all = (parts[0] + parts[1]) + (parts[2] + parts[3]);
    for (; c < size; ++c) {
        all += A[c] * B[c];
    }
    double diagonal = 0.0;
    for (std::size_t a = 0; a < k; ++a) {
        diagonal += A[gram_row(a, k)] * B[gram_row(a, k)];
    }
    return 2.0 * all - diagonal;
}

}  // namespace conclust
