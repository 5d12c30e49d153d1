#include "neighbours/leiden.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "base/clones.h"
#include "base/interrupt.h"
#include "base/prefetch.h"
#include "base/random.h"

namespace conclust {
namespace {

using Labels = std::vector<std::int32_t>;

// Gains below this share of a node's ties are rounding.
constexpr double least_gain = 1e-12;
constexpr std::size_t visits_between_looks = 4096;
// Graphs of fewer nodes: all but their ties lies in the cache, and these are prefetched some visits ahead.
constexpr std::size_t prefetched_from = 20'000;
constexpr std::size_t visits_ahead = 3;
constexpr std::size_t cache_line = 64;
// Maximum number of ties of a node that are prefetched in larger graphs.
constexpr std::size_t most_prefetched = 32;

std::size_t at(std::int32_t value) { return static_cast<std::size_t>(value); }

// Numbers labels below `bound` by first appearance; returns their number.
std::size_t renumber(std::span<std::int32_t> labels, std::size_t bound) {
    Labels number(bound, -1);
    std::int32_t count = 0;
    for (std::int32_t& label : labels) {
        if (number[at(label)] < 0) {
            number[at(label)] = count++;
        }
        label = number[at(label)];
    }
    return static_cast<std::size_t>(count);
}

// A graph that lies elsewhere.
struct Graph {
    std::span<const std::int64_t> starts;
    std::span<const std::int32_t> ends;
    std::span<const double> weights;
    std::span<const double> loads;

    std::size_t size() const { return loads.size(); }
    std::size_t begin(std::size_t v) const { return static_cast<std::size_t>(starts[v]); }
    std::size_t end(std::size_t v) const { return static_cast<std::size_t>(starts[v + 1]); }
};

struct OwnedGraph {
    std::vector<std::int64_t> starts;
    std::vector<std::int32_t> ends;
    std::vector<double> weights;
    std::vector<double> loads;

    Graph view() const { return {starts, ends, weights, loads}; }
};

// Weights of ties per community: a dense array, in which only modified entries are cleared. Weights are above 0, so a
// sum of 0 is new. Without branches: which communities repeat among the ties of a node cannot be predicted.
class Sums {
  public:
    explicit Sums(std::size_t n) : sums_(n, 0.0), touched_(n + 1) {}

    void add(std::int32_t label, double weight) {
        double& sum = sums_[at(label)];
        touched_[count_] = label;
        count_ += sum == 0.0 ? 1 : 0;
        sum += weight;
    }

    double of(std::int32_t label) const { return sums_[at(label)]; }

    const void* place(std::int32_t label) const { return &sums_[at(label)]; }

    std::span<const std::int32_t> touched() const { return {touched_.data(), count_}; }

    void clear() {
        for (const std::int32_t label : touched()) {
            sums_[at(label)] = 0.0;
        }
        count_ = 0;
    }

  private:
    std::vector<double> sums_;
    std::vector<std::int32_t> touched_;
    std::size_t count_ = 0;
};

class Search {
  public:
    Search(double rate, std::uint64_t seed, std::size_t n) : rate_(rate), seed_(seed), sums_(n) {}

