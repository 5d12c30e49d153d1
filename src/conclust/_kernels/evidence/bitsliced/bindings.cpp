#include "base/bindings.h"

#include <nanobind/stl/vector.h>

#include "evidence/bitsliced/clusterwise.h"
#include "evidence/bitsliced/coassociation.h"
#include "labels/label_view.h"

using conclust::BitSlices;

namespace {

template <class Count>
void bind_counts(nb::class_<BitSlices>& cls) {
    cls.def("coassociation", &conclust::coassociation<Count>, "begin"_a, "end"_a, "c"_a.none(),
            "present"_a.none(), "n_threads"_a, "form"_a = "auto", without_gil);
}

}  // namespace

void bind_bitsliced(nb::module_& m) {
    nb::class_<BitSlices> cls(m, "BitSlices");
    cls.def(nb::init<const conclust::LabelView&, int>(), "labels"_a, "n_threads"_a, without_gil);
    bind_counts<std::uint8_t>(cls);
    bind_counts<std::uint16_t>(cls);
    bind_counts<std::uint32_t>(cls);
    cls.def("weighted_coassociation", &conclust::weighted_coassociation, "weights"_a, "begin"_a, "end"_a,
            "c"_a.none(), "present"_a.none(), "n_threads"_a, "form"_a = "auto", without_gil);
    // None for weights: `out` holds the denominators.
    m.def("clusterwise_dissimilarities", &conclust::clusterwise_dissimilarities, "slices"_a, "own"_a,
          "weights"_a.none(), "sizes"_a, "out"_a, "n_threads"_a, "form"_a = "auto", without_gil);

    static_cast<void>(conclust::find_form("auto"));  // reads the environment once, now
    m.def("bitslice_forms", &conclust::supported_forms);
}
