#include "base/bindings.h"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include "labels/bound.h"
#include "search/concepts.h"
#include "search/extraction.h"
#include "search/label_vectors.h"
#include "search/losses/expected_loss.h"
#include "search/median.h"
#include "search/resemblance/resemblance.h"

using conclust::ConceptGrowth;
using conclust::LossSearch;
using conclust::PartitionSearch;
using conclust::ResemblanceSearch;

namespace {

void bind_concepts(nb::module_& m) {
    nb::class_<ConceptGrowth> cls(m, "ConceptGrowth");
    cls.def("__init__", [](ConceptGrowth* self, const BoundLabels& labels) {
        const WithoutGil release;
        new (self) ConceptGrowth(labels.view);
    }, nb::arg("labels"));
    cls.def("start", &ConceptGrowth::start, nb::arg("threshold"));
    cls.def("grow", [](ConceptGrowth& self, std::size_t words) {
        const WithoutGil release;
        return self.grow(words);
    }, nb::arg("words"));
    cls.def_prop_ro("n_concepts", &ConceptGrowth::n_concepts);
    cls.def_prop_ro("n_passes", &ConceptGrowth::n_passes);
    // Precondition: concept_of is (n,), intents (n_concepts, m).
    cls.def(
        "read",
        [](const ConceptGrowth& self, Vector<std::int64_t> concept_of, Matrix<std::uint8_t> intents) {
        const WithoutGil release;
        self.read(span_of(concept_of), span_of(intents));
    }, nb::arg("concept_of").noconvert(), nb::arg("intents").noconvert());
    cls.def("assign",
            [](const ConceptGrowth& self, Vector<const std::int64_t> sizes,
               Vector<std::int64_t> concept_of, std::size_t begin, std::size_t end) {
        const WithoutGil release;
        self.assign(span_of(sizes), span_of(concept_of), begin, end);
    },
            nb::arg("sizes").noconvert(), nb::arg("concept_of").noconvert(), nb::arg("begin"),
            nb::arg("end"));
}

void bind_label_vectors(nb::module_& m) {
    m.def("seed_labels",
          [](const BoundLabels& labels, Vector<const double> counts, std::size_t n_clusters,
             std::uint64_t seed, Vector<std::int64_t> chosen) {
        const WithoutGil release;
        conclust::seed_labels({labels.view, span_of(counts)}, n_clusters, seed, span_of(chosen));
    },
          nb::arg("labels"), nb::arg("counts").noconvert(), nb::arg("n_clusters"), nb::arg("seed"),
          nb::arg("chosen").noconvert());
    m.def("refine_labels",
          [](const BoundLabels& labels, Vector<const double> counts, std::size_t n_clusters, int spread,
             double power, Vector<const double> degrees, std::int64_t max_iter, double tol,
             Vector<std::int64_t> chosen) {
        conclust::Refined refined;
        {
            const WithoutGil release;
            refined =
                conclust::refine_labels({labels.view, span_of(counts)}, n_clusters,
                                        {static_cast<conclust::Spread>(spread), power, span_of(degrees)},
                                        max_iter, tol, span_of(chosen));
        }
        return std::pair(refined.losses, refined.converged);
    },
          nb::arg("labels"), nb::arg("counts").noconvert(), nb::arg("n_clusters"), nb::arg("spread"),
          nb::arg("power"), nb::arg("degrees").noconvert(), nb::arg("max_iter"), nb::arg("tol"),
          nb::arg("chosen").noconvert());
}

void bind_median(nb::module_& m) {
    nb::class_<PartitionSearch> cls(m, "PartitionSearch");
    cls.def("__init__",
            [](PartitionSearch* self, Vector<const std::int64_t> starts,
               Vector<const std::int32_t> columns, Vector<const double> values,
               Vector<const double> weights, Vector<const double> mass, int criterion, bool fixed) {
        const WithoutGil release;
        new (self) PartitionSearch(span_of(starts), span_of(columns), span_of(values), span_of(weights),
                                   span_of(mass), static_cast<conclust::Criterion>(criterion), fixed);
    },
            nb::arg("starts").noconvert(), nb::arg("columns").noconvert(), nb::arg("values").noconvert(),
            nb::arg("weights").noconvert(), nb::arg("mass").noconvert(), nb::arg("criterion"),
            nb::arg("fixed"));
    cls.def(
        "keep_apart",
        [](PartitionSearch& self, Vector<const std::int64_t> starts, Vector<const std::int64_t> others) {
        const WithoutGil release;
        self.keep_apart(span_of(starts), span_of(others));
    }, nb::arg("starts").noconvert(), nb::arg("others").noconvert());
    cls.def("set", [](PartitionSearch& self, Vector<const std::int64_t> labels, std::size_t k) {
        const WithoutGil release;
        self.set(span_of(labels), k);
    }, nb::arg("labels").noconvert(), nb::arg("k"));
    cls.def("transfer", [](PartitionSearch& self, Vector<const std::int64_t> order) {
        const WithoutGil release;
        return self.transfer(span_of(order));
    }, nb::arg("order").noconvert());
    cls.def("fuse", [](PartitionSearch& self, std::size_t k) {
        const WithoutGil release;
        return self.fuse(k);
    }, nb::arg("k"));
    cls.def("read", [](const PartitionSearch& self, Vector<std::int64_t> labels) {
        const WithoutGil release;
        self.read(span_of(labels));
    }, nb::arg("labels").noconvert());
    cls.def("similarities", [](const PartitionSearch& self, Matrix<double> a) {
        const WithoutGil release;
        self.similarities(span_of(a));
    }, nb::arg("a").noconvert());
    cls.def("objective", &PartitionSearch::objective);
    cls.def_prop_ro("n_clusters", &PartitionSearch::n_clusters);

    m.def("add_rem_add",
          [](Matrix<const double> a, Vector<const double> mass, Vector<const std::uint8_t> alive,
             Vector<const std::int64_t> starts, Vector<std::uint8_t> members) {
        const WithoutGil release;
        return conclust::add_rem_add(span_of(a), span_of(mass), span_of(alive), span_of(starts),
                                     span_of(members));
    },
          nb::arg("a").noconvert(), nb::arg("mass").noconvert(), nb::arg("alive").noconvert(),
          nb::arg("starts").noconvert(), nb::arg("members").noconvert());
}

void bind_expected_loss(nb::module_& m) {
    nb::class_<LossSearch> cls(m, "LossSearch");
    // The labels must outlive the search.
    cls.def("__init__",
            [](LossSearch* self, const BoundLabels& labels, Vector<const std::int64_t> mass,
               Vector<const double> shares, int loss, double split_cost, std::size_t max_clusters) {
        const WithoutGil release;
        new (self) LossSearch(labels.view, span_of(mass), span_of(shares),
                              static_cast<conclust::Loss>(loss), split_cost, max_clusters);
    },
            nb::arg("labels"), nb::arg("mass").noconvert(), nb::arg("shares").noconvert(),
            nb::arg("loss"), nb::arg("split_cost"), nb::arg("max_clusters"), nb::keep_alive<1, 2>());
    cls.def("set", [](LossSearch& self, Vector<const std::int64_t> labels, std::size_t k) {
        const WithoutGil release;
        self.set(span_of(labels), k);
    }, nb::arg("labels").noconvert(), nb::arg("k"));
    cls.def("descend", [](LossSearch& self, std::uint64_t seed, std::size_t max_passes, bool exact) {
        const WithoutGil release;
        return self.descend(seed, max_passes, exact);
    }, nb::arg("seed"), nb::arg("max_passes"), nb::arg("exact"));
    cls.def("rebuild", [](LossSearch& self, std::uint64_t seed) {
        const WithoutGil release;
        return self.rebuild(seed);
    }, nb::arg("seed"));
    cls.def("shake",
            [](LossSearch& self, std::uint64_t seed, std::size_t turns, std::size_t max_passes) {
        const WithoutGil release;
        return self.shake(seed, turns, max_passes);
    }, nb::arg("seed"), nb::arg("turns"), nb::arg("max_passes"));
    cls.def("read", [](const LossSearch& self, Vector<std::int64_t> labels) {
        const WithoutGil release;
        self.read(span_of(labels));
    }, nb::arg("labels").noconvert());
    cls.def("loss", [](const LossSearch& self) {
        const WithoutGil release;
        return self.loss();
    });
    cls.def_prop_ro("n_clusters", &LossSearch::n_clusters);
}

void bind_resemblance(nb::module_& m) {
    nb::class_<ResemblanceSearch> cls(m, "ResemblanceSearch");
    cls.def("__init__",
            [](ResemblanceSearch* self, Matrix<const std::int32_t> labels, Vector<const double> mass,
               Vector<const std::int64_t> offsets, Vector<const double> cluster_sizes,
               Vector<const double> factors, bool all_subsets, bool fixed) {
        const WithoutGil release;
        new (self) ResemblanceSearch(span_of(labels), span_of(mass), span_of(offsets),
                                     span_of(cluster_sizes), span_of(factors), all_subsets, fixed);
    },
            nb::arg("labels").noconvert(), nb::arg("mass").noconvert(), nb::arg("offsets").noconvert(),
            nb::arg("cluster_sizes").noconvert(), nb::arg("factors").noconvert(), nb::arg("all_subsets"),
            nb::arg("fixed"));
    cls.def("set", [](ResemblanceSearch& self, Vector<const std::int64_t> partition, std::size_t k) {
        const WithoutGil release;
        self.set(span_of(partition), k);
    }, nb::arg("partition").noconvert(), nb::arg("k"));
    cls.def("transfer", [](ResemblanceSearch& self, Vector<const std::int64_t> order) {
        const WithoutGil release;
        return self.transfer(span_of(order));
    }, nb::arg("order").noconvert());
    cls.def("anneal",
            [](ResemblanceSearch& self, std::uint64_t seed, std::size_t first, double temperature,
               std::size_t proposals) {
        const WithoutGil release;
        return self.anneal(seed, first, temperature, proposals);
    },
            nb::arg("seed"), nb::arg("first"), nb::arg("temperature"), nb::arg("proposals"));
    cls.def("mean_fall", [](ResemblanceSearch& self, std::uint64_t seed, std::size_t proposals) {
        const WithoutGil release;
        return self.mean_fall(seed, proposals);
    }, nb::arg("seed"), nb::arg("proposals"));
    cls.def("read", [](const ResemblanceSearch& self, Vector<std::int64_t> partition) {
        const WithoutGil release;
        self.read(span_of(partition));
    }, nb::arg("partition").noconvert());
    cls.def("objective", &ResemblanceSearch::objective);
    cls.def_prop_ro("n_clusters", &ResemblanceSearch::n_clusters);
}

}  // namespace

void bind_search(nb::module_& m) {
    bind_concepts(m);
    bind_label_vectors(m);
    bind_median(m);
    bind_expected_loss(m);
    bind_resemblance(m);
}
