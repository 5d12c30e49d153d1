#include "base/bindings.h"

#include "labels/bound.h"
#include "labels/products.h"
#include "labels/relabel.h"
#include "labels/rows.h"

using conclust::Relabeller;

namespace {

template <class Label>
void bind_observe(nb::class_<Relabeller>& cls) {
    cls.def("observe", [](Relabeller& self, Matrix<const Label> block) {
        const WithoutGil release;
        return self.observe(span_of(block));
    }, nb::arg("block").noconvert());
}

template <class Label, class Code>
void bind_encode(nb::class_<Relabeller>& cls) {
    cls.def("encode", [](const Relabeller& self, Matrix<const Label> block, Matrix<Code> out) {
        const WithoutGil release;
        return self.encode(span_of(block), span_of(out));
    }, nb::arg("block").noconvert(), nb::arg("out").noconvert());
}

template <class Label>
void bind_label(nb::class_<Relabeller>& cls) {
    bind_observe<Label>(cls);
    bind_encode<Label, std::uint8_t>(cls);
    bind_encode<Label, std::uint16_t>(cls);
    bind_encode<Label, std::uint32_t>(cls);
}

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
        const WithoutGil release;
        self.restore(partition, span_of(values));
    }, nb::arg("partition"), nb::arg("values").noconvert());

    m.def("continues_canonical",
          [](Matrix<const std::uint8_t> block, bool is_signed, Vector<std::uint8_t> met) {
        const WithoutGil release;
        return conclust::continues_canonical(span_of(block), is_signed, span_of(met));
    }, nb::arg("block").noconvert(), nb::arg("is_signed"), nb::arg("met").noconvert());
}

// Precondition: offsets, weights and the rows of `soft` fit the codes.
void make_view(BoundLabels* self, BoundLabels::AnyCodes codes, Vector<const std::int64_t> offsets,
               Vector<const double> weights, Vector<const std::int64_t> starts,
               Vector<const std::int32_t> columns, Vector<const double> values, bool complete) {
    const std::size_t n = codes.shape(0);
    const std::size_t m = codes.shape(1);
    conclust::LabelView view{n, m, {}, span_of(offsets), span_of(weights), {}, complete};
    const auto take = [&]<class Code>(const Code*) {
        view.codes = std::span(static_cast<const Code*>(codes.data()), n * m);
    };
    const auto type = codes.dtype();
    if (type == nb::dtype<std::uint8_t>()) take(static_cast<const std::uint8_t*>(nullptr));
    else if (type == nb::dtype<std::uint16_t>()) take(static_cast<const std::uint16_t*>(nullptr));
    else if (type == nb::dtype<std::uint32_t>()) take(static_cast<const std::uint32_t*>(nullptr));
    else throw nb::type_error("codes are of type uint8, uint16 or uint32");
    if (starts.is_valid()) {
        view.soft = conclust::SoftRows{span_of(starts), span_of(columns), span_of(values)};
    }
    new (self) BoundLabels{codes, offsets, weights, starts, columns, values, view};
}

void bind_view(nb::module_& m) {
    nb::class_<BoundLabels>(m, "LabelView")
        .def("__init__", &make_view, nb::arg("codes").noconvert(),
             nb::arg("offsets").noconvert() = nb::none(), nb::arg("weights").noconvert() = nb::none(),
             nb::arg("soft_starts").noconvert() = nb::none(),
             nb::arg("soft_columns").noconvert() = nb::none(),
             nb::arg("soft_values").noconvert() = nb::none(), nb::arg("complete") = false)
        .def_prop_ro("n_objects", [](const BoundLabels& self) { return self.view.n; })
        .def_prop_ro("n_partitions", [](const BoundLabels& self) { return self.view.m; })
        .def_prop_ro("n_clusters", [](const BoundLabels& self) { return self.view.n_clusters(); })
        .def_prop_ro("complete", [](const BoundLabels& self) {
        return self.view.complete;
    }).def("reweighted", [](const BoundLabels& self, Vector<const double> weights) {
        BoundLabels other = self;
        other.weights = weights;
        other.view.weights = span_of(weights);
        return other;
    }, nb::arg("weights").noconvert().none());
}

void bind_rows(nb::module_& m) {
    m.def("group_rows", [](Matrix<const std::uint8_t> rows, Vector<std::int64_t> inverse) {
        std::vector<std::int64_t> first;
        {
            const WithoutGil release;
            first = conclust::group_rows(span_of(rows), rows.shape(1), span_of(inverse));
        }
        auto* kept = new std::vector<std::int64_t>(std::move(first));
        nb::capsule owner(kept,
                          [](void* p) noexcept { delete static_cast<std::vector<std::int64_t>*>(p); });
        return nb::ndarray<nb::numpy, std::int64_t, nb::ndim<1>>(kept->data(), {kept->size()}, owner);
    }, nb::arg("rows").noconvert(), nb::arg("inverse").noconvert());
    m.def("count_reserved",
          [](const BoundLabels& labels, Vector<std::int64_t> missing, Vector<std::int64_t> noise) {
        const WithoutGil release;
        conclust::count_reserved(labels.view, span_of(missing), span_of(noise));
    }, nb::arg("labels"), nb::arg("missing").noconvert(), nb::arg("noise").noconvert());
    m.def("cluster_sizes", [](const BoundLabels& labels, Vector<std::int64_t> sizes) {
        const WithoutGil release;
        conclust::cluster_sizes(labels.view, span_of(sizes));
    }, nb::arg("labels"), nb::arg("sizes").noconvert());
    m.def("presence_signatures", [](const BoundLabels& labels, Vector<std::uint64_t> signature) {
        const WithoutGil release;
        conclust::presence_signatures(labels.view, span_of(signature));
    }, nb::arg("labels"), nb::arg("signature").noconvert());
}

void bind_products(nb::module_& m) {
    m.def("indicator_rows",
          [](const BoundLabels& labels, Matrix<const double> table, std::size_t first, bool unit,
             Matrix<double> out) {
        const WithoutGil release;
        conclust::indicator_rows(labels.view, span_of(table), first, unit, out.shape(1), span_of(out));
    },
          nb::arg("labels"), nb::arg("table").noconvert(), nb::arg("first"), nb::arg("unit"),
          nb::arg("out").noconvert());
    m.def("cluster_sums",
          [](const BoundLabels& labels, Vector<const double> values, Vector<const std::int64_t> parts,
             Matrix<double> sums) {
        const WithoutGil release;
        conclust::cluster_sums(labels.view, span_of(values), span_of(parts), sums.shape(1),
                               span_of(sums));
    },
          nb::arg("labels"), nb::arg("values").noconvert().none(), nb::arg("parts").noconvert().none(),
          nb::arg("sums").noconvert());
    m.def("cluster_row_sums",
          [](const BoundLabels& labels, Vector<const double> weights, Matrix<const double> rows,
             Matrix<double> sums) {
        const WithoutGil release;
        conclust::cluster_row_sums(labels.view, span_of(weights), span_of(rows), sums.shape(1),
                                   span_of(sums));
    },
          nb::arg("labels"), nb::arg("weights").noconvert(), nb::arg("rows").noconvert(),
          nb::arg("sums").noconvert());
}

}  // namespace

void bind_labels(nb::module_& m) {
    bind_view(m);
    bind_products(m);
    bind_relabel(m);
    bind_rows(m);
}
