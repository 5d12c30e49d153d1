#include "simplex.h"

#include "bindings.h"

void bind_simplex(nb::module_& m) {
    m.def("project_rows", [](Matrix<const double> V, Vector<const double> scale, Matrix<double> X) {
        const nb::gil_scoped_release release;
        conclust::project_rows(V.data(), V.shape(0), V.shape(1), scale.data(), X.data());
    }, nb::arg("V").noconvert(), nb::arg("scale").noconvert(), nb::arg("X").noconvert());
}
