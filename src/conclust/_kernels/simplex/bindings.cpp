#include "base/bindings.h"

#include "simplex/projection.h"

void bind_simplex(nb::module_& m) {
    m.def("project_rows", &conclust::project_rows, "V"_a, "scale"_a, "X"_a, without_gil);
    m.def("lower_rows", &conclust::lower_rows, "rows"_a, "add"_a, "top"_a, without_gil);
    m.def("share_rows", [](Matrix<double> rows, std::span<double> sums) {
        conclust::share_rows(rows, rows.columns, sums);
    }, "rows"_a, "sums"_a, without_gil);
    m.def("largest_of_rows",
          [](const nb::ndarray<const double, nb::ndim<2>, nb::device::cpu>& Y,
             std::span<std::int64_t> labels, std::span<std::int64_t> first) {
        return conclust::largest_of_rows({Y.data(), Y.stride(0), Y.stride(1)}, labels, first);
    },
          "Y"_a.noconvert(), "labels"_a, "first"_a, without_gil);
}
