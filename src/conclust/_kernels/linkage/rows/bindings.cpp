#include "base/bindings.h"

#include <algorithm>

#include "linkage/rows/average.h"
#include "linkage/rows/single.h"

using conclust::AverageChain;
using conclust::RowPairs;
using conclust::SingleTree;

void bind_row_linkage(nb::module_& m) {
    // W is the diagonal, or what the mixing arrays say; the others are None.
    nb::class_<RowPairs>(m, "RowPairs")
        .def(
            "__init__",
            [](RowPairs* self, std::span<const std::int64_t> starts,
               std::span<const std::int32_t> columns, std::span<const double> values,
               std::span<const double> masses, std::size_t n_columns, std::span<const double> diagonal,
               std::span<const std::int64_t> mixing_starts, std::span<const std::int32_t> mixing_columns,
               std::span<const double> mixing_values, std::span<const double> presence) {
        new (self) RowPairs{{starts, columns, values},
                            diagonal,
                            {mixing_starts, mixing_columns, mixing_values},
                            masses,
                            presence,
                            n_columns};
    },
            "starts"_a, "columns"_a, "values"_a, "masses"_a, "n_columns"_a, "diagonal"_a = nb::none(),
            "mixing_starts"_a = nb::none(), "mixing_columns"_a = nb::none(),
            "mixing_values"_a = nb::none(), "presence"_a = nb::none(), kept<2>, kept<3>, kept<4>,
            kept<5>, kept<7>, kept<8>, kept<9>, kept<10>, kept<11>);
    nb::class_<AverageChain>(m, "AverageChain")
        .def(nb::init<const RowPairs&, std::size_t>(), "pairs"_a, "until"_a, without_gil)
        .def("run", &AverageChain::run, "rows"_a, without_gil)
        // Precondition: nothing is left to run; of n - until merges, and n leaders.
        .def("read",
             [](const AverageChain& self, std::span<std::int64_t> left, std::span<std::int64_t> right,
                std::span<double> heights,
                std::span<std::int64_t> leaders) { self.read({left, right, heights}, leaders); },
             "left"_a, "right"_a, "heights"_a, "leaders"_a, without_gil);
    nb::class_<SingleTree>(m, "SingleTree")
        .def(nb::init<const RowPairs&>(), "pairs"_a, without_gil)
        .def("grow", &SingleTree::grow, "clusters"_a, without_gil)
        // Precondition: nothing is left to grow; order is (n,), heights (n - 1,).
        .def("read",
             [](const SingleTree& self, std::span<std::int64_t> order, std::span<double> heights) {
        std::copy(self.order().begin(), self.order().end(), order.data());
        std::copy(self.heights().begin(), self.heights().end(), heights.data());
    }, "order"_a, "heights"_a, without_gil);
}
