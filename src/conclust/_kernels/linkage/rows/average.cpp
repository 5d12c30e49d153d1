#include "linkage/rows/average.h"

#include <algorithm>

namespace conclust {

AverageChain::AverageChain(const RowPairs& pairs, std::size_t until)
    : pairs_(pairs),
      until_(until),
      alive_(pairs.size()),
      in_chain_(pairs.size(), 0),
      tops_(pairs.size(), 0.0) {
    merges_.reserve(alive_ - until_);
}

std::size_t AverageChain::run(std::size_t rows) {
    for (; rows > 0 && alive_ > until_; --rows) {
        step();
    }
    return alive_ - until_;
}

void AverageChain::step() {
    if (chain_.empty()) {
        push(0, 0.0);  // the lowest cluster is always slot 0
    }
    const std::uint32_t tip = chain_.back();
    RowSimilarity::Other best = pairs_.nearest(tip);
    if (best.value == 0.0) {
        best.slot = pairs_.lowest_but(tip);
    }
    // Nearer than the previous cluster, so not yet in the chain, except by a rounding error.
    if (chain_.size() >= 2 && (best.value <= links_.back() || in_chain_[best.slot] != 0)) {
        join_last_two();
    } else {
        push(best.slot, best.value);
    }
}

void AverageChain::push(std::uint32_t slot, double value) {
    chain_.push_back(slot);
    links_.push_back(value);
    in_chain_[slot] = 1;
}

void AverageChain::join_last_two() {
    const std::uint32_t a = chain_[chain_.size() - 2];
    const std::uint32_t b = chain_.back();
    const std::uint32_t kept = std::min(a, b);
    const std::uint32_t absorbed = std::max(a, b);
    const double height = std::max({0.0, 1.0 - links_.back(), tops_[kept], tops_[absorbed]});
    for (const std::uint32_t slot : {a, b}) {
        in_chain_[slot] = 0;
        chain_.pop_back();
        links_.pop_back();
    }
    pairs_.merge(kept, absorbed);
    tops_[kept] = height;
    merges_.push_back({kept, absorbed, height});
    --alive_;
}

void AverageChain::read(const MergesOut& merges, std::span<std::int64_t> leaders) const {
    for (std::size_t i = 0; i < leaders.size(); ++i) {
        leaders[i] = static_cast<std::int64_t>(i);
    }
    for (std::size_t t = 0; t < merges_.size(); ++t) {
        merges.left[t] = merges_[t].kept;
        merges.right[t] = merges_[t].absorbed;
        merges.heights[t] = merges_[t].height;
        leaders[merges_[t].absorbed] = merges_[t].kept;
    }
    // An absorbing cluster has a lower number than the absorbed one, so its leader is already known.
    for (std::int64_t& leader : leaders) {
        leader = leaders[static_cast<std::size_t>(leader)];
    }
}

}  // namespace conclust
