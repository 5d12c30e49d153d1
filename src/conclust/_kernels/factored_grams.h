// Grams of the factored solver: symmetric k x k matrices, of which the packs on and above the diagonal
// are kept, row after row: what every object reads and writes is little more than half.
//
// Row a of a matrix whose rows are `stride` doubles (k rounded up to whole packs) begins at the pack that
// holds its diagonal. Columns from k on are 0.
#pragma once

#include <cstddef>

#include "clones.h"
#include "factored_rows.h"
#include "pack.h"

namespace conclust {

// The column at which row a begins.
constexpr std::size_t gram_from(std::size_t a) {
    return a / pack_lanes * pack_lanes;
}

// Where row a begins.
constexpr std::size_t gram_row(std::size_t a, std::size_t stride) {
    const std::size_t from = gram_from(a);
    // Before them pack_lanes rows of stride doubles, then of stride - pack_lanes, and so on.
    return from * stride - from * (from - pack_lanes) / 2 + (a - from) * (stride - from);
}

// Doubles of a Gram.
constexpr std::size_t gram_width(std::size_t k, std::size_t stride) {
    return gram_row(k - 1, stride) + stride - gram_from(k - 1);
}

// For rows of any number of groups; `sum_grams` and `shift_grams` below see to the common case of one.
void add_grams(const double* grams, std::size_t width, const Row& row, double* out);
void move_grams(double* grams, std::size_t width, const Row& row, const double* delta);

// out (width) = the weighted sum of the row's Grams.
CONCLUST_INLINE void sum_grams(const double* grams, std::size_t width, const Row& row, double* out) {
    if (row.n_groups != 1) {
        return add_grams(grams, width, row, out);
    }
    const Pack weight = spread(row.group_weights[0]);
    const double* gram = grams + static_cast<std::size_t>(row.groups[0]) * width;
    for (std::size_t c = 0; c < width; c += pack_lanes) {
        store(out + c, weight * load(gram + c));
    }
}

// Adds `delta` (width) to each of the row's Grams.
CONCLUST_INLINE void shift_grams(double* grams, std::size_t width, const Row& row, const double* delta) {
    if (row.n_groups != 1) {
        return move_grams(grams, width, row, delta);
    }
    double* gram = grams + static_cast<std::size_t>(row.groups[0]) * width;
    for (std::size_t c = 0; c < width; c += pack_lanes) {
        store(gram + c, load(gram + c) + load(delta + c));
    }
}

// sum_ac A_ac B_ac.
double gram_dot(const double* A, const double* B, std::size_t k, std::size_t stride);

// Pack c of column a, for rows before a's own pack.
CONCLUST_INLINE Pack gram_column(const double* gram, std::size_t a, std::size_t c, std::size_t stride) {
    const double* at = gram + gram_row(c, stride) + a - c;
    const std::size_t step = stride - c;
    return Pack{at[0], at[step], at[2 * step], at[3 * step]};
}

// out = y y'; y is 0 from k on.
CONCLUST_INLINE void outer(const double* y, std::size_t k, std::size_t stride, double* out) {
#pragma GCC unroll 4
    for (std::size_t from = 0; from < stride; from += pack_lanes) {
        for (std::size_t a = from; a < from + pack_lanes && a < k; ++a) {
            const Pack ya = spread(y[a]);
            for (std::size_t c = from; c < stride; c += pack_lanes) {
                store(out + c - from, ya * load(y + c));
            }
            out += stride - from;
        }
    }
}

// q += G z. S = stride if it is known at compile time, else 0.
template <int S>
CONCLUST_INLINE void multiply(const double* gram, const double* z, std::size_t k, std::size_t stride,
                              double* q) {
    const std::size_t s = S ? static_cast<std::size_t>(S) : stride;
#pragma GCC unroll 4
    for (std::size_t from = 0; from < s; from += pack_lanes) {
        for (std::size_t a = from; a < from + pack_lanes && a < k; ++a) {
            const Pack za = spread(z[a]);
            for (std::size_t c = 0; c < from; c += pack_lanes) {
                store(q + c, load(q + c) + za * gram_column(gram, a, c, s));
            }
            for (std::size_t c = from; c < s; c += pack_lanes) {
                store(q + c, load(q + c) + za * load(gram + gram_row(a, s) + c - from));
            }
        }
    }
}

// H (k rows of `stride`) = the whole matrix.
CONCLUST_INLINE void whole(const double* gram, std::size_t k, std::size_t stride, double* H) {
    for (std::size_t a = 0; a < k; ++a) {
        const std::size_t from = gram_from(a);
        for (std::size_t c = 0; c < from; c += pack_lanes) {
            store(H + a * stride + c, gram_column(gram, a, c, stride));
        }
        const double* row = gram + gram_row(a, stride);
        for (std::size_t c = from; c < stride; c += pack_lanes) {
            store(H + a * stride + c, load(row + c - from));
        }
    }
}

}  // namespace conclust
