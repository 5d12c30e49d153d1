// Evidence of chosen pairs, and the uniform sample of pairs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "labels/label_view.h"

namespace conclust {

// c[e] and present[e]: partitions in which objects i[e] and j[e] have the same cluster, and in which
// both were observed. Sum is uint32 for counts and double for sums of weights; the latter run over
// fixed lanes, so that the bits depend on neither threads nor processor.
//
// Preconditions: m < 2^32; 0 <= i[e], j[e] < n; i, j and the outputs are of one length; the labels have
// weights where Sum is double.
template <class Index, class Sum>
void pair_counts(const LabelView& labels, std::span<const Index> i, std::span<const Index> j,
                 std::span<Sum> c, std::span<Sum> present, int threads);

// The same for few pairs, on the calling thread.
template <class Index, class Sum>
void few_pair_counts(const LabelView& labels, std::span<const Index> i, std::span<const Index> j,
                     std::span<Sum> c, std::span<Sum> present);

// The same for the entries of a CSR pattern: entry e of row i is the pair (i, indices[e]).
// Preconditions: indptr has n + 1 rising places, 0 <= indices[e] < n.
template <class Sum>
void graph_counts(const LabelView& labels, std::span<const std::int64_t> indptr,
                  std::span<const std::int32_t> indices, std::span<Sum> c, std::span<Sum> present,
                  int threads);

// A uniform sample of pairs as a symmetric CSR pattern: every object draws `per_object` distinct
// partners (all others, where there are fewer), and a pair is there if either of the two drew the
// other. Rows are sorted and free of duplicates and of the object itself; every object has at least
// min(per_object, n - 1) partners.
//
// Preconditions: 2 <= n < 2^31, per_object >= 1.
class PairSample {
  public:
    PairSample(std::size_t n, std::size_t per_object, std::uint64_t seed, int threads);

    std::size_t n_samples() const { return n_; }
    std::size_t n_entries() const { return static_cast<std::size_t>(indptr_[n_]); }
    // Precondition: indptr has n + 1 places, indices n_entries().
    void read(std::span<std::int64_t> indptr, std::span<std::int32_t> indices, int threads) const;

  private:
    template <class Take>
    void merge(std::size_t i, Take take) const;

    std::size_t n_;
    std::size_t drawn_;                      // partners drawn by each object
    std::vector<std::int32_t> partners_;     // (n, drawn), rows sorted
    std::vector<std::int64_t> admirers_at_;  // (n + 1,): where the rows of admirers_ begin
    std::vector<std::int32_t> admirers_;     // the objects that drew this object, rows sorted
    std::vector<std::int64_t> indptr_;
};

}  // namespace conclust
