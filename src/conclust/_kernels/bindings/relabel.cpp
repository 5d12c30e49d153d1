#include "relabel.h"

#include "bindings.h"

using conclust::Relabeller;

namespace {

template <class Label>
void bind_observe(nb::class_<Relabeller>& cls) {
    cls.def("observe", [](Relabeller& self, Matrix<const Label> block) {
        const nb::gil_scoped_release release;
        return self.observe(block.data(), block.shape(0));
    }, nb::arg("block").noconvert());
}

template <class Label, class Code>
void bind_encode(nb::class_<Relabeller>& cls) {
    cls.def("encode", [](const Relabeller& self, Matrix<const Label> block, Matrix<Code> out) {
        const nb::gil_scoped_release release;
        return self.encode(block.data(), block.shape(0), out.data());
    }, nb::arg("block").noconvert(), nb::arg("out").noconvert());
}

template <class Label>
void bind_label(nb::class_<Relabeller>& cls) {
    bind_observe<Label>(cls);
    bind_encode<Label, std::uint8_t>(cls);
    bind_encode<Label, std::uint16_t>(cls);
    bind_encode<Label, std::uint32_t>(cls);
}

}  // namespace

void bind_relabel(nb::module_& m) {
    nb::class_<Relabeller> cls(m, "Relabeller");
    cls.def(nb::init<std::size_t, std::int64_t, std::int64_t>(), nb::arg("n_partitions"),
            nb::arg("missing"), nb::arg("noise"));
    bind_label<std::int64_t>(cls);
    bind_label<std::int32_t>(cls);
    bind_label<std::int8_t>(cls);
    bind_label<std::uint8_t>(cls);
    cls.def("n_clusters", &Relabeller::n_clusters, nb::arg("partition"));
    cls.def("values", [](const Relabeller& self, std::size_t partition) {
        nb::list values;
        for (const std::int64_t value : self.values(partition)) {
            values.append(value);
        }
        return values;
    }, nb::arg("partition"));
    cls.def("restore", [](Relabeller& self, std::size_t partition, Vector<const std::int64_t> values) {
        const nb::gil_scoped_release release;
        self.restore(partition, values.data(), values.shape(0));
    }, nb::arg("partition"), nb::arg("values").noconvert());

    m.def("continues_canonical", [](Matrix<const std::uint8_t> block, bool is_signed,
                                  Vector<std::uint8_t> seen) {
        const nb::gil_scoped_release release;
        return conclust::continues_canonical(block.data(), block.shape(0), block.shape(1), is_signed,
                                             seen.data());
    }, nb::arg("block").noconvert(), nb::arg("is_signed"), nb::arg("seen").noconvert());
}
