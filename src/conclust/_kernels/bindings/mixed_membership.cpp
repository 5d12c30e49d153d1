#include "mixed_membership.h"

#include "bindings.h"

namespace {

template <class Code>
void bind_code(nb::module_& m) {
    m.def("mixed_membership_round",
          [](Matrix<const Code> codes, Vector<const std::int64_t> offsets,
             Vector<const double> weights, Vector<const double> counts, Vector<const double> alpha,
             Matrix<const double> beta, Matrix<const double> mass, Matrix<double> new_mass,
             Matrix<double> use, Vector<double> logs, int threads) {
        const nb::gil_scoped_release release;
        const conclust::MixedModel model{codes.shape(0), codes.shape(1), alpha.shape(0),
                                         offsets.data(), weights.data(), counts.data(),
                                         alpha.data(),   beta.data(),    mass.data()};
        return conclust::mixed_membership_round(codes.data(), model, threads, new_mass.data(),
                                                use.data(), logs.data());
    }, nb::arg("codes").noconvert(), nb::arg("offsets").noconvert(), nb::arg("weights").noconvert(),
       nb::arg("counts").noconvert(), nb::arg("alpha").noconvert(), nb::arg("beta").noconvert(),
       nb::arg("mass").noconvert(), nb::arg("new_mass").noconvert(), nb::arg("use").noconvert(),
       nb::arg("logs").noconvert(), nb::arg("threads"));
}

}  // namespace

void bind_mixed_membership(nb::module_& m) {
    bind_code<std::uint8_t>(m);
    bind_code<std::uint16_t>(m);
    bind_code<std::uint32_t>(m);
}
