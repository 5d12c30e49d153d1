#include "closure.h"

#include "bindings.h"

using conclust::ConceptGrowth;

namespace {

template <class Code>
void bind_codes(nb::class_<ConceptGrowth>& cls) {
    cls.def("__init__", [](ConceptGrowth* self, Matrix<const Code> codes, Vector<const double> weights) {
        const nb::gil_scoped_release release;
        new (self) ConceptGrowth(codes.data(), codes.shape(0), codes.shape(1),
                                 weights.is_valid() ? weights.data() : nullptr);
    }, nb::arg("codes").noconvert(), nb::arg("weights").noconvert().none());
}

}  // namespace

void bind_closure(nb::module_& m) {
    nb::class_<ConceptGrowth> cls(m, "ConceptGrowth");
    bind_codes<std::uint8_t>(cls);
    bind_codes<std::uint16_t>(cls);
    bind_codes<std::uint32_t>(cls);
    cls.def("start", &ConceptGrowth::start, nb::arg("threshold"));
    cls.def("grow", [](ConceptGrowth& self, std::size_t words) {
        const nb::gil_scoped_release release;
        return self.grow(words);
    }, nb::arg("words"));
    cls.def_prop_ro("n_concepts", &ConceptGrowth::n_concepts);
    cls.def_prop_ro("n_passes", &ConceptGrowth::n_passes);
    // Precondition: concept_of is (n,), intents (n_concepts, m).
    cls.def("read", [](const ConceptGrowth& self, Vector<std::int64_t> concept_of,
                       Matrix<std::uint8_t> intents) {
        const nb::gil_scoped_release release;
        self.read(concept_of.data(), intents.data());
    }, nb::arg("concept_of").noconvert(), nb::arg("intents").noconvert());
    cls.def("assign", [](const ConceptGrowth& self, Vector<const std::int64_t> sizes,
                         Vector<std::int64_t> concept_of, std::size_t begin, std::size_t end) {
        const nb::gil_scoped_release release;
        self.assign(sizes.data(), concept_of.data(), begin, end);
    }, nb::arg("sizes").noconvert(), nb::arg("concept_of").noconvert(), nb::arg("begin"), nb::arg("end"));
}
