#include "base/bindings.h"

#include <nanobind/stl/tuple.h>

#include "pair_objective/landmark/placing.h"

namespace {

// A table, and the partitions' groups that its rows of present are of.
struct GroupedTable {
    conclust::PresenceGroups groups;
    conclust::LandmarkTable table;
};

}  // namespace

void bind_landmark(nb::module_& m) {
    nb::class_<GroupedTable>(m, "LandmarkTable")
        .def("__init__",
             [](GroupedTable* self, std::span<const std::int32_t> group_of,
                Matrix<const double> prototypes, std::span<const double> sums,
                Matrix<const double> present, int divergence, double parameter) {
        new (self) GroupedTable{{group_of, present.rows},
                                {prototypes.rows, prototypes.columns, prototypes, sums, present,
                                 static_cast<conclust::Divergence>(divergence), parameter}};
    },
             "group_of"_a, "prototypes"_a, "sums"_a, "present"_a, "divergence"_a, "parameter"_a, kept<2>,
             kept<3>, kept<4>, kept<5>)
        .def("place",
             [](const GroupedTable& self, const conclust::LabelView& labels, double tol,
                std::span<const double> masses, std::span<double> Y, int threads) {
        const conclust::Placed placed = conclust::place_objects({labels, self.groups, self.table.k},
                                                                self.table, tol, masses, Y, threads);
        return std::tuple(placed.loss, placed.residual);
    },
             "labels"_a, "tol"_a, "masses"_a, "Y"_a, "threads"_a, without_gil);
}
