// Collapsed Gibbs sampling for a Dirichlet-process mixture of label vectors.
//
// A cluster draws the labels of partition u from a distribution of its own with a symmetric
// Dirichlet(b) prior, integrated out: the next object of a cluster that holds p objects observed by
// u, s of them with label t, has t with probability (s + b) / (p + b K_u).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "labels/label_view.h"

namespace conclust {

// A chain that begins with no object in any cluster.
class GibbsChain {
  public:
    // Preconditions: the labels have weights, and outlive the chain; b > 0.
    GibbsChain(const LabelView& labels, double b);
    ~GibbsChain();

    // Removes each object in turn from its cluster and draws another, given all others: an existing one
    // in proportion to its size times the likelihood of the labels there, a new one in proportion to
    // the concentration. Weights are exponents of the partitions' probabilities. Missing labels and
    // noise are ignored. Writes the clusters, numbered by first appearance, and returns their number.
    //
    // Precondition: concentration > 0. After an interrupt, only the destructor may be called.
    std::int64_t sweep(double concentration, std::uint64_t seed, std::span<std::int64_t> clusters);

    class State;

  private:
    std::unique_ptr<State> state_;
};

}  // namespace conclust
