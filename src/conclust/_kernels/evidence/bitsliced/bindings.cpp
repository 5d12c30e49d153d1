#include "base/bindings.h"

#include <nanobind/stl/string.h>

#include "evidence/bitsliced/clusterwise.h"
#include "evidence/bitsliced/coassociation.h"
#include "labels/bound.h"

using conclust::BitSlices;

namespace {

template <class Count>
void bind_counts(nb::class_<BitSlices>& cls) {
    cls.def("coassociation",
            [](const BitSlices& self, std::size_t begin, std::size_t end, Matrix<Count> c,
               Matrix<Count> present, int n_threads, const std::string& form) {
        const WithoutGil release;
        conclust::coassociation(self, begin, end, span_of(c), span_of(present), n_threads,
                                conclust::find_form(form));
    },
            nb::arg("begin"), nb::arg("end"), nb::arg("c").noconvert().none(),
            nb::arg("present").noconvert().none(), nb::arg("n_threads"), nb::arg("form") = "auto");
}

void bind_coassociation(nb::module_& m) {
    nb::class_<BitSlices> cls(m, "BitSlices");
    cls.def("__init__", [](BitSlices* self, const BoundLabels& labels, int n_threads) {
        const WithoutGil release;
        new (self) BitSlices(labels.view, n_threads);
    }, nb::arg("labels"), nb::arg("n_threads"));
    bind_counts<std::uint8_t>(cls);
    bind_counts<std::uint16_t>(cls);
    bind_counts<std::uint32_t>(cls);
    cls.def("weighted_coassociation",
            [](const BitSlices& self, Vector<const double> weights, std::size_t begin, std::size_t end,
               Matrix<double> c, Matrix<double> present, int n_threads, const std::string& form) {
        const WithoutGil release;
        conclust::weighted_coassociation(self, span_of(weights), begin, end, span_of(c),
                                         span_of(present), n_threads, conclust::find_form(form));
    },
            nb::arg("weights").noconvert(), nb::arg("begin"), nb::arg("end"),
            nb::arg("c").noconvert().none(), nb::arg("present").noconvert().none(), nb::arg("n_threads"),
            nb::arg("form") = "auto");
    cls.def_prop_ro("n_samples", &BitSlices::n_samples);
    cls.def_prop_ro("n_partitions", &BitSlices::n_partitions);
    cls.def_prop_ro("n_slices", &BitSlices::n_slices);
    cls.def_prop_ro("n_bytes", &BitSlices::n_bytes);

    static_cast<void>(conclust::only_portable());  // reads the environment once, now
    m.def("bitslice_forms", [] {
        nb::list names;
        for (const conclust::Form form : conclust::supported_forms()) {
            names.append(conclust::form_name(form));
        }
        return names;
    });
}

void bind_clusterwise(nb::module_& m) {
    // None for weights: `out` holds the denominators.
    m.def("clusterwise_dissimilarities",
          [](const conclust::BitSlices& slices, Matrix<const double> own, Vector<const double> weights,
             Vector<const std::int64_t> sizes, Matrix<double> out, int n_threads,
             const std::string& form) {
        const WithoutGil release;
        return conclust::clusterwise_dissimilarities(slices, span_of(own), span_of(weights),
                                                     span_of(sizes), span_of(out), n_threads,
                                                     conclust::find_form(form));
    },
          nb::arg("slices"), nb::arg("own").noconvert(), nb::arg("weights").noconvert().none(),
          nb::arg("sizes").noconvert(), nb::arg("out").noconvert(), nb::arg("n_threads"),
          nb::arg("form") = "auto");
}

}  // namespace

void bind_bitsliced(nb::module_& m) {
    bind_clusterwise(m);
    bind_coassociation(m);
}
