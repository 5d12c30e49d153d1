#include <variant>

#include <nanobind/stl/variant.h>

#include "base/bindings.h"
#include "kmeans/labelling.h"
#include "kmeans/landmarks.h"
#include "kmeans/nearest.h"
#include "kmeans/runs.h"
#include "kmeans/seeds.h"

using conclust::Form;
using conclust::KMeansDraws;
using conclust::KMeansResults;
using conclust::KMeansSearch;

namespace {

void bind_runs(nb::module_& m) {
    nb::class_<KMeansDraws>(m, "KMeansDraws")
        .def("__init__",
             [](KMeansDraws* self, Matrix<const double> points, Matrix<const std::int32_t> drawn,
                std::span<const std::uint64_t> seeds, std::span<const std::int32_t> starts) {
        new (self) KMeansDraws{points,     points.rows,   points.columns, drawn,
                               drawn.rows, drawn.columns, seeds,          starts};
    },
             "points"_a, "drawn"_a, "seeds"_a, "starts"_a = nb::none(), kept<2>, kept<3>, kept<4>,
             kept<5>);
    nb::class_<KMeansSearch>(m, "KMeansSearch")
        .def(nb::init<std::size_t, std::size_t, std::size_t, double, bool, Form>(), "n_clusters"_a,
             "candidates"_a, "max_iter"_a, "tol"_a, "refills"_a, "form"_a = "auto");
    nb::class_<KMeansResults>(m, "KMeansResults")
        .def(nb::init<std::variant<std::span<std::uint8_t>, std::span<std::uint16_t>>,
                      std::span<std::int32_t>, std::span<double>, std::span<double>>(),
             "codes"_a, "found"_a, "inertia"_a, "centers"_a = nb::none(), kept<2>, kept<3>, kept<4>,
             kept<5>);
    m.def("kmeans_runs", &conclust::kmeans_runs, "draws"_a, "search"_a, "out"_a, "begin"_a, "end"_a,
          "n_threads"_a, without_gil);
}

void bind_labelling(nb::module_& m) {
    using Points = std::variant<Matrix<const float>, Matrix<const double>>;
    using Labels = std::variant<Matrix<std::uint8_t>, Matrix<std::uint16_t>, Matrix<std::int32_t>>;
    m.def("label_block",
          [](const Points& points, std::span<const double> centers, std::span<const std::int64_t> starts,
             std::span<const std::int32_t> columns, std::span<const std::int64_t> column_starts,
             std::span<const std::int32_t> places, const Labels& labels, int n_threads, Form form) {
        conclust::LabelledBlock block;
        std::visit([&](const auto& array) {
            block.points = array.content;
            block.n = array.rows;
            block.d = array.columns;
        }, points);
        std::visit([&](const auto& array) {
            block.labels = array.content;
            block.stride = array.columns;
        }, labels);
        return conclust::label_block({centers, starts, columns, column_starts, places}, block, n_threads,
                                     form);
    },
          "points"_a, "centers"_a, "starts"_a, "columns"_a, "column_starts"_a, "places"_a, "labels"_a,
          "n_threads"_a, "form"_a = "auto", without_gil);
}

}  // namespace

void bind_kmeans(nb::module_& m) {
    bind_runs(m);
    bind_labelling(m);
    m.def("landmark_labels",
          [](Matrix<const std::int32_t> found, std::span<const double> weights,
             std::span<const double> loads, std::span<const double> centers,
             std::span<const double> half, std::span<std::int64_t> labels) {
        conclust::landmark_labels(found, weights, found.columns, loads, centers, half, labels);
    },
          "found"_a, "weights"_a, "loads"_a, "centers"_a, "half"_a, "labels"_a, without_gil);
    m.def("seed_points",
          [](std::span<const double> columns, std::span<const double> mass,
             std::span<const double> uniform, std::size_t options, std::span<std::int64_t> chosen) {
        return conclust::seed_points({columns, mass}, uniform, options, chosen);
    },
          "columns"_a, "mass"_a, "uniform"_a, "options"_a, "chosen"_a, without_gil);
    m.def("lloyd_round",
          [](Matrix<const double> x, std::span<const double> mass, std::span<const double> centers,
             std::span<std::int64_t> labels, std::span<double> distances, std::span<double> sums,
             std::span<double> totals) {
        return conclust::lloyd_round(x, mass, centers, x.columns, {labels, distances, sums, totals});
    },
          "x"_a, "mass"_a, "centers"_a, "labels"_a, "distances"_a, "sums"_a, "totals"_a, without_gil);
}
