// The losses of pairs of clusters for the agglomerative information bottleneck.
//
// Two clusters with the joint distributions a(x) and b(x) lose by being merged::
//
//     sum over x of w(x) [f(a(x)) + f(b(x)) - f(a(x) + b(x))]  +  f(A + B) - f(A) - f(B),   f(t) = t log t
//
// with A and B their masses. A term of the sum is 0 where a(x) or b(x) is: only what the two have in common
// takes logarithms. For a cluster a that covers nearly all x, the sum of f(b(x)) is that over all
// x, which is known, minus the few x without a.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace conclust {

// Writes the sum for cluster q and each of `others`; at most 0 up to rounding.
//
// `columns` (k x n): a(x) of each cluster, row after row, finite and >= 0; `weights` (n): w(x), finite and
// >= 0; `contents` (k): the sum of w(x) f(a(x)) of each. n < 2^32, 0 <= q < k and so are all others; `sums`
// is as long as `others`.
void common_contents(std::span<const double> columns, std::span<const double> weights,
                     std::span<const double> contents, std::size_t q,
                     std::span<const std::int64_t> others, std::span<double> sums);

}  // namespace conclust
