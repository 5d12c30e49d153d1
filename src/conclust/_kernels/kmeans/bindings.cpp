#include <variant>

#include <nanobind/stl/string.h>
#include <nanobind/stl/variant.h>

#include "base/bindings.h"
#include "kmeans/labelling.h"
#include "kmeans/landmarks.h"
#include "kmeans/nearest.h"
#include "kmeans/runs.h"
#include "kmeans/seeds.h"

namespace {

// The arrays that the views are of.
struct BoundDraws {
    Matrix<const double> points;
    Matrix<const std::int32_t> drawn;
    Vector<const std::uint64_t> seeds;
    Matrix<const std::int32_t> starts;
    conclust::KMeansDraws view;
};

struct BoundResults {
    using Codes = std::variant<Matrix<std::uint8_t>, Matrix<std::uint16_t>>;

    Codes codes;
    Vector<std::int32_t> found;
    Vector<double> inertia;
    Matrix<double> centers;
    conclust::KMeansResults view;
};

void make_draws(BoundDraws* self, Matrix<const double> points, Matrix<const std::int32_t> drawn,
                Vector<const std::uint64_t> seeds, Matrix<const std::int32_t> starts) {
    const conclust::KMeansDraws view{span_of(points), points.shape(0), points.shape(1), span_of(drawn),
                                     drawn.shape(0),  drawn.shape(1),  span_of(seeds),  span_of(starts)};
    new (self) BoundDraws{points, drawn, seeds, starts, view};
}

void make_results(BoundResults* self, BoundResults::Codes codes, Vector<std::int32_t> found,
                  Vector<double> inertia, Matrix<double> centers) {
    conclust::KMeansResults view{{}, span_of(found), span_of(inertia), span_of(centers)};
    std::visit([&](const auto& array) { view.codes = span_of(array); }, codes);
    new (self) BoundResults{codes, found, inertia, centers, view};
}

}  // namespace

