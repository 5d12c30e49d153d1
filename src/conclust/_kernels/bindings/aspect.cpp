#include "aspect.h"

#include "bindings.h"

void bind_aspect(nb::module_& m) {
    m.def("aspect_pairs", [](Vector<const std::int64_t> starts, Vector<const std::int32_t> columns,
                             Vector<const double> weights, Matrix<const double> x,
                             Matrix<const double> beta, std::size_t begin, std::size_t end,
                             Matrix<double> sums) {
        const nb::gil_scoped_release release;
        return conclust::aspect_pairs({starts.data(), columns.data(), weights.data()}, x.data(),
                                      beta.data(), x.shape(1), begin, end, sums.data());
    }, nb::arg("starts").noconvert(), nb::arg("columns").noconvert(), nb::arg("weights").noconvert(),
       nb::arg("x").noconvert(), nb::arg("beta").noconvert(), nb::arg("begin"), nb::arg("end"),
       nb::arg("sums").noconvert());
}
