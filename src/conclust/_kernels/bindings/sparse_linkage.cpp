#include "sparse_linkage.h"

#include "bindings.h"

namespace {

template <class Count>
void bind_count(nb::module_& m) {
    m.def("sparse_single", [](Vector<const std::int64_t> indptr, Vector<const std::int32_t> indices,
                              Vector<const Count> counts, Vector<const Count> copresence,
                              Vector<std::int64_t> left, Vector<std::int64_t> right,
                              Vector<double> heights) {
        const nb::gil_scoped_release release;
        return conclust::sparse_single(indptr.data(), indices.data(), counts.data(),
                                       copresence.data(), indptr.shape(0) - 1, left.data(),
                                       right.data(), heights.data());
    }, nb::arg("indptr").noconvert(), nb::arg("indices").noconvert(), nb::arg("counts").noconvert(),
       nb::arg("copresence").noconvert(), nb::arg("left").noconvert(), nb::arg("right").noconvert(),
       nb::arg("heights").noconvert());

    m.def("sparse_average", [](Vector<const std::int64_t> indptr, Vector<const std::int32_t> indices,
                               Vector<const Count> counts, Vector<const Count> copresence,
                               Vector<std::int64_t> left, Vector<std::int64_t> right,
                               Vector<double> heights) {
        const nb::gil_scoped_release release;
        return conclust::sparse_average(indptr.data(), indices.data(), counts.data(),
                                        copresence.data(), indptr.shape(0) - 1, left.data(),
                                        right.data(), heights.data());
    }, nb::arg("indptr").noconvert(), nb::arg("indices").noconvert(), nb::arg("counts").noconvert(),
       nb::arg("copresence").noconvert(), nb::arg("left").noconvert(), nb::arg("right").noconvert(),
       nb::arg("heights").noconvert());
}

}  // namespace

void bind_sparse_linkage(nb::module_& m) {
    bind_count<std::uint32_t>(m);
    bind_count<double>(m);
}
