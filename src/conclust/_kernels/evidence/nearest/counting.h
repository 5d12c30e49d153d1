// The nearest objects by counts with all objects.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/forms.h"
#include "evidence/bitsliced/slices.h"

namespace conclust {

// Eight partitions at once: for members with so little agreement that many objects would be
// compared one by one. Preconditions: complete labels, at most 255 partitions, k >= 1.
class Counting {
  public:
    Counting(const BitSlices& slices, std::size_t k, Form form)
        : slices_(slices), k_(k), form_(form), counts_(at_once * slices.n_samples()) {}

    // Appends the rows of objects begin to end, and writes their lengths.
    void rows(std::size_t begin, std::size_t end, std::vector<std::int32_t>& found,
              std::int64_t* lengths);

  private:
    static constexpr std::size_t at_once = 16;

    void take(const std::uint8_t* counts, std::vector<std::int32_t>& found) const;

    const BitSlices& slices_;
    std::size_t k_;
    Form form_;
    std::vector<std::uint8_t> counts_;
};

}  // namespace conclust
