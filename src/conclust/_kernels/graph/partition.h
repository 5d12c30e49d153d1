// Fiduccia-Mattheyses refinement: vertices of a graph or hypergraph are moved between k parts, one at a
// time and each at most once a pass, always by the largest gain that a part has room for, even where
// that is negative; a pass ends by going back to the best partition it met.
//
// Common preconditions: n >= 1 vertices, 1 <= k, both < 2^31; labels (n) in [0, k); vertex_weights (n)
// finite and >= 0; capacity the maximum weight of a part: a vertex moves only where it fits, and never as
// the last one of its part (a part that is over its capacity at the start may stay so). A pass gives up
// after `patience` moves without a new best. Each returns the number of passes; the last one gained
// nothing, unless max_passes ended it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace conclust {

struct Parts {
    std::span<const double> vertex_weights;
    std::size_t n, k;
    double capacity;
    std::size_t max_passes, patience;
    std::span<std::int64_t> labels;
};

// Compressed sparse rows: indptr (n + 1), indices and weights; symmetric, finite weights >= 0. Entries of
// the diagonal are ignored.
struct SparseGraph {
    std::span<const std::int64_t> indptr;
    std::span<const std::int32_t> indices;
    std::span<const double> weights;
};

// edges_at (n + 1) and edges hold the hyperedges of each vertex, pins_at (m + 1) and pins the vertices of
// each hyperedge: the same incidences; edge_weights (m) finite and >= 0.
struct Hypergraph {
    std::span<const std::int64_t> edges_at;
    std::span<const std::int32_t> edges;
    std::span<const std::int64_t> pins_at;
    std::span<const std::int32_t> pins;
    std::span<const double> edge_weights;
};

// Cut of a graph: the weight of the edges between parts.
std::size_t refine_sparse(const SparseGraph& graph, const Parts& parts);

// The same for a dense symmetric matrix (n, n), by the same moves: of doubles, or of whole numbers of 8 or 16 bits.
// Of these, the weights of a vertex add up to less than 2^28.
template <class W>
std::size_t refine_dense(std::span<const W> matrix, const Parts& parts);

// ties (n, k) = the weight of each vertex to each part. The same precondition; the diagonal counts.
template <class W>
void count_ties(std::span<const W> matrix, std::span<const std::int64_t> labels, std::size_t k,
                std::span<double> ties);

// Connectivity minus one of a hypergraph: sum over hyperedges of weight x (parts that it meets - 1).
std::size_t refine_hypergraph(const Hypergraph& graph, const Parts& parts);

// Assigns each vertex, in the given order, to the part with its highest score that has room, or to
// the lightest part if none has. Preconditions: scores (n, k) without NaN; order a permutation of the vertices.
void fill_parts(std::span<const double> scores, std::span<const std::int64_t> order, const Parts& parts);

}  // namespace conclust
