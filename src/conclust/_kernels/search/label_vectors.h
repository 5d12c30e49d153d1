// k-means on label vectors: objects as rows of the indicator B, one block of columns a partition.
//
// A cluster k of the consensus holds p_ku objects that partition u observed, of which s_kt (the sum
// of the rows of B, t a cluster of u) fell into t. Three losses are sums over clusters of the
// consensus and partitions, weighted by w_u, of how the block spreads within the cluster:
//   quadratic  sum_i |b_iu|^2 - sum_t s_kt^2 / p_ku          (squared distances to the mean)
//   entropic   sum_it b_it log b_it - sum_t s_kt log(s_kt / p_ku)   (Kullback-Leibler to the mean)
//   norm       sum_i |b_iu|_q - |s_ku|_q                     (for q = 2: 1 minus the cosine to the mean)
// The fourth loss is the normalised cut of BWB', W of the w_u. With d_i the degree of object i, the sum
// of its row of BWB', it is k-means of the points b_i / d_i, each with the mass d_i:
//   cut        sum_i b_i W b_i' / d_i - sum_k (sum_t w_u(t) s_kt^2) / (sum_{i in k} d_i)
// A partition that did not observe an object is ignored for it. An object that is noise in u is
// a singleton cluster of u.
//
// Moves are Hartigan's: one row at a time moves to the cluster with the lowest resulting loss, and the means are
// updated.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "labels/label_view.h"

namespace conclust {

// Different rows of labels. Columns of soft rows rise.
struct LabelRows {
    LabelView labels;
    std::span<const double> counts;  // n: objects of each row, whole numbers from 1 on
};

// Draws n_clusters rows, each with a probability that grows with its squared distance to those drawn
// before (k-means++), and gives every row the label of the nearest. Fewer labels occur where fewer
// rows differ. Distances between rows count the partitions that observed both.
void seed_labels(const LabelRows& in, std::size_t n_clusters, std::uint64_t seed,
                 std::span<std::int64_t> chosen);

enum class Spread { quadratic, entropic, norm, cut };

struct RowLoss {
    Spread spread = Spread::quadratic;
    double power = 2.0;  // q of norm: in (1, 16]
    std::span<const double> degrees;  // n, of cut: of one object of each row
};

struct Refined {
    std::vector<double> losses;  // before the first pass (of the labelled rows), after each
    bool converged = false;
};

// Passes over the rows until one lowers the loss by at most tol times itself, or max_iter of them.
// chosen (n): in [0, n_clusters), or -1: the row is in no cluster yet; the first pass places it.
Refined refine_labels(const LabelRows& in, std::size_t n_clusters, const RowLoss& loss,
                      std::int64_t max_iter, double tol, std::span<std::int64_t> chosen);

}  // namespace conclust
