#include "pair_objective/greedy/solver.h"

#include "pair_objective/bound.h"
#include "pair_objective/outside_bound.h"

using conclust::GreedyInput;
using conclust::GreedySolver;

namespace {

// Keeps the arrays and the function of the solver alive.
struct BoundGreedy {
    BoundPairs pairs;
    nb::object outside;
    GreedySolver solver;
};

}  // namespace

void bind_greedy(nb::module_& m) {
    nb::class_<BoundGreedy>(m, "GreedySolver")
        .def("__init__",
             [](BoundGreedy* self, const BoundPairs& pairs, Matrix<const double> Y, int divergence,
                double parameter, nb::object outside, double tol, std::int64_t max_steps) {
        const conclust::GreedyDivergence d{static_cast<conclust::Divergence>(divergence), parameter,
                                           outside_of(outside)};
        const GreedyInput in{pairs.view, Y.shape(1), d, tol, max_steps};
        new (self) BoundGreedy{pairs, outside, GreedySolver(in, span_of(Y))};
    },
             nb::arg("pairs"), nb::arg("Y").noconvert(), nb::arg("divergence"), nb::arg("parameter"),
             nb::arg("outside").none(), nb::arg("tol"), nb::arg("max_steps"))
        .def("run",
             [](BoundGreedy& self, std::int64_t visits) {
        const WithoutGil release;
        return self.solver.run(visits);
    }, nb::arg("visits"))
        .def_prop_ro("steps", [](const BoundGreedy& self) { return self.solver.steps(); })
        .def_prop_ro("evaluations", [](const BoundGreedy& self) { return self.solver.evaluations(); })
        .def_prop_ro("visits", [](const BoundGreedy& self) { return self.solver.visits(); })
        .def_prop_ro("residual", [](const BoundGreedy& self) { return self.solver.residual(); })
        .def_prop_ro("trace", [](const BoundGreedy& self) {
        nb::list rows;
        for (const conclust::GreedyRecord& row : self.solver.trace()) {
            rows.append(nb::make_tuple(row.step, row.objective, row.residual));
        }
        return rows;
    }).def("read", [](const BoundGreedy& self, Matrix<double> Y, Matrix<double> gradients) {
        const WithoutGil release;
        self.solver.read(span_of(Y), span_of(gradients));
    }, nb::arg("Y").noconvert(), nb::arg("gradients").noconvert());
}
