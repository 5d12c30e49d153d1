#include "evidence/squared_evidence.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <type_traits>

#include "base/clones.h"
#include "base/wide.h"

namespace conclust {
namespace {

constexpr std::size_t lanes = 2 * wide;
constexpr std::size_t block = 8 * lanes;

template <class Count>
CONCLUST_INLINE double term(Count c, Count N) {
    const auto count = static_cast<double>(c);
    // If N is 0, so is c, and the term is 0: no branch is needed if division by 0 is avoided.
    return count * count / (N > Count{0} ? static_cast<double>(N) : 1.0);
}

// Counts as doubles, and 1 instead of N = 0: of a whole block, so that the conversion becomes vectors.
template <class Count>
CONCLUST_INLINE void convert(const Count* __restrict c, const Count* __restrict N,
                             double* __restrict counts, double* __restrict present) {
    for (std::size_t j = 0; j < block; ++j) {
        counts[j] = static_cast<double>(c[j]);
    }
    for (std::size_t j = 0; j < block; ++j) {
        const Count each = N[j];
        present[j] = static_cast<double>(each > Count{0} ? each : Count{1});
    }
}

CONCLUST_INLINE void add_terms(const double* counts, const double* present, Wide& sum) {
    Wide term, divisor;
    load(counts, term);
    load(present, divisor);
    term *= term;
    term /= divisor;
    sum += term;
}

template <class Count>
CONCLUST_INLINE double row_sum(const Count* c, const Count* N, std::size_t count) {
    double counts[block], present[block];
    Wide low, high;
    spread(0.0, low);
    spread(0.0, high);
    std::size_t j = 0;
    for (; !std::is_same_v<Count, double> && j + block <= count; j += block) {
        convert(c + j, N + j, counts, present);
        for (std::size_t k = 0; k < block; k += lanes) {
            add_terms(counts + k, present + k, low);
            add_terms(counts + k + wide, present + k + wide, high);
        }
    }
    std::array<double, lanes> sum;
    store(sum.data(), low);
    store(sum.data() + wide, high);
    for (; j + lanes <= count; j += lanes) {
        for (std::size_t l = 0; l < lanes; ++l) {
            sum[l] += term(c[j + l], N[j + l]);
        }
    }
    double total = 0.0;
    for (; j < count; ++j) {
        total += term(c[j], N[j]);
    }
    for (const double part : sum) {
        total += part;
    }
    return total;
}

CONCLUST_CLONES double sum_row(const std::uint8_t* c, const std::uint8_t* N, std::size_t n) {
    return row_sum(c, N, n);
}

CONCLUST_CLONES double sum_row(const std::uint16_t* c, const std::uint16_t* N, std::size_t n) {
    return row_sum(c, N, n);
}

CONCLUST_CLONES double sum_row(const std::uint32_t* c, const std::uint32_t* N, std::size_t n) {
    return row_sum(c, N, n);
}

CONCLUST_CLONES double sum_row(const double* c, const double* N, std::size_t n) {
    return row_sum(c, N, n);
}

}  // namespace

template <class Count>
double squared_evidence(std::span<const Count> c, std::span<const Count> N, std::size_t n,
                        std::size_t first) {
    double total = 0.0;
    for (std::size_t r = 0; r * n < c.size(); ++r) {
        const Count* row = c.data() + r * n;
        const Count* present = N.data() + r * n;
        total += sum_row(row, present, n) - term(row[first + r], present[first + r]);
    }
    return total;
}

#define CONCLUST_INSTANTIATE(Count)                                                               \
    template double squared_evidence(std::span<const Count>, std::span<const Count>, std::size_t, \
                                     std::size_t);

CONCLUST_INSTANTIATE(std::uint8_t)
CONCLUST_INSTANTIATE(std::uint16_t)
CONCLUST_INSTANTIATE(std::uint32_t)
CONCLUST_INSTANTIATE(double)
#undef CONCLUST_INSTANTIATE

}  // namespace conclust
