#include "base/bindings.h"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include "labels/label_view.h"
#include "search/concepts.h"
#include "search/extraction.h"
#include "search/label_vectors.h"
#include "search/losses/expected_loss.h"
#include "search/median.h"
#include "search/resemblance/resemblance.h"

using conclust::ConceptGrowth;
using conclust::LabelView;
using conclust::LossSearch;
using conclust::PartitionSearch;
using conclust::ResemblanceSearch;

namespace {

void bind_concepts(nb::module_& m) {
    nb::class_<ConceptGrowth>(m, "ConceptGrowth")
        .def(nb::init<const LabelView&>(), "labels"_a, without_gil)
        .def("start", &ConceptGrowth::start, "threshold"_a)
        .def("grow", &ConceptGrowth::grow, "words"_a, without_gil)
        .def_prop_ro("n_concepts", &ConceptGrowth::n_concepts)
        .def_prop_ro("n_passes", &ConceptGrowth::n_passes)
        // Precondition: concept_of is (n,), intents (n_concepts, m).
        .def("read", &ConceptGrowth::read, "concept_of"_a, "intents"_a, without_gil)
        .def("assign", &ConceptGrowth::assign, "sizes"_a, "concept_of"_a, "begin"_a, "end"_a,
             without_gil);
}

void bind_label_vectors(nb::module_& m) {
    m.def("seed_labels",
          [](const LabelView& labels, std::span<const double> counts, std::size_t n_clusters,
             std::uint64_t seed, std::span<std::int64_t> chosen) {
        conclust::seed_labels({labels, counts}, n_clusters, seed, chosen);
    },
          "labels"_a, "counts"_a, "n_clusters"_a, "seed"_a, "chosen"_a, without_gil);
    m.def("refine_labels",
          [](const LabelView& labels, std::span<const double> counts, std::size_t n_clusters, int spread,
             double power, std::span<const double> degrees, std::int64_t max_iter, double tol,
             std::span<std::int64_t> chosen) {
        conclust::Refined refined = conclust::refine_labels(
            {labels, counts}, n_clusters, {static_cast<conclust::Spread>(spread), power, degrees},
            max_iter, tol, chosen);
        return std::pair(std::move(refined.losses), refined.converged);
    },
          "labels"_a, "counts"_a, "n_clusters"_a, "spread"_a, "power"_a, "degrees"_a, "max_iter"_a,
          "tol"_a, "chosen"_a, without_gil);
}

void bind_median(nb::module_& m) {
    nb::class_<PartitionSearch>(m, "PartitionSearch")
        .def("__init__",
             [](PartitionSearch* self, std::span<const std::int64_t> starts,
                std::span<const std::int32_t> columns, std::span<const double> values,
                std::span<const double> weights, std::span<const double> mass, int criterion,
                bool fixed) {
        new (self) PartitionSearch(starts, columns, values, weights, mass,
                                   static_cast<conclust::Criterion>(criterion), fixed);
    },
             "starts"_a, "columns"_a, "values"_a, "weights"_a, "mass"_a, "criterion"_a, "fixed"_a,
             without_gil)
        .def("keep_apart", &PartitionSearch::keep_apart, "starts"_a, "others"_a, without_gil)
        .def("set", &PartitionSearch::set, "labels"_a, "k"_a, without_gil)
        .def("transfer", &PartitionSearch::transfer, "order"_a, without_gil)
        .def("fuse", &PartitionSearch::fuse, "k"_a, without_gil)
        .def("read", &PartitionSearch::read, "labels"_a, without_gil)
        .def("similarities", &PartitionSearch::similarities, "a"_a, without_gil)
        .def("objective", &PartitionSearch::objective)
        .def_prop_ro("n_clusters", &PartitionSearch::n_clusters);
    m.def("add_rem_add", &conclust::add_rem_add, "a"_a, "mass"_a, "alive"_a, "starts"_a, "members"_a,
          without_gil);
}

void bind_expected_loss(nb::module_& m) {
    nb::class_<LossSearch>(m, "LossSearch")
        .def("__init__",
             [](LossSearch* self, const LabelView& labels, std::span<const std::int64_t> mass,
                std::span<const double> shares, int loss, double split_cost, std::size_t max_clusters) {
        new (self) LossSearch(labels, mass, shares, static_cast<conclust::Loss>(loss), split_cost,
                              max_clusters);
    },
             "labels"_a, "mass"_a, "shares"_a, "loss"_a, "split_cost"_a, "max_clusters"_a, kept<2>,
             without_gil)
        .def("set", &LossSearch::set, "labels"_a, "k"_a, without_gil)
        .def("descend", &LossSearch::descend, "seed"_a, "max_passes"_a, "exact"_a, without_gil)
        .def("rebuild", &LossSearch::rebuild, "seed"_a, without_gil)
        .def("shake", &LossSearch::shake, "seed"_a, "turns"_a, "max_passes"_a, without_gil)
        .def("read", &LossSearch::read, "labels"_a, without_gil)
        .def("loss", &LossSearch::loss, without_gil)
        .def_prop_ro("n_clusters", &LossSearch::n_clusters);
}

void bind_resemblance(nb::module_& m) {
    nb::class_<ResemblanceSearch>(m, "ResemblanceSearch")
        .def(nb::init<std::span<const std::int32_t>, std::span<const double>,
                      std::span<const std::int64_t>, std::span<const double>, std::span<const double>,
                      bool, bool>(),
             "labels"_a, "mass"_a, "offsets"_a, "cluster_sizes"_a, "factors"_a, "all_subsets"_a,
             "fixed"_a, without_gil)
        .def("set", &ResemblanceSearch::set, "partition"_a, "k"_a, without_gil)
        .def("transfer", &ResemblanceSearch::transfer, "order"_a, without_gil)
        .def("anneal", &ResemblanceSearch::anneal, "seed"_a, "first"_a, "temperature"_a, "proposals"_a,
             without_gil)
        .def("mean_fall", &ResemblanceSearch::mean_fall, "seed"_a, "proposals"_a, without_gil)
        .def("read", &ResemblanceSearch::read, "partition"_a, without_gil)
        .def("objective", &ResemblanceSearch::objective)
        .def_prop_ro("n_clusters", &ResemblanceSearch::n_clusters);
}

}  // namespace

void bind_search(nb::module_& m) {
    bind_concepts(m);
    bind_label_vectors(m);
    bind_median(m);
    bind_expected_loss(m);
    bind_resemblance(m);
}
