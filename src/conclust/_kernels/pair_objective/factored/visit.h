// The inner loops of the factored solver: a block of objects against cluster sums and Grams.
#pragma once

#include <cstddef>

#include "pair_objective/factored/rows.h"

namespace conclust {

enum class Mode { sweep, residual, assign };

// One block's work: objects [begin, end) against sums and fields.
struct Block {
    const FactoredInput* in;
    const double* column_weights;
    const PresenceTable* presence;
    std::size_t stride;
    std::size_t begin;
    std::size_t end;
    double* Y;             // of object 0
    double* sums;          // move with the objects
    const double* fields;  // sums of Grams, see grams.h: as they were
    double* moves;         // the objects' changes of the sums are added here
    double tol;         // an object with a smaller gap per unit of evidence does not move
    double negligible;  // nor does one that can lower F by less than this
    double relaxation;  // step over the step to the minimiser, at least 1 (over-relaxation)
    Mode mode;
    // out
    double residual;
    double squares;  // change of the solver's squares_ and fourths_
    double fourths;
};

// One part of a rebuild: objects [begin, end) added to sums and moves, and to squares and fourths.
struct Summing {
    const FactoredInput* in;
    const double* column_weights;
    const PresenceTable* presence;
    std::size_t stride;
    std::size_t begin;
    std::size_t end;
    const double* Y;
    double* sums;
    double* moves;    // of Grams; the last of a Gram's two numbers counts the objects
    double* squares;
};

// Works through the block's objects. The stride is a multiple of 4; row and entries are scratch, which
// begins as all_entries.
void visit_block(Block& block, Row& row, Entries& entries);

// Adds the part's objects to its sums, moves and squares.
void sum_block(const Summing& part);

}  // namespace conclust
