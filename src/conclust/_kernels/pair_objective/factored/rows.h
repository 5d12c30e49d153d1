// One object in the form of the factored solver: its clusters, and the presence groups that observed it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "labels/label_view.h"

namespace conclust {

// Partitions of one group observed the same objects.
struct PresenceGroups {
    std::span<const std::int32_t> of;  // m; with m groups, group u is partition u
    std::size_t count = 1;
};

// Everything about the evidence that stays fixed. The views must outlive the solver.
struct FactoredInput {
    LabelView labels;
    PresenceGroups groups;
    std::size_t k = 0;  // clusters of the consensus
    // How a sweep is cut, which decides bits: one block up to serial_limit objects, else rounds.
    std::size_t serial_limit = 16384;
    std::size_t rounds = 16;
};

// One object's clusters.
struct Row {
    std::size_t n_clusters = 0;
    std::vector<std::int32_t> columns;
    std::vector<double> values;  // x; 1 when hard
    std::vector<double> weighted;  // w x; 1 when unit
    bool unit = false;  // hard and unweighted: x = w = 1
    double self = 0.0;  // sum w x^2
    std::vector<std::int32_t> offsets;  // of the input, as narrow as columns
    static constexpr std::size_t slack = 16;  // vectors are stored whole past the end

    explicit Row(const FactoredInput& in)
        : columns(in.labels.m + slack),
          values(in.labels.m, 1.0),
          weighted(in.labels.m, 1.0),
          unit(!in.labels.soft && in.labels.weights.empty()),
          offsets(in.labels.m + slack) {
        std::copy_n(in.labels.offsets.begin(), in.labels.m, offsets.begin());
    }

    void hold(std::size_t entries) {
        if (values.size() < entries) {
            columns.resize(entries + slack);
            values.resize(entries);
            weighted.resize(entries);
        }
    }
};

// Fills `row` with object i. column_weights (T): the weight of the partition of each cluster.
void read_row(const FactoredInput& in, const double* column_weights, std::size_t i, Row& row);

// The presence groups that observed one object, each with the weight of its partitions that did.
struct Observers {
    std::size_t n_groups = 0;
    std::vector<std::int32_t> groups;
    std::vector<double> weights;
    double present = 0.0;  // sum of weights
    std::vector<double> dense;  // scratch: weight per group

    explicit Observers(const FactoredInput& in)
        : groups(in.groups.count), weights(in.groups.count), dense(in.groups.count) {}
};

void read_observers(const FactoredInput& in, std::size_t i, Observers& observers);

// Presence groups are taken in sets of `bits` groups. A table over them has an entry for every subset of
// every set: entry s 2^bits + p for the groups of set s that have a 1 bit in p.
struct PresenceTable {
    std::size_t n_groups;
    std::size_t bits;
    std::vector<std::int32_t> partitions;  // one of each group; the others observed the same objects

    PresenceTable(const FactoredInput& in, std::size_t most_bits);

    std::size_t n_sets() const { return (n_groups + bits - 1) / bits; }
    std::size_t n_entries() const { return n_sets() << bits; }
};

using Entries = std::vector<std::int32_t>;

// The entries of an object that all groups observed: one of each set.
Entries all_entries(const PresenceTable& presence);

// entries (n_sets) = the entries of object i: in each set, the groups that observed it. Preconditions: they
// begin as all_entries; the partitions of a group observed the same objects.
void read_entries(const FactoredInput& in, const PresenceTable& presence, std::size_t i,
                  Entries& entries);

}  // namespace conclust
