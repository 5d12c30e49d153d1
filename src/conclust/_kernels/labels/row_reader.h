// The current row of a label matrix as the entries of the indicator B, partition by partition.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "labels/codes.h"
#include "labels/label_view.h"

namespace conclust {

struct RowEntry {
    std::size_t column;
    double value;
};

// The entries of one partition in the current row: [begin, end), none if the row is noise in it.
struct RowBlock {
    std::size_t member;
    std::size_t begin;
    std::size_t end;
};

class RowReader {
  public:
    explicit RowReader(const LabelView& in)
        : entries(in.soft ? in.n_clusters() : in.m), in_(in), held_(in.m) {}

    void read(std::size_t i) {
        with_codes(in_, [&](const auto* codes) { read_codes(codes, i); });
    }

    std::vector<RowEntry> entries;     // those of the blocks come first
    std::span<const RowBlock> blocks;  // of the current row

  private:
    template <class Code>
    void read_codes(const Code* codes, std::size_t i) {
        const Code* row = codes + i * in_.m;
        std::size_t e = in_.soft ? static_cast<std::size_t>(in_.soft->starts[i]) : 0;
        const std::size_t end = in_.soft ? static_cast<std::size_t>(in_.soft->starts[i + 1]) : 0;
        std::size_t n_entries = 0;
        std::size_t n_blocks = 0;
        for (std::size_t u = 0; u < in_.m; ++u) {
            if (row[u] == missing_code<Code>) {
                continue;
            }
            const std::size_t begin = n_entries;
            if (in_.soft) {
                for (; e < end && in_.soft->columns[e] < in_.offsets[u + 1]; ++e) {
                    entries[n_entries++] = {static_cast<std::size_t>(in_.soft->columns[e]),
                                            in_.soft->values[e]};
                }
            } else if (row[u] < first_reserved_code<Code>) {
                entries[n_entries++] = {static_cast<std::size_t>(in_.offsets[u]) + row[u], 1.0};
            }
            held_[n_blocks++] = {u, begin, n_entries};
        }
        blocks = std::span<const RowBlock>(held_.data(), n_blocks);
    }

    const LabelView& in_;
    std::vector<RowBlock> held_;
};

}  // namespace conclust
