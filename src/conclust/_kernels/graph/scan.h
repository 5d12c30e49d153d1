// Loops over all vertices of a dense graph, in floating point or in whole numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

namespace conclust {

// Marks of vertices that are not candidates, for sums of weights of the type S. In whole numbers all sums are below
// 2^28, so that no combination of marks overflows or reaches `least`.
template <class S>
struct Marks {
    static constexpr S closed = -std::numeric_limits<S>::infinity();  // added to the gain of a vertex
    static constexpr S moved = std::numeric_limits<S>::infinity();    // weight to its own part
    static constexpr S least = -std::numeric_limits<S>::infinity();  // below the gain of every candidate
};
template <>
struct Marks<std::int32_t> {
    static constexpr std::int32_t closed = -(1 << 30), moved = 1 << 29, least = -(1 << 28);
};

// The first i of the largest a[i] - b[i] + c[i]; n if none is above `least`.
std::size_t first_largest(const double* a, const double* b, const double* c, std::size_t n);
std::size_t first_largest(const std::int32_t* a, const std::int32_t* b, const std::int32_t* c,
                          std::size_t n);

// The largest of x, at least 0.
double largest_of(const double* x, std::size_t n);
double largest_of(const std::uint8_t* x, std::size_t n);
double largest_of(const std::uint16_t* x, std::size_t n);

// x += row.
void add(const double* row, double* x, std::size_t n);
void add(const std::uint8_t* row, std::int32_t* x, std::size_t n);
void add(const std::uint16_t* row, std::int32_t* x, std::size_t n);

// x = the sum of the rows of `table` with these numbers, added in this order. Rows have `stride` entries, a multiple of
// kLanes.
inline constexpr std::size_t kLanes = 8;
void sum_rows(const double* table, std::size_t stride, const std::int32_t* rows, std::size_t count,
              double* x);

// x -= row, y += row.
void shift(const double* row, double* x, double* y, std::size_t n);
void shift(const std::uint8_t* row, std::int32_t* x, std::int32_t* y, std::size_t n);
void shift(const std::uint16_t* row, std::int32_t* x, std::int32_t* y, std::size_t n);

}  // namespace conclust
