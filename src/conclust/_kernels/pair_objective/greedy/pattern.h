// A pattern of pairs in the form of the greedy solver, which reads one object's row at a time, in any order.
//
// The data of a row lie together, in the narrowest type that holds all counts (bytes where no N_ij is
// above 255), so that a row of thirty partners is three or four cache lines.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/prefetch.h"
#include "pair_objective/pair_counts.h"

namespace conclust {

class GreedyPattern {
  public:
    GreedyPattern() = default;
    // Everything is copied. Precondition: the counts are on a pattern.
    explicit GreedyPattern(const PairCounts& pairs);

    std::size_t count(std::size_t i) const { return static_cast<std::size_t>(row(i)[0]); }
    const std::int32_t* partners(std::size_t i) const { return row(i) + 1; }
    // The counts of a row: c, padded with zeros to a multiple of eight, then N in the same way.
    Counts counts(std::size_t i) const {
        return {row(i) + first_value(count(i)), bytes_, 2 * whole_eights(count(i))};
    }

    // Prefetches the row.
    void ask(std::size_t i) const;

  private:
    // A row, in pieces of 8 bytes: its length, its partners, its c and its N.
    const std::int32_t* row(std::size_t i) const {
        return reinterpret_cast<const std::int32_t*>(memory_.data() + piece * begin_[i]);
    }
    // Start of the counts, in units of 4 bytes.
    static std::size_t first_value(std::size_t count) { return (count + 2) / 2 * 2; }
    static std::size_t whole_eights(std::size_t count) { return (count + 7) / 8 * 8; }

    static constexpr std::size_t piece = 8;

    int bytes_ = 1;
    std::vector<std::size_t> begin_;  // in pieces
    std::vector<unsigned char> memory_;
};

inline void GreedyPattern::ask(std::size_t i) const {
    const unsigned char* begin = memory_.data() + piece * begin_[i];
    const unsigned char* end = memory_.data() + piece * begin_[i + 1];
    for (; begin < end; begin += 64) {
        prefetch(begin);
    }
    prefetch(end - 1);
}

}  // namespace conclust
