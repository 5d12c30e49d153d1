#include "pair_objective/pairwise/solver.h"

#include "pair_objective/bound.h"
#include "pair_objective/outside_bound.h"

using conclust::PairwiseInput;
using conclust::PairwiseSolver;

namespace {

// Keeps the arrays and the function of the solver alive.
struct BoundPairwise {
    BoundPairs pairs;
    nb::object outside;
    PairwiseSolver solver;
};

}  // namespace

void bind_pairwise(nb::module_& m) {
    nb::class_<BoundPairwise>(m, "PairwiseSolver")
        .def("__init__",
             [](BoundPairwise* self, const BoundPairs& pairs, std::size_t k, int divergence,
                double parameter, nb::object outside, int n_threads) {
        const PairwiseInput in{pairs.view, k, static_cast<conclust::Divergence>(divergence), parameter,
                               outside_of(outside)};
        new (self) BoundPairwise{pairs, outside, PairwiseSolver(in, n_threads)};
    },
             nb::arg("pairs"), nb::arg("k"), nb::arg("divergence"), nb::arg("parameter"),
             nb::arg("outside").none(), nb::arg("n_threads"))
        .def("take",
             [](BoundPairwise& self, Matrix<const double> Y) {
        const WithoutGil release;
        self.solver.take(span_of(Y));
    }, nb::arg("Y").noconvert())
        .def("visit",
             [](BoundPairwise& self, Matrix<double> Y, Vector<const std::int32_t> objects,
                std::size_t slot, double tol, double negligible, bool finish, Vector<double> gaps) {
        conclust::VisitResult result{};
        {
            const WithoutGil release;
            result = self.solver.visit(span_of(Y), span_of(objects), slot, {tol, negligible, finish},
                                       span_of(gaps));
        }
        return nb::make_tuple(result.residual, result.lowered, result.spent);
    },
             nb::arg("Y").noconvert(), nb::arg("objects").noconvert(), nb::arg("slot"), nb::arg("tol"),
             nb::arg("negligible"), nb::arg("finish"), nb::arg("gaps").noconvert())
        .def("objective",
             [](BoundPairwise& self, Matrix<const double> Y, std::size_t begin, std::size_t end) {
        const WithoutGil release;
        return self.solver.objective(span_of(Y), begin, end);
    }, nb::arg("Y").noconvert(), nb::arg("begin"), nb::arg("end"))
        .def("residuals",
             [](BoundPairwise& self, Matrix<const double> Y, std::size_t begin, std::size_t end,
                Vector<double> gaps) {
        const WithoutGil release;
        self.solver.residuals(span_of(Y), begin, end, span_of(gaps));
    },
             nb::arg("Y").noconvert(), nb::arg("begin"), nb::arg("end"), nb::arg("gaps").noconvert());
}
