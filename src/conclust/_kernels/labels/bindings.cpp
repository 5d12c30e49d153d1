#include "base/bindings.h"

#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include "labels/label_view.h"
#include "labels/products.h"
#include "labels/relabel.h"
#include "labels/rows.h"

using conclust::LabelView;
using conclust::Relabeller;

namespace {

template <class Label>
void bind_label(nb::class_<Relabeller>& cls) {
    cls.def("observe", &Relabeller::observe<Label>, "block"_a, without_gil)
        .def("encode", &Relabeller::encode<Label, std::uint8_t>, "block"_a, "out"_a, without_gil)
        .def("encode", &Relabeller::encode<Label, std::uint16_t>, "block"_a, "out"_a, without_gil)
        .def("encode", &Relabeller::encode<Label, std::uint32_t>, "block"_a, "out"_a, without_gil);
}

void bind_relabel(nb::module_& m) {
    nb::class_<Relabeller> cls(m, "Relabeller");
    cls.def(nb::init<std::size_t, std::int64_t, std::int64_t>(), "n_partitions"_a, "missing"_a,
            "noise"_a);
    bind_label<std::int64_t>(cls);
    bind_label<std::int32_t>(cls);
    bind_label<std::int8_t>(cls);
    bind_label<std::uint8_t>(cls);
    cls.def("n_clusters", &Relabeller::n_clusters, "partition"_a)
        .def("values", &Relabeller::values, "partition"_a)
        .def("restore", &Relabeller::restore, "partition"_a, "values"_a, without_gil);
    m.def("continues_canonical", &conclust::continues_canonical, "block"_a, "is_signed"_a, "met"_a,
          without_gil);
}

// Precondition: offsets, weights and the rows of soft members fit the codes.
void make_view(LabelView* self,
               const std::variant<Matrix<const std::uint8_t>, Matrix<const std::uint16_t>,
                                  Matrix<const std::uint32_t>>& codes,
               std::span<const std::int64_t> offsets, std::span<const double> weights,
               std::span<const std::int64_t> starts, std::span<const std::int32_t> columns,
               std::span<const double> values, bool complete) {
    std::visit([&](const auto& array) {
        new (self) LabelView{array.rows, array.columns, array.content, offsets, weights, {}, complete};
    }, codes);
    if (!starts.empty()) {
        self->soft = conclust::SoftRows{starts, columns, values};
    }
}

void bind_view(nb::module_& m) {
    nb::class_<LabelView>(m, "LabelView")
        .def("__init__", &make_view, "codes"_a, "offsets"_a = nb::none(), "weights"_a = nb::none(),
             "soft_starts"_a = nb::none(), "soft_columns"_a = nb::none(), "soft_values"_a = nb::none(),
             "complete"_a = false, kept<2>, kept<3>, kept<4>, kept<5>, kept<6>, kept<7>)
        .def_ro("n_objects", &LabelView::n)
        .def_ro("n_partitions", &LabelView::m)
        .def_prop_ro("n_clusters", &LabelView::n_clusters)
        .def_ro("complete", &LabelView::complete)
        .def("reweighted", [](LabelView self, std::span<const double> weights) {
        self.weights = weights;
        return self;
    }, "weights"_a.none(), nb::keep_alive<0, 1>(), nb::keep_alive<0, 2>());
}

void bind_rows(nb::module_& m) {
    m.def("group_rows", [](Matrix<const std::uint8_t> rows, std::span<std::int64_t> inverse) {
        std::vector<std::int64_t> first;
        {
            const WithoutGil release;
            first = conclust::group_rows(rows, rows.columns, inverse);
        }
        return array_of(std::move(first));
    }, "rows"_a, "inverse"_a);
    m.def("count_reserved", &conclust::count_reserved, "labels"_a, "missing"_a, "noise"_a, without_gil);
    m.def("cluster_sizes", &conclust::cluster_sizes, "labels"_a, "sizes"_a, without_gil);
    m.def("presence_signatures", &conclust::presence_signatures, "labels"_a, "signature"_a, without_gil);
}

void bind_products(nb::module_& m) {
    m.def("indicator_rows",
          [](const LabelView& labels, std::span<const double> table, std::size_t first, bool unit,
             Matrix<double> out) {
        conclust::indicator_rows(labels, table, first, unit, out.columns, out);
    },
          "labels"_a, "table"_a, "first"_a, "unit"_a, "out"_a, without_gil);
    m.def(
        "cluster_sums",
        [](const LabelView& labels, std::span<const double> values, std::span<const std::int64_t> parts,
           Matrix<double> sums) { conclust::cluster_sums(labels, values, parts, sums.columns, sums); },
        "labels"_a, "values"_a.none(), "parts"_a.none(), "sums"_a, without_gil);
    m.def("cluster_row_sums",
          [](const LabelView& labels, std::span<const double> weights, std::span<const double> rows,
             Matrix<double> sums) {
        conclust::cluster_row_sums(labels, weights, rows, sums.columns, sums);
    },
          "labels"_a, "weights"_a, "rows"_a, "sums"_a, without_gil);
}

}  // namespace

void bind_labels(nb::module_& m) {
    bind_view(m);
    bind_products(m);
    bind_relabel(m);
    bind_rows(m);
}
