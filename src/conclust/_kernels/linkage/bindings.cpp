#include "base/bindings.h"

#include <nanobind/stl/string.h>

#include <algorithm>

#include "labels/bound.h"
#include "linkage/agglomerate.h"
#include "linkage/dendrogram.h"
#include "linkage/spanning_tree.h"
#include "linkage/sparse.h"

using conclust::Linkage;
using conclust::SpanningTree;

namespace {

template <Linkage linkage>
void bind_linkage(nb::module_& m, const char* name) {
    m.def(name,
          [](Matrix<double> matrix, Vector<const double> sizes, Vector<std::int64_t> left,
             Vector<std::int64_t> right, Vector<double> heights) {
        const WithoutGil release;
        conclust::agglomerate<linkage>(span_of(matrix), span_of(sizes),
                                       {span_of(left), span_of(right), span_of(heights)});
    },
          nb::arg("matrix").noconvert(), nb::arg("sizes").noconvert(), nb::arg("left").noconvert(),
          nb::arg("right").noconvert(), nb::arg("heights").noconvert());
}

template <class Count>
void bind_dissimilarities(nb::module_& m) {
    m.def("summed_dissimilarities",
          [](Matrix<const Count> counts, Vector<const double> table, Vector<const double> row_sizes,
             Vector<const double> sizes, Matrix<double> out) {
        const WithoutGil release;
        conclust::summed_dissimilarities<Count>(span_of(counts), span_of(table), span_of(row_sizes),
                                                span_of(sizes), span_of(out));
    },
          nb::arg("counts").noconvert(), nb::arg("table").noconvert(), nb::arg("row_sizes").noconvert(),
          nb::arg("sizes").noconvert(), nb::arg("out").noconvert());
}

void bind_agglomerate(nb::module_& m) {
    bind_dissimilarities<std::uint16_t>(m);
    bind_dissimilarities<std::uint32_t>(m);
    bind_linkage<Linkage::single>(m, "agglomerate_single");
    bind_linkage<Linkage::average>(m, "agglomerate_average");
    bind_linkage<Linkage::complete>(m, "agglomerate_complete");
    bind_linkage<Linkage::ward>(m, "agglomerate_ward");
}

void bind_dendrogram(nb::module_& m) {
    m.def("label_merges",
          [](Vector<const std::int64_t> left, Vector<const std::int64_t> right,
             Vector<const double> heights, Matrix<double> tree) {
        const WithoutGil release;
        conclust::label_merges(span_of(left), span_of(right), span_of(heights), span_of(tree));
    },
          nb::arg("left").noconvert(), nb::arg("right").noconvert(), nb::arg("heights").noconvert(),
          nb::arg("tree").noconvert());

    m.def("cut_tree",
          [](Matrix<const double> tree, std::size_t n_clusters, Vector<std::int64_t> labels) {
        const WithoutGil release;
        conclust::cut_tree(span_of(tree), n_clusters, span_of(labels));
    }, nb::arg("tree").noconvert(), nb::arg("n_clusters"), nb::arg("labels").noconvert());
}

template <class Count,
          std::size_t (*merge)(const conclust::SparsePairs<Count>&, const conclust::MergesOut&)>
void bind_sparse_linkage(nb::module_& m, const char* name) {
    m.def(name,
          [](Vector<const std::int64_t> indptr, Vector<const std::int32_t> indices,
             Vector<const Count> counts, Vector<const Count> copresence, Vector<std::int64_t> left,
             Vector<std::int64_t> right, Vector<double> heights) {
        const WithoutGil release;
        return merge({span_of(indptr), span_of(indices), span_of(counts), span_of(copresence)},
                     {span_of(left), span_of(right), span_of(heights)});
    },
          nb::arg("indptr").noconvert(), nb::arg("indices").noconvert(), nb::arg("counts").noconvert(),
          nb::arg("copresence").noconvert(), nb::arg("left").noconvert(), nb::arg("right").noconvert(),
          nb::arg("heights").noconvert());
}

template <class Count>
void bind_count(nb::module_& m) {
    bind_sparse_linkage<Count, &conclust::sparse_single<Count>>(m, "sparse_single");
    bind_sparse_linkage<Count, &conclust::sparse_average<Count>>(m, "sparse_average");
}

void bind_sparse(nb::module_& m) {
    bind_count<std::uint32_t>(m);
    bind_count<double>(m);
}

void bind_spanning_tree(nb::module_& m) {
    nb::class_<SpanningTree> cls(m, "SpanningTree");
    cls.def("__init__", [](SpanningTree* self, const BoundLabels& labels, const std::string& form) {
        const WithoutGil release;
        new (self) SpanningTree(labels.view, conclust::find_form(form));
    }, nb::arg("labels"), nb::arg("form") = "auto");
    cls.def("grow", [](SpanningTree& self, std::size_t objects) {
        const WithoutGil release;
        return self.grow(objects);
    }, nb::arg("objects"));
    // Precondition: nothing is left to grow; order is (n,), heights (n - 1,).
    cls.def("read", [](const SpanningTree& self, Vector<std::int64_t> order, Vector<double> heights) {
        const WithoutGil release;
        std::copy_n(self.order(), self.n_samples(), order.data());
        std::copy_n(self.heights(), self.n_samples() - 1, heights.data());
    }, nb::arg("order").noconvert(), nb::arg("heights").noconvert());
}

}  // namespace

void bind_linkage(nb::module_& m) {
    bind_agglomerate(m);
    bind_dendrogram(m);
    bind_sparse(m);
    bind_spanning_tree(m);
}
