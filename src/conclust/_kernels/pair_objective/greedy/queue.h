// An indexed priority queue of non-negative keys stored elsewhere: a tournament in which eight
// compete for one slot.
//
// The places hold upper bounds: a key that rises is passed on as far as it wins, one that falls is not,
// until its eight come up for the first place and play again. So most changes of a key cost one
// comparison, no other key is looked at, and the keys can lie where they are needed anyway. A change
// costs O(log n) at worst. Ties go to the lowest index.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/prefetch.h"

namespace conclust {

class GreedyQueue {
  public:
    // keys[i * step] holds minus the key of object i; all n of them must be 0.
    GreedyQueue(double* keys, std::size_t step, std::size_t n) : keys_(keys), step_(step), n_(n) {
        for (std::size_t places = (n + fan - 1) / fan;; places = (places + fan - 1) / fan) {
            levels_.emplace_back((places + fan - 1) / fan * fan);
            for (std::size_t at = 0; at < places; ++at) {
                const std::size_t first = at << (bits * levels_.size());
                levels_.back().winners[at] = static_cast<std::int32_t>(first);
            }
            if (places == 1) {
                return;
            }
        }
    }

    double key(std::size_t i) const { return -keys_[i * step_]; }

    // The object with the largest key.
    std::size_t top() {
        while (true) {
            const auto first = static_cast<std::size_t>(levels_.back().winners[0]);
            if (key(first) == levels_.back().bounds[0]) {
                return first;
            }
            play_again(first);
        }
    }

    // The most likely successor of the first object by the bounds: the best opponent in
    // its last two rounds. This is a guess.
    std::size_t likely_second() const {
        const auto first = static_cast<std::size_t>(levels_.back().winners[0]);
        std::size_t second = first;
        double best = -1.0;
        const std::size_t last = levels_.size() - 1;
        for (std::size_t level = last; level-- > 0 && level + 2 >= last;) {
            const std::size_t own = first >> (bits * (level + 1));
            double others[fan];
            copy_eight(levels_[level].bounds.data() + own / fan * fan, 1, others);
            others[own % fan] = -1.0;
            const double largest = largest_of(others);
            if (largest > best) {
                best = largest;
                second = static_cast<std::size_t>(
                    levels_[level].winners[own / fan * fan + place_of(others, best)]);
            }
        }
        return second;
    }

    // Whether the bound by which i leads its eight is its key.
    bool leads(std::size_t i) const {
        return levels_[0].winners[i / fan] == static_cast<std::int32_t>(i) &&
               levels_[0].bounds[i / fan] == key(i);
    }

    // Repeats the match of the eight of i.
    void play_again(std::size_t i) {
        std::size_t at = i / fan;
        double eight[fan];
        for (std::size_t j = 0; j < fan; ++j) {
            eight[j] = at * fan + j < n_ ? key(at * fan + j) : -1.0;
        }
        double best = largest_of(eight);
        auto winner = static_cast<std::int32_t>(at * fan + place_of(eight, best));
        for (std::size_t level = 0;; ++level) {
            levels_[level].bounds[at] = best;
            levels_[level].winners[at] = winner;
            if (level + 1 == levels_.size()) {
                return;
            }
            const std::size_t begin = at / fan * fan;
            const double* bounds = levels_[level].bounds.data() + begin;
            best = largest_of(bounds);
            winner = levels_[level].winners[begin + place_of(bounds, best)];
            at /= fan;
        }
    }

    // Prefetches the data of play_again(i).
    void ask(std::size_t i) const {
        const std::size_t begin = i / fan * fan;
        for (std::size_t j = begin; j < begin + fan && j < n_; ++j) {
            prefetch(keys_ + j * step_);
        }
    }

    // Precondition: key >= 0, not NaN.
    void set(std::size_t i, double key) {
        keys_[i * step_] = -key;
        const auto player = static_cast<std::int32_t>(i);
        for (Level& level : levels_) {
            i /= fan;
            double& bound = level.bounds[i];
            std::int32_t& winner = level.winners[i];
            if (key < bound || (key == bound && player >= winner)) {
                return;
            }
            bound = key;
            winner = player;
        }
    }

  private:
    static constexpr std::size_t bits = 3;
    static constexpr std::size_t fan = std::size_t{1} << bits;

    struct Level {
        explicit Level(std::size_t places) : bounds(places, 0.0), winners(places, 0) {}
        std::vector<double> bounds;
        std::vector<std::int32_t> winners;
    };

    static void copy_eight(const double* from, std::size_t step, double* to) {
        for (std::size_t j = 0; j < fan; ++j) {
            to[j] = from[j * step];
        }
    }

    static double more(double a, double b) { return a > b ? a : b; }

    static double largest_of(const double* x) {
        return more(more(more(x[0], x[1]), more(x[2], x[3])), more(more(x[4], x[5]), more(x[6], x[7])));
    }

    // Index of the first of eight equal to `key`, without branches, because it is unpredictable.
    static std::size_t place_of(const double* eight, double key) {
        unsigned equal = 0;
        for (std::size_t j = 0; j < fan; ++j) {
            equal |= static_cast<unsigned>(eight[j] == key) << j;
        }
        return static_cast<std::size_t>(std::countr_zero(equal));
    }

    double* keys_;
    std::size_t step_;
    std::size_t n_;
    std::vector<Level> levels_;  // the winner of each eight, and so on up to the overall winner
};

}  // namespace conclust
