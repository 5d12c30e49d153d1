#include "linkage/rows/single.h"

#include <algorithm>

namespace conclust {
namespace {

constexpr std::size_t block = 128;

}  // namespace

SingleTree::SingleTree(const RowPairs& pairs)
    : pairs_(pairs), nearest_(pairs.size(), 0.0), highest_((pairs.size() + block - 1) / block, 0.0) {
    order_.reserve(pairs.size());
    heights_.reserve(pairs.size());
    take(0);
}

std::size_t SingleTree::grow(std::size_t clusters) {
    for (; clusters > 0 && order_.size() < nearest_.size(); --clusters) {
        for (const RowSimilarity::Other other : pairs_.row(static_cast<std::uint32_t>(order_.back()))) {
            double& nearest = nearest_[other.slot];
            if (nearest >= 0.0 && other.value > nearest) {
                nearest = other.value;
                double& highest = highest_[other.slot / block];
                highest = std::max(highest, other.value);
            }
        }
        // The first of equals: of the blocks, and of what the block holds.
        const auto of = std::max_element(highest_.begin(), highest_.end()) - highest_.begin();
        const auto begin = nearest_.begin() + of * static_cast<std::ptrdiff_t>(block);
        const auto next = std::find(begin, nearest_.end(), highest_[static_cast<std::size_t>(of)]);
        heights_.push_back(std::max(0.0, 1.0 - *next));
        take(static_cast<std::size_t>(next - nearest_.begin()));
    }
    return nearest_.size() - order_.size();
}

void SingleTree::take(std::size_t cluster) {
    order_.push_back(static_cast<std::int64_t>(cluster));
    nearest_[cluster] = -1.0;
    const std::size_t begin = cluster / block * block;
    const std::size_t end = std::min(nearest_.size(), begin + block);
    highest_[cluster / block] = *std::max_element(nearest_.begin() + static_cast<std::ptrdiff_t>(begin),
                                                  nearest_.begin() + static_cast<std::ptrdiff_t>(end));
}

}  // namespace conclust
