#include "agglomerate.h"

#include "bindings.h"

using conclust::Linkage;

namespace {

template <Linkage linkage>
void bind_linkage(nb::module_& m, const char* name) {
    m.def(name, [](Matrix<double> matrix, Vector<const double> sizes, Vector<std::int64_t> left,
                   Vector<std::int64_t> right, Vector<double> heights) {
        const nb::gil_scoped_release release;
        conclust::agglomerate<linkage>(matrix.data(), matrix.shape(0), sizes.data(), left.data(),
                                       right.data(), heights.data());
    }, nb::arg("matrix").noconvert(), nb::arg("sizes").noconvert(), nb::arg("left").noconvert(),
       nb::arg("right").noconvert(), nb::arg("heights").noconvert());
}

}  // namespace

void bind_agglomerate(nb::module_& m) {
    bind_linkage<Linkage::single>(m, "agglomerate_single");
    bind_linkage<Linkage::average>(m, "agglomerate_average");
    bind_linkage<Linkage::complete>(m, "agglomerate_complete");
    bind_linkage<Linkage::ward>(m, "agglomerate_ward");
}
