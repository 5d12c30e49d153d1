// Labels of any integer names -> codes numbered by first appearance (see codes.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "labels/codes.h"

namespace conclust {

// One table per partition, filled by observe() in row order and read by encode().
//
// Precondition of both: blocks are rows x n_partitions, n_partitions > 0.
// `missing` and `noise` (negative) are the labels that stand for the two facts; every other negative
// label is refused by observe(), which then returns the flat index of the first one (else -1).
class Relabeller {
  public:
    Relabeller(std::size_t n_partitions, std::int64_t missing, std::int64_t noise);

    template <class Label>
    std::ptrdiff_t observe(std::span<const Label> block);

    // Writes codes; a label that was never observed becomes noise. Returns how many were.
    // Precondition: every table has fewer clusters than first_reserved_code<Code>.
    template <class Label, class Code>
    std::size_t encode(std::span<const Label> block, std::span<Code> out) const;

    std::size_t n_clusters(std::size_t partition) const { return tables_[partition].values.size(); }
    const std::vector<std::int64_t>& values(std::size_t partition) const {
        return tables_[partition].values;
    }

    // For pickles: tables with the given values, in the given order.
    void restore(std::size_t partition, std::span<const std::int64_t> values);

  private:
    // Codes of the widest type. Narrowed to another type, the reserved codes become its reserved codes.
    static constexpr std::uint32_t unseen = first_reserved_code<std::uint32_t> - 1;
    static constexpr std::int64_t direct_limit = 1 << 16;

    struct Table {
        std::vector<std::int64_t> values;                        // code -> label
        std::vector<std::uint32_t> direct;                       // label - lowest_ -> code, if small
        std::unordered_map<std::int64_t, std::uint32_t> hashed;  // other label -> code
    };

    Table begin() const;
    // A table lookup where it can be: which of an object's labels are missing is a coin toss.
    std::uint32_t find(const Table& table, std::int64_t label) const;
    void add(Table& table, std::int64_t label) const;

    std::vector<Table> tables_;
    std::int64_t missing_;
    std::int64_t noise_;
    std::int64_t lowest_;  // where the direct tables begin, so that they hold missing and noise
};

// Whether a block of labels of one byte continues columns that are already numbered by first
// appearance and stay below the reserved codes, so that they are codes. With `is_signed` they are
// int8: -1 and -2 are the codes of missing and noise, 0 .. 127 clusters. `met` (n_partitions) holds
// the number of clusters met so far and is updated.
bool continues_canonical(std::span<const std::uint8_t> block, bool is_signed,
                         std::span<std::uint8_t> met);

}  // namespace conclust
