#include "graph/smoothing.h"

#include <algorithm>
#include <cmath>

#include "base/clones.h"

namespace conclust {
namespace {

// Columns of a block.
constexpr std::size_t width = 32;

// Rows of `width` numbers: out = H in.
CONCLUST_CLONES void multiply(const std::int64_t* starts, const std::int32_t* columns,
                              const double* values, std::size_t n, const double* in, double* out) {
    for (std::size_t i = 0; i < n; ++i) {
        double sums[width] = {};
        for (std::int64_t e = starts[i]; e < starts[i + 1]; ++e) {
            const double* row = in + static_cast<std::size_t>(columns[e]) * width;
            for (std::size_t c = 0; c < width; ++c) {
                sums[c] += values[e] * row[c];
            }
        }
        std::copy(sums, sums + width, out + i * width);
    }
}

// Rows of `width` numbers: block = (L D L')^-1 block, L by columns.
CONCLUST_CLONES void solve(const std::int64_t* starts, const std::int32_t* rows, const double* values,
                           const double* inverse_pivots, std::size_t n, double* block) {
    for (std::size_t j = 0; j < n; ++j) {
        const double* own = block + j * width;
        for (std::int64_t e = starts[j]; e < starts[j + 1]; ++e) {
            double* row = block + static_cast<std::size_t>(rows[e]) * width;
            for (std::size_t c = 0; c < width; ++c) {
                row[c] -= values[e] * own[c];
            }
        }
    }
    for (std::size_t j = n; j-- > 0;) {
        double* own = block + j * width;
        double sums[width];
        for (std::size_t c = 0; c < width; ++c) {
            sums[c] = own[c] * inverse_pivots[j];
        }
        for (std::int64_t e = starts[j]; e < starts[j + 1]; ++e) {
            const double* row = block + static_cast<std::size_t>(rows[e]) * width;
            for (std::size_t c = 0; c < width; ++c) {
                sums[c] -= values[e] * row[c];
            }
        }
        std::copy(sums, sums + width, own);
    }
}

// direction = work + share direction.
CONCLUST_CLONES void turn(double* direction, const double* work, double share, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
        direction[i] = work[i] + share * direction[i];
    }
}

// X += length direction, in the first rows; residual -= length work; work = residual. Returns the largest of
// |residual| over the roots of its row and column.
CONCLUST_CLONES double move(double* X, std::size_t rows_of_X, double* residual, const double* direction,
                            double* work, double length, const double* of_rows, const double* of_columns,
                            std::size_t n) {
    for (std::size_t at = 0; at < rows_of_X * width; ++at) {
        X[at] += length * direction[at];
    }
    double largest[width] = {};
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t c = 0; c < width; ++c) {
            const std::size_t at = i * width + c;
            residual[at] -= length * work[at];
            work[at] = residual[at];
            const double size = std::fabs(residual[at]) * (of_rows[i] * of_columns[c]);
            largest[c] = size > largest[c] ? size : largest[c];
        }
    }
    return *std::max_element(largest, largest + width);
}

// Transposes a tile.
CONCLUST_CLONES void turn_over(const double* from, std::size_t rows, double* to) {
    for (std::size_t c = 0; c < width; ++c) {
        for (std::size_t r = 0; r < rows; ++r) {
            to[c * width + r] = from[r * width + c];
        }
    }
}

CONCLUST_CLONES double dot(const double* a, const double* b, std::size_t count) {
    constexpr std::size_t lanes = 8;
    double sums[lanes] = {};
    std::size_t i = 0;
    for (; i + lanes <= count; i += lanes) {
        for (std::size_t l = 0; l < lanes; ++l) {
            sums[l] += a[i + l] * b[i + l];
        }
    }
    for (std::size_t l = 0; i < count; ++i, ++l) {
        sums[l] += a[i] * b[i];
    }
    return ((sums[0] + sums[4]) + (sums[2] + sums[6])) + ((sums[1] + sums[5]) + (sums[3] + sums[7]));
}

}  // namespace

MaskedSylvester::MaskedSylvester(SparseLines H, SparseLines L, std::span<const double> inverse_pivots,
                                 SparseLines fixed, std::span<const double> root,
                                 std::span<const double> X, std::span<const double> residual)
    : n_(root.size()),
      blocks_((n_ + width - 1) / width),
      H_(H),
      L_(L),
      inverse_pivots_(inverse_pivots),
      fixed_(fixed),
      inverse_root_(blocks_ * width, 0.0),
      X_(blocked(X)),
      residual_(blocked(residual)),
      direction_(X_.size(), 0.0),
      moved_(X_.size(), 0.0),
      solved_(X_.size(), 0.0),
      buffer_(blocks_ * width * width) {
    for (std::size_t i = 0; i < n_; ++i) {
        inverse_root_[i] = 1.0 / root[i];
    }
    solve_columns();
    solve_rows();
    share_ = 0.0;
}

