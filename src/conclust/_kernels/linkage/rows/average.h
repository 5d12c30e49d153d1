// Average linkage on similarities that are found row by row, by the nearest-neighbour chain.
//
// Mutual nearest neighbours may be merged in any order until few enough clusters are left: the
// remaining merges do not depend on it. About three rows per cluster are computed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "linkage/merges.h"
#include "linkage/rows/similarity.h"

namespace conclust {

// Processes a number of rows at a time, so that the caller can check for interrupts.
//
// Ties: among the nearest clusters the one that holds the lowest starting cluster, unless the previous
// cluster of the chain is as near. Heights are 1 - S, not below 0 nor below those of what is merged.
class AverageChain {
  public:
    // Preconditions: those of RowSimilarity; 1 <= until <= n.
    AverageChain(const RowPairs& pairs, std::size_t until);

    // Makes up to `rows` rows of similarities. Returns the number of clusters above `until`.
    std::size_t run(std::size_t rows);

    // Writes the n - until merges, and the lowest starting cluster of the one that each is in.
    // Precondition: nothing is left to run.
    void read(const MergesOut& merges, std::span<std::int64_t> leaders) const;

  private:
    struct Merge {
        std::uint32_t kept, absorbed;
        double height;
    };

    void step();
    void push(std::uint32_t slot, double value);
    void join_last_two();

    RowSimilarity pairs_;
    std::size_t until_;
    std::size_t alive_;
    std::vector<std::uint32_t> chain_;
    std::vector<double> links_;  // S of each cluster of the chain with the one before it
    std::vector<std::uint8_t> in_chain_;
    std::vector<double> tops_;  // heights at which clusters were formed
    std::vector<Merge> merges_;
};

}  // namespace conclust
