// Local search over partitions for the criteria of median and least-squares consensus.
//
// Units are objects, or groups of interchangeable ones: unit i stands for mass[i] objects. The
// similarity of two objects is a_ij = sum_t weight_t r_it r_jt, with r sparse rows; weights may be
// negative (the shift of a similarity is a column of ones), and the diagonal a_ii is not counted.
// With q_k the sum of a_ij over the ordered pairs i != j of cluster k and n_k its objects, the
// criterion is the sum over clusters, to be raised, of q_k / 2 (additive), of q_k / n_k (averaged), or
// of the square of the latter with its sign (explained: the sum of squares that one level for each
// cluster explains).
// Everything is read from sums of rows per cluster: no pair is formed, one thread, no randomness.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace conclust {

enum class Criterion { additive, averaged, explained };

class PartitionSearch {
  public:
    // starts (n + 1), columns and values: the rows; weights: one per column; mass (n), at least 1.
    // With `fixed`, moves never change the number of clusters.
    PartitionSearch(std::span<const std::int64_t> starts, std::span<const std::int32_t> columns,
                    std::span<const double> values, std::span<const double> weights,
                    std::span<const double> mass, Criterion criterion, bool fixed);

    // Units that no move and no merge may put into one cluster: those that unit i is kept apart from are
    // others[starts[i]] to others[starts[i + 1] - 1], and each of them has i among its own.
    void keep_apart(std::span<const std::int64_t> starts, std::span<const std::int64_t> others);

    // Sets the partition: labels in 0 .. k - 1, or -1 for units that are in no cluster yet.
    void set(std::span<const std::int64_t> labels, std::size_t k);

    // Visits the units in the given order; moves each to the cluster, or to a new one of its own,
    // that raises the criterion most; place those that are in no cluster. If the number of clusters
    // is fixed, a unit that is barred from all of them stays in none. Returns the number of moves.
    std::size_t transfer(std::span<const std::int64_t> order);

    // Merge the two clusters that raise the criterion most, until none raises it (k = 0), or until
    // k clusters are left, at whatever loss, or no merge is allowed. Returns the merges.
    std::size_t fuse(std::size_t k);

    // a (n x n): the similarities a_ij of all units, of one unit with itself too.
    void similarities(std::span<double> a) const;

    double objective() const;
    std::size_t n_clusters() const;
    void read(std::span<std::int64_t> labels) const {
        std::copy(labels_.begin(), labels_.end(), labels.begin());
    }

  private:
    double value(double q, double mass) const;
    void reserve(std::size_t clusters);
    void move(std::size_t unit, std::size_t cluster, double sign);
    void compact();
    void scores(std::size_t unit);
    void bar(std::size_t unit);

    std::vector<std::int64_t> starts_;
    std::vector<std::int32_t> columns_;
    std::vector<double> values_, weights_, mass_, self_;
    std::vector<std::int64_t> labels_;
    std::vector<double> sums_;                // n_columns x stride_: rows of each cluster, summed
    std::vector<double> q_, size_, score_;
    std::vector<const double*> rows_;         // of sums_, that the current unit reads
    std::vector<double> factors_;             // of these rows
    std::vector<double> now_;  // of each cluster: its part of the criterion, in a pass
    std::vector<std::int64_t> units_;  // units in each cluster
    std::vector<std::int64_t> apart_starts_, apart_;
    std::vector<std::uint64_t> barred_;  // the visit in which each cluster was last barred
    std::uint64_t visits_ = 0;
    std::size_t n_, n_columns_, used_ = 0, stride_ = 0;
    Criterion criterion_;
    bool fixed_;
};

}  // namespace conclust
