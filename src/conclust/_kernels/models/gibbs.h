// One sweep of collapsed Gibbs sampling for a Dirichlet-process mixture of label vectors.
//
// A cluster draws the labels of partition u from a distribution of its own with a symmetric
// Dirichlet(b) prior, integrated out: the next object of a cluster that holds p objects observed by
// u, s of them with label t, has t with probability (s + b) / (p + b K_u).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "labels/label_view.h"

namespace conclust {

// Removes each object in turn from its cluster and draws another, given all others: an existing one
// in proportion to its size times the likelihood of the labels there, a new one in proportion to
// the concentration. Weights are exponents of the partitions' probabilities. Missing labels and
// noise are ignored. Returns the number of clusters; clusters are then in [0, that number), all of them used.
//
// Preconditions: the labels have weights; b > 0, concentration > 0; clusters (n): -1 (in no cluster yet) or
// numbers from 0 on without a gap.
std::int64_t gibbs_sweep(const LabelView& labels, double b, double concentration, std::uint64_t seed,
                         std::span<std::int64_t> clusters);

}  // namespace conclust
