// Objects against their partners: the arithmetic of visits (solver.h defines a visit).
#pragma once

#include <cstddef>
#include <vector>

#include "pair_objective/divergence.h"
#include "pair_objective/outside.h"
#include "pair_objective/step_search.h"

namespace conclust {

// The most columns of a batch.
inline constexpr std::size_t max_batch = 256;

// One object. The partners lie side by side: arrays of `length` doubles, a multiple of 8 with no
// evidence in the padding (c = N = 0, memberships 0). Memberships are cluster by cluster:
// yt[k * ld + j].
struct PairColumn {
    std::size_t k = 0;
    std::size_t stride = 0;  // k rounded up to a multiple of 4: rows of yt and of H
    std::size_t length = 0;
    std::size_t ld = 0;
    std::size_t object = 0;
    const double* yt = nullptr;
    double degree = 0.0;  // sum of N
    double parameter = 2.0;
    // scratch of `length` doubles each
    double* c = nullptr;   // counts
    double* N = nullptr;   // co-presence
    double* a = nullptr;   // y_i'y_j
    double* w = nullptr;   // slope of the divergence at a
    double* h = nullptr;   // curvature used by the quadratic
    double* da = nullptr;  // change of a along a direction
    // scratch of `stride` doubles each, and H of stride x stride; q, x and H of the step are of its clusters
    // alone (algebra.h)
    double* y = nullptr;
    double* g = nullptr;
    double* q = nullptr;
    double* x = nullptr;
    double* z = nullptr;
    double* d = nullptr;
    double* H = nullptr;
    std::size_t* some = nullptr;  // `stride` clusters
    const double** rows = nullptr;  // `stride` rows of yt
    // state
    std::size_t U = 0;  // cheapest cluster
    std::size_t V = 0;  // dearest cluster with mass
    double gap = 0.0;  // g_V - g_U
    double possible = 0.0;  // g'y - g_U: a bound on how much the object can lower f
    double enough = 0.0;  // with a gap of at most this the object does not move
    double first = 0.0;
    double stop = 0.0;
    double value = 0.0;
    double slope = 0.0;  // rho(0) of the last step of the quadratic
    double lowered = 0.0;  // how much that step would lower f if f were quadratic
    std::size_t spent = 0;  // work on the object: multiplications and additions, about
    bool active = false;
    bool busy = false;  // still descending
    bool moved = false;
    StepSearch search{};
};

// The memory of columns of k clusters that does not depend on their length.
class ClusterScratch {
  public:
    ClusterScratch(std::size_t k, std::size_t columns)
        : k_(k),
          stride_((k + 3) / 4 * 4),
          numbers_(columns * (6 * stride_ + stride_ * stride_), 0.0),
          some_(columns * stride_, 0),
          rows_(columns * stride_, nullptr) {}

    // Hands column b its part.
    void lend(std::size_t b, PairColumn& column) {
        column.k = k_;
        column.stride = stride_;
        column.some = some_.data() + b * stride_;
        column.rows = rows_.data() + b * stride_;
        double* next = numbers_.data() + b * (6 * stride_ + stride_ * stride_);
        for (double** part :
             {&column.y, &column.g, &column.q, &column.x, &column.z, &column.d, &column.H}) {
            *part = next;
            next += stride_;
        }
    }

  private:
    std::size_t k_;
    std::size_t stride_;
    std::vector<double> numbers_;
    std::vector<std::size_t> some_;
    std::vector<const double*> rows_;
};

// Work on a batch of columns. Their objects are not partners of each other, so the order does not matter.
// Inactive columns are left alone.
enum class PairWork {
    gradient,  // a = products with y, w = slopes, g = gradient and its gap
    curved,  // that, and the curvature h
    step,  // from the state that `curved` left: one step of the quadratic, and exact pair steps after
    // it if it was cut short; sets `moved`
    finish,  // the same until the gap is at most `enough`
    value  // value = the sum over partners of N d(c / N, y'y_j)
};

// outside: null for the divergences of divergence.h, of which there is one column a batch.
void pair_work(PairWork work, PairColumn* columns, std::size_t count, Divergence divergence,
               const OutsideDivergence* outside);

}  // namespace conclust
