#include "base/bindings.h"
#include "neighbours/forest.h"
#include "neighbours/graph.h"
#include "neighbours/leiden.h"
#include "neighbours/search.h"
#include "neighbours/vote.h"

using conclust::Forest;

void bind_neighbours(nb::module_& m) {
    m.def("nearest_points",
          [](Matrix<const double> points, std::span<const std::int32_t> names,
             std::span<const std::int64_t> cells, std::span<const double> queries,
             std::span<const std::int32_t> excluded, std::span<const std::int64_t> groups,
             std::span<const std::int64_t> list_starts, std::span<const std::int32_t> listed,
             Matrix<std::int32_t> found, std::span<double> squares, int n_threads, conclust::Form form) {
        conclust::nearest_points({points, names, cells, queries, excluded, groups, list_starts, listed,
                                  points.columns, found.columns},
                                 found, squares, n_threads, form);
    },
          "points"_a, "names"_a, "cells"_a, "queries"_a, "excluded"_a, "groups"_a, "list_starts"_a,
          "listed"_a, "found"_a, "squares"_a, "n_threads"_a, "form"_a = "auto", without_gil);
    m.def("neighbour_graph", [](Matrix<const std::int32_t> found, std::size_t k, bool jaccard) {
        conclust::NeighbourGraph graph;
        {
            const WithoutGil release;
            graph = conclust::neighbour_graph(found, found.rows, found.columns, k, jaccard);
        }
        return nb::make_tuple(array_of(std::move(graph.starts)), array_of(std::move(graph.ends)),
                              array_of(std::move(graph.weights)));
    }, "found"_a, "k"_a, "jaccard"_a);
    m.def("find_communities",
          [](std::span<const std::int64_t> starts, std::span<const std::int32_t> ends,
             std::span<const double> weights, std::span<const double> loads, double rate,
             std::uint64_t seed, int rounds, std::span<std::int32_t> labels) {
        return conclust::find_communities({starts, ends, weights, loads}, rate, seed, rounds, labels);
    },
          "starts"_a, "ends"_a, "weights"_a, "loads"_a, "rate"_a, "seed"_a, "rounds"_a, "labels"_a,
          without_gil);
    nb::class_<Forest>(m, "Forest")
        .def("__init__",
             [](Forest* self, Matrix<const std::int32_t> found, std::span<const double> squares,
                std::span<const double> cores) {
        new (self) Forest(conclust::spanning_forest(found, squares, cores, found.columns));
    },
             "found"_a, "squares"_a, "cores"_a, without_gil)
        .def_prop_ro("n_ties", [](const Forest& self) {
        return self.from.size();
    }).def("cut", &conclust::cut_forest, "masses"_a, "cuts"_a, "least"_a, "labels"_a, without_gil);
    m.def("neighbour_vote",
          [](Matrix<const std::int32_t> found, std::span<const double> squares,
             Matrix<const std::int32_t> labels, std::span<std::int32_t> decided) {
        conclust::vote(found, squares, found.columns, labels, labels.columns, decided);
    },
          "found"_a, "squares"_a, "labels"_a, "decided"_a, without_gil);
}
