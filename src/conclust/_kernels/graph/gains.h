// The gains of moving a vertex to another part: in sparse and dense graphs, and in hypergraphs.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "graph/partition.h"
#include "graph/scan.h"

namespace conclust {

// Gains from the weight between each vertex and each part.
class SparseGains {
  public:
    static constexpr bool exact = false;

    SparseGains(const SparseGraph& graph, std::size_t n, std::size_t k)
        : graph_(graph), n_(n), k_(k), ties_(n * k) {
        double largest = 0.0;
        for (std::size_t v = 0; v < n_; ++v)
            each(v, [&](std::size_t u, double w) {
                if (u != v) largest = std::max(largest, w);
            });
        largest_ = largest;
    }

    void reset(const std::int64_t* labels) {
        std::fill(ties_.begin(), ties_.end(), 0.0);
        for (std::size_t v = 0; v < n_; ++v)
            each(v, [&](std::size_t u, double w) {
                if (u != v) ties_[v * k_ + static_cast<std::size_t>(labels[u])] += w;
            });
    }
    double largest() const { return largest_; }
    double gain(std::size_t v, std::size_t from, std::size_t to) const {
        return ties_[v * k_ + to] - ties_[v * k_ + from];
    }
    // Moves v. Calls one(u, part) for each vertex u whose gain towards that part changed, or all(u)
    // if its gains towards all parts changed.
    template <class One, class All>
    void move(std::size_t v, std::size_t from, std::size_t to, const std::int64_t* labels, One&& one,
              All&& all) {
        each(v, [&](std::size_t u, double w) {
            if (u == v) return;
            ties_[u * k_ + from] -= w;
            ties_[u * k_ + to] += w;
            const auto own = static_cast<std::size_t>(labels[u]);
            if (own == from || own == to) {
                all(u);
            } else {
                one(u, from);
                one(u, to);
            }
        });
    }

  private:
    template <class F>
    void each(std::size_t v, F&& f) const {
        const auto end = static_cast<std::size_t>(graph_.indptr[v + 1]);
        for (auto e = static_cast<std::size_t>(graph_.indptr[v]); e < end; ++e)
            if (graph_.weights[e] != 0)
                f(static_cast<std::size_t>(graph_.indices[e]), graph_.weights[e]);
    }

    SparseGraph graph_;
    std::size_t n_, k_;
    std::vector<double> ties_;
    double largest_ = 0.0;
};

// The same of a dense matrix, part by part: a move changes the gains of all vertices towards two parts.
// Weights are of type W, their sums of type S: double, or std::int32_t for weights in whole numbers.
template <class W, class S>
class DenseGains {
  public:
    // Whether sums have no rounding errors, so that moves can be undone instead of adding all weights again.
    static constexpr bool exact = std::is_integral_v<S>;

    DenseGains(const W* matrix, std::size_t n, std::size_t k)
        : matrix_(matrix), n_(n), k_(k), ties_(k * n), own_(n) {
        for (std::size_t v = 0; v < n_; ++v) {
            const W* row = matrix_ + v * n_;
            largest_ = std::max({largest_, largest_of(row, v), largest_of(row + v + 1, n_ - v - 1)});
        }
    }

    void reset(const std::int64_t* labels) {
        std::fill(ties_.begin(), ties_.end(), S{0});
        for (std::size_t u = 0; u < n_; ++u) {
            S* ties = part(static_cast<std::size_t>(labels[u]));
            const W* row = matrix_ + u * n_;  // symmetric: its column too
            add(row, ties, u);
            add(row + u + 1, ties + u + 1, n_ - u - 1);
        }
        unlock(labels);
    }
    // All vertices may move again.
    void unlock(const std::int64_t* labels) {
        for (std::size_t v = 0; v < n_; ++v) own_[v] = part(static_cast<std::size_t>(labels[v]))[v];
    }
    double largest() const { return largest_; }
    double gain(std::size_t v, std::size_t from, std::size_t to) const {
        return ties_[to * n_ + v] - ties_[from * n_ + v];
    }
    // Weight of all vertices to a part and to their own part; `moved` for a vertex that has moved,
    // so that moving it again gains nothing.
    const S* towards(std::size_t t) const { return ties_.data() + t * n_; }
    const S* own() const { return own_.data(); }
    // Moves v. `renew` must be called for vertices of the two parts that have not moved.
    void move(std::size_t v, std::size_t from, std::size_t to) {
        S* left = part(from);
        S* joined = part(to);
        const S left_v = left[v], joined_v = joined[v];
        shift(matrix_ + v * n_, left, joined, n_);
        left[v] = left_v;
        joined[v] = joined_v;
        own_[v] = Marks<S>::moved;
    }
    // The weight of u to its own part has changed.
    void renew(std::size_t u, std::size_t own) { own_[u] = ties_[own * n_ + u]; }

