#include "base/counts.h"

#include <algorithm>
#include <cstdint>

#include "base/clones.h"

namespace conclust {
namespace {

// Eight at a time. The last eight read past `count` if the array continues; at its end a copy
// padded with zeros is read instead. A loop over single counts would take as long as everything
// else.
template <class Value>
CONCLUST_INLINE void convert(const Counts& counts, std::size_t from, std::size_t count, double* out) {
    const Value* values = static_cast<const Value*>(counts.data) + from;
    const auto eight = [&](const Value* x, std::size_t e) {
        for (std::size_t j = 0; j < 8; ++j) {
            out[e + j] = static_cast<double>(x[j]);
        }
    };
    const std::size_t whole = count / 8 * 8;
    for (std::size_t e = 0; e < whole; e += 8) {
        eight(values + e, e);
    }
    if (whole < count) {
        if (from + whole + 8 <= counts.size) {
            eight(values + whole, whole);
        } else {
            Value last[8] = {};
            std::copy(values + whole, values + count, last);
            eight(last, whole);
        }
        std::fill(out + count, out + whole + 8, 0.0);
    }
}

CONCLUST_CLONES
void convert_all(const Counts& counts, std::size_t from, std::size_t count, double* out) {
    switch (counts.bytes) {
        case 1: return convert<std::uint8_t>(counts, from, count, out);
        case 2: return convert<std::uint16_t>(counts, from, count, out);
        case 4: return convert<std::uint32_t>(counts, from, count, out);
        default: return convert<double>(counts, from, count, out);
    }
}

}  // namespace

void to_doubles(const Counts& counts, std::size_t from, std::size_t count, double* out) {
    convert_all(counts, from, count, out);
}

}  // namespace conclust
