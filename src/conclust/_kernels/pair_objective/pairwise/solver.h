// f(Y) = sum over unordered pairs of N_ij d(c_ij / N_ij, y_i'y_j) by block coordinate descent over the
// objects, for any divergence of divergence.h.
//
// With the others fixed, f is convex in one object's row y: a visit forms its gradient
// g = sum_j w_ij y_j and a curvature H = sum_j h_ij y_j y_j', minimises that quadratic on the simplex
// (simplex/quadratic.h) and moves towards its minimiser z as long as f falls. Along z - y the derivative of f,
// rho(t) = sum_j w(a_j + t (z-y)'y_j) (z-y)'y_j, only grows, so that any t with rho(t) <= 0 lowers f.
// The curvature is the smaller of Newton's and Fisher's, pair by pair: Newton's alone creeps where a_j
// is tiny and c_ij > 0, Fisher's where a_j is tiny and c_ij = 0. Where a step is cut short, exact pair steps
// (mass from one cluster to another) move the object on in the same visit.
//
// Objects are visited in slots, consecutive in the given order. All objects of a slot see the memberships
// as they were when the slot began (a Jacobi batch), so any number of threads gives the same result. In
// slots of one object every visit lowers f. Larger slots should be a small share of all objects, and
// mixed: then each object misses almost nothing. f may rise, which the caller checks.
//
// A divergence may also be computed outside (a user's function). One call then takes the pairs of many
// objects: of a slot, or, where objects move in turn, of consecutive objects that are no partners of each
// other, which gives the same. It is called on the caller's thread alone.
//
// The evidence is dense (n x n counts) or on a symmetric pattern of pairs (compressed sparse rows
// without a diagonal). One visit costs O(l K^2) for an object with l partners.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "pair_objective/pairwise/batch.h"

namespace conclust {

struct VisitResult {
    double residual;  // largest gap per unit of evidence met, before the object moved
    double lowered;  // approximate decrease of f; exact if objects are finished in turn
    std::size_t
        spent;  // approximate number of multiplications and additions: the same for any number of threads
};

class PairwiseSolver {
  public:
    // threads >= 1
    PairwiseSolver(const PairwiseInput& in, int threads);
    PairwiseSolver(const PairwiseSolver&) = delete;  // batches point into all_
    PairwiseSolver& operator=(const PairwiseSolver&) = delete;

    // Y is n rows of stride(k) doubles, on the simplex, 0 in the padding. take() must be called with it
    // before anything else and whenever it was changed from outside.
    void take(std::span<const double> Y);

    // Visits objects, none twice, in the given order, in slots of `slot` >= 1. An object is left alone
    // when its gap per unit of evidence is at most tol, or when it can lower f by at most `negligible`.
    // finish: steps are repeated until the gap is at most tol, and `lowered` is exact. gaps (one per object
    // of the solver): the gap of each visited object is written there.
    VisitResult visit(std::span<double> Y, std::span<const std::int32_t> objects, std::size_t slot,
                      const VisitAim& aim, std::span<double> gaps);

    // The part of f in the pairs of objects [begin, end) with later objects.
    double objective(std::span<const double> Y, std::size_t begin, std::size_t end);

    // Gaps of objects [begin, end) per unit of evidence; 0 where there is no evidence.
    void residuals(std::span<const double> Y, std::size_t begin, std::size_t end,
                   std::span<double> gaps);

  private:
    // The result of a visit for one object of a slot.
    struct Visited {
        bool moved;
        double lowered;
        std::size_t spent;
    };

    PairwiseInput in_;
    std::size_t stride_;
    std::size_t ld_;
    std::size_t polled_;  // Ctrl-C takes effect between this number of visits
    std::vector<double> all_;  // dense: all memberships, cluster by cluster
    std::deque<PairBatch> batches_;  // one per thread
    std::vector<double> rows_;  // the new memberships of a slot
    std::vector<Visited> visited_;
    std::vector<double> values_;

    void keep(const PairBatch& batch, std::size_t some, std::size_t at);
    void write_back(double* Y, const std::int32_t* objects, std::size_t count);
    void write_dense(const double* Y, std::size_t i);
    template <class Work, class Close>
    void share(std::size_t count, std::size_t size, const Work& work, const Close& close);
};

}  // namespace conclust
