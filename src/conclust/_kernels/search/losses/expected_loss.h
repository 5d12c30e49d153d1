// Search for the partition with the least expected loss over draws of a partition.
//
// The rows of `labels` are units: unit i stands for mass[i] objects with the same labels. With f(x) = x log2 x
// (x^2 for Binder's loss and the adjusted Rand index), sums over the objects that draw s observed are
//   A_s  of f(size) over the clusters of the candidate,   B_s  over those of the draw,
//   J_s  of f(count) over the cells of their table,
// and every loss is a function of them and of n_s, the objects observed (see `Loss`). The expected loss is
// sum_s share_s L_s. A move changes two rows of the tables, which hold all candidate clusters side by side for
// each cluster of each draw. Counts are integers, so they do not drift.
//
// One thread; the same seed gives the same bits.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_set>
#include <utility>
#include <vector>

#include "labels/label_view.h"

namespace conclust {

enum class Loss {
    binder,  // (a (B - J) + b (A - J)) / n^2: a for a pair that is wrongly split, b for one wrongly merged
    vi,  // (a (B - J) + b (A - J)) / n
    omari,  // 1 - adjusted Rand index
    nvi,  // (A + B - 2 J) / (n log2 n - J)
    id,  // (max(A, B) - J) / n
    nid,  // (max(A, B) - J) / (n log2 n - min(A, B))
};

class LossSearch {
  public:
    // Hard labels with offsets; mass (n) at least 1, and 1 for a unit that is noise in some draw; share (m): of
    // each draw in the mean, not negative, sum 1. split_cost: a in (0, 2), b = 2 - a. max_clusters: 0 for any number.
    LossSearch(const LabelView& labels, std::span<const std::int64_t> mass,
               std::span<const double> share, Loss loss, double split_cost, std::size_t max_clusters);

    // Sets the partition: labels in 0 .. k - 1, or -1 for units that are in no cluster yet.
    void set(std::span<const std::int64_t> labels, std::size_t k);

    // Places units that are in no cluster, moves single units and merges clusters until nothing lowers the
    // loss. Returns the number of passes over all units, and whether the search converged. Unless `exact`, a loss
    // that is not
    // linear is compared by its slopes, of many objects: what lowers it by the slopes is done if it lowers the loss,
    // and what lowers only the loss is not seen.
    std::pair<std::size_t, bool> descend(std::uint64_t seed, std::size_t max_passes, bool exact);

    // Tries once, for each cluster: to destroy it and place its units again, to split it in two, and to destroy it
    // with the cluster that is nearest. Keeps changes that lower the loss; returns their number.
    std::size_t rebuild(std::uint64_t seed);

    // In each turn distributes the units of some clusters at random and descends. Keeps changes
    // that lower the loss; returns the number of passes of the descents that were kept. Precondition: no unit is
    // without a cluster.
    std::size_t shake(std::uint64_t seed, std::size_t turns, std::size_t max_passes);

    double loss() const;
    std::size_t n_clusters() const { return live_; }
    void read(std::span<std::int64_t> labels) const {
        std::copy(labels_.begin(), labels_.end(), labels.begin());
    }

  private:
    static constexpr std::size_t none = static_cast<std::size_t>(-1);
    // Number of objects above which a loss is almost linear over the move of one of them.
    static constexpr std::size_t many_objects = 250;
    // Moves after which slopes are found again.
    static constexpr std::size_t moves_by_slopes = 16;
    // A change counts when it is above this share of the terms it is a difference of. Less is rounding.
    static constexpr double negligible = 1e-13;

    struct Draw {
        double share = 0.0, n = 0.0, second = 0.0;  // n_s, B_s
        double whole = 0.0;  // f(n_s)
        double alone = 0.0;  // of J_s and B_s: noise
        std::size_t group = 0;  // draws that observed the same units
    };

    bool linear() const { return loss_ == Loss::binder || loss_ == Loss::vi; }
    // Whether units are scored by the factors of the sums: what these are in a linear loss, or its slopes.
    bool by_factors() const { return linear() || slopes_; }
    bool squares() const { return loss_ == Loss::binder || loss_ == Loss::omari; }
    double of(const Draw& draw, double first, double both) const;

    void reserve(std::size_t clusters);
    std::size_t empty_cluster();
    void compact();
    template <class Code>
    void place(const Code* codes, std::size_t unit, std::size_t cluster, std::int64_t sign);
    template <class Code>
    void shift(const Code* codes, std::size_t unit, std::size_t to);
    void change(std::size_t row, std::size_t cluster, std::int64_t by);
    void refresh();
    double value() const;
    void find_slopes();
    void save_sums();
    void restore_sums();

    template <class Code>
    void score(const Code* codes, std::size_t unit);
    template <class Code>
    double score_of(const Code* codes, std::size_t unit, std::size_t cluster, int sign) const;
    template <class Code>
    bool stays(const Code* codes, std::size_t unit, double& own);
    template <class Code>
    bool visit(const Code* codes, std::size_t unit, std::span<const std::size_t> allowed);
    std::size_t transfer(std::span<const std::size_t> order, std::span<const std::size_t> allowed = {});

    std::uint64_t fingerprint() const;
    std::size_t merge();
    void pair_changes(std::vector<double>& changes, std::size_t only) const;
    std::vector<std::size_t> units_of(std::size_t cluster) const;
    std::size_t nearest_cluster(std::size_t cluster) const;
    void take_out(std::span<const std::size_t> units);
    template <class Attempt>
    bool attempt(std::span<const std::size_t> units, double& before, const Attempt& work);
    std::size_t farthest(std::span<const std::size_t> units, std::size_t from) const;

    LabelView view_;
    std::vector<std::int64_t> mass_;
    std::vector<double> f_;  // f(x), x up to the number of all objects plus the size of the largest unit
    std::vector<double> step_;  // f(x + 1) - f(x), x up to all objects; 2 x of squares
    std::vector<Draw> draws_;
    std::vector<double>
        both_factor_;  // of J_s in a linear loss; of others the slope where the search is
    std::vector<std::size_t> group_first_;  // a draw of each group
    std::vector<double> group_factor_;  // of the sums A of the group, likewise
    double total_factor_ = 0.0;  // the sum of their sizes
    bool slopes_ = false;
    std::size_t moves_ = 0;  // by slopes
    Loss loss_;
    double split_, merge_;
    std::size_t most_;
    std::size_t rows_;  // clusters of all draws, then the groups

    std::vector<std::int64_t> labels_;
    std::vector<std::int64_t> units_;  // in each cluster
    std::vector<std::int32_t>
        counts_;  // rows x stride: objects in the cluster of the draw and in the candidate's
    std::vector<double> deltas_;  // rows x stride: step_ of them
    std::vector<double> first_, both_;  // A_s, J_s; only of losses that are not linear
    std::vector<double> score_, term_, group_term_, saved_;
    std::vector<const double*> summed_;  // rows of deltas_ in the scores of a unit, and their factors
    std::vector<double> summed_factor_;
    double new_score_ = 0.0;
    // Partitions that no move of a unit and no merge improves, of linear losses. Scores are read from integer counts, so
    // that neither the order of the units nor the numbers of the clusters matter.
    std::unordered_set<std::uint64_t> optima_;
    std::size_t used_ = 0, stride_ = 0,
                live_ = 0;  // places of clusters, room for them, clusters with units
};

}  // namespace conclust
