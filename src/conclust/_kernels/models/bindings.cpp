#include "base/bindings.h"

#include "labels/label_view.h"
#include "models/aspect.h"
#include "models/chains/gibbs.h"
#include "models/chains/mixed_gibbs.h"
#include "models/growth.h"
#include "models/merging.h"
#include "models/mixed_membership.h"

using conclust::GibbsChain;
using conclust::LabelView;

namespace {

void bind_growth(nb::module_& m) {
    m.def("grow_rows",
          [](Matrix<const double> Y, std::span<const double> degree, std::span<const double> own_c,
             std::span<double> observed, std::span<const double> fitted, std::span<double> grown) {
        conclust::grow_rows({Y, degree, own_c, Y.columns}, observed, fitted, grown);
    },
          "Y"_a, "degree"_a, "own_c"_a, "observed"_a, "fitted"_a, "grown"_a, without_gil);
    m.def("own_rows",
          [](Matrix<const double> Y, std::span<const double> own_N, std::span<double> fitted) {
        conclust::own_rows(Y, own_N, Y.columns, fitted);
    }, "Y"_a, "own_N"_a, "fitted"_a, without_gil);
    m.def("bend_rows", &conclust::bend_rows, "first"_a, "second"_a, "third"_a, "change"_a, "bend"_a,
          without_gil);
    m.def("leap_rows",
          [](Matrix<const double> first, std::span<const double> change, std::span<const double> bend,
             std::span<const double> third, double twice, double square, double least,
             std::span<double> ahead) {
        conclust::leap_rows(first, change, bend, third, twice, square, least, first.columns, ahead);
    },
          "first"_a, "change"_a, "bend"_a, "third"_a, "twice"_a, "square"_a, "least"_a, "ahead"_a,
          without_gil);
    m.def("largest_change", &conclust::largest_change, "one"_a, "other"_a, without_gil);
}

void bind_membership(nb::module_& m) {
    nb::class_<GibbsChain>(m, "GibbsChain")
        .def(nb::init<const LabelView&, double>(), "labels"_a, "smoothing"_a, kept<2>)
        .def("sweep", &GibbsChain::sweep, "concentration"_a, "seed"_a, "clusters"_a, without_gil);
    m.def(
        "mixed_gibbs_sweep",
        [](const LabelView& labels, std::span<const double> alpha, double smoothing, std::uint64_t seed,
           std::span<std::int32_t> clusters, std::span<double> mass, std::span<double> use) {
        conclust::mixed_gibbs_sweep({labels, alpha, smoothing}, seed, {clusters, mass, use});
    },
        "labels"_a, "alpha"_a, "smoothing"_a, "seed"_a, "clusters"_a, "mass"_a, "use"_a, without_gil);
    m.def("mixed_membership_round",
          [](const LabelView& labels, std::span<const double> counts, std::span<const double> alpha,
             std::span<const double> beta, std::span<const double> mass, std::span<double> new_mass,
             std::span<double> use, std::span<double> logs, int threads) {
        return conclust::mixed_membership_round({labels, counts, alpha, beta, mass}, threads,
                                                {new_mass, use, logs});
    },
          "labels"_a, "counts"_a, "alpha"_a, "beta"_a, "mass"_a, "new_mass"_a, "use"_a, "logs"_a,
          "threads"_a, without_gil);
}

}  // namespace

void bind_models(nb::module_& m) {
    m.def("aspect_pairs",
          [](std::span<const std::int64_t> starts, std::span<const std::int32_t> columns,
             std::span<const double> weights, Matrix<const double> x, std::span<const double> beta,
             std::size_t begin, std::size_t end, std::span<double> sums) {
        return conclust::aspect_pairs({starts, columns, weights}, x, beta, x.columns, begin, end, sums);
    },
          "starts"_a, "columns"_a, "weights"_a, "x"_a, "beta"_a, "begin"_a, "end"_a, "sums"_a,
          without_gil);
    m.def("common_contents", &conclust::common_contents, "columns"_a, "weights"_a, "contents"_a, "q"_a,
          "others"_a, "sums"_a, without_gil);
    bind_growth(m);
    bind_membership(m);
}
