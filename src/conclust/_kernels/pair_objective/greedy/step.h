// The inner loops of the greedy solver: one object against its partners.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/counts.h"
#include "pair_objective/divergence.h"
#include "pair_objective/outside.h"

namespace conclust {

struct GreedyDivergence {
    Divergence known = Divergence::l2;
    double power = 2.0;         // of Divergence::power
    OutsideDivergence
        outside;  // its call null: the divergence above. Scratch as long as the longest row
};

// The partners of an object, and the numbers of each pair. The length of the arrays is a multiple of eight:
// places beyond the partners hold a pair without evidence, which adds zeros to every sum.
struct GreedyRow {
    explicit GreedyRow(std::size_t partners_at_most) : GreedyRow((partners_at_most + 7) / 8 * 8, 0) {}
    std::size_t count = 0;
    std::size_t whole = 0;  // count rounded up to eights
    std::int64_t evaluations = 0;  // of the slope along a line, by all searches so far
    const std::int32_t* partners = nullptr;
    std::vector<std::int32_t> own_partners;  // for those that lie nowhere else
    std::vector<double> memory;
    double *c, *N;
    double* a;                 // y_J'y_i
    double* d;                 // change of a as mass moves: y_iU - y_iV
    double *before, *after;    // slope of N d(c / N, a) at the old and at the new membership
    double *first, *second;    // scratch: gaps of the partners; terms of sums

  private:
    GreedyRow(std::size_t capacity, int)
        : own_partners(capacity),
          memory(8 * capacity),
          c(memory.data()),
          N(c + capacity),
          a(N + capacity),
          d(a + capacity),
          before(d + capacity),
          after(before + capacity),
          first(after + capacity),
          second(first + capacity) {}
};

// Objects' records: y then g, each of `stride` doubles (a multiple of 4, above k). In the padding beyond
// the k clusters y is 0 and g is +infinity, which no minimum takes; but the last place of y holds minus
// the object's key in the queue. Memberships that are given to the functions below have a 0 there.
struct GreedyRecords {
    double* data;
    std::size_t stride;
};

// Sets the number of partners and pads the places beyond them. Precondition: partners, c and N are set.
void finish_row(GreedyRow& row, std::size_t count);

// Sum in fixed lanes.
double sum_of(const double* values, std::size_t count);

// a = y'y_i of all partners.
void products(const GreedyRecords& records, const double* y, GreedyRow& row);
// The same, and d for a move from V to U.
void products_along(const GreedyRecords& records, const double* y, std::size_t U, std::size_t V,
                    GreedyRow& row);

// Slopes at a into `out`.
void slopes(const GreedyDivergence& divergence, const GreedyRow& row, double* out);

// Sum of N d(c / N, a).
double value(const GreedyDivergence& divergence, GreedyRow& row);

// The step in [0, most] that minimises the sum of N d(c / N, a + step d). It is `most` itself only if
// the minimum is not inside. Leaves the slopes at a in row.before.
double line_search(const GreedyDivergence& divergence, GreedyRow& row, double most);

// g = sum of before_i y_i (stride places, padding 0).
void gradient(const GreedyRecords& records, const GreedyRow& row, double* g);

// Puts the object's move from `y_old` to `y_new` into the gradients of its partners, writes their
// gaps to row.first and returns the largest, and sets g = sum of after_i y_i.
double move_gradients(const GreedyRecords& records, const double* y_old, const double* y_new,
                      GreedyRow& row, double* g);

// max_{k: y_k > 0} g_k - min_k g_k of a record.
double gap_of(const double* y, const double* g, std::size_t stride);

}  // namespace conclust
