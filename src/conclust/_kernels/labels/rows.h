// One pass over a label matrix: equal rows, cluster sizes, counts of the reserved codes, presence.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "labels/label_view.h"

namespace conclust {

// Groups equal rows of row_bytes bytes. Groups are numbered by first appearance.
// Writes inverse (n): the group of each row. Returns the first row of each group.
std::vector<std::int64_t> group_rows(std::span<const std::uint8_t> rows, std::size_t row_bytes,
                                     std::span<std::int64_t> inverse);

// Adds to missing (m) and noise (m) the number of reserved codes in each partition.
void count_reserved(const LabelView& labels, std::span<std::int64_t> missing,
                    std::span<std::int64_t> noise);

// Adds to sizes (T) the number of objects of every cluster, of soft partitions by the most probable one.
void cluster_sizes(const LabelView& labels, std::span<std::int64_t> sizes);

// A 64-bit signature of which objects each partition (m) observed: equal sets have equal signatures.
// Only as many objects are read as needed to distinguish all partitions.
void presence_signatures(const LabelView& labels, std::span<std::uint64_t> signature);

}  // namespace conclust
