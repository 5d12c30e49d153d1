// By how much less is lost when all copies of a row of hard labels join each cluster.
//
// The losses, and what clusters hold, are those of label_vectors.h. Sums over partitions run in their order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace conclust {

// In HardRow::places, in place of a label.
inline constexpr std::int64_t place_missing = -1;
inline constexpr std::int64_t place_noise = -2;

// A row, and what clusters hold, in rows of `width` numbers, a multiple of four.
struct HardRow {
    std::span<const std::int64_t> places;  // m: where the row of each label begins in `sums`
    const double* weights;  // m
    const double* sums;  // T x width
    const double* squares;  // m x width
    const double* present;  // m x width: objects
    double count;  // copies of the row
    std::size_t width;
};

// gain (width): overwritten.
void quadratic_row_gains(const HardRow& row, double* gain);
void cut_row_gains(const HardRow& row, double* gain);

// For one object, where `sums` and `present` hold what each loss of entropy grows by.
void entropic_row_gains(const HardRow& row, double* gain);

// (kept + gain) / (degree + d) - kept / degree, over one denominator; 0 / 0 is 0. gain (width): changed.
void cut_gains_of(const double* kept, const double* degree, double d, std::size_t width, double* gain);

// Returns the greatest of k numbers, k from 1 on.
double greatest(const double* values, std::size_t k);

}  // namespace conclust
