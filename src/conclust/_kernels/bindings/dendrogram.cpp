#include "dendrogram.h"

#include "bindings.h"

void bind_dendrogram(nb::module_& m) {
    m.def("label_merges", [](Vector<const std::int64_t> left, Vector<const std::int64_t> right,
                             Vector<const double> heights, Matrix<double> tree) {
        const nb::gil_scoped_release release;
        conclust::label_merges(left.data(), right.data(), heights.data(), heights.shape(0) + 1,
                               tree.data());
    }, nb::arg("left").noconvert(), nb::arg("right").noconvert(), nb::arg("heights").noconvert(),
       nb::arg("tree").noconvert());

    m.def("cut_tree", [](Matrix<const double> tree, std::size_t n_clusters,
                         Vector<std::int64_t> labels) {
        const nb::gil_scoped_release release;
        conclust::cut_tree(tree.data(), labels.shape(0), n_clusters, labels.data());
    }, nb::arg("tree").noconvert(), nb::arg("n_clusters"), nb::arg("labels").noconvert());
}
