// The data searched for nearest objects: the labels, and the objects of each cluster.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

#include "evidence/nearest/padded_rows.h"
#include "labels/codes.h"
#include "labels/label_view.h"

namespace conclust {

// The objects of every cluster, one cluster after the other.
struct Members {
    std::vector<std::int64_t> starts;  // T + 1
    std::vector<std::int32_t> objects;

    explicit Members(const LabelView& labels) : starts(labels.n_clusters() + 1, 0) {
        with_codes(labels, [&](const auto* codes) {
            using Code = std::remove_const_t<std::remove_pointer_t<decltype(codes)>>;
            const auto each = [&](auto&& take) {
                for (std::size_t i = 0; i < labels.n; ++i)
                    for (std::size_t u = 0; u < labels.m; ++u) {
                        const Code code = codes[i * labels.m + u];
                        if (code < first_reserved_code<Code>) take(i, labels.first_cluster(u) + code);
                    }
            };
            each([&](std::size_t, std::size_t t) { ++starts[t + 1]; });
            for (std::size_t t = 0; t + 1 < starts.size(); ++t) starts[t + 1] += starts[t];
            objects.resize(static_cast<std::size_t>(starts.back()));
            std::vector<std::int64_t> next(starts.begin(), starts.end() - 1);
            each([&](std::size_t i, std::size_t t) {
                objects[static_cast<std::size_t>(next[t]++)] = static_cast<std::int32_t>(i);
            });
        });
    }

    std::span<const std::int32_t> of(std::size_t t) const {
        const auto begin = static_cast<std::size_t>(starts[t]);
        return {objects.data() + begin, static_cast<std::size_t>(starts[t + 1]) - begin};
    }
};

// Weight of the partitions that observed each object.
inline std::vector<double> observed_weight(const LabelView& labels) {
    std::vector<double> observed(labels.n, 0.0);
    with_codes(labels, [&](const auto* codes) {
        using Code = std::remove_const_t<std::remove_pointer_t<decltype(codes)>>;
        for (std::size_t i = 0; i < labels.n; ++i)
            for (std::size_t u = 0; u < labels.m; ++u)
                if (codes[i * labels.m + u] != missing_code<Code>) observed[i] += labels.weight(u);
    });
    return observed;
}

struct Searched {
    const LabelView& labels;
    Members members;
    std::optional<PaddedRows> padded;  // if the number of equal codes suffices
    std::vector<double> observed;
    double total = 0.0;  // weight of all partitions
    double least = 0.0;  // smallest of `observed`

    explicit Searched(const LabelView& given)
        : labels(given), members(given), observed(observed_weight(given)) {
        for (std::size_t u = 0; u < given.m; ++u) total += given.weight(u);
        least = *std::min_element(observed.begin(), observed.end());
        if (given.complete && given.weights.empty() && PaddedRows::fits(given)) padded.emplace(given);
    }
};

}  // namespace conclust