double MaskedSylvester::step() {
    const double curvature = advance();
    length_ = curvature > 0.0 ? product_ / curvature : 0.0;
    solve_columns();
    const double before = product_;
    solve_rows();
    share_ = before > 0.0 ? product_ / before : 0.0;
    return largest_;
}

void MaskedSylvester::read(std::span<double> X) const {
    for (std::size_t i = 0; i < n_; ++i) {
        for (std::size_t j = 0; j < n_; ++j) {
            X[i * n_ + j] = X_[place(std::min(i, j), std::max(i, j))];
        }
    }
}

// Consecutive blocks of columns; padding columns of the last block are and remain 0.
std::vector<double> MaskedSylvester::blocked(std::span<const double> matrix) const {
    std::vector<double> found(blocks_ * width * n_, 0.0);
    for (std::size_t i = 0; i < n_; ++i) {
        for (std::size_t j = 0; j < n_; ++j) {
            found[place(i, j)] = matrix[i * n_ + j];
        }
    }
    return found;
}

std::size_t MaskedSylvester::place(std::size_t i, std::size_t j) const {
    return (j / width * n_ + i) * width + j % width;
}

// Computes the next direction, and H times it. Returns the inner product of the direction with itself under H from
// both sides.
double MaskedSylvester::advance() {
    const std::size_t size = n_ * width;
    double total = 0.0;
    for (std::size_t b = 0; b < blocks_; ++b) {
        double* direction = direction_.data() + b * size;
        double* moved = moved_.data() + b * size;
        turn(direction, solved_.data() + b * size, share_, size);
        multiply(H_.starts.data(), H_.others.data(), H_.values.data(), n_, direction, moved);
        total += dot(direction, moved, size);  // fixed entries of the direction are 0
    }
    return 2.0 * total;
}

// Makes the step, and divides the residual by K from the left. Only the upper triangle of X is stored.
void MaskedSylvester::solve_columns() {
    largest_ = 0.0;
    const std::size_t size = n_ * width;
    double turned[width * width] = {};
    for (std::size_t b = 0; b < blocks_; ++b) {
        const std::size_t begin = b * width, columns = std::min(width, n_ - begin);
        double* block = solved_.data() + b * size;
        std::fill(turned, turned + width * width, 0.0);
        for (std::size_t I = 0; I < blocks_; ++I) {
            // H direction plus its transpose, direction H.
            turn_over(moved_.data() + (I * n_ + begin) * width, columns, turned);
            const double* own = moved_.data() + (b * n_ + I * width) * width;
            double* both = block + I * width * width;
            const std::size_t count = std::min(width, n_ - I * width) * width;
            for (std::size_t at = 0; at < count; ++at) {
                both[at] = own[at] + turned[at];
            }
        }
        for (std::size_t j = begin; j < begin + columns; ++j) {
            for (std::int64_t e = fixed_.starts[j]; e < fixed_.starts[j + 1]; ++e) {
                block[static_cast<std::size_t>(fixed_.others[e]) * width + (j - begin)] = 0.0;
            }
        }
        const double largest = move(X_.data() + b * size, begin + columns, residual_.data() + b * size,
                                    direction_.data() + b * size, block, length_, inverse_root_.data(),
                                    inverse_root_.data() + begin, n_);
        largest_ = std::max(largest_, largest);
        solve(L_.starts.data(), L_.others.data(), L_.values.data(), inverse_pivots_.data(), n_, block);
    }
}

// Divides by K from the right, which for the transposed matrix is from the left: rows are read as
// columns, and the result is symmetric, so it is written in place of the rows.
void MaskedSylvester::solve_rows() {
    product_ = 0.0;
    for (std::size_t I = 0; I < blocks_; ++I) {
        const std::size_t rows = std::min(width, n_ - I * width);
        std::fill(buffer_.begin(), buffer_.end(), 0.0);
        for (std::size_t J = 0; J < blocks_; ++J) {
            turn_over(solved_.data() + (J * n_ + I * width) * width, rows,
                      buffer_.data() + J * width * width);
        }
        solve(L_.starts.data(), L_.others.data(), L_.values.data(), inverse_pivots_.data(), n_,
              buffer_.data());
        for (std::size_t J = 0; J < blocks_; ++J) {
            const std::size_t at = (J * n_ + I * width) * width;
            double turned[width * width];
            turn_over(buffer_.data() + J * width * width, width, turned);
            std::copy(turned, turned + rows * width, solved_.data() + at);
            product_ += dot(solved_.data() + at, residual_.data() + at, rows * width);
        }
        for (std::size_t i = I * width; i < I * width + rows; ++i) {
            for (std::int64_t e = fixed_.starts[i]; e < fixed_.starts[i + 1]; ++e) {
                solved_[place(i, static_cast<std::size_t>(fixed_.others[e]))] = 0.0;
            }
        }
    }
}

}  // namespace conclust
