// Search for the partition that resembles weighted partitions most, by the kernel of partitions.
//
// Two partitions are compared by the subsets S of objects that lie in a cluster of both, each with
// the product of its shares of the clusters; the kernel is divided by its norms. With n_cl objects
// in common, the sum is over f(n_cl) / (n_c n_l), where f(s) is 2 s (s - 1) if only pairs count, and
// s (s + 1) 2^(s - 2) if all subsets do. A partition u is compared over the objects that it observed;
// one that it took for noise is a cluster of its own. The value to be raised is the weighted sum of
// the resemblances, or its base-2 logarithm where all subsets count: everything is in logarithms then.
//
// Units are groups of interchangeable objects: unit i stands for mass[i] of them. No n x n matrix
// is formed: the state is a table of counts per cluster. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "search/resemblance/pair_resemblance.h"

namespace conclust {

class ResemblanceSearch {
  public:
    // labels (n x m): 0 .. K_u - 1, -1 missing, -2 noise; mass (n), integers; cluster_sizes (T): objects
    // of each cluster of each partition; offsets (m + 1): the start of the clusters of each partition in it;
    // factors (m): weight over norm of each partition, with `all_subsets` its base-2 logarithm. With `fixed`,
    // moves never change the number of clusters.
    ResemblanceSearch(std::span<const std::int32_t> labels, std::span<const double> mass,
                      std::span<const std::int64_t> offsets, std::span<const double> cluster_sizes,
                      std::span<const double> factors, bool all_subsets, bool fixed);

    // Sets the partition: 0 .. k - 1, or -1 for units that are in no cluster yet.
    void set(std::span<const std::int64_t> partition, std::size_t k);

    // Visits units in the given order; moves each to the cluster with the highest value, which may
    // be a new one. Returns the number of moves.
    std::size_t transfer(std::span<const std::int64_t> order);

    // Propose to move random units, all of them placed, to random clusters or ones of their own. A move that
    // raises the value is made, a fall d with probability exp(-d / temperature). Returns the moves made.
    // They are draws first, first + 1, ... of the seed.
    std::size_t anneal(std::uint64_t seed, std::size_t first, double temperature, std::size_t proposals);

    // The mean decrease by random moves that would lower the value; 0 if there are none. Makes no move.
    double mean_fall(std::uint64_t seed, std::size_t proposals);

    double objective();
    std::size_t n_clusters() const;
    void read(std::span<std::int64_t> partition) const;

  private:
    void reserve(std::size_t clusters);
    void renew();
    std::size_t empty_cluster();
    void leave(std::size_t unit);
    void join(std::size_t unit, std::size_t c);
    void take_columns();
    PairFixed fixed_terms() const;
    PairUnit pair_unit(std::size_t unit, double mass) const;
    PairCluster pair_cluster(std::size_t c);
    PairTotals totals() { return {shared_.data(), norm_.data()}; }
    void take_terms();
    void move_counts(std::size_t from, std::size_t to);
    void change(std::size_t unit, std::size_t c, double mass);
    void count(std::size_t unit, std::size_t c, double mass);
    double moved(std::size_t unit, std::size_t to);
    void decide(std::size_t unit, std::size_t to, bool taken);
    void change_subsets(std::size_t unit, std::size_t c, double mass);
    double joined(std::size_t unit, std::size_t c);
    double inside(std::size_t c, std::size_t u, std::int32_t label, double mass) const;
    double own(double size) const;
    double replaced(double total, const std::vector<double>& parts, std::size_t c, std::size_t u,
                    double part) const;
    double score(double shared, double norm) const;
    bool propose(std::uint64_t seed, std::size_t draw, std::size_t& unit, std::size_t& to);

    std::vector<std::int32_t> labels_;
    std::vector<double> mass_, cluster_sizes_, factors_;  // sizes as logarithms with all subsets
    std::vector<double> log_subsets_;                     // log2 f, for whole numbers
    std::vector<std::int64_t> offsets_;
    std::vector<std::int32_t> columns_;  // n x stride, see PairUnit, if only pairs count
    std::vector<double> observed_, before_;
    std::size_t n_, m_, n_columns_, stride_, used_ = 0;
    bool all_subsets_, fixed_;
    std::vector<std::int64_t> partition_, units_;
    // For each cluster: objects by label (a place more than labels); observed, and as noise, by partition; f summed over labels
    // (pairs alone); its terms of shared_ and of norm_.
    std::vector<double> counts_, size_, noise_, sum_, part_, own_;
    std::vector<double> shared_, norm_, score_;  // of each partition; the last with all subsets
};

}  // namespace conclust