    // Moves nodes until no single move gains; returns whether any node moved.
    bool move_nodes(const Graph& graph, Labels& labels) {
        const std::size_t n = graph.size();
        std::vector<double> loads(n, 0.0);
        std::vector<std::int32_t> sizes(n, 0);
        for (std::size_t v = 0; v < n; ++v) {
            loads[at(labels[v])] += graph.loads[v];
            ++sizes[at(labels[v])];
        }
        std::vector<std::int32_t> unused;
        for (std::size_t c = n; c-- > 0;) {
            if (sizes[c] == 0) {
                unused.push_back(static_cast<std::int32_t>(c));
            }
        }
        std::vector<std::int32_t> queue = shuffled(n);
        std::vector<std::uint8_t> waits(n, 1);
        std::size_t head = 0;
        std::size_t tail = 0;
        std::size_t length = n;
        bool moved = false;
        for (; length > 0; --length) {
            look_for_interrupt();
            const std::int32_t name = queue[head];
            const std::size_t v = at(name);
            head = head + 1 == n ? 0 : head + 1;
            prefetch_visits(graph, queue, head, labels, labels, loads);
            waits[v] = 0;
            const std::int32_t own = labels[v];
            const double load = graph.loads[v];
            double degree = 0.0;
            for (std::size_t e = graph.begin(v); e < graph.end(v); ++e) {
                sums_.add(labels[at(graph.ends[e])], graph.weights[e]);
                degree += graph.weights[e];
            }
            loads[at(own)] -= load;
            std::int32_t best = own;
            const double least = least_gain * degree;
            const double stay = sums_.of(own) - rate_ * load * loads[at(own)];
            double most = stay;
            for (const std::int32_t c : sums_.touched()) {
                if (c == own) {
                    continue;
                }
                const double gain = sums_.of(c) - rate_ * load * loads[at(c)];
                if (gain > most || (gain == most && best != own && c < best)) {
                    most = gain;
                    best = c;
                }
            }
            // A singleton, if all communities repel the node.
            if (most < -least && sizes[at(own)] > 1) {
                most = 0.0;
                best = unused.back();
            }
            sums_.clear();
            if (best == own || !(most > stay + least)) {
                loads[at(own)] += load;
                continue;
            }
            moved = true;
            if (sizes[at(best)]++ == 0) {
                unused.pop_back();
            }
            if (--sizes[at(own)] == 0) {
                unused.push_back(own);
                loads[at(own)] = 0.0;
            }
            loads[at(best)] += load;
            labels[v] = best;
            for (std::size_t e = graph.begin(v); e < graph.end(v); ++e) {
                const std::size_t u = at(graph.ends[e]);
                // The place behind the last is free, and written in any case: no branch to predict.
                const bool joins = waits[u] == 0 && labels[u] != best;
                queue[tail] = graph.ends[e];
                waits[u] = joins ? 1 : waits[u];
                length += joins ? 1 : 0;
                tail += joins ? 1 : 0;
                tail = tail == n ? 0 : tail;
            }
        }
        return moved;
    }

    // Communities within the given ones, each of which is connected.
    Labels refine(const Graph& graph, const Labels& labels, std::size_t count) {
        const std::size_t n = graph.size();
        Labels refined(n);
        std::iota(refined.begin(), refined.end(), 0);
        std::vector<double> whole(count, 0.0);
        std::vector<double> loads(graph.loads.begin(), graph.loads.end());
        std::vector<double> outside(n,
                                    0.0);  // ties of a refined community with the rest of its community
        std::vector<std::uint8_t> alone(n, 1);
        for (std::size_t v = 0; v < n; ++v) {
            whole[at(labels[v])] += graph.loads[v];
            for (std::size_t e = graph.begin(v); e < graph.end(v); ++e) {
                if (labels[at(graph.ends[e])] == labels[v]) {
                    outside[v] += graph.weights[e];
                }
            }
        }
        const std::vector<std::int32_t> order = shuffled(n);
        for (std::size_t visit = 0; visit < n; ++visit) {
            look_for_interrupt();
            prefetch_visits(graph, order, visit, labels, refined, loads);
            const std::size_t v = at(order[visit]);
            const double all = whole[at(labels[v])];
            const double load = graph.loads[v];
            if (alone[v] == 0 || outside[v] < rate_ * load * (all - load)) {
                continue;
            }
            for (std::size_t e = graph.begin(v); e < graph.end(v); ++e) {
                const std::size_t u = at(graph.ends[e]);
                if (labels[u] == labels[v]) {
                    sums_.add(refined[u], graph.weights[e]);
                }
            }
            std::int32_t best = -1;
            double most = least_gain * outside[v];
            for (const std::int32_t c : sums_.touched()) {
                const double of = loads[at(c)];
                if (outside[at(c)] < rate_ * of * (all - of)) {
                    continue;
                }
                const double gain = sums_.of(c) - rate_ * load * of;
                if (gain > most || (gain == most && best >= 0 && c < best)) {
                    most = gain;
                    best = c;
                }
            }
            if (best >= 0) {
                outside[at(best)] += outside[v] - 2.0 * sums_.of(best);
                loads[at(best)] += load;
                alone[at(best)] = 0;
                refined[v] = best;
            }
            sums_.clear();
        }
        return refined;
    }

