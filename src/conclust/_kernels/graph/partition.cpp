#include "graph/partition.h"

#include <algorithm>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/interrupt.h"
#include "graph/gains.h"
#include "graph/queues.h"

namespace conclust {

namespace {

// Number of vertices that do not fit, tried per part before the part is skipped for this move.
constexpr int kTries = 32;
constexpr std::size_t kMovesPerPoll = 16;

template <class Gains, class Queues>
class Refiner {
  public:
    Refiner(Gains& gains, const Parts& parts)
        : gains_(gains),
          p_(parts),
          weight_(parts.k),
          count_(parts.k),
          locked_(parts.n),
          stash_(parts.k),
          queues_(parts.n, parts.k) {
        lightest_ = *std::min_element(parts.vertex_weights.begin(), parts.vertex_weights.end());
    }

    std::size_t run() {
        std::size_t passes = 0;
        while (passes < p_.max_passes) {
            ++passes;
            if (!pass()) break;
        }
        return passes;
    }

  private:
    bool pass() {
        start();
        moves_.clear();
        double sum = 0, best = 0;
        std::size_t kept = 0;
        Vertex v = 0;
        std::size_t to = 0;
        while (moves_.size() < kept + p_.patience && choose(v, to)) {
            if (moves_.size() % kMovesPerPoll == 0) {
                stop_if_interrupted();
            }
            const auto from = static_cast<std::size_t>(p_.labels[v]);
            sum += gains_.gain(v, from, to);
            move(v, from, to);
            moves_.push_back({v, from});
            // Gains within rounding errors do not count, or passes would cycle.
            if (sum > best + 1e-9 * (gains_.largest() + best)) {
                best = sum;
                kept = moves_.size();
            }
        }
        for (std::size_t i = moves_.size(); i-- > kept;) {
            const auto [u, before] = moves_[i];
            if constexpr (Gains::exact) gains_.move(u, static_cast<std::size_t>(p_.labels[u]), before);
            p_.labels[u] = static_cast<std::int64_t>(before);
        }
        return kept > 0;
    }

    void start() {
        std::fill(weight_.begin(), weight_.end(), 0.0);
        std::fill(count_.begin(), count_.end(), 0);
        std::fill(locked_.begin(), locked_.end(), 0);
        if (fresh_ || !Gains::exact) {
            gains_.reset(p_.labels.data());
        } else if constexpr (Gains::exact) {
            gains_.unlock(p_.labels.data());
        }
        fresh_ = false;
        for (auto& stash : stash_) stash.clear();
        for (std::size_t v = 0; v < p_.n; ++v) {
            const auto own = static_cast<std::size_t>(p_.labels[v]);
            weight_[own] += p_.vertex_weights[v];
            ++count_[own];
        }
        queues_.fill(gains_, p_.labels.data(), p_.n);
    }

    bool fits(Vertex v, std::size_t t) const {
        return weight_[t] + p_.vertex_weights[v] <= p_.capacity &&
               count_[static_cast<std::size_t>(p_.labels[v])] > 1;
    }

    bool choose(Vertex& chosen, std::size_t& to) {
        bool found = false;
        double largest = 0;
        for (std::size_t t = 0; t < p_.k; ++t) {
            if (weight_[t] + lightest_ > p_.capacity) continue;
            Vertex v;
            for (int tries = 0; tries < kTries && queues_.top(t, gains_, v); ++tries) {
                if (!fits(v, t)) {
                    queues_.remove(t, v);
                    stash_[t].push_back(v);
                    continue;
                }
                const double gain = gains_.gain(v, static_cast<std::size_t>(p_.labels[v]), t);
                if (!found || gain > largest || (gain == largest && weight_[t] < weight_[to])) {
                    found = true;
                    largest = gain;
                    chosen = v;
                    to = t;
                }
                break;
            }
        }
        return found;
    }

    void move(Vertex v, std::size_t from, std::size_t to) {
        locked_[v] = 1;
        queues_.remove(v);
        weight_[from] -= p_.vertex_weights[v];
        weight_[to] += p_.vertex_weights[v];
        --count_[from];
        ++count_[to];
        p_.labels[v] = static_cast<std::int64_t>(to);
        queues_.move(gains_, v, from, to, p_.labels.data());
        for (const Vertex u : stash_[from])
            if (!locked_[u])
                queues_.push(from, u, gains_.gain(u, static_cast<std::size_t>(p_.labels[u]), from));
        stash_[from].clear();
    }

    Gains& gains_;
    const Parts& p_;
    std::vector<double> weight_;
    std::vector<std::size_t> count_;
    std::vector<char> locked_;
    std::vector<std::vector<Vertex>> stash_;  // per part: vertices that did not fit
    Queues queues_;                           // per part: vertices that could come
    std::vector<std::pair<Vertex, std::size_t>> moves_;
    double lightest_;
    bool fresh_ = true;
};

}  // namespace

std::size_t refine_sparse(const SparseGraph& graph, const Parts& parts) {
    SparseGains gains(graph, parts.n, parts.k);
    return Refiner<SparseGains, Trees>(gains, parts).run();
}

template <class W>
std::size_t refine_dense(std::span<const W> matrix, const Parts& parts) {
    using S = std::conditional_t<std::is_same_v<W, double>, double, std::int32_t>;
    DenseGains<W, S> gains(matrix.data(), parts.n, parts.k);
    return Refiner<DenseGains<W, S>, Scans<S>>(gains, parts).run();
}

template std::size_t refine_dense(std::span<const double>, const Parts&);
template std::size_t refine_dense(std::span<const std::uint8_t>, const Parts&);
template std::size_t refine_dense(std::span<const std::uint16_t>, const Parts&);

template <class W>
void count_ties(std::span<const W> matrix, std::span<const std::int64_t> labels, std::size_t k,
                std::span<double> ties) {
    const std::size_t n = labels.size();
    std::vector<std::int32_t> sums(k * n, 0);
    for (std::size_t u = 0; u < n; ++u)
        add(matrix.data() + u * n, sums.data() + static_cast<std::size_t>(labels[u]) * n, n);
    for (std::size_t v = 0; v < n; ++v)
        for (std::size_t t = 0; t < k; ++t) ties[v * k + t] = static_cast<double>(sums[t * n + v]);
}

template void count_ties(std::span<const std::uint8_t>, std::span<const std::int64_t>, std::size_t,
                         std::span<double>);
template void count_ties(std::span<const std::uint16_t>, std::span<const std::int64_t>, std::size_t,
                         std::span<double>);

std::size_t refine_hypergraph(const Hypergraph& graph, const Parts& parts) {
    HypergraphGains gains(graph, parts.n, parts.k);
    return Refiner<HypergraphGains, Trees>(gains, parts).run();
}

void fill_parts(std::span<const double> scores, std::span<const std::int64_t> order,
                const Parts& parts) {
    std::vector<double> weight(parts.k, 0.0);
    for (std::size_t i = 0; i < parts.n; ++i) {
        const auto v = static_cast<std::size_t>(order[i]);
        const double* score = scores.data() + v * parts.k;
        const double own = parts.vertex_weights[v];
        std::size_t best = parts.k;
        for (std::size_t t = 0; t < parts.k; ++t)
            if (weight[t] + own <= parts.capacity && (best == parts.k || score[t] > score[best]))
                best = t;
        if (best == parts.k)
            best = static_cast<std::size_t>(std::min_element(weight.begin(), weight.end()) -
                                            weight.begin());
        weight[best] += own;
        parts.labels[v] = static_cast<std::int64_t>(best);
    }
}

}  // namespace conclust