#include "aspect.h"

#include "bindings.h"

void bind_aspect(nb::module_& m) {
    m.def("aspect_rows", [](Matrix<const double> pairs, Vector<const double> counts,
                            Matrix<const double> x, Matrix<const double> beta, std::size_t begin,
                            std::size_t end, Matrix<double> fresh) {
        const nb::gil_scoped_release release;
        return conclust::aspect_rows(pairs.data(), counts.data(), x.data(), beta.data(),
                                     x.shape(0), x.shape(1), begin, end, fresh.data());
    }, nb::arg("pairs").noconvert(), nb::arg("counts").noconvert(), nb::arg("x").noconvert(),
       nb::arg("beta").noconvert(), nb::arg("begin"), nb::arg("end"), nb::arg("fresh").noconvert());
}
