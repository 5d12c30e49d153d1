#include "base/bindings.h"

#include "labels/bound.h"
#include "models/aspect.h"
#include "models/chains/gibbs.h"
#include "models/chains/mixed_gibbs.h"
#include "models/dip.h"
#include "models/growth.h"
#include "models/merging.h"
#include "models/mixed_membership.h"

namespace {

void bind_aspect(nb::module_& m) {
    m.def("aspect_pairs",
          [](Vector<const std::int64_t> starts, Vector<const std::int32_t> columns,
             Vector<const double> weights, Matrix<const double> x, Matrix<const double> beta,
             std::size_t begin, std::size_t end, Matrix<double> sums) {
        const WithoutGil release;
        return conclust::aspect_pairs({span_of(starts), span_of(columns), span_of(weights)}, span_of(x),
                                      span_of(beta), x.shape(1), begin, end, span_of(sums));
    },
          nb::arg("starts").noconvert(), nb::arg("columns").noconvert(), nb::arg("weights").noconvert(),
          nb::arg("x").noconvert(), nb::arg("beta").noconvert(), nb::arg("begin"), nb::arg("end"),
          nb::arg("sums").noconvert());
}

void bind_growth(nb::module_& m) {
    m.def("grow_rows",
          [](Matrix<const double> Y, Vector<const double> degree, Vector<const double> own_c,
             Matrix<double> observed, Matrix<const double> fitted, Matrix<double> grown) {
        const WithoutGil release;
        conclust::grow_rows({span_of(Y), span_of(degree), span_of(own_c), Y.shape(1)}, span_of(observed),
                            span_of(fitted), span_of(grown));
    },
          nb::arg("Y").noconvert(), nb::arg("degree").noconvert(), nb::arg("own_c").noconvert(),
          nb::arg("observed").noconvert(), nb::arg("fitted").noconvert(), nb::arg("grown").noconvert());
    m.def("own_rows", [](Matrix<const double> Y, Vector<const double> own_N, Matrix<double> fitted) {
        const WithoutGil release;
        conclust::own_rows(span_of(Y), span_of(own_N), Y.shape(1), span_of(fitted));
    }, nb::arg("Y").noconvert(), nb::arg("own_N").noconvert(), nb::arg("fitted").noconvert());
    m.def("bend_rows",
          [](Matrix<const double> first, Matrix<const double> second, Matrix<const double> third,
             Matrix<double> change, Matrix<double> bend) {
        const WithoutGil release;
        conclust::bend_rows(span_of(first), span_of(second), span_of(third), span_of(change),
                            span_of(bend));
    },
          nb::arg("first").noconvert(), nb::arg("second").noconvert(), nb::arg("third").noconvert(),
          nb::arg("change").noconvert(), nb::arg("bend").noconvert());
    m.def(
        "leap_rows",
        [](Matrix<const double> first, Matrix<const double> change, Matrix<const double> bend,
           Matrix<const double> third, double twice, double square, double least, Matrix<double> ahead) {
        const WithoutGil release;
        conclust::leap_rows(span_of(first), span_of(change), span_of(bend), span_of(third), twice,
                            square, least, first.shape(1), span_of(ahead));
    },
        nb::arg("first").noconvert(), nb::arg("change").noconvert(), nb::arg("bend").noconvert(),
        nb::arg("third").noconvert(), nb::arg("twice"), nb::arg("square"), nb::arg("least"),
        nb::arg("ahead").noconvert());
    m.def("largest_change", [](Matrix<const double> one, Matrix<const double> other) {
        const WithoutGil release;
        return conclust::largest_change(span_of(one), span_of(other));
    }, nb::arg("one").noconvert(), nb::arg("other").noconvert());
}

// Keeps the arrays that the chain reads alive.
struct BoundChain {
    BoundLabels labels;
    conclust::GibbsChain chain;
};

void bind_gibbs(nb::module_& m) {
    nb::class_<BoundChain>(m, "GibbsChain")
        .def("__init__",
             [](BoundChain* self, const BoundLabels& labels, double smoothing) {
        new (self) BoundChain{labels, conclust::GibbsChain(labels.view, smoothing)};
    }, nb::arg("labels"), nb::arg("smoothing"))
        .def("sweep",
             [](BoundChain& self, double concentration, std::uint64_t seed,
                Vector<std::int64_t> clusters) {
        const WithoutGil release;
        return self.chain.sweep(concentration, seed, span_of(clusters));
    },
             nb::arg("concentration"), nb::arg("seed"), nb::arg("clusters").noconvert());
}

void bind_mixed_gibbs(nb::module_& m) {
    m.def("mixed_gibbs_sweep",
          [](const BoundLabels& labels, Vector<const double> alpha, double smoothing, std::uint64_t seed,
             Matrix<std::int32_t> clusters, Matrix<double> mass, Matrix<double> use) {
        const WithoutGil release;
        conclust::mixed_gibbs_sweep({labels.view, span_of(alpha), smoothing}, seed,
                                    {span_of(clusters), span_of(mass), span_of(use)});
    },
          nb::arg("labels"), nb::arg("alpha").noconvert(), nb::arg("smoothing"), nb::arg("seed"),
          nb::arg("clusters").noconvert(), nb::arg("mass").noconvert(), nb::arg("use").noconvert());
}

void bind_mixed_membership(nb::module_& m) {
    m.def("mixed_membership_round",
          [](const BoundLabels& labels, Vector<const double> counts, Vector<const double> alpha,
             Matrix<const double> beta, Matrix<const double> mass, Matrix<double> new_mass,
             Matrix<double> use, Vector<double> logs, int threads) {
        const WithoutGil release;
        const conclust::MixedModel model{labels.view, span_of(counts), span_of(alpha), span_of(beta),
                                         span_of(mass)};
        return conclust::mixed_membership_round(model, threads,
                                                {span_of(new_mass), span_of(use), span_of(logs)});
    },
          nb::arg("labels"), nb::arg("counts").noconvert(), nb::arg("alpha").noconvert(),
          nb::arg("beta").noconvert(), nb::arg("mass").noconvert(), nb::arg("new_mass").noconvert(),
          nb::arg("use").noconvert(), nb::arg("logs").noconvert(), nb::arg("threads"));
}

void bind_dip(nb::module_& m) {
    m.def("dips_of_sorted", [](Matrix<const double> samples, Vector<double> dips, int threads) {
        const WithoutGil release;
        conclust::dips_of_sorted(span_of(samples), samples.shape(1), span_of(dips), threads);
    }, nb::arg("samples").noconvert(), nb::arg("dips").noconvert(), nb::arg("threads"));
}

void bind_merging(nb::module_& m) {
    m.def("common_contents",
          [](Matrix<const double> columns, Vector<const double> weights, Vector<const double> contents,
             std::size_t q, Vector<const std::int64_t> others, Vector<double> sums) {
        const WithoutGil release;
        conclust::common_contents(span_of(columns), span_of(weights), span_of(contents), q,
                                  span_of(others), span_of(sums));
    },
          nb::arg("columns").noconvert(), nb::arg("weights").noconvert(),
          nb::arg("contents").noconvert(), nb::arg("q"), nb::arg("others").noconvert(),
          nb::arg("sums").noconvert());
}

}  // namespace

void bind_models(nb::module_& m) {
    bind_aspect(m);
    bind_dip(m);
    bind_merging(m);
    bind_gibbs(m);
    bind_growth(m);
    bind_mixed_gibbs(m);
    bind_mixed_membership(m);
}
