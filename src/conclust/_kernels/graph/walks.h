// Walks on a sparse graph times dense matrices, by panels of few columns that stay in the cache.
//
// Every entry of a result is one sum in the order of the entries of its row of P: the bits depend neither on
// the panels nor on threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace conclust {

// Transitions of a walk from each of n vertices: compressed sparse rows, n x n.
struct Walk {
    std::span<const std::int64_t> starts;  // n + 1
    std::span<const std::int32_t> columns;
    std::span<const double> chances;

    std::size_t n() const { return starts.size() - 1; }
};

// y = P x, both n x width.
void walk_step(const Walk& P, std::span<const double> x, std::size_t width, std::span<double> y,
               int threads);

// M = P (I + M) P', `times` times, for a symmetric M (n x n); `between` (n x n) is overwritten. The result
// is symmetric to the bit.
void walk_gram(const Walk& P, std::size_t times, std::span<double> M, std::span<double> between,
               int threads);

}  // namespace conclust
