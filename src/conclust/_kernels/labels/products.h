// Products with the indicator B of hard labels (n x T), which is not made: an object's row of B names its
// clusters. Labels that are missing or noise name none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "labels/label_view.h"

namespace conclust {

// out = the rows of B table that begin with object `first`; table is T x d, out has d columns. With `unit`
// rows are scaled to unit length; those shorter than 1e-12 become 0.
//
// Precondition: hard labels; the rows are objects'.
void indicator_rows(const LabelView& labels, std::span<const double> table, std::size_t first, bool unit,
                    std::size_t d, std::span<double> out);

// sums (T x k) = B' P, where row i of P holds values[i] in column parts[i]. No values: 1. No parts: k is 1.
//
// Precondition: hard labels; parts are below k.
void cluster_sums(const LabelView& labels, std::span<const double> values,
                  std::span<const std::int64_t> parts, std::size_t k, std::span<double> sums);

// sums (T x d) = diag(weights) B' rows, with rows (n x d); each term is weighed before it is added, in the order of
// objects.
//
// Precondition: hard labels.
void cluster_row_sums(const LabelView& labels, std::span<const double> weights,
                      std::span<const double> rows, std::size_t d, std::span<double> sums);

}  // namespace conclust
