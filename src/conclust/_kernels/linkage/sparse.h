// Single and average linkage on the evidence of some pairs only.
//
// The pairs are a CSR pattern of which the entries i < j are read, each pair at most once (a symmetric
// pattern serves as it is): `counts` are c_ij and `copresence` N_ij; entries with N_ij = 0 are no
// evidence and passed over. Fractions of sums of weights (floating Count) go on a grid of 2^-40.
// n < 2^32, all column indices in 0 .. n - 1.
//
// Writes n - 1 merges in order of height: a leaf of either side (any leaf for average) and the height.
// Pieces that no chain of pairs connects join last, at height 1: each joins the piece of object 0, in the
// order of their lowest objects. Returns the number of pieces.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "linkage/merges.h"

namespace conclust {

// Compressed sparse rows: indptr (n + 1), the others one place an entry.
template <class Count>
struct SparsePairs {
    std::span<const std::int64_t> indptr;
    std::span<const std::int32_t> indices;
    std::span<const Count> counts;
    std::span<const Count> copresence;

    std::size_t n() const { return indptr.size() - 1; }
};

// The maximum spanning forest of c_ij / N_ij (Kruskal). Ties: the lowest pair (i, j), i < j.
template <class Count>
std::size_t sparse_single(const SparsePairs<Count>& in, const MergesOut& out);

// Merges the two clusters with the highest (sum of c_ij) / (sum of N_ij) over the pairs between
// them, as long as there are any. Ties: the lowest pair of clusters. A merged cluster takes the name of the
// cluster with the longer list of partners, or the lower name. O(E log^2 E) time for E pairs.
template <class Count>
std::size_t sparse_average(const SparsePairs<Count>& in, const MergesOut& out);

}  // namespace conclust
