// The pairs of which either object chose the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace conclust {

// The union of a CSR pattern and its transpose, whose rows are sorted.
//
// Preconditions: indptr rises from 0 to the number of indices, rows are sorted and free of duplicates, indices
// are below their number; both arrays outlive this object.
class SymmetricPattern {
  public:
    SymmetricPattern(std::span<const std::int64_t> indptr, std::span<const std::int32_t> indices,
                     int threads);

    std::size_t n_entries() const { return static_cast<std::size_t>(indptr_.back()); }
    // Precondition: indptr has a place more than there are rows, indices n_entries().
    void read(std::span<std::int64_t> indptr, std::span<std::int32_t> indices, int threads) const;

  private:
    void transpose();
    template <class Take>
    void merge(std::size_t i, Take take) const;

    std::span<const std::int64_t> chosen_at_;
    std::span<const std::int32_t> chosen_;
    std::vector<std::int64_t> choosers_at_;
    std::vector<std::int32_t> choosers_;  // the objects that chose each object
    std::vector<std::int64_t> indptr_;
};

}  // namespace conclust
