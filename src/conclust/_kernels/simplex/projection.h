// Rows on the probability simplex: their projection on it, their shares, their largest entries.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace conclust {

// Row v becomes scale_c max(v_c - theta, 0), with the theta that makes its sum 1.
//
// Preconditions: V and X are n x k, k > 0; in each row of V no NaN or +inf, and a number above -inf;
// scale (k) above 0. X may be V.
void project_rows(std::span<const double> V, std::span<const double> scale, std::span<double> X);

// Logarithms of weights (n x k) plus `add` (k) are reduced by the largest of their row, which is added to top (n).
void lower_rows(std::span<double> rows, std::span<const double> add, std::span<double> top);

// Rows are divided by their sums (n), which are written: of eight running sums over the columns, as NumPy adds them.
void share_rows(std::span<double> rows, std::size_t k, std::span<double> sums);

// Rows in memory of any layout: entry (i, c) is first[i * row + c * column].
struct StridedRows {
    const double* first;
    std::ptrdiff_t row;
    std::ptrdiff_t column;
};

// Finds the first of the largest entries of each row, without NaN: labels (n), and the first
// row that has it in a column, n if none: first (k), k > 0. Returns whether a row has several.
bool largest_of_rows(const StridedRows& Y, std::span<std::int64_t> labels,
                     std::span<std::int64_t> first);

}  // namespace conclust
