// One sweep of collapsed Gibbs sampling in the mixed-membership model of label vectors
// (mixed_membership.h), with a symmetric Dirichlet(b) prior of the label distributions.
//
// Object i has a distribution over K clusters with a Dirichlet(alpha) prior; for each partition u a
// cluster z_iu is drawn from it, and a label from the distribution of that cluster and partition. Both
// kinds of distributions are integrated out:
//   P(z, labels) = prod_i [ Gamma(A) / Gamma(A + sum_u w_u) prod_k Gamma(alpha_k + m_ik) / Gamma(alpha_k) ]
//                  prod_u [ prod_k Gamma(b K_u) / Gamma(b K_u + s_uk) prod_t Gamma(b + c_tk) / Gamma(b) ]^w_u
// with A = sum_k alpha_k, m_ik the weight of the partitions in which i is of cluster k, c_tk the
// number of objects with label t in cluster k there, s_uk the sum of c_tk over the labels of u. Missing labels
// and noise are ignored.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "labels/label_view.h"

namespace conclust {

struct MixedChain {
    LabelView labels;  // of all objects, with weights
    std::span<const double> alpha;  // k, in [1e-30, 1e30]
    double smoothing;  // b > 0
};

// The state: the cluster behind each label, and what follows from it.
struct MixedState {
    std::span<std::int32_t> clusters;  // n x m: in [0, k) where there is a label; elsewhere not read
    std::span<double> mass;  // n x k: m_ik
    std::span<double> use;  // T x k: c_tk
};

// Draws the cluster behind each label in turn, given those behind all others. Mass and use are computed
// from the clusters first; they are then those of the new clusters.
void mixed_gibbs_sweep(const MixedChain& chain, std::uint64_t seed, const MixedState& state);

}  // namespace conclust
