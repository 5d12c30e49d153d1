// The candidate vertices of each part, the best first: in trees, or found by scanning all.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "graph/gains.h"
#include "graph/scan.h"

namespace conclust {

using Vertex = std::uint32_t;
inline constexpr Vertex kAbsent = std::numeric_limits<Vertex>::max();
// If fewer than one vertex in kFew changed, comparing these one by one is faster than scanning all again.
inline constexpr std::size_t kFew = 6;

// The vertices of a part by their gains: largest first, then the lowest vertex. Each node of the tree is the largest of the
// eight below it, so that an update ends where the largest remains the same.
class Tree {
  public:
    static constexpr std::size_t fan = 8;
    static constexpr double absent = -std::numeric_limits<double>::infinity();

    explicit Tree(std::size_t n) : gains_(padded(n), absent) {
        for (std::size_t size = gains_.size() / fan; size > 1; size = levels_.back().size() / fan)
            levels_.emplace_back(padded(size), absent);
    }

    bool holds(Vertex v) const { return gains_[v] != absent; }
    double gain(Vertex v) const { return gains_[v]; }
    // Gains of all vertices, to be set before build().
    double* leaves() { return gains_.data(); }
    void build() {
        const std::vector<double>* below = &gains_;
        for (auto& level : levels_) {
            for (std::size_t i = 0; i < below->size() / fan; ++i) level[i] = largest(*below, i);
            below = &level;
        }
    }
    void change(Vertex v, double gain) {
        gains_[v] = gain;
        std::size_t i = v / fan;
        const std::vector<double>* below = &gains_;
        for (auto& level : levels_) {
            const double now = largest(*below, i);
            if (level[i] == now) return;
            level[i] = now;
            below = &level;
            i /= fan;
        }
    }
    void remove(Vertex v) { change(v, absent); }
    // The first vertex; kAbsent if the queue is empty.
    Vertex top() const {
        std::size_t i = 0;
        const double most = largest(levels_.empty() ? gains_ : levels_.back(), 0);
        if (most == absent) return kAbsent;
        for (std::size_t l = levels_.size(); l-- > 0;) i = first(levels_[l], i, most);
        return static_cast<Vertex>(first(gains_, i, most));
    }

  private:
    static std::size_t padded(std::size_t n) { return (n + fan - 1) / fan * fan; }
    static double largest(const std::vector<double>& level, std::size_t node) {
        const double* x = level.data() + node * fan;
        double half[fan / 2];
        for (std::size_t i = 0; i < fan / 2; ++i) half[i] = x[i] < x[i + 4] ? x[i + 4] : x[i];
        const double one = half[0] < half[2] ? half[2] : half[0];
        const double other = half[1] < half[3] ? half[3] : half[1];
        return one < other ? other : one;
    }
    static std::size_t first(const std::vector<double>& level, std::size_t node, double most) {
        const double* x = level.data() + node * fan;
        unsigned equal = 0;
        for (std::size_t i = 0; i < fan; ++i) equal |= static_cast<unsigned>(!(x[i] < most)) << i;
        return node * fan + static_cast<std::size_t>(std::countr_zero(equal));
    }

    std::vector<double> gains_;  // of each vertex
    std::vector<std::vector<double>> levels_;
};

// A tree for each part, where a move changes few gains. A vertex that is removed from all of them stays where it is, and is
// left out when it is the top.
class Trees {
  public:
    Trees(std::size_t n, std::size_t k) : k_(k), removed_(n), best_(k) {
        each_.reserve(k);
        for (std::size_t t = 0; t < k; ++t) each_.emplace_back(n);
    }

    template <class Gains>
    void fill(const Gains& gains, const std::int64_t* labels, std::size_t n) {
        std::fill(removed_.begin(), removed_.end(), 0);
        constexpr std::size_t block = 256;  // whose gains remain in the cache
        for (std::size_t begin = 0; begin < n; begin += block) {
            const std::size_t end = std::min(n, begin + block);
            for (std::size_t t = 0; t < k_; ++t) {
                double* leaf = each_[t].leaves();
                for (std::size_t v = begin; v < end; ++v)
                    leaf[v] = gains.gain(v, static_cast<std::size_t>(labels[v]), t);
            }
        }
        for (std::size_t v = 0; v < n; ++v)
            each_[static_cast<std::size_t>(labels[v])].leaves()[v] = Tree::absent;
        for (auto& tree : each_) tree.build();
        for (auto& best : best_) best.known = false;
    }
    template <class Gains>
    bool top(std::size_t t, const Gains&, Vertex& v) {
        Best& best = best_[t];
        if (!best.known || (best.vertex != kAbsent && removed_[best.vertex])) best = look(t);
        v = best.vertex;
        return v != kAbsent;
    }
    void remove(std::size_t t, Vertex v) { change(t, v, Tree::absent); }
    void remove(Vertex v) { removed_[v] = 1; }
    void push(std::size_t t, Vertex v, double gain) { change(t, v, gain); }
    // Moves v, which has been removed, and brings the gains up to date; its label is the new one.
    template <class Gains>
    void move(Gains& gains, Vertex v, std::size_t from, std::size_t to, const std::int64_t* labels) {
        const auto one = [&](std::size_t u, std::size_t t) {
            const auto w = static_cast<Vertex>(u);
            if (!removed_[u] && each_[t].holds(w))
                change(t, w, gains.gain(u, static_cast<std::size_t>(labels[u]), t));
        };
        const auto all = [&](std::size_t u) {
            for (std::size_t t = 0; t < k_; ++t) one(u, t);
        };
        gains.move(v, from, to, labels, one, all);
    }

