// B'B of partitions with few clusters each, by counting bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "labels/label_view.h"

namespace conclust {

// Whether this is faster than counting label by label: a word of 64 objects for each two clusters
// against a table entry for each two labels of an object.
bool bits_count_faster(const LabelView& labels);

// The upper triangle of `contingency_gram` of hard labels; the rest is 0.
void bit_gram(const LabelView& labels, std::span<std::int64_t> gram, int threads);

}  // namespace conclust
