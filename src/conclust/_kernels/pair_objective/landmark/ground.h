// Data shared by all placed objects: tables of the landmarks, and starting points.
#pragma once

#include <cstddef>
#include <vector>

#include "pair_objective/factored/rows.h"
#include "pair_objective/landmark/counting.h"
#include "pair_objective/landmark/placing.h"
#include "pair_objective/pairwise/column.h"

namespace conclust {

// Clusters up to which objects are placed by exact Newton steps.
inline constexpr std::size_t most_exact = 128;

struct Ground {
    // The clusters that a landmark holds, and the first of the others: a share that no landmark counts
    // with.
    std::vector<std::size_t> kept;
    std::size_t k;                   // their number
    std::size_t stride;              // rounded up to fours
    std::size_t width;               // prototypes rounded up to eights
    RowSums sums;                    // of clusters of the ensemble
    RowSums present;                 // of presence groups
    std::vector<double> prototypes;  // stride x width, cluster by cluster
    std::vector<double> column_weights;

    Ground(const FactoredInput& in, const LandmarkTable& table);
};

// Prototypes as objects: where an object is that counts with the landmarks as its prototype would. An
// object begins at the one whose first guess is nearest to its own, with the expected curvature there
// as its metric.
struct References {
    std::size_t count = 0;           // 0: too many clusters
    double degree = 0.0;             // the evidence that H is of
    std::vector<double> guesses;     // k x width: first guess of each prototype, cluster by cluster
    std::vector<double> norms;       // width: half its squared length
    std::vector<double> y;           // count x stride
    std::vector<double> H;           // count x stride x stride

    References(const FactoredInput& in, const LandmarkTable& table, const Ground& ground);

    // The reference nearest to a guess. scratch: `width` doubles.
    std::size_t nearest(const Ground& ground, const double* guess, double* scratch) const;
};

// The sum of `width` numbers, a multiple of 8, in eight lanes.
double row_sum(const double* x, std::size_t width);

// y = the mean membership of the landmarks that an object is together with. False if it is with none.
bool guess(const Ground& ground, const double* c, double* y);

}  // namespace conclust