void bind_kmeans(nb::module_& m) {
    nb::class_<BoundDraws>(m, "KMeansDraws")
        .def("__init__", &make_draws, nb::arg("points").noconvert(), nb::arg("drawn").noconvert(),
             nb::arg("seeds").noconvert(), nb::arg("starts").noconvert() = nb::none());
    nb::class_<conclust::KMeansSearch>(m, "KMeansSearch")
        .def("__init__",
             [](conclust::KMeansSearch* self, std::size_t n_clusters, std::size_t candidates,
                std::size_t max_iter, double tol, bool refills, const std::string& form) {
        new (self) conclust::KMeansSearch{n_clusters, candidates, max_iter,
                                          tol,        refills,    conclust::find_form(form)};
    },
             nb::arg("n_clusters"), nb::arg("candidates"), nb::arg("max_iter"), nb::arg("tol"),
             nb::arg("refills"), nb::arg("form") = "auto");
    nb::class_<BoundResults>(m, "KMeansResults")
        .def("__init__", &make_results, nb::arg("codes").noconvert(), nb::arg("found").noconvert(),
             nb::arg("inertia").noconvert(), nb::arg("centers").noconvert() = nb::none());
    m.def("kmeans_runs",
          [](const BoundDraws& draws, const conclust::KMeansSearch& search, const BoundResults& out,
             std::size_t begin, std::size_t end, int n_threads) {
        const WithoutGil release;
        conclust::kmeans_runs(draws.view, search, out.view, begin, end, n_threads);
    },
          nb::arg("draws"), nb::arg("search"), nb::arg("out"), nb::arg("begin"), nb::arg("end"),
          nb::arg("n_threads"));
    m.def("nearest_landmarks",
          [](Matrix<const double> x, Matrix<const double> points, Matrix<const double> heads,
             Vector<const std::int64_t> starts, Vector<const std::int32_t> grouped,
             Matrix<const std::int32_t> around, Matrix<std::int32_t> found, Matrix<double> squares) {
        const WithoutGil release;
        const conclust::Landmarks landmarks{span_of(points),  span_of(heads),  span_of(starts),
                                            span_of(grouped), span_of(around), points.shape(1),
                                            around.shape(1)};
        conclust::nearest_landmarks(span_of(x), landmarks, found.shape(1), span_of(found),
                                    span_of(squares));
    },
          nb::arg("x").noconvert(), nb::arg("points").noconvert(), nb::arg("heads").noconvert(),
          nb::arg("starts").noconvert(), nb::arg("grouped").noconvert(), nb::arg("around").noconvert(),
          nb::arg("found").noconvert(), nb::arg("squares").noconvert());
    m.def("landmark_labels",
          [](Matrix<const std::int32_t> found, Matrix<const double> weights, Matrix<const double> loads,
             Matrix<const double> centers, Vector<const double> half, Vector<std::int64_t> labels) {
        const WithoutGil release;
        conclust::landmark_labels(span_of(found), span_of(weights), found.shape(1), span_of(loads),
                                  span_of(centers), span_of(half), span_of(labels));
    },
          nb::arg("found").noconvert(), nb::arg("weights").noconvert(), nb::arg("loads").noconvert(),
          nb::arg("centers").noconvert(), nb::arg("half").noconvert(), nb::arg("labels").noconvert());
    using Points = std::variant<Matrix<const float>, Matrix<const double>>;
    using Labels = std::variant<Matrix<std::uint8_t>, Matrix<std::uint16_t>, Matrix<std::int32_t>>;
    m.def("label_block",
          [](const Points& points, Vector<const double> centers, Vector<const std::int64_t> starts,
             Vector<const std::int32_t> columns, Vector<const std::int64_t> column_starts,
             Vector<const std::int32_t> places, const Labels& labels, int n_threads,
             const std::string& form) {
        const conclust::CenterTable table{span_of(centers), span_of(starts), span_of(columns),
                                          span_of(column_starts), span_of(places)};
        conclust::LabelledBlock block;
        std::visit([&](const auto& array) {
            block.points = span_of(array);
            block.n = array.shape(0);
            block.d = array.shape(1);
        }, points);
        std::visit([&](const auto& array) {
            block.labels = span_of(array);
            block.stride = array.shape(1);
        }, labels);
        const WithoutGil release;
        return conclust::label_block(table, block, n_threads, conclust::find_form(form));
    },
          nb::arg("points").noconvert(), nb::arg("centers").noconvert(), nb::arg("starts").noconvert(),
          nb::arg("columns").noconvert(), nb::arg("column_starts").noconvert(),
          nb::arg("places").noconvert(), nb::arg("labels").noconvert(), nb::arg("n_threads"),
          nb::arg("form") = "auto");
    m.def("seed_points",
          [](Matrix<const double> columns, Vector<const double> mass, Vector<const double> uniform,
             std::size_t options, Vector<std::int64_t> chosen) {
        const WithoutGil release;
        return conclust::seed_points({span_of(columns), span_of(mass)}, span_of(uniform), options,
                                     span_of(chosen));
    },
          nb::arg("columns").noconvert(), nb::arg("mass").noconvert(), nb::arg("uniform").noconvert(),
          nb::arg("options"), nb::arg("chosen").noconvert());
    m.def("lloyd_round",
          [](Matrix<const double> x, Vector<const double> mass, Matrix<const double> centers,
             Vector<std::int64_t> labels, Vector<double> distances, Matrix<double> sums,
             Vector<double> totals) {
        const WithoutGil release;
        return conclust::lloyd_round(
            span_of(x), span_of(mass), span_of(centers), x.shape(1),
            {span_of(labels), span_of(distances), span_of(sums), span_of(totals)});
    },
          nb::arg("x").noconvert(), nb::arg("mass").noconvert(), nb::arg("centers").noconvert(),
          nb::arg("labels").noconvert(), nb::arg("distances").noconvert(), nb::arg("sums").noconvert(),
          nb::arg("totals").noconvert());
}
