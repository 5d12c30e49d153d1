#include "base/bindings.h"
#include "evidence/nearest/nearest.h"
#include "evidence/nearest/symmetric_pattern.h"
#include "labels/bound.h"

using conclust::NearestPairs;
using conclust::SymmetricPattern;

void bind_nearest(nb::module_& m) {
    nb::class_<NearestPairs> cls(m, "NearestPairs");
    cls.def("__init__",
            [](NearestPairs* self, const BoundLabels& labels, std::size_t k, std::size_t first,
               std::size_t last, std::size_t most, int n_threads) {
        const WithoutGil release;
        new (self) NearestPairs(labels.view, k, first, last, most, n_threads);
    },
            nb::arg("labels"), nb::arg("k"), nb::arg("first"), nb::arg("last"), nb::arg("most"),
            nb::arg("n_threads"));
    cls.def_prop_ro("exceeded", &NearestPairs::exceeded);
    cls.def_prop_ro("n_entries", &NearestPairs::n_entries);
    cls.def("read",
            [](const NearestPairs& self, Vector<std::int64_t> indptr, Vector<std::int32_t> indices) {
        const WithoutGil release;
        self.read(span_of(indptr), span_of(indices));
    }, nb::arg("indptr").noconvert(), nb::arg("indices").noconvert());

    nb::class_<SymmetricPattern> pattern(m, "SymmetricPattern");
    pattern.def("__init__",
                [](SymmetricPattern* self, Vector<const std::int64_t> indptr,
                   Vector<const std::int32_t> indices, int n_threads) {
        const WithoutGil release;
        new (self) SymmetricPattern(span_of(indptr), span_of(indices), n_threads);
    },
                nb::arg("indptr").noconvert(), nb::arg("indices").noconvert(), nb::arg("n_threads"),
                nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>());
    pattern.def_prop_ro("n_entries", &SymmetricPattern::n_entries);
    pattern.def("read",
                [](const SymmetricPattern& self, Vector<std::int64_t> indptr,
                   Vector<std::int32_t> indices, int n_threads) {
        const WithoutGil release;
        self.read(span_of(indptr), span_of(indices), n_threads);
    },
                nb::arg("indptr").noconvert(), nb::arg("indices").noconvert(), nb::arg("n_threads"));
}
