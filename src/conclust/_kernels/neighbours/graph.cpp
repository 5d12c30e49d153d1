#include "neighbours/graph.h"

#include <algorithm>

#include "base/interrupt.h"

namespace conclust {
namespace {

// The objects that have each object among their k nearest, in rising order.
struct Reverse {
    Reverse(std::span<const std::int32_t> found, std::size_t n, std::size_t stride, std::size_t k)
        : starts(n + 1), from(n * k) {
        for (std::size_t i = 0; i < n; ++i) {
            for (std::size_t m = 0; m < k; ++m) {
                ++starts[static_cast<std::size_t>(found[i * stride + m]) + 1];
            }
        }
        for (std::size_t i = 0; i < n; ++i) {
            starts[i + 1] += starts[i];
        }
        std::vector<std::size_t> next(starts.begin(), starts.end() - 1);
        for (std::size_t i = 0; i < n; ++i) {
            for (std::size_t m = 0; m < k; ++m) {
                const auto j = static_cast<std::size_t>(found[i * stride + m]);
                from[next[j]++] = static_cast<std::int32_t>(i);
            }
        }
    }

    std::vector<std::size_t> starts;
    std::vector<std::int32_t> from;
};

}  // namespace

NeighbourGraph neighbour_graph(std::span<const std::int32_t> found, std::size_t n, std::size_t stride,
                               std::size_t k, bool jaccard) {
    const Reverse reverse(found, n, stride, k);
    NeighbourGraph graph;
    graph.starts.resize(n + 1);
    graph.ends.reserve(n * k + n * k / 2);
    graph.weights.reserve(n * k + n * k / 2);
    std::vector<std::int32_t> own(k);
    std::vector<std::int32_t> mark(n, -1);
    for (std::size_t i = 0; i < n; ++i) {
        if (i % 1024 == 0) {
            stop_if_interrupted();
        }
        const auto list = found.begin() + static_cast<std::ptrdiff_t>(i * stride);
        std::copy_n(list, k, own.begin());
        std::sort(own.begin(), own.end());
        const auto first = static_cast<std::ptrdiff_t>(graph.ends.size());
        std::set_union(own.begin(), own.end(),
                       reverse.from.begin() + static_cast<std::ptrdiff_t>(reverse.starts[i]),
                       reverse.from.begin() + static_cast<std::ptrdiff_t>(reverse.starts[i + 1]),
                       std::back_inserter(graph.ends));
        graph.starts[i + 1] = static_cast<std::int64_t>(graph.ends.size());
        if (!jaccard) {
            graph.weights.resize(graph.ends.size(), 1.0);
            continue;
        }
        const auto name = static_cast<std::int32_t>(i);
        mark[i] = name;
        for (const std::int32_t j : own) {
            mark[static_cast<std::size_t>(j)] = name;
        }
        for (auto at = graph.ends.begin() + first; at != graph.ends.end(); ++at) {
            const auto j = static_cast<std::size_t>(*at);
            std::size_t both = mark[j] == name ? 1 : 0;
            for (std::size_t m = 0; m < k; ++m) {
                both += mark[static_cast<std::size_t>(found[j * stride + m])] == name ? 1 : 0;
            }
            graph.weights.push_back(static_cast<double>(both) / static_cast<double>(2 * (k + 1) - both));
        }
    }
    return graph;
}

}  // namespace conclust