  private:
    struct Best {
        Vertex vertex = kAbsent;
        double gain = Tree::absent;
        bool known = false;
    };
    void change(std::size_t t, Vertex v, double gain) {
        each_[t].change(v, gain);
        Best& best = best_[t];
        if (v == best.vertex) {
            best.known = best.known && gain >= best.gain;
            best.gain = gain;
        } else if (gain > best.gain || (gain == best.gain && v < best.vertex)) {
            best.vertex = v;
            best.gain = gain;
        }
    }
    Best look(std::size_t t) {
        Tree& tree = each_[t];
        for (;;) {
            const Vertex v = tree.top();
            if (v == kAbsent) return {kAbsent, Tree::absent, true};
            if (!removed_[v]) return {v, tree.gain(v), true};
            tree.remove(v);
        }
    }

    std::size_t k_;
    std::vector<Tree> each_;
    std::vector<char> removed_;
    std::vector<Best> best_;  // of each part: its top, if known
};

// Same as Trees, but without a tree: scans all vertices again if a move has changed their gains.
template <class S>
class Scans {
  public:
    Scans(std::size_t n, std::size_t k)
        : n_(n), k_(k), closed_(k * n), best_(k), members_(k), place_(n) {}

    template <class Gains>
    void fill(const Gains&, const std::int64_t* labels, std::size_t) {
        std::fill(closed_.begin(), closed_.end(), S{0});
        for (auto& members : members_) members.clear();
        for (std::size_t v = 0; v < n_; ++v) {
            const auto own = static_cast<std::size_t>(labels[v]);
            closed_[own * n_ + v] = Marks<S>::closed;
            place_[v] = static_cast<Vertex>(members_[own].size());
            members_[own].push_back(static_cast<Vertex>(v));
        }
        forget();
    }
    template <class Gains>
    bool top(std::size_t t, const Gains& gains, Vertex& v) {
        Best& best = best_[t];
        if (!best.known) best = look(t, gains);
        v = best.vertex;
        return v != kAbsent;
    }
    void remove(std::size_t t, Vertex v) {
        closed_[t * n_ + v] = Marks<S>::closed;
        if (best_[t].vertex == v) best_[t].known = false;
    }
    // Called once for each vertex before it moves: no part considers it again.
    void remove(Vertex v) {
        for (auto& best : best_)
            if (best.vertex == v) best.known = false;
    }
    void push(std::size_t t, Vertex v, double) {
        closed_[t * n_ + v] = S{0};
        best_[t].known = false;
    }
    template <class Gains>
    void move(Gains& gains, Vertex v, std::size_t from, std::size_t to, const std::int64_t*) {
        leave(v, from);
        gains.move(v, from, to);
        best_[from].known = best_[to].known = false;
        for (const std::size_t own : {from, to})
            for (const Vertex u : members_[own]) gains.renew(u, own);
        // Towards the other parts, only vertices of these two parts have new gains. If there are
        // many, scanning all again finds the best faster.
        if (kFew * (members_[from].size() + members_[to].size()) > n_) return forget();
        for (const std::size_t own : {from, to})
            for (const Vertex u : members_[own])
                for (std::size_t t = 0; t < k_; ++t) compare(t, u, gains);
    }

  private:
    struct Best {
        S gain = Marks<S>::closed;
        Vertex vertex = kAbsent;
        bool known = false;
        bool before(const Best& other) const {
            return gain > other.gain || (gain == other.gain && vertex < other.vertex);
        }
    };
    void forget() {
        for (auto& best : best_) best.known = false;
    }
    void leave(Vertex v, std::size_t part) {
        auto& members = members_[part];
        const Vertex last = members.back();
        members[place_[v]] = last;
        place_[last] = place_[v];
        members.pop_back();
    }
    // The gain of u towards t has changed.
    template <class Gains>
    void compare(std::size_t t, Vertex u, const Gains& gains) {
        Best& best = best_[t];
        if (!best.known) return;
        const Best now{gains.towards(t)[u] - gains.own()[u], u, true};
        if (best.vertex == u) {
            best.known = now.gain >= best.gain;
            best.gain = now.gain;
        } else if (now.before(best) && closed_[t * n_ + u] == S{0}) {
            best = now;
        }
    }
    template <class Gains>
    Best look(std::size_t t, const Gains& gains) const {
        const S* towards = gains.towards(t);
        const S* own = gains.own();
        const S* closed = closed_.data() + t * n_;
        const std::size_t v = first_largest(towards, own, closed, n_);
        if (v == n_) return {Marks<S>::closed, kAbsent, true};
        return {towards[v] - own[v], static_cast<Vertex>(v), true};
    }

    std::size_t n_, k_;
    std::vector<S> closed_;  // (k, n): 0 for candidates, else `closed`
    std::vector<Best> best_;
    std::vector<std::vector<Vertex>> members_;  // per part: its vertices that have not moved
    std::vector<Vertex> place_;                 // of a vertex among these
};

}  // namespace conclust
