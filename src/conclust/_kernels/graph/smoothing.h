// Conjugate gradients for H X + X H = B in some entries of a symmetric matrix, the others being given.
//
// H is sparse, symmetric and positive definite, and so is K = H + s I for a shift s, of which the sparse factors
// K = L D L' are given. The preconditioner is K^-1 R K^-1, kept to the free entries: with s between the smallest
// and the largest eigenvalue of H the number of steps grows with the fourth root of their ratio.
//
// Matrices are stored as blocks of columns, each of which fits into a core's cache.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace conclust {

// Compressed rows, or columns, of a sparse matrix.
struct SparseLines {
    std::span<const std::int64_t> starts;  // n + 1
    std::span<const std::int32_t> others;
    std::span<const double> values;  // empty for a pattern
};

// Preconditions: H (rows) is symmetric; L (columns) holds the entries below its unit diagonal; `inverse_pivots` (n):
// 1 / D; `fixed` (rows) is a symmetric pattern that holds the diagonal; root (n) > 0. X and residual (n x n) are
// symmetric, the residual B - H X - X H in the free entries and 0 in the others. The sparse matrices outlive the
// object.
class MaskedSylvester {
  public:
    MaskedSylvester(SparseLines H, SparseLines L, std::span<const double> inverse_pivots,
                    SparseLines fixed, std::span<const double> root, std::span<const double> X,
                    std::span<const double> residual);

    // Makes a step. Returns the largest |residual_ij| / (root_i root_j) after it.
    double step();

    void read(std::span<double> X) const;

  private:
    std::vector<double> blocked(std::span<const double> matrix) const;
    std::size_t place(std::size_t i, std::size_t j) const;
    double advance();
    void solve_columns();
    void solve_rows();

    std::size_t n_, blocks_;
    SparseLines H_, L_;
    std::span<const double> inverse_pivots_;
    SparseLines fixed_;
    std::vector<double> inverse_root_;
    std::vector<double> X_, residual_, direction_, moved_, solved_;
    std::vector<double> buffer_;  // a block
    double length_ = 0.0;  // entry of the step
    double share_ = 0.0;  // of the last direction in the next
    double product_ = 0.0;  // of the residual and itself, preconditioned
    double largest_ = 0.0;
};

}  // namespace conclust
