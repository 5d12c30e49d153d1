#include "neighbours/forest.h"

#include <algorithm>
#include <compare>

#include "base/interrupt.h"
#include "linkage/union_find.h"

namespace conclust {
namespace {

struct Tie {
    double length;
    std::int32_t from;
    std::int32_t to;
    auto operator<=>(const Tie& other) const = default;
};

// The trees of a forest with roots: each object after the one above it in `order`.
struct Rooted {
    Rooted(const Forest& forest, std::size_t n) : above(n, -1), tie(n, -1) {
        std::vector<std::size_t> starts(n + 1, 0);
        const std::size_t ties = forest.from.size();
        for (std::size_t e = 0; e < ties; ++e) {
            ++starts[static_cast<std::size_t>(forest.from[e]) + 1];
            ++starts[static_cast<std::size_t>(forest.to[e]) + 1];
        }
        for (std::size_t i = 0; i < n; ++i) {
            starts[i + 1] += starts[i];
        }
        std::vector<std::size_t> next(starts.begin(), starts.end() - 1);
        std::vector<std::size_t> at(2 * ties);
        for (std::size_t e = 0; e < ties; ++e) {
            at[next[static_cast<std::size_t>(forest.from[e])]++] = e;
            at[next[static_cast<std::size_t>(forest.to[e])]++] = e;
        }
        std::vector<std::uint8_t> seen(n, 0);
        order.reserve(n);
        for (std::size_t root = 0; root < n; ++root) {
            if (seen[root] != 0) {
                continue;
            }
            seen[root] = 1;
            order.push_back(static_cast<std::int32_t>(root));
            for (std::size_t done = order.size() - 1; done < order.size(); ++done) {
                const std::int32_t name = order[done];
                const auto i = static_cast<std::size_t>(name);
                for (std::size_t s = starts[i]; s < starts[i + 1]; ++s) {
                    const std::size_t e = at[s];
                    const std::int32_t other = forest.from[e] == name ? forest.to[e] : forest.from[e];
                    const auto j = static_cast<std::size_t>(other);
                    if (seen[j] == 0) {
                        seen[j] = 1;
                        above[j] = name;
                        tie[j] = static_cast<std::int32_t>(e);
                        order.push_back(other);
                    }
                }
            }
        }
    }

    std::vector<std::int32_t> above;  // -1: a root
    std::vector<std::int32_t> tie;  // with what is above
    std::vector<std::int32_t> order;
};

}  // namespace

Forest spanning_forest(std::span<const std::int32_t> found, std::span<const double> squares,
                       std::span<const double> cores, std::size_t k) {
    const std::size_t n = cores.size();
    std::vector<Tie> ties;
    ties.reserve(n * k);
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t m = 0; m < k; ++m) {
            const std::int32_t other = found[i * k + m];
            const auto name = static_cast<std::int32_t>(i);
            const double length =
                std::max({squares[i * k + m], cores[i], cores[static_cast<std::size_t>(other)]});
            ties.push_back({length, std::min(name, other), std::max(name, other)});
        }
    }
    stop_if_interrupted();
    UnionFind sets(n);
    Forest forest;
    const auto root = [&sets](std::int32_t name) { return sets.find(static_cast<std::uint32_t>(name)); };
    auto last = ties.end();
    // The shortest ties first: most of the others are within a tree then, and need no order.
    for (auto begin = ties.begin(); begin != last;) {
        const auto end = begin + std::min(static_cast<std::ptrdiff_t>(4 * n), last - begin);
        std::nth_element(begin, end, last);
        std::sort(begin, end);
        for (; begin != end; ++begin) {
            if (const auto a = root(begin->from), b = root(begin->to); a != b) {
                sets.join(a, b);
                forest.from.push_back(begin->from);
                forest.to.push_back(begin->to);
            }
        }
        last = std::remove_if(end, last, [&](const Tie& tie) { return root(tie.from) == root(tie.to); });
    }
    return forest;
}

std::size_t cut_forest(const Forest& forest, std::span<const double> masses, std::size_t cuts,
                       double least, std::span<std::int32_t> labels) {
    const std::size_t n = masses.size();
    const Rooted trees(forest, n);
    std::vector<double> below(masses.begin(), masses.end());  // with the object itself
    for (std::size_t o = n; o-- > 0;) {
        const auto i = static_cast<std::size_t>(trees.order[o]);
        if (trees.above[i] >= 0) {
            below[static_cast<std::size_t>(trees.above[i])] += below[i];
        }
    }
    std::vector<std::size_t> lower(forest.from.size());  // the end of a tie that is below
    for (std::size_t i = 0; i < n; ++i) {
        if (trees.tie[i] >= 0) {
            lower[static_cast<std::size_t>(trees.tie[i])] = i;
        }
    }
    std::vector<std::uint8_t> top(n, 0);
    for (std::size_t i = 0; i < n; ++i) {
        top[i] = trees.above[i] < 0 ? 1 : 0;
    }
    for (std::size_t e = forest.from.size(); e-- > 0 && cuts > 0;) {
        const std::size_t i = lower[e];
        if (below[i] < least) {
            continue;
        }
        if (e % 256 == 0) {
            stop_if_interrupted();
        }
        std::size_t root = i;
        while (top[root] == 0) {
            root = static_cast<std::size_t>(trees.above[root]);
        }
        if (below[root] - below[i] < least) {
            continue;
        }
        for (std::size_t j = i; top[j] == 0;) {
            j = static_cast<std::size_t>(trees.above[j]);
            below[j] -= below[i];
        }
        top[i] = 1;
        --cuts;
    }
    std::vector<std::int32_t> part(n);
    for (const std::int32_t name : trees.order) {
        const auto i = static_cast<std::size_t>(name);
        part[i] = top[i] != 0 ? name : part[static_cast<std::size_t>(trees.above[i])];
    }
    std::vector<std::int32_t> number(n, -1);
    std::int32_t count = 0;
    for (std::size_t i = 0; i < n; ++i) {
        std::int32_t& own = number[static_cast<std::size_t>(part[i])];
        if (own < 0) {
            own = count++;
        }
        labels[i] = own;
    }
    return static_cast<std::size_t>(count);
}

}  // namespace conclust
