#include "pair_objective/factored/solver.h"

#include "base/bindings.h"
#include "labels/bound.h"

using conclust::FactoredInput;
using conclust::FactoredSolver;

namespace {

// A vector of the solver as a NumPy view that keeps the solver alive.
nb::ndarray<nb::numpy, double, nb::ndim<1>> view(nb::handle self, std::vector<double>& values) {
    return nb::ndarray<nb::numpy, double, nb::ndim<1>>(values.data(), {values.size()}, self);
}

// Keeps the arrays that the solver reads alive.
struct BoundSolver {
    BoundLabels labels;
    Vector<const std::int32_t> group_of;
    FactoredSolver solver;
};

}  // namespace

void bind_factored(nb::module_& m) {
    m.def("factored_stride", &FactoredSolver::padded, nb::arg("k"));

    nb::class_<BoundSolver>(m, "FactoredSolver")
        .def("__init__",
             [](BoundSolver* self, const BoundLabels& labels, Vector<const std::int32_t> group_of,
                std::size_t n_groups, std::size_t k, std::size_t serial_limit, std::size_t rounds) {
        new (self) BoundSolver{
            labels, group_of,
            FactoredSolver({labels.view, {span_of(group_of), n_groups}, k, serial_limit, rounds})};
    },
             nb::arg("labels"), nb::arg("group_of").noconvert(), nb::arg("n_groups"), nb::arg("k"),
             nb::arg("serial_limit") = FactoredInput{}.serial_limit,
             nb::arg("rounds") = FactoredInput{}.rounds)
        .def("rebuild",
             [](BoundSolver& self, Matrix<const double> Y, int threads) {
        const WithoutGil release;
        self.solver.rebuild(span_of(Y), threads);
    }, nb::arg("Y").noconvert(), nb::arg("threads"))
        .def("objective", [](const BoundSolver& self) { return self.solver.objective(); })
        .def("sweep",
             [](BoundSolver& self, Matrix<double> Y, double tol, double negligible, int threads,
                double relaxation, bool watched) {
        conclust::SweepResult result{};
        {
            const WithoutGil release;
            result = self.solver.sweep(span_of(Y), tol, negligible, relaxation, threads, watched);
        }
        return nb::make_tuple(result.change, result.residual, result.shortened);
    },
             nb::arg("Y").noconvert(), nb::arg("tol"), nb::arg("negligible"), nb::arg("threads"),
             nb::arg("relaxation") = 1.0, nb::arg("watched") = true)
        .def("steps",
             [](BoundSolver& self, Matrix<const double> before, Matrix<const double> after,
                Vector<double> first, Vector<double> second, Vector<double> powers, int threads) {
        const WithoutGil release;
        self.solver.steps(span_of(before), span_of(after), span_of(first), span_of(second),
                          span_of(powers), threads);
    },
             nb::arg("before").noconvert(), nb::arg("after").noconvert(), nb::arg("first").noconvert(),
             nb::arg("second").noconvert(), nb::arg("powers").noconvert(), nb::arg("threads"))
        .def("step",
             [](BoundSolver& self, Vector<const double> sums, Vector<const double> first,
                Vector<const double> second, Vector<const double> powers, double most) {
        return self.solver.step(span_of(sums), span_of(first), span_of(second), span_of(powers), most);
    },
             nb::arg("sums").noconvert(), nb::arg("first").noconvert(), nb::arg("second").noconvert(),
             nb::arg("powers").noconvert(), nb::arg("most") = 1.0)
        .def_prop_rw("squares", [](BoundSolver& self) { return self.solver.squares(); },
                     [](BoundSolver& self, double value) { self.solver.squares() = value; })
        .def_prop_rw("fourths", [](BoundSolver& self) { return self.solver.fourths(); },
                     [](BoundSolver& self, double value) { self.solver.fourths() = value; })
        .def("residual",
             [](BoundSolver& self, Matrix<double> Y, int threads) {
        const WithoutGil release;
        return self.solver.residual(span_of(Y), threads);
    }, nb::arg("Y").noconvert(), nb::arg("threads"))
        .def("assign",
             [](BoundSolver& self, Matrix<double> Y, double tol, int threads) {
        const WithoutGil release;
        self.solver.assign(span_of(Y), tol, threads);
    }, nb::arg("Y").noconvert(), nb::arg("tol"), nb::arg("threads"))
        .def("take_sums",
             [](BoundSolver& self, const BoundSolver& other) { self.solver.take_sums(other.solver); },
             nb::arg("other"))
        .def("read_grams",
             [](const BoundSolver& self, Vector<double> G) { self.solver.read_grams(span_of(G)); },
             nb::arg("G").noconvert())
        .def("write_grams",
             [](BoundSolver& self, Vector<const double> G) { self.solver.write_grams(span_of(G)); },
             nb::arg("G").noconvert())
        .def_prop_ro("sums", [](nb::handle self) {
        return view(self, nb::cast<BoundSolver&>(self).solver.sums());
    }).def_prop_ro("group_sizes", [](nb::handle self) {
        return view(self, nb::cast<BoundSolver&>(self).solver.group_sizes());
    });
}
