#include "spanning_tree.h"

#include <nanobind/stl/string.h>

#include <algorithm>

#include "bindings.h"

using conclust::SpanningTree;

namespace {

template <class Code>
void bind_codes(nb::class_<SpanningTree>& cls) {
    cls.def("__init__", [](SpanningTree* self, Matrix<const Code> codes, Vector<const double> weights,
                           const std::string& form) {
        const nb::gil_scoped_release release;
        new (self) SpanningTree(codes.data(), codes.shape(0), codes.shape(1),
                                weights.is_valid() ? weights.data() : nullptr,
                                conclust::find_form(form));
    }, nb::arg("codes").noconvert(), nb::arg("weights").noconvert().none(), nb::arg("form") = "auto");
}

}  // namespace

void bind_spanning_tree(nb::module_& m) {
    nb::class_<SpanningTree> cls(m, "SpanningTree");
    bind_codes<std::uint8_t>(cls);
    bind_codes<std::uint16_t>(cls);
    bind_codes<std::uint32_t>(cls);
    cls.def("grow", [](SpanningTree& self, std::size_t objects) {
        const nb::gil_scoped_release release;
        return self.grow(objects);
    }, nb::arg("objects"));
    // Precondition: nothing is left to grow; order is (n,), heights (n - 1,).
    cls.def("read", [](const SpanningTree& self, Vector<std::int64_t> order, Vector<double> heights) {
        const nb::gil_scoped_release release;
        std::copy_n(self.order(), self.n_samples(), order.data());
        std::copy_n(self.heights(), self.n_samples() - 1, heights.data());
    }, nb::arg("order").noconvert(), nb::arg("heights").noconvert());
}
