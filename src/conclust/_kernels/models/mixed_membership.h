// Variational inference in a mixed-membership model of label vectors.
//
// Object i has a distribution theta_i over K clusters; for each partition u a cluster is drawn from it,
// and a label t from beta_t. of that cluster. The posterior of theta_i is approximated by a Dirichlet distribution with
// parameters gamma_ik = alpha_k + mass_ik; with e_ik = exp E[log theta_ik], where
// E[log theta_ik] = digamma(gamma_ik) - digamma(sum_k gamma_ik), the best distribution of the cluster
// behind label t of partition u is e_ik beta_tk / chance_iu, where chance_iu = sum_k e_ik beta_tk.
// Missing labels and noise are ignored.
#pragma once

#include <cstddef>
#include <span>

#include "labels/label_view.h"

namespace conclust {

struct MixedModel {
    LabelView labels;  // different rows, with weights: how often each partition counts
    std::span<const double> counts;  // n: objects of each row
    std::span<const double> alpha;  // k, in [1e-30, 1e40]
    std::span<const double> beta;  // T x k, above 0 (and above 1e-290)
    std::span<const double> mass;  // n x k, not negative

    std::size_t k() const { return alpha.size(); }
};

// The output of a round.
struct MixedSums {
    std::span<double> mass;  // n x k: the best mass, given the distributions found
    std::span<double> use;  // T x k: the sum of these over objects with each label, counted
    std::span<double> logs;  // k: the sum over objects of E[log theta_ik], counted
};

// Finds the best distribution of the clusters behind all labels, given mass, and writes its sums. Returns
// the part of the bound on the log-likelihood that is a sum over objects:
//   sum_i counts_i (sum_u w_u log chance_iu - sum_k mass_ik E[log theta_ik]
//                   + sum_k log Gamma(gamma_ik) - log Gamma(sum_k gamma_ik)),
// to which log Gamma(sum_k alpha_k) - sum_k log Gamma(alpha_k) is to be added for every object.
//
// Precondition: the mass that is written is not the one that is read.
double mixed_membership_round(const MixedModel& model, int threads, const MixedSums& sums);

}  // namespace conclust
