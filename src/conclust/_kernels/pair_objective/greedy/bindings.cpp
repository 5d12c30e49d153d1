#include "pair_objective/greedy/solver.h"

#include "pair_objective/outside_bound.h"

using conclust::GreedySolver;

void bind_greedy(nb::module_& m) {
    nb::class_<GreedySolver>(m, "GreedySolver")
        .def("__init__",
             [](GreedySolver* self, const conclust::PairCounts& pairs, Matrix<const double> Y,
                int divergence, double parameter, const nb::object& outside, double tol,
                std::int64_t max_steps) {
        const conclust::GreedyDivergence d{static_cast<conclust::Divergence>(divergence), parameter,
                                           outside_of(outside)};
        new (self) GreedySolver({pairs, Y.columns, d, tol, max_steps}, Y);
    },
             "pairs"_a, "Y"_a, "divergence"_a, "parameter"_a, "outside"_a.none(), "tol"_a, "max_steps"_a,
             kept<2>, kept<6>)
        .def("run", &GreedySolver::run, "visits"_a, without_gil)
        .def_prop_ro("steps", &GreedySolver::steps)
        .def_prop_ro("evaluations", &GreedySolver::evaluations)
        .def_prop_ro("visits", &GreedySolver::visits)
        .def_prop_ro("residual", &GreedySolver::residual)
        .def_prop_ro("trace", [](const GreedySolver& self) {
        nb::list rows;
        for (const conclust::GreedyRecord& row : self.trace()) {
            rows.append(nb::make_tuple(row.step, row.objective, row.residual));
        }
        return rows;
    }).def("read", &GreedySolver::read, "Y"_a, "gradients"_a, without_gil);
}
