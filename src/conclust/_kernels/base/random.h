// Counter-based random numbers: a number is a function of (seed, object, draw), so the draws of an
// object do not depend on threads, on the order of work or on other objects.
#pragma once

#include <cstddef>
#include <cstdint>

namespace conclust {

// splitmix64's finaliser (Steele, Lea and Flood 2014; Stafford's variant 13): a bijection of 64 bits
// in which every input bit changes about half of the output bits.
inline std::uint64_t mix(std::uint64_t x) {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

// 64 random bits.
inline std::uint64_t random_bits(std::uint64_t seed, std::uint64_t object, std::uint64_t draw) {
    constexpr std::uint64_t golden = 0x9e3779b97f4a7c15u;
    return mix(mix(seed + golden * (object + 1)) + golden * (draw + 1));
}

// An integer in [0, bound), uniform to within bound / 2^53. Precondition: 0 < bound < 2^53.
inline std::uint64_t random_below(std::uint64_t bound, std::uint64_t seed, std::uint64_t object,
                                  std::uint64_t draw) {
    const double uniform = static_cast<double>(random_bits(seed, object, draw) >> 11) * 0x1p-53;
    return static_cast<std::uint64_t>(uniform * static_cast<double>(bound));
}

// Draws a class with probabilities proportional to `odds` from 64 random bits.
// Precondition: count > 0; the odds are finite, not negative, and one of them is above 0.
inline std::size_t drawn_class(const double* odds, std::size_t count, std::uint64_t bits) {
    double mass = 0.0;
    for (std::size_t k = 0; k < count; ++k) {
        mass += odds[k];
    }
    double left = mass * static_cast<double>(bits >> 11) * 0x1p-53;
    std::size_t drawn = count - 1;
    for (std::size_t k = 0; k < count; ++k) {
        if (odds[k] > 0.0) {
            drawn = k;
            left -= odds[k];
            if (left < 0.0) {
                break;
            }
        }
    }
    return drawn;
}

}  // namespace conclust
