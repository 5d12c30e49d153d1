#include <algorithm>

#include "base/bindings.h"
#include "labels/label_view.h"
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
          [](std::span<double> matrix, std::span<const double> sizes, std::span<std::int64_t> left,
             std::span<std::int64_t> right, std::span<double> heights) {
        conclust::agglomerate<linkage>(matrix, sizes, {left, right, heights});
    },
          "matrix"_a, "sizes"_a, "left"_a, "right"_a, "heights"_a, without_gil);
}

template <class Count>
void bind_dissimilarities(nb::module_& m) {
    m.def("summed_dissimilarities", &conclust::summed_dissimilarities<Count>, "counts"_a, "table"_a,
          "row_sizes"_a, "sizes"_a, "out"_a, without_gil);
}

template <class Count,
          std::size_t (*merge)(const conclust::SparsePairs<Count>&, const conclust::MergesOut&)>
void bind_sparse(nb::module_& m, const char* name) {
    m.def(name,
          [](std::span<const std::int64_t> indptr, std::span<const std::int32_t> indices,
             std::span<const Count> counts, std::span<const Count> copresence,
             std::span<std::int64_t> left, std::span<std::int64_t> right, std::span<double> heights) {
        return merge({indptr, indices, counts, copresence}, {left, right, heights});
    },
          "indptr"_a, "indices"_a, "counts"_a, "copresence"_a, "left"_a, "right"_a, "heights"_a,
          without_gil);
}

template <class Count>
void bind_count(nb::module_& m) {
    bind_sparse<Count, &conclust::sparse_single<Count>>(m, "sparse_single");
    bind_sparse<Count, &conclust::sparse_average<Count>>(m, "sparse_average");
}

}  // namespace

void bind_linkage(nb::module_& m) {
    bind_dissimilarities<std::uint16_t>(m);
    bind_dissimilarities<std::uint32_t>(m);
    bind_linkage<Linkage::single>(m, "agglomerate_single");
    bind_linkage<Linkage::average>(m, "agglomerate_average");
    bind_linkage<Linkage::complete>(m, "agglomerate_complete");
    bind_linkage<Linkage::ward>(m, "agglomerate_ward");
    m.def("label_merges", &conclust::label_merges, "left"_a, "right"_a, "heights"_a, "tree"_a,
          without_gil);
    m.def("cut_tree", &conclust::cut_tree, "tree"_a, "n_clusters"_a, "labels"_a, without_gil);
    if constexpr (CONCLUST_WHOLE) {
        bind_count<std::uint32_t>(m);
        bind_count<double>(m);
        nb::class_<SpanningTree>(m, "SpanningTree")
            .def(nb::init<const conclust::LabelView&, conclust::Form>(), "labels"_a, "form"_a = "auto",
                 without_gil)
            .def("grow", &SpanningTree::grow, "objects"_a, without_gil)
            // Precondition: nothing is left to grow; order is (n,), heights (n - 1,).
            .def("read",
                 [](const SpanningTree& self, std::span<std::int64_t> order, std::span<double> heights) {
            std::copy_n(self.order(), self.n_samples(), order.data());
            std::copy_n(self.heights(), self.n_samples() - 1, heights.data());
        }, "order"_a, "heights"_a, without_gil);
    }
}
