// The labels that a kernel reads: views of arrays that outlive it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <variant>

#include "labels/codes.h"

namespace conclust {

// n x m codes, see codes.h.
using Codes = std::variant<std::span<const std::uint8_t>, std::span<const std::uint16_t>,
                           std::span<const std::uint32_t>>;

// Posteriors over the clusters of all partitions: compressed sparse rows, columns rising within a row.
struct SoftRows {
    std::span<const std::int64_t> starts;  // n + 1
    std::span<const std::int32_t> columns;
    std::span<const double> values;
};

struct LabelView {
    std::size_t n = 0;  // objects, or different rows of labels
    std::size_t m = 0;  // partitions
    Codes codes;        // for soft partitions: whether they observed the object
    // m + 1, rising: cluster t of partition u is number offsets[u] + t. Empty for a kernel that reads
    // codes alone.
    std::span<const std::int64_t> offsets;
    std::span<const double> weights;  // m, finite, not negative; empty: all 1
    std::optional<SoftRows> soft;
    bool complete = false;  // whether no reserved code occurs

    std::size_t n_clusters() const { return static_cast<std::size_t>(offsets[m]); }  // T
    std::size_t first_cluster(std::size_t u) const { return static_cast<std::size_t>(offsets[u]); }
    double weight(std::size_t u) const { return weights.empty() ? 1.0 : weights[u]; }

    // The codes of object i, where they are of this type.
    template <class Code>
    const Code* row(std::size_t i) const {
        return std::get_if<std::span<const Code>>(&codes)->data() + i * m;
    }
};

// Calls work(codes): a pointer to the codes of object 0, with the type of the codes.
template <class Work>
decltype(auto) with_codes(const LabelView& labels, Work&& work) {
    switch (labels.codes.index()) {
        case 0: return work(labels.row<std::uint8_t>(0));
        case 1: return work(labels.row<std::uint16_t>(0));
        default: return work(labels.row<std::uint32_t>(0));
    }
}

}  // namespace conclust
