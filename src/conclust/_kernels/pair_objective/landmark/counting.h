// Co-association counts of one object with the landmarks of each group: sums of rows of a table.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace conclust {

// A table of `rows` x `columns`, and sums of some of its rows. Rows are padded with zeros to `width`.
class RowSums {
  public:
    // most: the largest number of rows in an unweighted sum. If all entries are integers and all
    // such sums stay below 2^16, they are counted in sixteen bits, which takes a quarter of the
    // memory and gives the same sums.
    RowSums(std::span<const double> table, std::size_t rows, std::size_t columns, std::size_t width,
            std::size_t most);

    // out (width) = the sum of these rows, each times its weight. weights: null for 1.
    void add(const std::int32_t* rows, const double* weights, std::size_t count, double* out) const;

  private:
    std::size_t width_;
    std::vector<double> numbers_;
    std::size_t whole_width_ = 0;         // 0: not all are whole and small
    std::vector<std::uint16_t> whole_;
};

}  // namespace conclust
