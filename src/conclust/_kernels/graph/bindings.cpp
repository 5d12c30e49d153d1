#include "graph/partition.h"

#include "base/bindings.h"
#include "graph/smoothing.h"
#include "graph/walks.h"

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

struct BoundLines {
    Vector<const std::int64_t> starts;
    Vector<const std::int32_t> others;
    Vector<const double> values;

    conclust::SparseLines lines() const { return {span_of(starts), span_of(others), span_of(values)}; }
};

// Keeps the data that the solver reads alive.
struct BoundSylvester {
    BoundLines H, L;
    Vector<const double> inverse_pivots;
    Vector<const std::int64_t> fixed_starts;
    Vector<const std::int32_t> fixed_columns;
    conclust::MaskedSylvester solver;
};

void bind_smoothing(nb::module_& m) {
    nb::class_<BoundLines>(m, "SparseLines")
        .def("__init__",
             [](BoundLines* self, Vector<const std::int64_t> starts, Vector<const std::int32_t> others,
                Vector<const double> values) { new (self) BoundLines{starts, others, values}; },
             nb::arg("starts").noconvert(), nb::arg("others").noconvert(),
             nb::arg("values").noconvert());
    nb::class_<BoundSylvester>(m, "MaskedSylvester")
        .def("__init__",
             [](BoundSylvester* self, const BoundLines& H, const BoundLines& L,
                Vector<const double> inverse_pivots, Vector<const std::int64_t> fixed_starts,
                Vector<const std::int32_t> fixed_columns, Vector<const double> root,
                Matrix<const double> X, Matrix<const double> residual) {
        new (self) BoundSylvester{H,
                                  L,
                                  inverse_pivots,
                                  fixed_starts,
                                  fixed_columns,
                                  {H.lines(),
                                   L.lines(),
                                   span_of(inverse_pivots),
                                   {span_of(fixed_starts), span_of(fixed_columns), {}},
                                   span_of(root),
                                   span_of(X),
                                   span_of(residual)}};
    },
             nb::arg("H"), nb::arg("L"), nb::arg("inverse_pivots").noconvert(),
             nb::arg("fixed_starts").noconvert(), nb::arg("fixed_columns").noconvert(),
             nb::arg("root").noconvert(), nb::arg("X").noconvert(), nb::arg("residual").noconvert())
        .def("step", [](BoundSylvester& self) {
        const WithoutGil release;
        return self.solver.step();
    }).def("read", [](const BoundSylvester& self, Matrix<double> X) {
        const WithoutGil release;
        self.solver.read(span_of(X));
    }, nb::arg("X").noconvert());
}

void bind_walks(nb::module_& m) {
    m.def("walk_step",
          [](Vector<const std::int64_t> starts, Vector<const std::int32_t> columns,
             Vector<const double> chances, Matrix<const double> x, Matrix<double> y, int n_threads) {
        const WithoutGil release;
        conclust::walk_step({span_of(starts), span_of(columns), span_of(chances)}, span_of(x),
                            x.shape(1), span_of(y), n_threads);
    },
          nb::arg("starts").noconvert(), nb::arg("columns").noconvert(), nb::arg("chances").noconvert(),
          nb::arg("x").noconvert(), nb::arg("y").noconvert(), nb::arg("n_threads"));
    m.def("walk_gram",
          [](Vector<const std::int64_t> starts, Vector<const std::int32_t> columns,
             Vector<const double> chances, std::size_t times, Matrix<double> M, Matrix<double> between,
             int n_threads) {
        const WithoutGil release;
        conclust::walk_gram({span_of(starts), span_of(columns), span_of(chances)}, times, span_of(M),
                            span_of(between), n_threads);
    },
          nb::arg("starts").noconvert(), nb::arg("columns").noconvert(), nb::arg("chances").noconvert(),
          nb::arg("times"), nb::arg("M").noconvert(), nb::arg("between").noconvert(),
          nb::arg("n_threads"));
}

}  // namespace

void bind_graph(nb::module_& m) {
    bind_smoothing(m);
    bind_walks(m);
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
