#include "base/bindings.h"
#include "evidence/nearest/nearest.h"
#include "evidence/nearest/symmetric_pattern.h"
#include "labels/label_view.h"

using conclust::NearestPairs;
using conclust::SymmetricPattern;

void bind_nearest(nb::module_& m) {
    nb::class_<NearestPairs>(m, "NearestPairs")
        .def(nb::init<const conclust::LabelView&, std::size_t, std::size_t, std::size_t, std::size_t,
                      int>(),
             "labels"_a, "k"_a, "first"_a, "last"_a, "most"_a, "n_threads"_a, without_gil)
        .def_prop_ro("exceeded", &NearestPairs::exceeded)
        .def_prop_ro("n_entries", &NearestPairs::n_entries)
        .def("read", &NearestPairs::read, "indptr"_a, "indices"_a, without_gil);
    nb::class_<SymmetricPattern>(m, "SymmetricPattern")
        .def(nb::init<std::span<const std::int64_t>, std::span<const std::int32_t>, int>(), "indptr"_a,
             "indices"_a, "n_threads"_a, kept<2>, kept<3>, without_gil)
        .def_prop_ro("n_entries", &SymmetricPattern::n_entries)
        .def("read", &SymmetricPattern::read, "indptr"_a, "indices"_a, "n_threads"_a, without_gil);
}
