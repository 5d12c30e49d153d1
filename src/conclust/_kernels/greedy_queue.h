// An indexed priority queue of non-negative keys: a tournament in which eight play for one place.
//
// A key changes in O(log n) at worst, and in one comparison where it neither was nor becomes the
// largest of its eight: most changes. Ties go to the lowest index.
#pragma once

#include <bit>
#include <cstddef>
#include <vector>

namespace conclust {

class GreedyQueue {
  public:
    explicit GreedyQueue(std::size_t n) {
        while (true) {
            const std::size_t whole = (n + fan - 1) / fan * fan;
            levels_.emplace_back(whole, 0.0);
            if (n <= fan) {
                break;
            }
            n = whole / fan;
        }
        levels_.emplace_back(1, 0.0);
    }

    double key(std::size_t i) const { return levels_[0][i]; }
    const double* place(std::size_t i) const { return levels_[0].data() + i; }  // to prefetch

    // The object with the largest key.
    std::size_t top() const { return descend(levels_.size() - 1, 0); }

    // The object with the largest key of all but `first`; any where there is no other.
    std::size_t runner_up(std::size_t first) const {
        std::size_t level = 0;
        std::size_t winner = first;
        double best = -1.0;
        for (std::size_t l = 0, at = first; l + 1 < levels_.size(); ++l, at /= fan) {
            double others[fan];
            const double* eight = levels_[l].data() + at / fan * fan;
            for (std::size_t j = 0; j < fan; ++j) {
                others[j] = eight[j];
            }
            others[at % fan] = -1.0;
            const double second = largest(others);
            if (second > best) {
                best = second;
                level = l;
                winner = at / fan * fan + place_of(others, second);
            }
        }
        return descend(level, winner);
    }

    // Precondition: key >= 0, not NaN.
    void set(std::size_t i, double key) {
        double before = levels_[0][i];
        levels_[0][i] = key;
        for (std::size_t level = 1; level < levels_.size(); ++level) {
            const std::size_t at = i / fan;
            double& best = levels_[level][at];
            const double was = best;
            if (key >= was) {
                best = key;
            } else if (before == was) {
                best = largest(levels_[level - 1].data() + at * fan);
            }
            if (best == was) {
                return;
            }
            key = best;
            before = was;
            i = at;
        }
    }

  private:
    static constexpr std::size_t fan = 8;

    static double more(double a, double b) { return a > b ? a : b; }

    static double largest(const double* x) {
        return more(more(more(x[0], x[1]), more(x[2], x[3])), more(more(x[4], x[5]), more(x[6], x[7])));
    }

    // Where the first of eight equal to `key` is, without branches: it is anyone's guess.
    static std::size_t place_of(const double* eight, double key) {
        unsigned equal = 0;
        for (std::size_t j = 0; j < fan; ++j) {
            equal |= static_cast<unsigned>(eight[j] == key) << j;
        }
        return static_cast<std::size_t>(std::countr_zero(equal));
    }

    // The first place whose key has won up to `at` of `level`.
    std::size_t descend(std::size_t level, std::size_t at) const {
        while (level-- > 0) {
            const double best = levels_[level + 1][at];
            at *= fan;
            at += place_of(levels_[level].data() + at, best);
        }
        return at;
    }

    std::vector<std::vector<double>> levels_;  // from the keys up to the one winner
};

}  // namespace conclust
