#include "counts.h"

#include <algorithm>
#include <cstdint>

#include "clones.h"

namespace conclust {
namespace {

template <class Value>
CONCLUST_INLINE void convert(const void* data, std::size_t from, std::size_t count, double* out) {
    const Value* values = static_cast<const Value*>(data) + from;
    std::size_t e = 0;
    for (; e + 8 <= count; e += 8) {
        for (std::size_t j = 0; j < 8; ++j) {
            out[e + j] = static_cast<double>(values[e + j]);
        }
    }
    if (e < count) {  // as one more vector: converting one by one takes as long as all the rest
        Value last[8] = {};
        std::copy(values + e, values + count, last);
        double converted[8];
        for (std::size_t j = 0; j < 8; ++j) {
            converted[j] = static_cast<double>(last[j]);
        }
        std::copy(converted, converted + (count - e), out + e);
    }
}

CONCLUST_CLONES
void convert_all(const Counts& counts, std::size_t from, std::size_t count, double* out) {
    switch (counts.bytes) {
        case 1: return convert<std::uint8_t>(counts.data, from, count, out);
        case 2: return convert<std::uint16_t>(counts.data, from, count, out);
        case 4: return convert<std::uint32_t>(counts.data, from, count, out);
        default: return convert<double>(counts.data, from, count, out);
    }
}

}  // namespace

void to_doubles(const Counts& counts, std::size_t from, std::size_t count, double* out) {
    convert_all(counts, from, count, out);
}

}  // namespace conclust
