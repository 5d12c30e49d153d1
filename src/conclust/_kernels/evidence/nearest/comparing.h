// Finds the nearest objects of each object in turn, by comparing it with those in its smallest clusters.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <type_traits>
#include <vector>

#include "evidence/nearest/searched.h"
#include "evidence/pairs.h"

namespace conclust {

// The state of one thread. Sum: type of sums over shared clusters; an integer if partitions have no weights.
template <class Sum>
class Search {
    static constexpr double grid = 1099511627776.0;  // 2^40
    // More than the rounding of a sum of weights.
    static constexpr double slack = 16.0 / grid;

  public:
    Search(const Searched& searched, std::size_t k)
        : e_(searched), k_(k), seen_(searched.labels.n, -1) {}

    // Appends the row of object i; returns its length.
    std::size_t row(std::size_t i, std::vector<std::int32_t>& found) {
        start(i);
        for (const std::size_t u : order_) {
            if (best_.size() == k_ && bound(i) < best_.front() - slack) break;
            look_through(i, u);
            left_ -= e_.labels.weight(u);
        }
        const double least = best_.size() == k_ ? best_.front() : 0.0;
        const std::size_t before = found.size();
        for (std::size_t e = 0; e < others_.size(); ++e)
            if (similarities_[e] >= least && similarities_[e] > 0.0) found.push_back(others_[e]);
        std::sort(found.begin() + static_cast<std::ptrdiff_t>(before), found.end());
        return found.size() - before;
    }

    // Number of objects compared with the last row.
    std::size_t looked_at() const { return others_.size(); }

  private:
    void start(std::size_t i) {
        others_.clear();
        similarities_.clear();
        best_.clear();
        order_.clear();
        clusters_.assign(e_.labels.m, 0);
        left_ = 0.0;
        seen_[i] = static_cast<std::int32_t>(i);
        with_codes(e_.labels, [&](const auto* codes) {
            using Code = std::remove_const_t<std::remove_pointer_t<decltype(codes)>>;
            for (std::size_t u = 0; u < e_.labels.m; ++u) {
                const Code code = codes[i * e_.labels.m + u];
                if (code >= first_reserved_code<Code> || e_.labels.weight(u) <= 0.0) continue;
                clusters_[u] = e_.labels.first_cluster(u) + code;
                order_.push_back(u);
                left_ += e_.labels.weight(u);
            }
        });
        std::stable_sort(order_.begin(), order_.end(), [&](std::size_t u, std::size_t v) {
            return e_.members.of(clusters_[u]).size() < e_.members.of(clusters_[v]).size();
        });
    }

    // The largest possible p of an object in none of the visited clusters.
    double bound(std::size_t i) const {
        const double left = std::max(left_, 0.0);
        const double both = std::max(left, e_.observed[i] + e_.least - e_.total);
        return both > 0.0 ? left / both : 0.0;
    }

    void look_through(std::size_t i, std::size_t u) {
        const std::size_t before = others_.size();
        const auto mark = static_cast<std::int32_t>(i);
        for (const std::int32_t j : e_.members.of(clusters_[u])) {
            std::int32_t& seen = seen_[static_cast<std::size_t>(j)];
            if (seen == mark) continue;
            seen = mark;
            others_.push_back(j);
        }
        const std::size_t count = others_.size() - before;
        compare(i, std::span(others_).subspan(before));
        for (std::size_t e = 0; e < count; ++e) {
            const double p = similarity(e);
            similarities_.push_back(p);
            if (best_.size() < k_) {
                best_.push_back(p);
                std::push_heap(best_.begin(), best_.end(), std::greater<>());
            } else if (p > best_.front()) {
                std::pop_heap(best_.begin(), best_.end(), std::greater<>());
                best_.back() = p;
                std::push_heap(best_.begin(), best_.end(), std::greater<>());
            }
        }
    }

    void compare(std::size_t i, std::span<const std::int32_t> others) {
        shared_.resize(others.size());
        if constexpr (std::is_integral_v<Sum>)
            if (e_.padded) {
                both_.assign(others.size(), static_cast<Sum>(e_.labels.m));
                e_.padded->compare(i, others, shared_);
                return;
            }
        both_.resize(others.size());
        own_.assign(others.size(), static_cast<std::int32_t>(i));
        few_pair_counts<std::int32_t, Sum>(e_.labels, own_, others, shared_, both_);
    }

    double similarity(std::size_t e) const {
        const double p = static_cast<double>(shared_[e]) / static_cast<double>(both_[e]);
        return std::is_floating_point_v<Sum> ? std::nearbyint(p * grid) / grid : p;
    }

    const Searched& e_;
    std::size_t k_;
    std::vector<std::int32_t> seen_;  // the last object for which each object was visited
    std::vector<std::size_t> order_, clusters_;
    std::vector<std::int32_t> own_, others_;
    std::vector<Sum> shared_, both_;
    std::vector<double> similarities_;
    std::vector<double> best_;  // a heap with the smallest first
    double left_ = 0.0;  // weight of the clusters not visited yet
};

}  // namespace conclust
