#include "base/bindings.h"

#include "simplex/projection.h"

void bind_simplex(nb::module_& m) {
    m.def("project_rows", [](Matrix<const double> V, Vector<const double> scale, Matrix<double> X) {
        const WithoutGil release;
        conclust::project_rows(span_of(V), span_of(scale), span_of(X));
    }, nb::arg("V").noconvert(), nb::arg("scale").noconvert(), nb::arg("X").noconvert());
    m.def("lower_rows", [](Matrix<double> rows, Vector<const double> add, Vector<double> top) {
        const WithoutGil release;
        conclust::lower_rows(span_of(rows), span_of(add), span_of(top));
    }, nb::arg("rows").noconvert(), nb::arg("add").noconvert(), nb::arg("top").noconvert());
    m.def("share_rows", [](Matrix<double> rows, Vector<double> sums) {
        const WithoutGil release;
        conclust::share_rows(span_of(rows), rows.shape(1), span_of(sums));
    }, nb::arg("rows").noconvert(), nb::arg("sums").noconvert());
    m.def("largest_of_rows",
          [](nb::ndarray<const double, nb::ndim<2>, nb::device::cpu> Y, Vector<std::int64_t> labels,
             Vector<std::int64_t> first) {
        const WithoutGil release;
        return conclust::largest_of_rows({Y.data(), Y.stride(0), Y.stride(1)}, span_of(labels),
                                         span_of(first));
    },
          nb::arg("Y").noconvert(), nb::arg("labels").noconvert(), nb::arg("first").noconvert());
}
