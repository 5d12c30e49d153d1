#include "evidence/nearest/padded_rows.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "base/clones.h"

namespace conclust {

namespace {

constexpr std::size_t line = 64;
// Pairs between the prefetch of a row and its use.
constexpr std::size_t ahead = 8;

// Number of codes that other rows share with the row at `own`. Rows are `stride` bytes long (full
// cache lines), and equal after the codes.
template <class Code>
CONCLUST_INLINE void count_equal(const std::uint8_t* rows, std::size_t stride, std::size_t own,
                                 const std::int32_t* others, std::size_t count, std::uint32_t* equal) {
    constexpr std::size_t L = line / sizeof(Code);
    const auto row = [&](std::size_t i) { return reinterpret_cast<const Code*>(rows + i * stride); };
    const Code* a = row(own);
    for (std::size_t e = 0; e < count; ++e) {
#if defined(__GNUC__)
        __builtin_prefetch(row(static_cast<std::size_t>(others[std::min(e + ahead, count - 1)])));
#endif
        const Code* b = row(static_cast<std::size_t>(others[e]));
        Code lanes[L] = {};
        for (std::size_t u = 0; u < stride / sizeof(Code); u += L)
            for (std::size_t k = 0; k < L; ++k)
                lanes[k] = static_cast<Code>(lanes[k] + static_cast<Code>(a[u + k] == b[u + k]));
        std::uint32_t sum = 0;
        for (std::size_t k = 0; k < L; ++k) sum += lanes[k];
        equal[e] = sum;
    }
}

// Plain functions, because templates are not cloned.
#define CONCLUST_INSTANTIATE(bits)                                                        \
    CONCLUST_CLONES void count_equal_##bits(const std::uint8_t* rows, std::size_t stride, \
                                            std::size_t own, const std::int32_t* others,  \
                                            std::size_t count, std::uint32_t* equal) {    \
        count_equal<std::uint##bits##_t>(rows, stride, own, others, count, equal);        \
    }

CONCLUST_INSTANTIATE(8)
CONCLUST_INSTANTIATE(16)
CONCLUST_INSTANTIATE(32)
#undef CONCLUST_INSTANTIATE

}  // namespace

PaddedRows::PaddedRows(const LabelView& labels) {
    with_codes(labels, [&](const auto* codes) {
        using Code = std::remove_const_t<std::remove_pointer_t<decltype(codes)>>;
        const std::size_t bytes = labels.m * sizeof(Code);
        stride_ = (bytes + line - 1) / line * line;
        padding_ = (stride_ - bytes) / sizeof(Code);
        count_ = sizeof(Code) == 1 ? count_equal_8 : sizeof(Code) == 2 ? count_equal_16 : count_equal_32;
        rows_.resize(labels.n * stride_ + line, 0);
        for (std::size_t i = 0; i < labels.n; ++i)
            std::memcpy(rows_.data() + shift() + i * stride_, codes + i * labels.m, bytes);
    });
}

void PaddedRows::compare(std::size_t i, std::span<const std::int32_t> others,
                         std::span<std::uint32_t> equal) const {
    count_(rows_.data() + shift(), stride_, i, others.data(), others.size(), equal.data());
    for (std::uint32_t& one : equal) one -= static_cast<std::uint32_t>(padding_);
}

}  // namespace conclust
