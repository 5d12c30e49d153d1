// f(Y) = sum over unordered pairs of N_ij d(c_ij / N_ij, y_i'y_j) by block coordinate descent over the
// objects, for any divergence of divergence.h.
//
// With the others fixed, f is convex in one object's row y: a visit forms its gradient
// g = sum_j w_ij y_j and a curvature H = sum_j h_ij y_j y_j', minimises that quadratic on the simplex
// (simplex_qp.h) and goes towards its minimiser z as far as f falls. Along z - y the derivative of f,
// rho(t) = sum_j w(a_j + t (z-y)'y_j) (z-y)'y_j, only grows, so that any t with rho(t) <= 0 lowers f.
// The curvature is the smaller of Newton's and Fisher's, pair by pair: Newton's alone creeps where a_j
// is tiny and c_ij > 0, Fisher's where a_j is tiny and c_ij = 0. An object whose step is cut short is
// moved by exact pair steps (mass from one cluster to another) in the same visit.
//
// A divergence may also be computed outside (a user's function), for as many pairs a call as there are:
// on a pattern of pairs, consecutive objects that are no partners of each other are visited together,
// which gives what visiting them in turn gives.
//
// The evidence is dense (n x n counts) or on a symmetric pattern of pairs (compressed sparse rows
// without a diagonal). One visit costs O(l K^2) for an object with l partners.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "counts.h"
#include "divergence.h"
#include "pairwise_column.h"

namespace conclust {

struct PairwiseInput {
    std::size_t n;
    std::size_t k;
    Counts counts;       // c_ij: n x n, or one per entry of the pattern
    Counts copresence;   // N_ij >= c_ij up to rounding, alike
    const std::int64_t* starts;    // n + 1 of them; null: dense, and the diagonal is ignored
    const std::int32_t* partners;  // sorted within a row
    Divergence divergence;
    double parameter;  // of power
    OutsideDivergence outside;  // its call null: the divergence above
};

struct VisitResult {
    double residual;       // largest gap per unit of evidence met, before the object moved
    double lowered;       // about how much f fell
};

class PairwiseSolver {
   public:
    explicit PairwiseSolver(const PairwiseInput& in);
    PairwiseSolver(const PairwiseSolver&) = delete;  // column_ points into the vectors
    PairwiseSolver& operator=(const PairwiseSolver&) = delete;

    // Y is n rows of stride(k) doubles, on the simplex, 0 in the padding. take() must be called with it
    // before anything else and whenever it was changed from outside.
    void take(const double* Y);

    // Visits objects in the given order. An object is left alone when its gap per unit of evidence is at
    // most tol, or when it can lower f by at most `negligible`. finish: steps are repeated until the gap
    // is at most tol. gaps (one per object of the solver) takes the gap of each visited object.
    VisitResult visit(double* Y, const std::int32_t* objects, std::size_t count, double tol,
                      double negligible, bool finish, double* gaps);

    // The part of f in the pairs of objects [begin, end) with later objects.
    double objective(const double* Y, std::size_t begin, std::size_t end);

    // Gaps of objects [begin, end) per unit of evidence; 0 where there is no evidence.
    void residuals(const double* Y, std::size_t begin, std::size_t end, double* gaps);

   private:
    PairwiseInput in_;
    std::size_t room_ = 0;
    std::size_t batch_ = 1;
    std::vector<PairColumn> columns_;
    std::vector<double> yt_;        // dense: all memberships, cluster by cluster; else the partners'
    std::vector<double> partners_;  // scratch of the columns, as are the following
    std::vector<double> clusters_;
    std::vector<double> outside_;
    std::vector<char> in_batch_;

    std::size_t length_of(std::size_t i) const;
    void ask(const double* Y, std::size_t i) const;
    void write_dense(const double* Y, std::size_t i);
    // later: only the partners with a larger number.
    void read_column(const double* Y, std::size_t i, bool later, PairColumn& column, std::size_t at);
    std::size_t read_batch(const double* Y, const std::int32_t* objects, std::size_t count, bool later,
                           bool apart);
    bool meets_batch(std::size_t i) const;
    void work(PairWork what, std::size_t count);
};

}  // namespace conclust
