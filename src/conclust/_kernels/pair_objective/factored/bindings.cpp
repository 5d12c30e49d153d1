#include "pair_objective/factored/solver.h"

#include <nanobind/stl/tuple.h>

#include "base/bindings.h"

using conclust::FactoredInput;
using conclust::FactoredSolver;

namespace {

// A vector of the solver as a NumPy view that keeps the solver alive.
template <std::vector<double>& (FactoredSolver::*values)()>
nb::ndarray<nb::numpy, double, nb::ndim<1>> view(nb::handle self) {
    std::vector<double>& viewed = (nb::cast<FactoredSolver&>(self).*values)();
    return {viewed.data(), {viewed.size()}, self};
}

}  // namespace

void bind_factored(nb::module_& m) {
    m.def("factored_stride", &FactoredSolver::padded, "k"_a);

    nb::class_<FactoredSolver>(m, "FactoredSolver")
        .def("__init__",
             [](FactoredSolver* self, const conclust::LabelView& labels,
                std::span<const std::int32_t> group_of, std::size_t n_groups, std::size_t k,
                std::size_t serial_limit, std::size_t rounds) {
        new (self) FactoredSolver({labels, {group_of, n_groups}, k, serial_limit, rounds});
    },
             "labels"_a, "group_of"_a, "n_groups"_a, "k"_a,
             "serial_limit"_a = FactoredInput{}.serial_limit, "rounds"_a = FactoredInput{}.rounds,
             kept<2>, kept<3>)
        .def("rebuild", &FactoredSolver::rebuild, "Y"_a, "threads"_a, without_gil)
        .def("objective", &FactoredSolver::objective)
        .def("sweep",
             [](FactoredSolver& self, std::span<double> Y, double tol, double negligible, int threads,
                double relaxation, bool watched) {
        const auto result = self.sweep(Y, tol, negligible, relaxation, threads, watched);
        return std::tuple(result.change, result.residual, result.shortened);
    },
             "Y"_a, "tol"_a, "negligible"_a, "threads"_a, "relaxation"_a = 1.0, "watched"_a = true,
             without_gil)
        .def("steps", &FactoredSolver::steps, "before"_a, "after"_a, "first"_a, "second"_a, "powers"_a,
             "threads"_a, without_gil)
        .def("step", &FactoredSolver::step, "sums"_a, "first"_a, "second"_a, "powers"_a, "most"_a = 1.0)
        .def_prop_rw("squares", [](FactoredSolver& self) { return self.squares(); },
                     [](FactoredSolver& self, double value) { self.squares() = value; })
        .def_prop_rw("fourths", [](FactoredSolver& self) { return self.fourths(); },
                     [](FactoredSolver& self, double value) { self.fourths() = value; })
        .def("residual", &FactoredSolver::residual, "Y"_a, "threads"_a, without_gil)
        .def("assign", &FactoredSolver::assign, "Y"_a, "tol"_a, "threads"_a, without_gil)
        .def("take_sums", &FactoredSolver::take_sums, "other"_a)
        .def("read_grams", &FactoredSolver::read_grams, "G"_a)
        .def("write_grams", &FactoredSolver::write_grams, "G"_a)
        .def_prop_ro("sums", &view<&FactoredSolver::sums>)
        .def_prop_ro("group_sizes", &view<&FactoredSolver::group_sizes>);
}
