#include "contingency.h"

#include "bindings.h"

namespace {

template <class Code>
void bind_code(nb::module_& m) {
    m.def("contingency_gram", [](Matrix<const Code> codes, Vector<const std::int64_t> offsets,
                                 Matrix<std::int64_t> gram, int n_threads) {
        const nb::gil_scoped_release release;
        conclust::contingency_gram(codes.data(), codes.shape(0), codes.shape(1), offsets.data(),
                                   gram.data(), n_threads);
    }, nb::arg("codes").noconvert(), nb::arg("offsets").noconvert(), nb::arg("gram").noconvert(),
       nb::arg("n_threads"));
}

}  // namespace

void bind_contingency(nb::module_& m) {
    bind_code<std::uint8_t>(m);
    bind_code<std::uint16_t>(m);
    bind_code<std::uint32_t>(m);
}
