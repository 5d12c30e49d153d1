#include "rows.h"

#include <nanobind/stl/vector.h>

#include "bindings.h"

namespace {

template <class Code>
void bind_codes(nb::module_& m) {
    m.def("count_reserved", [](Matrix<const Code> codes, Vector<std::int64_t> missing,
                               Vector<std::int64_t> noise) {
        const nb::gil_scoped_release release;
        conclust::count_reserved(codes.data(), codes.shape(0), codes.shape(1), missing.data(),
                                 noise.data());
    }, nb::arg("codes").noconvert(), nb::arg("missing").noconvert(), nb::arg("noise").noconvert());
    m.def("cluster_sizes", [](Matrix<const Code> codes, Vector<const std::int64_t> offsets,
                              Vector<std::int64_t> sizes) {
        const nb::gil_scoped_release release;
        conclust::cluster_sizes(codes.data(), codes.shape(0), codes.shape(1), offsets.data(),
                                sizes.data());
    }, nb::arg("codes").noconvert(), nb::arg("offsets").noconvert(), nb::arg("sizes").noconvert());
}

}  // namespace

void bind_rows(nb::module_& m) {
    m.def("group_rows", [](Matrix<const std::uint8_t> rows, Vector<std::int64_t> inverse) {
        std::vector<std::int64_t> first;
        {
            const nb::gil_scoped_release release;
            first = conclust::group_rows(rows.data(), rows.shape(0), rows.shape(1), inverse.data());
        }
        auto* kept = new std::vector<std::int64_t>(std::move(first));
        nb::capsule owner(kept, [](void* p) noexcept {
            delete static_cast<std::vector<std::int64_t>*>(p);
        });
        return nb::ndarray<nb::numpy, std::int64_t, nb::ndim<1>>(kept->data(), {kept->size()}, owner);
    }, nb::arg("rows").noconvert(), nb::arg("inverse").noconvert());
    bind_codes<std::uint8_t>(m);
    bind_codes<std::uint16_t>(m);
    bind_codes<std::uint32_t>(m);
}
