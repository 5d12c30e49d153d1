// The factored least-squares consensus: min over Y of
//
//     F(Y) = sum_u w_u sum_{i<j, u observed both} (x_ui'x_uj - y_i'y_j)^2,   y_i on the simplex,
//
// over all pairs, without ever forming a pair. x_ui is the indicator (or the posterior) of object
// i in partition u. F exceeds the weighted sum of squares N_ij (c_ij / N_ij - y_i'y_j)^2 by a
// constant, so both have the same minimisers. With the cluster sums S_t = sum_i x_ti y_i (T x K)
// and the Grams G_u = sum_{i observed by u} y_i y_i' (K x K, one per presence group), the problem of one
// object is a convex quadratic programme in K variables:
//
//     min z'H z - 2 b'z,   H = sum_u w_u (G_u - y_i y_i'),   b = sum_t w_t x_ti (S_t - x_ti y_i).
//
// A sweep solves it for every object in turn. Objects are worked through in rounds of fixed
// blocks. Cluster sums move with the objects of a block, the blocks of a round work on private copies of
// them and are merged in fixed order; the Grams are seen as they were when the round began. Few objects
// are one block, and the Grams then follow after every part of it. All this depends on n only, so the
// bits do not depend on threads. If a round raises F (simultaneous moves can), the step is shortened by
// the exact quartic in its length, so F never rises.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "pair_objective/factored/rows.h"
#include "pair_objective/factored/step.h"
#include "pair_objective/factored/visit.h"

namespace conclust {

struct SweepResult {
    double change;  // change of F, never positive up to rounding; NaN if the sweep was not tracked
    double residual;  // largest gap per unit of evidence met at the visits
    std::int64_t shortened;  // rounds that shortened their step
};

class FactoredSolver {
  public:
    explicit FactoredSolver(const FactoredInput& input);

    // Columns of Y in memory: k rounded up; the padding is zero.
    static std::size_t padded(std::size_t k);
    std::size_t stride() const { return stride_; }

    // Sets the sums from `rows`: here and below, the rows of Y (n x stride). Blocks of objects are summed in
    // a fixed order.
    void rebuild(std::span<const double> rows, int threads);

    // F less its constant, from the sums.
    double objective() const;

    // One sweep over all objects; Y and the sums move together. An object is left as it is if its
    // gap per unit of evidence is at most `tol`, or if it can lower F by at most `negligible`; else it
    // goes `relaxation` (in [1, 2)) times as far as to its minimiser. A sweep that is not tracked
    // never evaluates F, so F may rise in it if blocks move at the same time.
    SweepResult sweep(std::span<double> rows, double tol, double negligible, double relaxation,
                      int threads, bool watched = true);

    // The step of the objects from the rows `before` to the rows `after`, see step.h: `first` and `second`
    // take P and Q (n_groups x k x k), `powers` the n_powers sums. A is the difference of sums().
    void steps(std::span<const double> before, std::span<const double> after, std::span<double> first,
               std::span<double> second, std::span<double> powers, int threads);

    // Moves the sums along a step from its start to the minimum of F within `most` times its
    // length. Returns the distance. The step may belong to other objects; their rows must then be updated next.
    double step(std::span<const double> sums, std::span<const double> first,
                std::span<const double> second, std::span<const double> powers, double most);

    // Largest KKT gap per unit of evidence, without moving objects.
    double residual(std::span<double> rows, int threads);

    // Solves each row of Y (n x stride) against the sums as they are, as for a new object:
    // no object is taken out of the sums. The solver may be built on other objects than the sums.
    void assign(std::span<double> rows, double tol, int threads);

    // Sums of a solver over other objects (same partitions and groups).
    void take_sums(const FactoredSolver& other);

    // The Grams as whole matrices (n_groups x k x k).
    void read_grams(std::span<double> grams) const;
    void write_grams(std::span<const double> grams);

    std::vector<double>& sums() { return sums_; }  // T x stride
    std::vector<double>& group_sizes() { return group_sizes_; }  // n_groups
    double& squares() { return squares_; }
    double& fourths() { return fourths_; }

  private:
    struct Round;

    // See step.h; P and Q as grams_.
    struct Step {
        std::vector<double> sums, first, second;
        Powers powers{};
        Step(std::size_t n_sums, std::size_t n_grams) : sums(n_sums), first(n_grams), second(n_grams) {}
    };

    void see_fields();
    std::size_t n_parts() const;
    std::array<double, 4> quartic(const Step& step) const;
    void go(const Step& step, double e);
    void unpack(const std::vector<double>& grams, std::span<double> matrices) const;
    void pack(std::span<const double> matrices, std::vector<double>& grams) const;
    Block block(double* Y, std::size_t begin, std::size_t end, Mode mode, double tol);
    void work_in_turn(Round& round, const Block& all);
    void work_together(Round& round, const Block& all, int threads);
    void finish(const Block& block, Round& round);
    void shorten(double* Y, const Round& round);

    FactoredInput in_;
    PresenceTable presence_;
    std::size_t stride_;
    std::size_t width_;  // of a Gram, see grams.h
    std::size_t n_columns_;  // T
    std::vector<double> sums_;
    std::vector<double> grams_;  // n_groups x width_
    std::vector<double> fields_;  // n_entries x width_: sums of Grams when last seen
    std::vector<double> group_sizes_;
    std::vector<double> group_weights_;
    std::vector<double> column_weights_;  // T: weight of the partition of each cluster
    double squares_ = 0.0;  // sum_i l_i |y_i|^2, l_i = sum_t w_t x_ti^2
    double fourths_ = 0.0;  // sum_i p_i |y_i|^4, p_i = weight of the partitions that observed i
};

}  // namespace conclust
