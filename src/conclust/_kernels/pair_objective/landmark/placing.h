// Placing objects against landmarks: the pair objective of one object at a time.
//
//     min over y on the simplex of  sum_g N_g d(c_g / N_g, y'm_g)
//
// over prototypes m_g, each standing for a group of landmarks with the same membership, or nearly. c_g
// and N_g are the object's counts with all landmarks of the group. For landmarks with one membership
// pooling loses nothing: sum_j N_j d(p_j, q) = N d(c / N, q) + what q does not change. Counts come from
// the labels and two tables, O(m G) an object, so that no pair of object and landmark is ever formed.
//
// The problem is convex, and solved until its gap per unit of evidence is at most `tol`: by Newton
// steps (newton.h) from the prototype whose object would look most like it (ground.h), and if these
// do not converge, by quadratics with line searches (pairwise/column.h).
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "pair_objective/divergence.h"
#include "pair_objective/factored/rows.h"

namespace conclust {

struct LandmarkTable {
    std::size_t n_prototypes = 0;  // G
    std::size_t k = 0;
    std::span<const double> prototypes;  // G x k, rows on the simplex
    std::span<const double> sums;  // T x G: sum of x_t over the landmarks of each group
    std::span<const double> present;  // n_groups x G: landmarks that the presence group observed
    Divergence divergence = Divergence::kl;
    double a = 2.0;  // of Divergence::power
};

struct Placed {
    double loss;  // sum over the objects, each by its mass
    double residual;  // largest gap per unit of evidence
};

// Writes the memberships Y (n x k) of the objects of `input`; uniform for an object without evidence.
// `masses`: number of objects that each one represents. Objects do not influence each other, and nothing
// depends on the number of threads.
Placed place_objects(const FactoredInput& input, const LandmarkTable& table, double tol,
                     std::span<const double> masses, std::span<double> Y, int threads);

}  // namespace conclust
