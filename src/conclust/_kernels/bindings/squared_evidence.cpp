#include "squared_evidence.h"

#include "bindings.h"

namespace {

template <class Count>
void bind_counts(nb::module_& m) {
    m.def("squared_evidence", [](Matrix<const Count> c, Matrix<const Count> N, std::size_t first) {
        const nb::gil_scoped_release release;
        return conclust::squared_evidence(c.data(), N.data(), c.shape(0), c.shape(1), first);
    }, nb::arg("c").noconvert(), nb::arg("N").noconvert(), nb::arg("first"));
}

}  // namespace

void bind_squared_evidence(nb::module_& m) {
    bind_counts<std::uint8_t>(m);
    bind_counts<std::uint16_t>(m);
    bind_counts<std::uint32_t>(m);
    bind_counts<double>(m);
}
