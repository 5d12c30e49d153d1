// The evidence of a pairwise problem, and one thread's share of its solver: the columns of objects that
// are worked on together, with their memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "pair_objective/divergence.h"
#include "pair_objective/pair_counts.h"
#include "pair_objective/pairwise/column.h"

namespace conclust {

struct PairwiseInput {
    PairCounts pairs;
    std::size_t k = 0;
    Divergence divergence = Divergence::kl;
    double parameter = 2.0;     // of power
    OutsideDivergence outside;  // its call null: the divergence above
};

// The aim of a visit: see PairwiseSolver::visit.
struct VisitAim {
    double tol;
    double negligible;
    bool finish;
};

class PairBatch {
  public:
    // all: for dense evidence the memberships of all objects, a row of `ld` doubles per cluster, read again
    // with each batch, so that it may change in between. Null for a pattern.
    PairBatch(const PairwiseInput& in, const double* all, std::size_t ld);
    PairBatch(const PairBatch&) = delete;  // columns point into the vectors
    PairBatch& operator=(const PairBatch&) = delete;

    // Each of these works on the first objects that fit into a batch and returns their number: at least 1,
    // and more than 1 only for a divergence computed outside.

    // Visits objects against Y. In turn: only objects that are not partners of each other, so that the
    // order does not matter. The columns keep the results.
    std::size_t visit(const double* Y, const std::int32_t* objects, std::size_t count, bool in_turn,
                      const VisitAim& aim, double* gaps);

    // The pairs of objects [i, end) with later objects; their terms of f are written to values.
    std::size_t objective(const double* Y, std::size_t i, std::size_t end, double* values);

    // Gaps of objects [i, end).
    std::size_t residuals(const double* Y, std::size_t i, std::size_t end, double* gaps);

    const PairColumn& column(std::size_t o) const { return columns_[o]; }

  private:
    PairwiseInput in_;
    const double* all_;
    std::size_t room_;   // doubles of memory of all columns together
    std::size_t batch_;  // maximum number of columns
    std::vector<PairColumn> columns_;
    std::vector<double> memberships_;  // of partners, on a pattern
    std::vector<double> partners_;     // scratch of the columns, as are the following
    ClusterScratch clusters_;
    std::vector<double> outside_;
    std::vector<char> in_batch_;

    std::size_t length_of(std::size_t i) const;
    void ask_lists(std::size_t i) const;
    void ask_partners(const double* Y, std::size_t i) const;
    // later: only the partners with a larger number.
    void read_column(const double* Y, std::size_t i, bool later, PairColumn& column, std::size_t at);
    std::size_t read(const double* Y, const std::int32_t* objects, std::size_t count, bool later,
                     bool apart);
    std::size_t read_range(const double* Y, std::size_t i, std::size_t end, bool later);
    bool meets_batch(std::size_t i) const;
    void work(PairWork what, std::size_t count);
    void finish(std::size_t count);
};

// The longest list of partners, rounded up to whole packs: `ld` of the above.
std::size_t longest_column(const PairwiseInput& in);

}  // namespace conclust
