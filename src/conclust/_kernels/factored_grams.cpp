#include "factored_grams.h"

#include <algorithm>

namespace conclust {
namespace {

constexpr std::size_t most = 8;  // packs of a Gram worked on at a time: they stay in registers

// P packs of the sum. Short Grams are added up over several lanes, so that additions overlap; the
// order of summation is fixed.
template <std::size_t P, bool Plain>
CONCLUST_INLINE void add_packs(const double* grams, std::size_t width, const Row& row, double* out) {
    constexpr std::size_t lanes = P <= 2 ? 4 : P <= 4 ? 2 : 1;
    const auto term = [&](std::size_t g, std::size_t c) {
        const Pack part = load(grams + static_cast<std::size_t>(row.groups[g]) * width + c * pack_lanes);
        return Plain ? part : spread(row.group_weights[g]) * part;
    };
    Pack sum[lanes][P];
    for (std::size_t l = 0; l < lanes; ++l) {
        for (std::size_t c = 0; c < P; ++c) {
            sum[l][c] = spread(0.0);
        }
    }
    std::size_t g = 0;
    for (; g + lanes <= row.n_groups; g += lanes) {
        for (std::size_t l = 0; l < lanes; ++l) {
            for (std::size_t c = 0; c < P; ++c) {
                sum[l][c] += term(g + l, c);
            }
        }
    }
    for (; g < row.n_groups; ++g) {
        for (std::size_t c = 0; c < P; ++c) {
            sum[0][c] += term(g, c);
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
CONCLUST_INLINE void add_part(const double* grams, std::size_t width, const Row& row, double* out) {
    row.unit_groups ? add_packs<P, true>(grams, width, row, out)
                    : add_packs<P, false>(grams, width, row, out);
}

template <std::size_t P>
CONCLUST_INLINE void move_part(double* grams, std::size_t width, const Row& row, const double* delta) {
    Pack moved[P];
    for (std::size_t c = 0; c < P; ++c) {
        moved[c] = load(delta + c * pack_lanes);
    }
    for (std::size_t g = 0; g < row.n_groups; ++g) {
        double* gram = grams + static_cast<std::size_t>(row.groups[g]) * width;
        for (std::size_t c = 0; c < P; ++c) {
            store(gram + c * pack_lanes, load(gram + c * pack_lanes) + moved[c]);
        }
    }
}

#define CONCLUST_BY_PACKS(packs, part, ...)        \
    switch (packs) {                               \
        case 1: part<1>(__VA_ARGS__); break;       \
        case 2: part<2>(__VA_ARGS__); break;       \
        case 3: part<3>(__VA_ARGS__); break;       \
        case 4: part<4>(__VA_ARGS__); break;       \
        case 5: part<5>(__VA_ARGS__); break;       \
        case 6: part<6>(__VA_ARGS__); break;       \
        case 7: part<7>(__VA_ARGS__); break;       \
        default: part<most>(__VA_ARGS__); break;   \
    }

}  // namespace

CONCLUST_CLONES
void add_grams(const double* grams, std::size_t width, const Row& row, double* out) {
    for (std::size_t c = 0; c < width; c += most * pack_lanes) {
        CONCLUST_BY_PACKS((width - c) / pack_lanes, add_part, grams + c, width, row, out + c)
    }
}

CONCLUST_CLONES
void move_grams(double* grams, std::size_t width, const Row& row, const double* delta) {
    for (std::size_t c = 0; c < width; c += most * pack_lanes) {
        CONCLUST_BY_PACKS((width - c) / pack_lanes, move_part, grams + c, width, row, delta + c)
    }
}

double gram_dot(const double* A, const double* B, std::size_t k, std::size_t stride) {
    Pack once = spread(0.0);   // packs on the diagonal hold both halves
    Pack above = spread(0.0);
    for (std::size_t a = 0; a < k; ++a) {
        once += load(A) * load(B);
        A += pack_lanes;
        B += pack_lanes;
        for (std::size_t c = gram_from(a) + pack_lanes; c < stride; c += pack_lanes) {
            above += load(A) * load(B);
            A += pack_lanes;
            B += pack_lanes;
        }
    }
    double lane[pack_lanes];
    store(lane, once + spread(2.0) * above);
    return (lane[0] + lane[1]) + (lane[2] + lane[3]);
}

}  // namespace conclust
