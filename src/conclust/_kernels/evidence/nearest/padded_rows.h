// Rows of complete labels that are compared in full registers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "labels/label_view.h"

namespace conclust {

// The codes of complete labels in full cache lines: one comparison of registers for up to 64
// labels.
class PaddedRows {
  public:
    explicit PaddedRows(const LabelView& labels);

    // Maximum number of lines that can be counted in one byte per lane.
    static bool fits(const LabelView& labels) { return labels.m <= 255 * line / 4; }

    // equal = number of labels that object i shares with each other object.
    void compare(std::size_t i, std::span<const std::int32_t> others,
                 std::span<std::uint32_t> equal) const;

  private:
    static constexpr std::size_t line = 64;

    std::size_t shift() const { return -reinterpret_cast<std::uintptr_t>(rows_.data()) % line; }

    std::vector<std::uint8_t> rows_;
    std::size_t stride_ = 0, padding_ = 0;
    void (*count_)(const std::uint8_t*, std::size_t, std::size_t, const std::int32_t*, std::size_t,
                   std::uint32_t*) = nullptr;
};

}  // namespace conclust
