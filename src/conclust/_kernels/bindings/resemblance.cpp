#include "resemblance.h"

#include "bindings.h"

using conclust::ResemblanceSearch;

void bind_resemblance(nb::module_& m) {
    nb::class_<ResemblanceSearch> cls(m, "ResemblanceSearch");
    cls.def("__init__", [](ResemblanceSearch* self, Matrix<const std::int32_t> labels,
                           Vector<const double> mass, Vector<const std::int64_t> offsets,
                           Vector<const double> cluster_sizes, Vector<const double> factors,
                           bool all_subsets, bool fixed) {
        const nb::gil_scoped_release release;
        new (self) ResemblanceSearch(labels.data(), labels.shape(0), labels.shape(1), mass.data(),
                                     offsets.data(), cluster_sizes.data(), factors.data(),
                                     all_subsets, fixed);
    }, nb::arg("labels").noconvert(), nb::arg("mass").noconvert(), nb::arg("offsets").noconvert(),
       nb::arg("cluster_sizes").noconvert(), nb::arg("factors").noconvert(),
       nb::arg("all_subsets"), nb::arg("fixed"));
    cls.def("set", [](ResemblanceSearch& self, Vector<const std::int64_t> partition, std::size_t k) {
        const nb::gil_scoped_release release;
        self.set(partition.data(), k);
    }, nb::arg("partition").noconvert(), nb::arg("k"));
    cls.def("transfer", [](ResemblanceSearch& self, Vector<const std::int64_t> order) {
        const nb::gil_scoped_release release;
        return self.transfer(order.data(), order.shape(0));
    }, nb::arg("order").noconvert());
    cls.def("anneal", [](ResemblanceSearch& self, std::uint64_t seed, std::size_t first,
                         double temperature, std::size_t proposals) {
        const nb::gil_scoped_release release;
        return self.anneal(seed, first, temperature, proposals);
    }, nb::arg("seed"), nb::arg("first"), nb::arg("temperature"), nb::arg("proposals"));
    cls.def("mean_fall", [](ResemblanceSearch& self, std::uint64_t seed, std::size_t proposals) {
        const nb::gil_scoped_release release;
        return self.mean_fall(seed, proposals);
    }, nb::arg("seed"), nb::arg("proposals"));
    cls.def("read", [](const ResemblanceSearch& self, Vector<std::int64_t> partition) {
        const nb::gil_scoped_release release;
        self.read(partition.data());
    }, nb::arg("partition").noconvert());
    cls.def("objective", &ResemblanceSearch::objective);
    cls.def_prop_ro("n_clusters", &ResemblanceSearch::n_clusters);
}
