#include "graph/partition.h"

#include "base/bindings.h"

using conclust::Parts;

namespace {

// The settings of a refinement, apart from the graph and the start.
struct PartRefiner {
    std::span<const double> vertex_weights;
    std::size_t k;
    double capacity;
    std::size_t max_passes, patience;

    Parts from(std::span<std::int64_t> labels) const {
        return {vertex_weights, labels.size(), k, capacity, max_passes, patience, labels};
    }
};

template <class W>
void bind_weights(nb::module_& m, nb::class_<PartRefiner>& cls) {
    cls.def("dense",
            [](const PartRefiner& self, std::span<const W> matrix, std::span<std::int64_t> labels) {
        return conclust::refine_dense(matrix, self.from(labels));
    }, "matrix"_a, "labels"_a, without_gil);
    if constexpr (!std::is_same_v<W, double>) {
        m.def("count_ties",
              [](std::span<const W> matrix, std::span<const std::int64_t> labels, Matrix<double> ties) {
            conclust::count_ties(matrix, labels, ties.columns, ties);
        }, "matrix"_a, "labels"_a, "ties"_a, without_gil);
    }
}

}  // namespace

void bind_graph(nb::module_& m) {
    nb::class_<PartRefiner> cls(m, "PartRefiner");
    cls.def(nb::init<std::span<const double>, std::size_t, double, std::size_t, std::size_t>(),
            "vertex_weights"_a, "k"_a, "capacity"_a, "max_passes"_a, "patience"_a, kept<2>)
        .def("sparse",
             [](const PartRefiner& self, std::span<const std::int64_t> indptr,
                std::span<const std::int32_t> indices, std::span<const double> weights,
                std::span<std::int64_t> labels) {
        return conclust::refine_sparse({indptr, indices, weights}, self.from(labels));
    },
             "indptr"_a, "indices"_a, "weights"_a, "labels"_a, without_gil)
        .def("hypergraph",
             [](const PartRefiner& self, std::span<const std::int64_t> edges_at,
                std::span<const std::int32_t> edges, std::span<const std::int64_t> pins_at,
                std::span<const std::int32_t> pins, std::span<const double> edge_weights,
                std::span<std::int64_t> labels) {
        return conclust::refine_hypergraph({edges_at, edges, pins_at, pins, edge_weights},
                                           self.from(labels));
    },
             "edges_at"_a, "edges"_a, "pins_at"_a, "pins"_a, "edge_weights"_a, "labels"_a, without_gil);
    bind_weights<double>(m, cls);
    bind_weights<std::uint8_t>(m, cls);
    bind_weights<std::uint16_t>(m, cls);
    m.def("fill_parts",
          [](Matrix<const double> scores, std::span<const std::int64_t> order,
             std::span<const double> vertex_weights, double capacity, std::span<std::int64_t> labels) {
        conclust::fill_parts(scores, order,
                             {vertex_weights, labels.size(), scores.columns, capacity, 0, 0, labels});
    },
          "scores"_a, "order"_a, "vertex_weights"_a, "capacity"_a, "labels"_a, without_gil);
}
