#include "base/bindings.h"

#include "borders/dip.h"
#include "borders/valleys.h"

void bind_borders(nb::module_& m) {
    m.def("border_places",
          [](Matrix<const double> scores, std::span<const double> gram,
             std::span<const std::uint8_t> first, conclust::Borders borders, std::span<double> places,
             std::span<std::int64_t> sizes) {
        conclust::border_places({scores, gram, scores.columns}, first, borders, places, sizes);
    },
          "scores"_a, "gram"_a, "first"_a, "borders"_a, "places"_a, "sizes"_a, without_gil);
    m.def("count_valleys",
          [](Matrix<const double> scores, std::span<const double> gram,
             std::span<const std::uint8_t> first, conclust::Borders borders,
             std::span<std::int64_t> counts, int threads) {
        conclust::count_valleys({scores, gram, scores.columns}, first, borders, counts, threads);
    },
          "scores"_a, "gram"_a, "first"_a, "borders"_a, "counts"_a, "threads"_a, without_gil);
    m.def("dips_of_sorted", [](Matrix<const double> samples, std::span<double> dips, int threads) {
        conclust::dips_of_sorted(samples, samples.columns, dips, threads);
    }, "samples"_a, "dips"_a, "threads"_a, without_gil);
}