    // The graph whose nodes are the communities of another. Ties inside of them no longer matter.
    OwnedGraph aggregate(const Graph& graph, const Labels& labels, std::size_t count) {
        const std::size_t n = graph.size();
        std::vector<std::size_t> first(count + 1, 0);
        for (const std::int32_t label : labels) {
            ++first[at(label) + 1];
        }
        std::partial_sum(first.begin(), first.end(), first.begin());
        std::vector<std::size_t> members(n);
        std::vector<std::size_t> next(first.begin(), first.end() - 1);
        for (std::size_t v = 0; v < n; ++v) {
            members[next[at(labels[v])]++] = v;
        }
        OwnedGraph whole;
        whole.starts.reserve(count + 1);
        whole.starts.push_back(0);
        whole.loads.resize(count, 0.0);
        for (std::size_t c = 0; c < count; ++c) {
            for (std::size_t m = first[c]; m < first[c + 1]; ++m) {
                const std::size_t v = members[m];
                whole.loads[c] += graph.loads[v];
                for (std::size_t e = graph.begin(v); e < graph.end(v); ++e) {
                    sums_.add(labels[at(graph.ends[e])], graph.weights[e]);
                }
            }
            for (const std::int32_t other : sums_.touched()) {
                if (at(other) != c) {
                    whole.ends.push_back(other);
                    whole.weights.push_back(sums_.of(other));
                }
            }
            sums_.clear();
            whole.starts.push_back(static_cast<std::int64_t>(whole.ends.size()));
        }
        return whole;
    }

  private:
    // Nodes come in random order, and what a visit reads lies anywhere: it is prefetched some visits before. `places` are
    // the labels whose sums and loads the visit reads. A call of a function that only prefetches is removed by GCC, hence
    // the attribute.
    CONCLUST_INLINE void prefetch_visits(const Graph& graph, const std::vector<std::int32_t>& queue,
                                         std::size_t head, const Labels& labels, const Labels& places,
                                         const std::vector<double>& loads) const {
        const std::size_t n = queue.size();
        if (n < prefetched_from) {
            prefetch_ties(graph, queue, head + visits_ahead);
            return;
        }
        const auto later = [&](std::size_t visits) {
            const std::size_t place = head + visits;
            return at(queue[place < n ? place : place - n]);
        };
        prefetch(&graph.starts[later(16)]);
        const std::size_t far = later(10);
        prefetch(&graph.loads[far]);
        prefetch(&labels[far]);
        prefetch(graph.ends.data() + graph.begin(far));
        prefetch(graph.weights.data() + graph.begin(far));
        const std::size_t near = later(5);
        for (std::size_t e = graph.begin(near); e < last_prefetched(graph, near); ++e) {
            prefetch(&labels[at(graph.ends[e])]);
            prefetch(&places[at(graph.ends[e])]);
        }
        const std::size_t next = later(1);
        for (std::size_t e = graph.begin(next); e < last_prefetched(graph, next); ++e) {
            const std::int32_t place = places[at(graph.ends[e])];
            prefetch(sums_.place(place));
            prefetch(&loads[at(place)]);
        }
    }

    static std::size_t last_prefetched(const Graph& graph, std::size_t v) {
        return std::min(graph.end(v), graph.begin(v) + most_prefetched);
    }

