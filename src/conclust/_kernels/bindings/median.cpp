#include "median.h"

#include "bindings.h"

using conclust::PartitionSearch;

void bind_median(nb::module_& m) {
    nb::class_<PartitionSearch> cls(m, "PartitionSearch");
    cls.def("__init__", [](PartitionSearch* self, Vector<const std::int64_t> starts,
                           Vector<const std::int32_t> columns, Vector<const double> values,
                           Vector<const double> weights, Vector<const double> mass, int criterion,
                           bool fixed) {
        const nb::gil_scoped_release release;
        new (self) PartitionSearch(starts.data(), columns.data(), values.data(), mass.shape(0),
                                   weights.data(), weights.shape(0), mass.data(),
                                   static_cast<conclust::Criterion>(criterion), fixed);
    }, nb::arg("starts").noconvert(), nb::arg("columns").noconvert(), nb::arg("values").noconvert(),
       nb::arg("weights").noconvert(), nb::arg("mass").noconvert(), nb::arg("criterion"),
       nb::arg("fixed"));
    cls.def("set", [](PartitionSearch& self, Vector<const std::int64_t> labels, std::size_t k) {
        const nb::gil_scoped_release release;
        self.set(labels.data(), k);
    }, nb::arg("labels").noconvert(), nb::arg("k"));
    cls.def("transfer", [](PartitionSearch& self, Vector<const std::int64_t> order) {
        const nb::gil_scoped_release release;
        return self.transfer(order.data(), order.shape(0));
    }, nb::arg("order").noconvert());
    cls.def("fuse", [](PartitionSearch& self, std::size_t k) {
        const nb::gil_scoped_release release;
        return self.fuse(k);
    }, nb::arg("k"));
    cls.def("read", [](const PartitionSearch& self, Vector<std::int64_t> labels) {
        const nb::gil_scoped_release release;
        self.read(labels.data());
    }, nb::arg("labels").noconvert());
    cls.def("objective", &PartitionSearch::objective);
    cls.def_prop_ro("n_clusters", &PartitionSearch::n_clusters);

    m.def("add_rem_add", [](Matrix<const double> a, Vector<const double> mass,
                            Vector<const std::uint8_t> alive, Vector<const std::int64_t> starts,
                            Vector<std::uint8_t> members) {
        const nb::gil_scoped_release release;
        return conclust::add_rem_add(a.data(), a.shape(0), mass.data(), alive.data(),
                                     starts.data(), starts.shape(0), members.data());
    }, nb::arg("a").noconvert(), nb::arg("mass").noconvert(), nb::arg("alive").noconvert(),
       nb::arg("starts").noconvert(), nb::arg("members").noconvert());
}
