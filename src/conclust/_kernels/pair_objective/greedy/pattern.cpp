#include "pair_objective/greedy/pattern.h"

#include <algorithm>
#include <cstring>

namespace conclust {
namespace {

template <class Value>
void narrow(const double* from, std::size_t count, unsigned char* to) {
    for (std::size_t e = 0; e < count; ++e) {
        const auto value = static_cast<Value>(from[e]);
        std::memcpy(to + e * sizeof(Value), &value, sizeof(Value));
    }
}

void narrow_to(int bytes, const double* from, std::size_t count, unsigned char* to) {
    switch (bytes) {
        case 1: return narrow<std::uint8_t>(from, count, to);
        case 2: return narrow<std::uint16_t>(from, count, to);
        default: return narrow<double>(from, count, to);
    }
}

// The bytes that hold all counts, none of which is above its N.
int bytes_for(const Counts& c, const Counts& N, std::size_t count) {
    if (c.bytes == 8 || N.bytes == 8) {
        return 8;
    }
    constexpr std::size_t chunk = 4096;
    double some[chunk];
    double largest = 0.0;
    for (std::size_t from = 0; from < count; from += chunk) {
        const std::size_t here = std::min(chunk, count - from);
        to_doubles(N, from, here, some);
        largest = std::max(largest, *std::max_element(some, some + here));
    }
    return largest < 256.0 ? 1 : largest < 65536.0 ? 2 : 8;
}

}  // namespace

GreedyPattern::GreedyPattern(const PairCounts& pairs)
    : bytes_(bytes_for(pairs.c, pairs.N, pairs.partners.size())), begin_(pairs.n + 1, 0) {
    const std::size_t n = pairs.n;
    const auto width = static_cast<std::size_t>(bytes_);
    std::size_t longest = 0;
    for (std::size_t i = 0; i < n; ++i) {
        const std::size_t count = pairs.degree(i);
        const std::size_t pieces = first_value(count) / 2 + 2 * width * whole_eights(count) / piece;
        begin_[i + 1] = begin_[i] + pieces;
        longest = std::max(longest, count);
    }
    memory_.assign(piece * begin_[n], 0);
    std::vector<double> values(whole_eights(longest));
    for (std::size_t i = 0; i < n; ++i) {
        const std::size_t count = pairs.degree(i);
        const std::size_t from = pairs.begin(i);
        auto* row = reinterpret_cast<std::int32_t*>(memory_.data() + piece * begin_[i]);
        row[0] = static_cast<std::int32_t>(count);
        std::copy_n(pairs.partners.data() + from, count, row + 1);
        auto* place = reinterpret_cast<unsigned char*>(row + first_value(count));
        to_doubles(pairs.c, from, count, values.data());
        narrow_to(bytes_, values.data(), count, place);
        to_doubles(pairs.N, from, count, values.data());
        narrow_to(bytes_, values.data(), count, place + width * whole_eights(count));
    }
}

}  // namespace conclust
