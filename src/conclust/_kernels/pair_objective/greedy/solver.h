// The greedy solver of the pair objective: the papers' Algorithm 1, on all pairs or on a pattern.
//
//     min f(Y) = sum over pairs with N_ij > 0 of N_ij d(c_ij / N_ij, y_i'y_j),  y_i on the simplex.
//
// A step takes the object J with the largest gap max_{k: y_Jk > 0} g_Jk - min_k g_Jk of its gradient g_J,
// and moves mass from the first cluster to the second, by an exact line search. Objects stay as they are
// where the gap per unit of evidence, gap / sum_j N_Jj, is at most `tol`: if all do, Y is stationary.
//
// An object has one record of its membership, gradient and key of the queue: at K <= 3 one cache line, and
// a step reads no more of each partner. The inner products y_J'y_i are computed again at
// each step, because the line search reads y_i anyway: there is no table of them, no index of twin
// entries, and they do not drift. The product of two rows has the same bits from either side, so that a
// later step subtracts from a gradient exactly the terms that an earlier one added. A step with l
// partners costs O(l K) for the gradients, O(l) for each of the evaluations of the line search, and
// O(l log n) at worst for the queue.
//
// Beyond the size of the caches a step would wait for memory most of the time. So the next object is
// guessed early, and its data are prefetched while this step computes.
//
// The gradients, the gaps and f are recomputed periodically, and before the end: `objective` and
// `residual` of a finished solver are free of accumulated rounding.
//
// A divergence may also be computed outside (a user's function): a call takes all partners of an object. Where
// it gives other bits for the same numbers at another place, gradients drift until they are computed from scratch.
//
// The work is sequential; nothing depends on threads. A dense row is gone through like a row of the
// pattern (objects without common evidence left out), so that a full pattern gives the same bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "pair_objective/greedy/pattern.h"
#include "pair_objective/greedy/queue.h"
#include "pair_objective/greedy/step.h"
#include "pair_objective/pair_counts.h"

namespace conclust {

struct GreedyInput {
    PairCounts pairs;  // a pattern is copied
    std::size_t k = 0;  // clusters
    GreedyDivergence divergence;
    double tol = 0.0;
    std::int64_t max_steps = 0;
};

struct GreedyRecord {
    std::int64_t step;
    double objective;
    double residual;
};

class GreedySolver {
  public:
    // Y: n x k, rows on the simplex. Values below 1e-12 start as exact zeros.
    GreedySolver(const GreedyInput& input, std::span<const double> Y);
    GreedySolver(const GreedySolver&) = delete;
    GreedySolver& operator=(const GreedySolver&) = delete;

    // Runs for about `visits` visits of a pair (at least one step) and returns whether it has ended:
    // at `tol`, after `max_steps`, or where rounding leaves nothing to gain. Splitting the work
    // into calls changes no bit.
    bool run(std::int64_t visits);

    std::int64_t steps() const { return steps_; }
    // Visits of a pair: as the partner in a step, and in each evaluation of a line search.
    std::int64_t visits() const { return visited_; }
    std::int64_t evaluations() const { return evaluated_; }
    // Largest gap per unit of evidence, from the gradients as they are tracked.
    double residual() const;
    // f and the residual, recomputed at the start, periodically, and at the end.
    const std::vector<GreedyRecord>& trace() const { return trace_; }
    // Y and the tracked gradients (n x k each).
    void read(std::span<double> Y, std::span<double> gradients) const;

  private:
    double* record(std::size_t i) { return records_ + i * 2 * stride_; }
    const double* record(std::size_t i) const { return records_ + i * 2 * stride_; }
    std::size_t fetch(std::size_t i);
    std::size_t refresh_row(std::size_t i);
    std::size_t step(std::size_t J);
    void set_keys(std::size_t likely, double largest);
    void ask_for_object(std::size_t i) const;
    void ask_for_partners(std::size_t i) const;
    void ask_for_rising(std::size_t likely) const;

    GreedyInput in_;
    std::size_t stride_;  // k + 1 rounded up to whole packs
    std::vector<double> memory_;
    double* records_;  // n records as in step.h, on cache lines
    std::vector<double> evidence_;  // sum_j N_ij
    GreedyQueue queue_;  // gaps; 0 of an object found stationary, until a partner moves
    GreedyRow row_;
    std::vector<double> outside_;  // scratch of a divergence computed outside
    GreedyPattern pattern_;
    std::vector<double> old_;  // memberships before and after a step
    std::vector<double> new_;
    std::vector<double> sums_;
    std::vector<GreedyRecord> trace_;
    std::size_t refreshed_ = 0;  // objects that the refresh under way has done
    double refreshed_sum_ = 0.0;
    std::int64_t steps_ = 0;
    std::int64_t since_refresh_ = 0;
    std::int64_t visited_ = 0;
    std::int64_t evaluated_ = 0;
    int confirmations_ = 0;
};

}  // namespace conclust
