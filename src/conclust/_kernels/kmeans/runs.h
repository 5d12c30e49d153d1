// Many small k-means at once: runs of Lloyd's algorithm on draws of the same points.
//
// A run depends on its draw and its seed only, not on the other runs or on threads. It starts from
// objects of its draw: those given, or chosen by greedy k-means++ (of a few candidates, each drawn with
// a probability that grows with its squared distance to the centres so far, the one that lowers the
// sum of squared distances most). It ends when no object changes its cluster. A centre that loses its
// last object stays where it is.
//
// An object goes to the centre with the largest score x'c - |c|^2 / 2, the first one of a tie, of points moved to
// their mean; the score is added up feature by feature in doubles. It is found by scores in single precision
// (tiles/tiles.h) that show which objects are in doubt; only their scores are added up this way.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <variant>

#include "base/forms.h"

namespace conclust {

// The data of the runs: views of arrays that outlive the call.
struct KMeansDraws {
    std::span<const double> points;  // n x d; finite, and so are their squared distances
    std::size_t n = 0;
    std::size_t d = 0;  // at least 1
    std::span<const std::int32_t> drawn;  // runs x size: objects in rising order
    std::size_t runs = 0;
    std::size_t size = 0;  // objects of a draw, at least 1
    std::span<const std::uint64_t> seeds;  // runs
    std::span<const std::int32_t> starts;  // runs x n_clusters: objects; empty: greedy k-means++
};

// The settings of each run.
struct KMeansSearch {
    std::size_t n_clusters = 1;  // at most size
    std::size_t candidates = 1;  // of greedy k-means++, at least 1
    std::size_t max_iter = 1;  // at least 1
    // A run ends when no object changes its cluster, or the squared moves of all centres are no more than
    // this share of the mean variance of a feature.
    double tol = 0.0;
    // Whether a cluster that lost its last object takes the one farthest from its centre; else the centre
    // stays where it is.
    bool refills = false;
    // Form of the scores in single precision. No bit of a result depends on it.
    Form form = Form::portable;
};

// Where the results go. codes (n x runs): column r holds the clusters of run r, numbered by first
// appearance; objects that were not drawn are missing; n_clusters is below first_reserved_code
// (labels/codes.h). Empty: not wanted. found (runs): clusters that hold an object. inertia (runs): sum of squared
// distances to their centers. centers (runs x n_clusters x d, or empty): the centers of the found clusters, in
// their order. Rows beyond these and the rows of other runs stay as they are.
struct KMeansResults {
    std::variant<std::span<std::uint8_t>, std::span<std::uint16_t>> codes;
    std::span<std::int32_t> found;
    std::span<double> inertia;
    std::span<double> centers;
};

// The runs from `begin` to `end`, at least one.
void kmeans_runs(const KMeansDraws& draws, const KMeansSearch& search, const KMeansResults& out,
                 std::size_t begin, std::size_t end, int threads);

}  // namespace conclust