  private:
    S* part(std::size_t t) { return ties_.data() + t * n_; }

    const W* matrix_;
    std::size_t n_, k_;
    std::vector<S> ties_;  // (k, n)
    std::vector<S> own_;
    double largest_ = 0.0;
};

// Gains from the number of vertices of each hyperedge in each part.
class HypergraphGains {
  public:
    static constexpr bool exact = false;

    HypergraphGains(const Hypergraph& graph, std::size_t n, std::size_t k)
        : edges_at_(graph.edges_at.data()),
          edges_(graph.edges.data()),
          pins_at_(graph.pins_at.data()),
          pins_(graph.pins.data()),
          weights_(graph.edge_weights.data()),
          m_(graph.edge_weights.size()),
          n_(n),
          k_(k),
          stride_((k + kLanes - 1) / kLanes * kLanes),
          inside_(m_ * k),
          missed_(m_ * stride_),
          leaves_(n),
          enters_(n * stride_) {
        for (const double weight : graph.edge_weights) largest_ = std::max(largest_, weight);
    }

    void reset(const std::int64_t* labels) {
        std::fill(inside_.begin(), inside_.end(), 0);
        for (std::size_t v = 0; v < n_; ++v)
            for (std::int64_t i = edges_at_[v]; i < edges_at_[v + 1]; ++i)
                ++inside_[static_cast<std::size_t>(edges_[i]) * k_ +
                          static_cast<std::size_t>(labels[v])];
        for (std::size_t e = 0; e < m_; ++e)
            for (std::size_t t = 0; t < k_; ++t)
                missed_[e * stride_ + t] = inside_[e * k_ + t] == 0 ? weights_[e] : 0.0;
        for (std::size_t v = 0; v < n_; ++v) {
            const auto begin = static_cast<std::size_t>(edges_at_[v]);
            const auto count = static_cast<std::size_t>(edges_at_[v + 1]) - begin;
            sum_rows(missed_.data(), stride_, edges_ + begin, count, &enters_[v * stride_]);
            const std::uint32_t* inside = inside_.data() + static_cast<std::size_t>(labels[v]);
            double leaves = 0.0;
            for (std::size_t i = begin; i < begin + count; ++i) {
                const auto e = static_cast<std::size_t>(edges_[i]);
                leaves += inside[e * k_] == 1 ? weights_[e] : 0.0;
            }
            leaves_[v] = leaves;
        }
    }
    double largest() const { return largest_; }
    double gain(std::size_t v, std::size_t, std::size_t to) const {
        return leaves_[v] - enters_[v * stride_ + to];
    }
    template <class One, class All>
    void move(std::size_t v, std::size_t from, std::size_t to, const std::int64_t* labels, One&& one,
              All&& all) {
        for (std::int64_t i = edges_at_[v]; i < edges_at_[v + 1]; ++i) {
            const auto e = static_cast<std::size_t>(edges_[i]);
            const double w = weights_[e];
            std::uint32_t* inside = &inside_[e * k_];
            if (inside[to] == 0) open(e, v, to, -w, one);
            else if (inside[to] == 1) alone(e, v, to, -w, labels, all);
            --inside[from];
            ++inside[to];
            if (inside[from] == 0) open(e, v, from, w, one);
            else if (inside[from] == 1) alone(e, v, from, w, labels, all);
        }
    }

  private:
    // The hyperedge enters or leaves a part completely: the cost of joining the part changes for its vertices.
    template <class One>
    void open(std::size_t e, std::size_t v, std::size_t part, double cost, One&& one) {
        for (std::int64_t i = pins_at_[e]; i < pins_at_[e + 1]; ++i) {
            const auto u = static_cast<std::size_t>(pins_[i]);
            if (u == v) continue;
            enters_[u * stride_ + part] += cost;
            one(u, part);
        }
    }
    // The hyperedge has one other vertex in this part: the gain of leaving the part changes for that vertex.
    template <class All>
    void alone(std::size_t e, std::size_t v, std::size_t part, double benefit,
               const std::int64_t* labels, All&& all) {
        for (std::int64_t i = pins_at_[e]; i < pins_at_[e + 1]; ++i) {
            const auto u = static_cast<std::size_t>(pins_[i]);
            if (u == v || static_cast<std::size_t>(labels[u]) != part) continue;
            leaves_[u] += benefit;
            all(u);
            return;
        }
    }

    const std::int64_t* edges_at_;
    const std::int32_t* edges_;
    const std::int64_t* pins_at_;
    const std::int32_t* pins_;
    const double* weights_;
    std::size_t m_, n_, k_, stride_;
    std::vector<std::uint32_t> inside_;
    std::vector<double> missed_;  // of a hyperedge and a part that it does not meet: its weight, else 0
    std::vector<double> leaves_, enters_;
    double largest_ = 0.0;
};

}  // namespace conclust
