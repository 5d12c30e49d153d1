// Steps of iterations that multiply memberships, each in one pass over the rows. Sums of rows have NumPy's order.
#pragma once

#include <cstddef>
#include <span>

namespace conclust {

// What a growth step reads: n rows.
struct Growth {
    std::span<const double> Y;  // n x k, memberships
    std::span<const double> degree;  // n: sum of N_ij over the pairs of an object
    std::span<const double> own_c;  // n: c_ii, where pairs of an object with itself are left out; or 0
    std::size_t k;
};

// observed (n x k): sums over all j of c_ij y_jk, from which own pairs are taken out; fitted: over j != i of
// N_ij y_i'y_j y_jk. grown: Y times max(degree + observed - fitted, 0), in rows that sum to 1, or those of Y where
// all of that is 0.
void grow_rows(const Growth& in, std::span<double> observed, std::span<const double> fitted,
               std::span<double> grown);

// The part of `fitted` that leaves out the pairs of objects with themselves: -N_ii y_i'y_i y_ik.
void own_rows(std::span<const double> Y, std::span<const double> own_N, std::size_t k,
              std::span<double> fitted);

// Three successive points: second - first, and the change of that.
void bend_rows(std::span<const double> first, std::span<const double> second,
               std::span<const double> third, std::span<double> change, std::span<double> bend);

// ahead: first + twice change + square bend, but at least `least` of the third point, in rows of the sums of that.
void leap_rows(std::span<const double> first, std::span<const double> change,
               std::span<const double> bend, std::span<const double> third, double twice, double square,
               double least, std::size_t k, std::span<double> ahead);

// The largest difference of two entries.
double largest_change(std::span<const double> one, std::span<const double> other);

}  // namespace conclust
