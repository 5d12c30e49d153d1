#include "graph/partition.h"

#include "base/bindings.h"

using conclust::Parts;

namespace {

// The settings of a refinement, apart from the graph and the start.
struct PartRefiner {
    Vector<const double> vertex_weights;
    std::size_t k;
    double capacity;
    std::size_t max_passes, patience;

    Parts from(const Vector<std::int64_t>& labels) const {
        return {span_of(vertex_weights), labels.shape(0), k, capacity, max_passes, patience,
                span_of(labels)};
    }
};

template <class W>
std::size_t refine_counts(const PartRefiner& self, Matrix<const W> matrix, Vector<std::int64_t> labels) {
    const WithoutGil release;
    return conclust::refine_counts(span_of(matrix), self.from(labels));
}

template <class W>
void count_ties(Matrix<const W> matrix, Vector<const std::int64_t> labels, Matrix<double> ties) {
    const WithoutGil release;
    conclust::count_ties(span_of(matrix), span_of(labels), ties.shape(1), span_of(ties));
}

}  // namespace

void bind_graph(nb::module_& m) {
    nb::class_<PartRefiner>(m, "PartRefiner")
        .def("__init__",
             [](PartRefiner* self, Vector<const double> vertex_weights, std::size_t k, double capacity,
                std::size_t max_passes, std::size_t patience) {
        new (self) PartRefiner{std::move(vertex_weights), k, capacity, max_passes, patience};
    },
             nb::arg("vertex_weights").noconvert(), nb::arg("k"), nb::arg("capacity"),
             nb::arg("max_passes"), nb::arg("patience"))
        .def("dense",
             [](const PartRefiner& self, Matrix<const double> matrix, Vector<std::int64_t> labels) {
        const WithoutGil release;
        return conclust::refine_dense(span_of(matrix), self.from(labels));
    }, nb::arg("matrix").noconvert(), nb::arg("labels").noconvert())
        .def("counts", &refine_counts<std::uint8_t>, nb::arg("matrix").noconvert(),
             nb::arg("labels").noconvert())
        .def("counts", &refine_counts<std::uint16_t>, nb::arg("matrix").noconvert(),
             nb::arg("labels").noconvert())
        .def("sparse",
             [](const PartRefiner& self, Vector<const std::int64_t> indptr,
                Vector<const std::int32_t> indices, Vector<const double> weights,
                Vector<std::int64_t> labels) {
        const WithoutGil release;
        return conclust::refine_sparse({span_of(indptr), span_of(indices), span_of(weights)},
                                       self.from(labels));
    },
             nb::arg("indptr").noconvert(), nb::arg("indices").noconvert(),
             nb::arg("weights").noconvert(), nb::arg("labels").noconvert())
        .def("hypergraph",
             [](const PartRefiner& self, Vector<const std::int64_t> edges_at,
                Vector<const std::int32_t> edges, Vector<const std::int64_t> pins_at,
                Vector<const std::int32_t> pins, Vector<const double> edge_weights,
                Vector<std::int64_t> labels) {
        const WithoutGil release;
        return conclust::refine_hypergraph(
            {span_of(edges_at), span_of(edges), span_of(pins_at), span_of(pins), span_of(edge_weights)},
            self.from(labels));
    },
             nb::arg("edges_at").noconvert(), nb::arg("edges").noconvert(),
             nb::arg("pins_at").noconvert(), nb::arg("pins").noconvert(),
             nb::arg("edge_weights").noconvert(), nb::arg("labels").noconvert());
    m.def("count_ties", &count_ties<std::uint8_t>, nb::arg("matrix").noconvert(),
          nb::arg("labels").noconvert(), nb::arg("ties").noconvert());
    m.def("count_ties", &count_ties<std::uint16_t>, nb::arg("matrix").noconvert(),
          nb::arg("labels").noconvert(), nb::arg("ties").noconvert());
    m.def("fill_parts",
          [](Matrix<const double> scores, Vector<const std::int64_t> order,
             Vector<const double> vertex_weights, double capacity, Vector<std::int64_t> labels) {
        const WithoutGil release;
        conclust::fill_parts(span_of(scores), span_of(order),
                             {span_of(vertex_weights), labels.shape(0), scores.shape(1), capacity, 0, 0,
                              span_of(labels)});
    },
          nb::arg("scores").noconvert(), nb::arg("order").noconvert(),
          nb::arg("vertex_weights").noconvert(), nb::arg("capacity"), nb::arg("labels").noconvert());
}
