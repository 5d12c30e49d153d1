#include "clusterwise.h"

#include <nanobind/stl/string.h>

#include "bindings.h"

void bind_clusterwise(nb::module_& m) {
    // None for voices: `out` holds the denominators.
    m.def("clusterwise_dissimilarities", [](const conclust::BitSlices& slices, Matrix<const double> own,
                                            Vector<const double> voices, Vector<const std::int64_t> sizes,
                                            Matrix<double> out, int n_threads, const std::string& form) {
        const nb::gil_scoped_release release;
        return conclust::clusterwise_dissimilarities(
            slices, own.data(), voices.is_valid() ? voices.data() : nullptr, sizes.data(), out.data(),
            n_threads, conclust::find_form(form));
    }, nb::arg("slices"), nb::arg("own").noconvert(), nb::arg("voices").noconvert().none(),
       nb::arg("sizes").noconvert(), nb::arg("out").noconvert(), nb::arg("n_threads"),
       nb::arg("form") = "auto");
}
