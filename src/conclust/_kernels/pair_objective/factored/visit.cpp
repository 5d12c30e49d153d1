#include "pair_objective/factored/visit.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "base/clones.h"
#include "base/pack.h"
#include "pair_objective/factored/grams.h"
#include "simplex/quadratic.h"

namespace conclust {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// Scratch of one object's programme. With the stride known it lies on the stack, where the compiler
// sees that it overlaps nothing; else it is allocated once a block.
template <int S>
struct Scratch {
    static constexpr std::size_t gram_size =
        gram_width(S) + pack_lanes;  // read and written past the end
    double H[S * S], gram[gram_size] = {}, d[S], q[S], z[S], even[S];
    Pack lane[S];  // four sums of S doubles
    explicit Scratch(std::size_t) {}
};

template <>
struct Scratch<0> {
    std::vector<double> memory;
    double *H, *gram, *d, *q, *z, *even;
    Pack* lane;
    explicit Scratch(std::size_t s)
        : memory(s * s + gram_width(s) + pack_lanes + 8 * s),
          H(memory.data()),
          gram(H + s * s),
          d(gram + gram_width(s) + pack_lanes),
          q(d + s),
          z(q + s),
          even(z + s),
          lane(reinterpret_cast<Pack*>(even + s)) {}
};

// Adds d to the sums of the object's clusters.
template <int S>
CONCLUST_INLINE void move_sums(double* sums, const Row& row, const double* d, std::size_t stride) {
    const std::size_t s = S ? static_cast<std::size_t>(S) : stride;
    const std::int32_t* columns = row.columns.data();
    const std::size_t n_clusters = row.n_clusters;
    if (row.unit) {
        for (std::size_t e = 0; e < n_clusters; ++e) {
            double* t = sums + static_cast<std::size_t>(columns[e]) * s;
            for (std::size_t c = 0; c < s; c += pack_lanes) {
                store(t + c, load(t + c) + load(d + c));
            }
        }
    } else {
        for (std::size_t e = 0; e < n_clusters; ++e) {
            double* t = sums + static_cast<std::size_t>(columns[e]) * s;
            const Pack x = spread(row.values[e]);
            for (std::size_t c = 0; c < s; c += pack_lanes) {
                store(t + c, load(t + c) + x * load(d + c));
            }
        }
    }
}

// out = minus b of an object: its own part `self` y, less the pull of its clusters. Over four lanes, so
// that additions overlap; the order of summation is fixed.
template <int S>
CONCLUST_INLINE void pull(const double* sums, const Row& row, double self, const double* y,
                          std::size_t stride, Pack* lanes, double* out) {
    const std::size_t s = S ? static_cast<std::size_t>(S) : stride;
    const std::size_t packs = s / pack_lanes;
    const std::int32_t* columns = row.columns.data();
    const std::size_t n_clusters = row.n_clusters;
    const auto cluster = [&](std::size_t e) { return sums + static_cast<std::size_t>(columns[e]) * s; };
    Pack near[S ? S : 1];  // in registers
    Pack* lane = S ? near : lanes;
    for (std::size_t c = 0; c < 4 * packs; ++c) {
        lane[c] = spread(0.0);
    }
    std::size_t e = 0;
    if (row.unit) {
        for (; e + 4 <= n_clusters; e += 4) {
            for (std::size_t l = 0; l < 4; ++l) {
                for (std::size_t c = 0; c < packs; ++c) {
                    lane[l * packs + c] += load(cluster(e + l) + 4 * c);
                }
            }
        }
        for (; e < n_clusters; ++e) {
            for (std::size_t c = 0; c < packs; ++c) {
                lane[c] += load(cluster(e) + 4 * c);
            }
        }
    } else {
        for (; e < n_clusters; ++e) {
            const Pack wx = spread(row.weighted[e]);
            for (std::size_t c = 0; c < packs; ++c) {
                lane[c] += wx * load(cluster(e) + 4 * c);
            }
        }
    }
    for (std::size_t c = 0; c < packs; ++c) {
        const Pack b = (lane[c] + lane[packs + c]) + (lane[2 * packs + c] + lane[3 * packs + c]);
        store(out + 4 * c, spread(self) * load(y + 4 * c) - b);
    }
}

// Extends the step from y to z by the factor `relaxation`, as far as the simplex allows.
CONCLUST_INLINE void lengthen(const double* y, double* z, std::size_t k, double relaxation) {
    constexpr double rounding = 1e-15;
    double length = relaxation;
    for (std::size_t c = 0; c < k; ++c) {
        length = y[c] - z[c] > 0.0 ? std::min(length, y[c] / (y[c] - z[c])) : length;
    }
    if (length > 1.0) {
        for (std::size_t c = 0; c < k; ++c) {
            const double value = y[c] + length * (z[c] - y[c]);
            z[c] = value > rounding ? value : 0.0;
        }
    }
}

// S > 0: the stride is known at compile time, so that rows live in registers.
template <int S>
CONCLUST_INLINE void visit(Block& block, Row& row, Entries& entries) {
    const FactoredInput& in = *block.in;
    const std::size_t s = S ? static_cast<std::size_t>(S) : block.stride;
    const std::size_t k = in.k;
    const std::size_t width = gram_width(k);
    Scratch<S> scratch(s);
    double* H = scratch.H;
    double* gram = scratch.gram;
    double* q = scratch.q;
    double* z = scratch.z;
    double* even = scratch.even;  // where a new object begins
    for (std::size_t c = 0; c < s; ++c) {
        even[c] = c < k ? 1.0 / static_cast<double>(k) : 0.0;
    }
    const bool own = block.mode != Mode::assign;  // the object itself is in the sums
    double residual = 0.0;
    double squares = 0.0;
    double fourths = 0.0;
    for (std::size_t i = block.begin; i < block.end; ++i) {
        read_entries(in, *block.presence, i, entries);
        add_entries(block.fields, width, entries, gram);
        const double present = gram[gram_weight(k)];
        const double degree = gram[gram_weight(k) + 1] - (own ? present : 0.0);
        if (!(degree > 0.0)) {
            continue;  // no evidence about this object: it is not moved
        }
        double* y = block.Y + i * s;
        read_row(in, block.column_weights, i, row);
        pull<S>(block.sums, row, own ? row.self : 0.0, y, s, scratch.lane, q);

        // H = sum_g w_g G_g - p y y'; q = H z - b.
        double norm = 0.0;
        for (std::size_t c = 0; c < s; ++c) {
            norm += y[c] * y[c];
        }
        whole<S>(gram, k, s, H);
        const double* from = own ? y : even;
        const double out = own ? present : 0.0;
        for (std::size_t c = 0; c < s; c += pack_lanes) {
            store(z + c, load(from + c));
        }
        for (std::size_t a = 0; a < k; ++a) {
            const Pack za = spread(z[a]);
            const Pack mine = spread(out * z[a]);
            for (std::size_t c = 0; c < s; c += pack_lanes) {
                double* h = H + a * s + c;
                store(h, load(h) - mine * load(z + c));
                store(q + c, load(q + c) + za * load(h));
            }
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
        if (block.mode == Mode::assign) {
            pair_steps<S>(H, q, z, s, k, enough, 50 * k);
            for (std::size_t c = 0; c < s; ++c) {
                y[c] = z[c];
            }
            continue;
        }
        pair_steps<S>(H, q, z, s, k, std::max(0.1 * gap, 0.1 * enough), 6 * k);
        if (block.relaxation > 1.0) {
            lengthen(y, z, k, block.relaxation);
        }
        outer_difference<S>(z, y, k, s, gram);
        move_entries(block.moves, width, entries, gram);
        double after = 0.0;
        for (std::size_t c = 0; c < s; ++c) {
            scratch.d[c] = z[c] - y[c];
            after += z[c] * z[c];
        }
        move_sums<S>(block.sums, row, scratch.d, s);
        squares += row.self * (after - norm);
        fourths += present * (after * after - norm * norm);
        for (std::size_t c = 0; c < s; ++c) {
            y[c] = z[c];
        }
    }
    block.residual = residual;
    block.squares = squares;
    block.fourths = fourths;
}

template <int S>
CONCLUST_INLINE void sum_rows(const Summing& part) {
    const FactoredInput& in = *part.in;
    const std::size_t s = S ? static_cast<std::size_t>(S) : part.stride;
    const std::size_t k = in.k;
    const std::size_t width = gram_width(k);
    Row row(in);
    Entries entries = all_entries(*part.presence);
    Scratch<S> scratch(s);
    double* zero = scratch.even;
    std::fill(zero, zero + s, 0.0);
    for (std::size_t i = part.begin; i < part.end; ++i) {
        read_row(in, part.column_weights, i, row);
        read_entries(in, *part.presence, i, entries);
        const double* y = part.Y + i * s;
        double norm = 0.0;
        for (std::size_t c = 0; c < s; ++c) {
            norm += y[c] * y[c];
        }
        outer_difference<S>(y, zero, k, s, scratch.gram);
        scratch.gram[gram_weight(k)] = norm * norm;
        scratch.gram[gram_weight(k) + 1] = 1.0;
        move_entries(part.moves, width, entries, scratch.gram);
        move_sums<S>(part.sums, row, y, s);
        *part.squares += row.self * norm;
    }
}

#define CONCLUST_VISIT(S)                                                      \
    CONCLUST_CLONES void visit_##S(Block& block, Row& row, Entries& entries) { \
        visit<S>(block, row, entries);                                         \
    }                                                                          \
    CONCLUST_CLONES void sum_##S(const Summing& part) { sum_rows<S>(part); }

CONCLUST_VISIT(4)
CONCLUST_VISIT(8)
CONCLUST_VISIT(12)
CONCLUST_VISIT(16)
CONCLUST_VISIT(0)

}  // namespace

void sum_block(const Summing& part) {
    switch (part.stride) {
        case 4: return sum_4(part);
        case 8: return sum_8(part);
        case 12: return sum_12(part);
        case 16: return sum_16(part);
        default: return sum_0(part);
    }
}

void visit_block(Block& block, Row& row, Entries& entries) {
    switch (block.stride) {
        case 4: return visit_4(block, row, entries);
        case 8: return visit_8(block, row, entries);
        case 12: return visit_12(block, row, entries);
        case 16: return visit_16(block, row, entries);
        default: return visit_0(block, row, entries);
    }
}

}  // namespace conclust
