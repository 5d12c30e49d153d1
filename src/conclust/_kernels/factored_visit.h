// The inner loops of the factored solver: a block of objects against cluster sums and Grams.
#pragma once

#include <cstddef>

#include "factored_rows.h"

namespace conclust {

enum class Mode { sweep, residual, assign };

// One block's work: objects [begin, end) against sums and grams.
struct Block {
    const FactoredInput* in;
    const double* column_weights;
    const double* group_sizes;
    std::size_t stride;
    std::size_t begin;
    std::size_t end;
    double* Y;       // of object 0
    double* sums;
    double* grams;      // packed, see factored_grams.h
    double tol;         // gap per unit of evidence below which an object is left alone
    double negligible;  // or what it can lower F by
    Mode mode;
    // out
    double residual;
    double squares;  // change of the solver's squares_ and fourths_
    double fourths;
};

// One part of a rebuild: objects [begin, end) added to sums and grams.
struct Summing {
    const FactoredInput* in;
    const double* column_weights;
    std::size_t stride;
    std::size_t begin;
    std::size_t end;
    const double* Y;
    double* sums;
    double* grams;
    double* squares;  // squares, fourths, group sizes
};

// Works through the block's objects: `row` is scratch. The stride is a multiple of 4.
void visit_block(Block& block, Row& row);

// Adds the part's objects to its sums, Grams and squares.
void sum_block(const Summing& part, Row& row);

}  // namespace conclust
