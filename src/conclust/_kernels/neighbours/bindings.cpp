#include <nanobind/stl/string.h>

#include "base/bindings.h"
#include "neighbours/forest.h"
#include "neighbours/graph.h"
#include "neighbours/leiden.h"
#include "neighbours/search.h"
#include "neighbours/vote.h"

namespace {

// The content of a kernel's vector as an array that owns it.
template <class T>
nb::ndarray<nb::numpy, T, nb::ndim<1>> array_of(std::vector<T>&& values) {
    auto* kept = new std::vector<T>(std::move(values));
    const nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    return {kept->data(), {kept->size()}, owner};
}

}  // namespace

void bind_neighbours(nb::module_& m) {
    m.def(
        "nearest_points",
        [](Matrix<const double> points, Vector<const std::int32_t> names,
           Vector<const std::int64_t> cells, Matrix<const double> queries,
           Vector<const std::int32_t> excluded, Vector<const std::int64_t> groups,
           Vector<const std::int64_t> list_starts, Vector<const std::int32_t> listed,
           Matrix<std::int32_t> found, Matrix<double> squares, int n_threads, const std::string& form) {
        const WithoutGil release;
        const conclust::NeighbourSearch search{
            span_of(points), span_of(names),       span_of(cells),  span_of(queries), span_of(excluded),
            span_of(groups), span_of(list_starts), span_of(listed), points.shape(1),  found.shape(1)};
        conclust::nearest_points(search, span_of(found), span_of(squares), n_threads,
                                 conclust::find_form(form));
    },
        nb::arg("points").noconvert(), nb::arg("names").noconvert(), nb::arg("cells").noconvert(),
        nb::arg("queries").noconvert(), nb::arg("excluded").noconvert(), nb::arg("groups").noconvert(),
        nb::arg("list_starts").noconvert(), nb::arg("listed").noconvert(), nb::arg("found").noconvert(),
        nb::arg("squares").noconvert(), nb::arg("n_threads"), nb::arg("form") = "auto");
    m.def("neighbour_graph", [](Matrix<const std::int32_t> found, std::size_t k, bool jaccard) {
        conclust::NeighbourGraph graph;
        {
            const WithoutGil release;
            graph =
                conclust::neighbour_graph(span_of(found), found.shape(0), found.shape(1), k, jaccard);
        }
        return nb::make_tuple(array_of(std::move(graph.starts)), array_of(std::move(graph.ends)),
                              array_of(std::move(graph.weights)));
    }, nb::arg("found").noconvert(), nb::arg("k"), nb::arg("jaccard"));
    m.def("find_communities",
          [](Vector<const std::int64_t> starts, Vector<const std::int32_t> ends,
             Vector<const double> weights, Vector<const double> loads, double rate, std::uint64_t seed,
             int rounds, Vector<std::int32_t> labels) {
        const WithoutGil release;
        return conclust::find_communities(
            {span_of(starts), span_of(ends), span_of(weights), span_of(loads)}, rate, seed, rounds,
            span_of(labels));
    },
          nb::arg("starts").noconvert(), nb::arg("ends").noconvert(), nb::arg("weights").noconvert(),
          nb::arg("loads").noconvert(), nb::arg("rate"), nb::arg("seed"), nb::arg("rounds"),
          nb::arg("labels").noconvert());
    nb::class_<conclust::Forest>(m, "Forest")
        .def("__init__",
             [](conclust::Forest* self, Matrix<const std::int32_t> found, Matrix<const double> squares,
                Vector<const double> cores) {
        const WithoutGil release;
        new (self) conclust::Forest(
            conclust::spanning_forest(span_of(found), span_of(squares), span_of(cores), found.shape(1)));
    },
             nb::arg("found").noconvert(), nb::arg("squares").noconvert(), nb::arg("cores").noconvert())
        .def_prop_ro("n_ties", [](const conclust::Forest& self) { return self.from.size(); })
        .def("cut",
             [](const conclust::Forest& self, Vector<const double> masses, std::size_t cuts,
                double least, Vector<std::int32_t> labels) {
        const WithoutGil release;
        return conclust::cut_forest(self, span_of(masses), cuts, least, span_of(labels));
    },
             nb::arg("masses").noconvert(), nb::arg("cuts"), nb::arg("least"),
             nb::arg("labels").noconvert());
    m.def("neighbour_vote",
          [](Matrix<const std::int32_t> found, Matrix<const double> squares,
             Matrix<const std::int32_t> labels, Matrix<std::int32_t> decided) {
        const WithoutGil release;
        conclust::vote(span_of(found), span_of(squares), found.shape(1), span_of(labels),
                       labels.shape(1), span_of(decided));
    },
          nb::arg("found").noconvert(), nb::arg("squares").noconvert(), nb::arg("labels").noconvert(),
          nb::arg("decided").noconvert());
}
