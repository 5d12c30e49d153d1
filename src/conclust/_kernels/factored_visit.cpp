#include "factored_visit.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "clones.h"
#include "factored_grams.h"
#include "pack.h"
#include "simplex_qp.h"

namespace conclust {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// Scratch of one object's programme. With the stride known it lies on the stack, where the compiler
// sees that it overlaps nothing; else it is allocated once a block.
template <int S>
struct Scratch {
    double H[S * S], gram[S * S], before[S * S], d[S], q[S], z[S], even[S];
    Pack lane[S];  // four sums of S doubles
    explicit Scratch(std::size_t) {}
};

template <>
struct Scratch<0> {
    std::vector<double> memory;
    double *H, *gram, *before, *d, *q, *z, *even;
    Pack* lane;
    explicit Scratch(std::size_t s)
        : memory(3 * s * s + 8 * s),
          H(memory.data()),
          gram(H + s * s),
          before(gram + s * s),
          d(before + s * s),
          q(d + s),
          z(q + s),
          even(z + s),
          lane(reinterpret_cast<Pack*>(even + s)) {}
};

// Adds d to the sums of the object's clusters.
template <int S>
CONCLUST_INLINE void move_sums(double* sums, const Row& row, const double* d, std::size_t stride) {
    const std::size_t s = S ? static_cast<std::size_t>(S) : stride;
    if (row.unit) {
        for (std::size_t e = 0; e < row.n_clusters; ++e) {
            double* t = sums + static_cast<std::size_t>(row.columns[e]) * s;
            for (std::size_t c = 0; c < s; c += pack_lanes) {
                store(t + c, load(t + c) + load(d + c));
            }
        }
    } else {
        for (std::size_t e = 0; e < row.n_clusters; ++e) {
            double* t = sums + static_cast<std::size_t>(row.columns[e]) * s;
            const Pack x = spread(row.values[e]);
            for (std::size_t c = 0; c < s; c += pack_lanes) {
                store(t + c, load(t + c) + x * load(d + c));
            }
        }
    }
}

// S > 0: the stride is known at compile time, so that rows live in registers.
template <int S>
CONCLUST_INLINE void visit(Block& block, Row& row) {
    const FactoredInput& in = *block.in;
    const std::size_t s = S ? static_cast<std::size_t>(S) : block.stride;
    const std::size_t packs = s / pack_lanes;
    const std::size_t k = in.k;
    Scratch<S> scratch(s);
    double* H = scratch.H;
    double* gram = scratch.gram;
    double* before = scratch.before;
    double* d = scratch.d;
    double* q = scratch.q;
    double* z = scratch.z;
    const std::size_t width = gram_width(k, s);
    Pack* lane = scratch.lane;
    double* even = scratch.even;  // where a new object begins
    for (std::size_t c = 0; c < s; ++c) {
        even[c] = c < k ? 1.0 / static_cast<double>(k) : 0.0;
    }
    const bool own = block.mode != Mode::assign;  // the object itself is in the sums
    double residual = 0.0;
    double squares = 0.0;
    double fourths = 0.0;
    for (std::size_t i = block.begin; i < block.end; ++i) {
        read_row(in, block.column_weights, i, row);
        double* y = block.Y + i * s;
        double degree = 0.0;
        for (std::size_t g = 0; g < row.n_groups; ++g) {
            degree += row.group_weights[g] *
                      (block.group_sizes[static_cast<std::size_t>(row.groups[g])] - (own ? 1.0 : 0.0));
        }
        if (!(degree > 0.0)) {
            continue;  // no evidence about this object: it stays where it is
        }

        // b, over four lanes so that additions overlap; the order of summation is fixed.
        for (std::size_t c = 0; c < 4 * packs; ++c) {
            lane[c] = spread(0.0);
        }
        const std::int32_t* columns = row.columns.data();
        const std::size_t n_clusters = row.n_clusters;
        std::size_t e = 0;
        if (row.unit) {
            for (; e + 4 <= n_clusters; e += 4) {
                const double* t0 = block.sums + static_cast<std::size_t>(columns[e]) * s;
                const double* t1 = block.sums + static_cast<std::size_t>(columns[e + 1]) * s;
                const double* t2 = block.sums + static_cast<std::size_t>(columns[e + 2]) * s;
                const double* t3 = block.sums + static_cast<std::size_t>(columns[e + 3]) * s;
                for (std::size_t c = 0; c < packs; ++c) {
                    lane[c] += load(t0 + 4 * c);
                    lane[packs + c] += load(t1 + 4 * c);
                    lane[2 * packs + c] += load(t2 + 4 * c);
                    lane[3 * packs + c] += load(t3 + 4 * c);
                }
            }
            for (; e < n_clusters; ++e) {
                const double* t = block.sums + static_cast<std::size_t>(columns[e]) * s;
                for (std::size_t c = 0; c < packs; ++c) {
                    lane[c] += load(t + 4 * c);
                }
            }
        } else {
            for (; e < n_clusters; ++e) {
                const double* t = block.sums + static_cast<std::size_t>(columns[e]) * s;
                const Pack wx = spread(row.weighted[e]);
                for (std::size_t c = 0; c < packs; ++c) {
                    lane[c] += wx * load(t + 4 * c);
                }
            }
        }
        const Pack self = spread(own ? row.self : 0.0);
        for (std::size_t c = 0; c < packs; ++c) {  // q = -b
            const Pack b = (lane[c] + lane[packs + c]) + (lane[2 * packs + c] + lane[3 * packs + c]);
            store(q + 4 * c, self * load(y + 4 * c) - b);
        }

        // q += H z with H = sum_g w_g G_g - p y y'
        sum_grams(block.grams, width, row, gram);
        double norm = 0.0;
        for (std::size_t c = 0; c < s; ++c) {
            norm += y[c] * y[c];
        }
        const double* from = own ? y : even;
        for (std::size_t c = 0; c < s; c += pack_lanes) {
            store(z + c, load(from + c));
        }
        const double present = own ? row.present : 0.0;
        multiply<S>(gram, z, k, s, q);
        const Pack alone = spread(present * norm);
        for (std::size_t c = 0; c < s; c += pack_lanes) {
            store(q + c, load(q + c) - alone * load(z + c));
        }
        double low = infinity;
        double high = -infinity;
        double mean = 0.0;
        for (std::size_t c = 0; c < k; ++c) {
            low = std::min(low, q[c]);
            high = std::max(high, z[c] > 0.0 ? q[c] : -infinity);
            mean += z[c] * q[c];
        }
        const double gap = high - low;
        residual = std::max(residual, 2.0 * gap / degree);
        const double enough = 0.5 * block.tol * degree;  // q is half the gradient
        // By convexity the object can lower F by no more than 2 (q'z - min q).
        if (block.mode == Mode::residual ||
            (own && (gap <= enough || 2.0 * (mean - low) <= block.negligible))) {
            continue;
        }
        outer(z, k, s, before);
        const Pack p = spread(present);
        for (std::size_t c = 0; c < width; c += pack_lanes) {
            store(gram + c, load(gram + c) - p * load(before + c));
        }
        whole(gram, k, s, H);
        if (block.mode == Mode::assign) {
            pair_steps<S>(H, q, z, s, k, enough, 50 * k);
            for (std::size_t c = 0; c < s; ++c) {
                y[c] = z[c];
            }
            continue;
        }
        pair_steps<S>(H, q, z, s, k, std::max(0.02 * gap, 0.1 * enough), 6 * k);
        double after = 0.0;
        for (std::size_t c = 0; c < s; ++c) {
            d[c] = z[c] - y[c];
            after += z[c] * z[c];
        }
        outer(z, k, s, gram);
        for (std::size_t c = 0; c < width; c += pack_lanes) {
            store(gram + c, load(gram + c) - load(before + c));
        }
        move_sums<S>(block.sums, row, d, s);
        shift_grams(block.grams, width, row, gram);
        squares += row.self * (after - norm);
        fourths += row.present * (after * after - norm * norm);
        for (std::size_t c = 0; c < s; ++c) {
            y[c] = z[c];
        }
    }
    block.residual = residual;
    block.squares = squares;
    block.fourths = fourths;
}

template <int S>
CONCLUST_INLINE void sum_rows(const Summing& part, Row& row) {
    const std::size_t s = S ? static_cast<std::size_t>(S) : part.stride;
    const std::size_t k = part.in->k;
    const std::size_t width = gram_width(k, s);
    Scratch<S> scratch(s);
    for (std::size_t i = part.begin; i < part.end; ++i) {
        read_row(*part.in, part.column_weights, i, row);
        const double* y = part.Y + i * s;
        double norm = 0.0;
        for (std::size_t c = 0; c < s; ++c) {
            norm += y[c] * y[c];
        }
        outer(y, k, s, scratch.gram);
        move_sums<S>(part.sums, row, y, s);
        shift_grams(part.grams, width, row, scratch.gram);
        for (std::size_t g = 0; g < row.n_groups; ++g) {
            part.squares[2 + static_cast<std::size_t>(row.groups[g])] += 1.0;
        }
        part.squares[0] += row.self * norm;
        part.squares[1] += row.present * norm * norm;
    }
}

#define CONCLUST_VISIT(S)                                                                      \
    CONCLUST_CLONES void visit_##S(Block& block, Row& row) { visit<S>(block, row); }           \
    CONCLUST_CLONES void sum_##S(const Summing& part, Row& row) { sum_rows<S>(part, row); }

CONCLUST_VISIT(4)
CONCLUST_VISIT(8)
CONCLUST_VISIT(12)
CONCLUST_VISIT(16)
CONCLUST_VISIT(0)

}  // namespace

void sum_block(const Summing& part, Row& row) {
    switch (part.stride) {
        case 4: return sum_4(part, row);
        case 8: return sum_8(part, row);
        case 12: return sum_12(part, row);
        case 16: return sum_16(part, row);
        default: return sum_0(part, row);
    }
}

void visit_block(Block& block, Row& row) {
    switch (block.stride) {
        case 4: return visit_4(block, row);
        case 8: return visit_8(block, row);
        case 12: return visit_12(block, row);
        case 16: return visit_16(block, row);
        default: return visit_0(block, row);
    }
}

}  // namespace conclust
