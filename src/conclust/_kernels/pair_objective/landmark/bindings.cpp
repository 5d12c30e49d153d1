#include "base/bindings.h"

#include "labels/bound.h"
#include "pair_objective/landmark/placing.h"

using conclust::LandmarkTable;

namespace {

// A table, and the arrays that it reads.
struct BoundTable {
    Vector<const std::int32_t> group_of;
    Matrix<const double> prototypes;
    Matrix<const double> sums;
    Matrix<const double> present;
    LandmarkTable table;
};

}  // namespace

void bind_landmark(nb::module_& m) {
    nb::class_<BoundTable>(m, "LandmarkTable")
        .def("__init__",
             [](BoundTable* self, Vector<const std::int32_t> group_of, Matrix<const double> prototypes,
                Matrix<const double> sums, Matrix<const double> present, int divergence,
                double parameter) {
        new (self) BoundTable{
            group_of, prototypes, sums, present,
            LandmarkTable{prototypes.shape(0), prototypes.shape(1), span_of(prototypes), span_of(sums),
                          span_of(present), static_cast<conclust::Divergence>(divergence), parameter}};
    },
             nb::arg("group_of").noconvert(), nb::arg("prototypes").noconvert(),
             nb::arg("sums").noconvert(), nb::arg("present").noconvert(), nb::arg("divergence"),
             nb::arg("parameter"))
        .def("place",
             [](const BoundTable& self, const BoundLabels& labels, double tol,
                Vector<const double> masses, Matrix<double> Y, int threads) {
        conclust::Placed placed{};
        {
            const WithoutGil release;
            const conclust::FactoredInput input{
                labels.view, {span_of(self.group_of), self.present.shape(0)}, self.table.k};
            placed =
                conclust::place_objects(input, self.table, tol, span_of(masses), span_of(Y), threads);
        }
        return nb::make_tuple(placed.loss, placed.residual);
    },
             nb::arg("labels"), nb::arg("tol"), nb::arg("masses").noconvert(), nb::arg("Y").noconvert(),
             nb::arg("threads"));
}
