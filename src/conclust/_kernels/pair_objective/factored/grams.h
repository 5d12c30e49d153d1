// Grams of the factored solver: symmetric k x k matrices, of which the upper triangle is kept, row after
// row. Two numbers follow it: the weight of the observed partitions, and this weight times their objects.
//
// Every object adds up the Grams of the presence groups that observed it, and moves them. Groups are taken in
// sets of a few (PresenceTable): a table has an entry for each subset of each set, with the sum of the Grams
// of its groups, or the moves by objects that exactly these groups of the set observed. An object
// therefore reads and writes one entry per set, whichever groups observed it.
#pragma once

#include <cstddef>
#include <vector>

#include "base/clones.h"
#include "base/pack.h"
#include "pair_objective/factored/rows.h"

namespace conclust {

// Start of row a of the triangle, at its diagonal.
constexpr std::size_t gram_row(std::size_t a, std::size_t k) { return a * (2 * k - a + 1) / 2; }

// Index of the weight; the next number is the weight times the objects.
constexpr std::size_t gram_weight(std::size_t k) { return gram_row(k, k); }

// Number of doubles of a Gram, in full packs.
constexpr std::size_t gram_width(std::size_t k) {
    return (gram_weight(k) + 2 + pack_lanes - 1) / pack_lanes * pack_lanes;
}

// sum_ac A_ac B_ac.
double gram_dot(const double* A, const double* B, std::size_t k);

// fields (a table) = the sum of weights_g grams_g of each entry's groups; each Gram's two numbers are made
// of its weight and size.
void sum_by_entry(const PresenceTable& presence, std::size_t k, const double* grams,
                  const double* weights, const double* sizes, double* fields);

// Adds to each Gram the moves of the entries that contain its group.
void gather_moves(const PresenceTable& presence, std::size_t width, const double* moves, double* grams);

// out (width) = the sum of the entries.
void add_entries(const double* fields, std::size_t width, const Entries& entries, double* out);

// Adds `delta` (width) to each of the entries.
void move_entries(double* moves, std::size_t width, const Entries& entries, const double* delta);

// out = z z' - y y', the two numbers 0. Rows of `stride` doubles, 0 from k on; S = stride if it is known
// at compile time, else 0. Writes whole packs: up to one past the end.
template <int S>
CONCLUST_INLINE void outer_difference(const double* z, const double* y, std::size_t k,
                                      std::size_t stride, double* out) {
    const std::size_t s = S ? static_cast<std::size_t>(S) : stride;
    const auto row = [&]<int shift>(std::size_t from) {
        const std::size_t a = from + shift;
        const Pack za = spread(z[a]);
        const Pack ya = spread(y[a]);
        double* at = out + gram_row(a, k);
        Pack low = za * load(z + from) - ya * load(y + from);
        for (std::size_t c = from + pack_lanes; c < s; c += pack_lanes, at += pack_lanes) {
            const Pack high = za * load(z + c) - ya * load(y + c);
            store(at, shifted<shift>(low, high));
            low = high;
        }
        store(at, shifted<shift>(low, spread(0.0)));
    };
    // In order: a row writes past its end, and the next row overwrites that.
    for (std::size_t from = 0; from < k; from += pack_lanes) {
        row.template operator()<0>(from);
        if (from + 1 < k) row.template operator()<1>(from);
        if (from + 2 < k) row.template operator()<2>(from);
        if (from + 3 < k) row.template operator()<3>(from);
    }
    for (std::size_t c = gram_weight(k); c < gram_width(k); ++c) {
        out[c] = 0.0;
    }
}

// H (k rows of `stride`) = the whole matrix; its columns from k on are arbitrary. Reads up to a pack past
// the end of the Gram.
template <int S>
CONCLUST_INLINE void whole(const double* gram, std::size_t k, std::size_t stride, double* H) {
    const std::size_t s = S ? static_cast<std::size_t>(S) : stride;
    for (std::size_t a = 0; a < k; ++a) {
        const double* own = gram + gram_row(a, k);
        for (std::size_t from = 0; from < s; from += pack_lanes) {
            if (from >= a) {
                store(H + a * s + from, load(own + from - a));
                continue;
            }
            double values[pack_lanes];
            for (std::size_t j = 0; j < pack_lanes; ++j) {
                const std::size_t c = from + j;
                values[j] = c < a ? gram[gram_row(c, k) + a - c] : own[c - a];
            }
            store(H + a * s + from, Pack{values[0], values[1], values[2], values[3]});
        }
    }
}

}  // namespace conclust
