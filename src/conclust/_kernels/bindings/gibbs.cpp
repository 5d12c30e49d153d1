#include "gibbs.h"

#include "bindings.h"

namespace {

template <class Code>
void bind_code(nb::module_& m) {
    m.def("gibbs_sweep", [](Matrix<const Code> codes, Vector<const std::int64_t> offsets,
                            Vector<const double> weights, double smoothing, double concentration,
                            std::uint64_t seed, Vector<std::int64_t> labels) {
        const nb::gil_scoped_release release;
        return conclust::gibbs_sweep(codes.data(), codes.shape(0), codes.shape(1), offsets.data(),
                                     weights.data(), smoothing, concentration, seed, labels.data());
    }, nb::arg("codes").noconvert(), nb::arg("offsets").noconvert(), nb::arg("weights").noconvert(),
       nb::arg("smoothing"), nb::arg("concentration"), nb::arg("seed"),
       nb::arg("labels").noconvert());
}

}  // namespace

void bind_gibbs(nb::module_& m) {
    bind_code<std::uint8_t>(m);
    bind_code<std::uint16_t>(m);
    bind_code<std::uint32_t>(m);
}
