// Similarities of clusters of objects from sparse rows, without a matrix of all pairs.
//
// A cluster p of objects has a row b_p of T numbers, the sum of its objects' rows, and a mass: sums over
// the objects of two clusters are b_p' W b_q, so that rows and masses are all that merging adds up.
//   S(p, q) = b_p' W b_q / (mass_p mass_q)      or, with presences z_p, of m numbers that add up too,
//             b_p' W b_q / (z_p' z_q), 0 where that is 0
// Values are compared on a grid of 2^-40, so that values equal on paper are ties whatever the order of summation.
//
// With a diagonal W a row of similarities is summed over the clusters that share a column with p, found
// by lists of each column; else over all rows, after W b_p. The lists hold the places of clusters, rising with
// their slots and packed when a quarter of them are dead, so that a row is a pass over memory in order.
//
// S of a union with a third cluster is a mean of its parts' similarities, so never above the larger. Of a row that was
// made, the clusters above a bound are remembered: as long as one of them, or of what has absorbed them, is above the
// bound by more than rounding, the nearest one is among them. A union has those of both parts, and the larger bound.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace conclust {

// Compressed sparse rows, columns rising within a row.
struct SparseRows {
    std::span<const std::int64_t> starts;
    std::span<const std::int32_t> columns;
    std::span<const double> values;
};

// The input of linkage.
struct RowPairs {
    SparseRows rows;  // (n, T), values >= 0: sums over the objects of each cluster
    std::span<const double> diagonal;  // W >= 0 (T); empty: it is in `mixing`
    SparseRows mixing;  // W (T, T), symmetric, >= 0; empty with a diagonal
    std::span<const double> masses;  // (n), > 0
    std::span<const double> presence;  // (n, m), or empty
    std::size_t n_columns = 0;  // T

    std::size_t size() const { return masses.size(); }
};

class RowSimilarity {
  public:
    // Copies everything. Preconditions: 1 <= n < 2^32 - 1, and those above.
    explicit RowSimilarity(const RowPairs& pairs);

    // S of a cluster with another one.
    struct Other {
        double value;
        std::uint32_t slot;
    };

    // The similarities of a live cluster with all live ones that it has any with, in any order; valid
    // until the next call.
    std::span<const Other> row(std::uint32_t slot);

    // The largest positive similarity of a live cluster, and its slot (the lowest of tied ones); {0, 0} if none is
    // positive. Makes a row only if what is remembered does not decide.
    Other nearest(std::uint32_t slot);

    std::size_t size() const { return masses_.size(); }
    // The lowest live cluster that is not this one. Precondition: there is one.
    std::uint32_t lowest_but(std::uint32_t slot) const { return slot == 0 ? second_ : 0; }

    // Adds a cluster to a lower one.
    void merge(std::uint32_t kept, std::uint32_t absorbed);

  private:
    // The places of those that have a column, rising, and how much of it: 0 where a place is dead.
    struct List {
        std::vector<std::uint32_t> places;
        std::vector<double> amounts;
    };

    // Clusters, or parts of what they were absorbed by, of a similarity above the bound, which no other one exceeds.
    struct Remembered {
        std::vector<std::uint32_t> slots;
        double bound = std::numeric_limits<double>::infinity();
    };

    Other nearest_remembered(std::uint32_t slot);
    Other nearest_in_row(std::uint32_t slot);
    Other nearest_in_sums(std::uint32_t slot);
    std::uint32_t leader(std::uint32_t slot);
    std::size_t entries_beside(std::uint32_t slot) const;
    void shared_columns(std::uint32_t slot);
    void all_columns(std::uint32_t slot);
    double similarity(double sum, std::uint32_t p, std::uint32_t q) const;
    void merge_lists(std::uint32_t kept, std::uint32_t absorbed);
    void merge_rows(std::uint32_t kept, std::uint32_t absorbed);
    void pack_places();
    void pack_rows();

    std::vector<std::uint32_t> columns_;  // of all rows, those of dead ones between
    std::vector<double> values_;
    std::vector<std::size_t> begin_, end_;  // of each row
    std::size_t live_entries_ = 0;
    std::vector<double> diagonal_;
    std::vector<std::int64_t> mixing_starts_;
    std::vector<std::int32_t> mixing_columns_;
    std::vector<double> mixing_values_;
    std::vector<double> mixed_;  // W b_p
    std::vector<double> masses_, inverse_masses_;
    std::vector<double> presence_;
    std::size_t m_ = 0;
    std::vector<std::uint8_t> alive_;
    std::vector<std::uint32_t> live_;  // rising; some are dead
    std::size_t dead_in_live_ = 0;
    std::uint32_t second_ = 1;  // the lowest live one after 0, which is always live
    std::vector<List> lists_;
    std::vector<std::uint32_t> place_of_;  // of a live slot
    std::vector<std::uint32_t> slot_at_;  // of a place, live or dead
    std::vector<double> inverse_at_;  // inverse masses by place
    std::vector<double> sums_;  // by place, all 0 between two rows
    std::vector<std::uint32_t> touched_;
    std::vector<Other> others_;
    std::vector<Remembered> remembered_;  // of each slot; empty if nothing is remembered
    std::vector<std::uint32_t> leaders_;  // what absorbed a slot, or itself
    std::vector<double> factors_;  // by column, all 0 between two calls
    double rounding_ = 0.0;  // of sums, relative
};

}  // namespace conclust