    CONCLUST_INLINE static void prefetch_ties(const Graph& graph, const std::vector<std::int32_t>& queue,
                                              std::size_t place) {
        if (place >= queue.size()) {
            return;
        }
        const std::size_t v = at(queue[place]);
        for (std::size_t e = graph.begin(v); e < graph.end(v); e += cache_line / sizeof(std::int32_t)) {
            prefetch(&graph.ends[e]);
        }
        for (std::size_t e = graph.begin(v); e < graph.end(v); e += cache_line / sizeof(double)) {
            prefetch(&graph.weights[e]);
        }
    }

    std::vector<std::int32_t> shuffled(std::size_t n) {
        std::vector<std::int32_t> order(n);
        std::iota(order.begin(), order.end(), 0);
        ++shuffles_;
        for (std::size_t i = n; i > 1; --i) {
            std::swap(order[i - 1], order[random_below(i, seed_, shuffles_, i)]);
        }
        return order;
    }

    void look_for_interrupt() {
        if (++visits_ % visits_between_looks == 0) {
            stop_if_interrupted();
        }
    }

    double rate_;
    std::uint64_t seed_;
    std::uint64_t shuffles_ = 0;
    std::size_t visits_ = 0;
    Sums sums_;
};

// Numbers the connected components of each label by first appearance.
std::size_t split_components(const Graph& graph, std::span<std::int32_t> labels) {
    Labels part(graph.size(), -1);
    std::vector<std::size_t> stack;
    std::int32_t count = 0;
    for (std::size_t start = 0; start < graph.size(); ++start) {
        if (part[start] >= 0) {
            continue;
        }
        part[start] = count;
        stack.push_back(start);
        while (!stack.empty()) {
            const std::size_t v = stack.back();
            stack.pop_back();
            for (std::size_t e = graph.begin(v); e < graph.end(v); ++e) {
                const std::size_t u = at(graph.ends[e]);
                if (part[u] < 0 && labels[u] == labels[v]) {
                    part[u] = count;
                    stack.push_back(u);
                }
            }
        }
        ++count;
    }
    std::copy(part.begin(), part.end(), labels.begin());
    return static_cast<std::size_t>(count);
}

}  // namespace

std::size_t find_communities(const WeightedGraph& given, double rate, std::uint64_t seed, int rounds,
                             std::span<std::int32_t> labels) {
    const Graph base{given.starts, given.ends, given.weights, given.loads};
    const std::size_t n = base.size();
    Search search(rate, seed, n);
    std::iota(labels.begin(), labels.end(), 0);
    std::size_t communities = n;
    for (int round = 0; round < rounds; ++round) {
        Labels current(labels.begin(), labels.end());
        bool moved = search.move_nodes(base, current);
        if (round > 0 && !moved) {
            break;
        }
        OwnedGraph aggregated;
        Graph graph = base;
        Labels node(n);  // of each node of the base in the graph
        std::iota(node.begin(), node.end(), 0);
        for (;;) {
            const std::size_t count = renumber(current, graph.size());
            if (count == graph.size()) {
                break;
            }
            Labels refined = search.refine(graph, current, count);
            const std::size_t parts = renumber(refined, graph.size());
            if (parts == graph.size()) {
                break;
            }
            Labels above(parts);
            for (std::size_t v = 0; v < graph.size(); ++v) {
                above[at(refined[v])] = current[v];
            }
            for (std::int32_t& each : node) {
                each = refined[at(each)];
            }
            aggregated = search.aggregate(graph, refined, parts);
            graph = aggregated.view();
            current = std::move(above);
            search.move_nodes(graph, current);
        }
        for (std::size_t v = 0; v < n; ++v) {
            labels[v] = current[at(node[v])];
        }
        communities = split_components(base, labels);
    }
    // Moves of entire parts may have made moves of single nodes worthwhile.
    Labels current(labels.begin(), labels.end());
    while (search.move_nodes(base, current)) {
        communities = split_components(base, current);
        std::copy(current.begin(), current.end(), labels.begin());
    }
    return communities;
}

}  // namespace conclust
