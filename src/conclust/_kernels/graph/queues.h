// The candidate vertices of each part, the best first: in heaps, or found by scanning all.
#pragma once

#include <algorithm>
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

// Largest gain first, then the lowest vertex.
class Queue {
  public:
    explicit Queue(std::size_t n) : at_(n, kAbsent) {}

    void clear() {
        items_.clear();
        std::fill(at_.begin(), at_.end(), kAbsent);
    }
    bool empty() const { return items_.empty(); }
    bool holds(Vertex v) const { return at_[v] != kAbsent; }
    Vertex top() const { return items_.front().vertex; }

    // Before heapify(): in any order.
    void append(Vertex v, double gain) {
        at_[v] = static_cast<Vertex>(items_.size());
        items_.push_back({gain, v});
    }
    void heapify() {
        for (std::size_t i = items_.size() / 2; i-- > 0;) sink(i);
    }
    void push(Vertex v, double gain) {
        append(v, gain);
        rise(items_.size() - 1);
    }
    void change(Vertex v, double gain) {
        const std::size_t i = at_[v];
        const bool up = gain > items_[i].gain;
        items_[i].gain = gain;
        if (up) rise(i);
        else sink(i);
    }
    void remove(Vertex v) {
        const std::size_t i = at_[v];
        at_[v] = kAbsent;
        const Item last = items_.back();
        items_.pop_back();
        if (i == items_.size()) return;
        put(i, last);
        rise(i);
        sink(at_[last.vertex]);
    }

  private:
    struct Item {
        double gain;
        Vertex vertex;
        bool before(const Item& other) const {
            return gain > other.gain || (gain == other.gain && vertex < other.vertex);
        }
    };
    void put(std::size_t i, const Item& item) {
        items_[i] = item;
        at_[item.vertex] = static_cast<Vertex>(i);
    }
    void rise(std::size_t i) {
        const Item item = items_[i];
        while (i > 0) {
            const std::size_t parent = (i - 1) / 2;
            if (!item.before(items_[parent])) break;
            put(i, items_[parent]);
            i = parent;
        }
        put(i, item);
    }
    void sink(std::size_t i) {
        const Item item = items_[i];
        for (;;) {
            std::size_t child = 2 * i + 1;
            if (child >= items_.size()) break;
            if (child + 1 < items_.size() && items_[child + 1].before(items_[child])) ++child;
            if (!items_[child].before(item)) break;
            put(i, items_[child]);
            i = child;
        }
        put(i, item);
    }

    std::vector<Item> items_;
    std::vector<Vertex> at_;
};

// Heaps, where a move changes few gains. A vertex that is removed from all of them stays where it is, and is left out when it
// is the top.
class Heaps {
  public:
    Heaps(std::size_t n, std::size_t k) : k_(k), removed_(n) {
        each_.reserve(k);
        for (std::size_t t = 0; t < k; ++t) each_.emplace_back(n);
    }

    template <class Gains>
    void fill(const Gains& gains, const std::int64_t* labels, std::size_t n) {
        for (auto& queue : each_) queue.clear();
        std::fill(removed_.begin(), removed_.end(), 0);
        for (std::size_t v = 0; v < n; ++v) {
            const auto own = static_cast<std::size_t>(labels[v]);
            for (std::size_t t = 0; t < k_; ++t)
                if (t != own) each_[t].append(static_cast<Vertex>(v), gains.gain(v, own, t));
        }
        for (auto& queue : each_) queue.heapify();
    }
    template <class Gains>
    bool top(std::size_t t, const Gains&, Vertex& v) {
        Queue& queue = each_[t];
        for (; !queue.empty(); queue.remove(v)) {
            v = queue.top();
            if (!removed_[v]) return true;
        }
        return false;
    }
    void remove(std::size_t t, Vertex v) { each_[t].remove(v); }
    void remove(Vertex v) { removed_[v] = 1; }
    void push(std::size_t t, Vertex v, double gain) { each_[t].push(v, gain); }
    // Moves v, which has been removed, and brings the gains up to date; its label is the new one.
    template <class Gains>
    void move(Gains& gains, Vertex v, std::size_t from, std::size_t to, const std::int64_t* labels) {
        const auto one = [&](std::size_t u, std::size_t t) {
            const auto w = static_cast<Vertex>(u);
            if (!removed_[u] && each_[t].holds(w))
                each_[t].change(w, gains.gain(u, static_cast<std::size_t>(labels[u]), t));
        };
        const auto all = [&](std::size_t u) {
            for (std::size_t t = 0; t < k_; ++t) one(u, t);
        };
        gains.move(v, from, to, labels, one, all);
    }

  private:
    std::size_t k_;
    std::vector<Queue> each_;
    std::vector<char> removed_;
};

// Same as Heaps, but without a heap: scans all vertices again if a move has changed their gains.
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
