#include "pair_objective/pairwise/solver.h"

#include <nanobind/stl/tuple.h>

#include "pair_objective/outside_bound.h"

using conclust::PairwiseSolver;

void bind_pairwise(nb::module_& m) {
    nb::class_<PairwiseSolver>(m, "PairwiseSolver")
        .def("__init__",
             [](PairwiseSolver* self, const conclust::PairCounts& pairs, std::size_t k, int divergence,
                double parameter, const nb::object& outside, int n_threads) {
        new (self) PairwiseSolver(
            {pairs, k, static_cast<conclust::Divergence>(divergence), parameter, outside_of(outside)},
            n_threads);
    },
             "pairs"_a, "k"_a, "divergence"_a, "parameter"_a, "outside"_a.none(), "n_threads"_a, kept<2>,
             kept<6>)
        .def("take", &PairwiseSolver::take, "Y"_a, without_gil)
        .def("visit",
             [](PairwiseSolver& self, std::span<double> Y, std::span<const std::int32_t> objects,
                std::size_t slot, double tol, double negligible, bool finish, std::span<double> gaps) {
        const auto result = self.visit(Y, objects, slot, {tol, negligible, finish}, gaps);
        return std::tuple(result.residual, result.lowered, result.spent);
    },
             "Y"_a, "objects"_a, "slot"_a, "tol"_a, "negligible"_a, "finish"_a, "gaps"_a, without_gil)
        .def("objective", &PairwiseSolver::objective, "Y"_a, "begin"_a, "end"_a, without_gil)
        .def("residuals", &PairwiseSolver::residuals, "Y"_a, "begin"_a, "end"_a, "gaps"_a, without_gil);
}
