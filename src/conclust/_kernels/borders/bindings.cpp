#include "base/bindings.h"

#include "borders/valleys.h"

namespace {

conclust::Centres centres_of(const Matrix<const double>& scores, std::span<const double> gram) {
    return {scores, gram, scores.columns};
}

}  // namespace

void bind_borders(nb::module_& m) {
    m.def("nearest_centres",
          [](Matrix<const double> scores, std::span<const double> gram, std::span<std::int64_t> nearest,
             int threads) { conclust::nearest_centres(centres_of(scores, gram), nearest, threads); },
          "scores"_a, "gram"_a, "nearest"_a, "threads"_a, without_gil);
    m.def("border_places",
          [](Matrix<const double> scores, std::span<const double> gram,
             std::span<const std::int64_t> nearest, conclust::Borders borders, std::span<double> places,
             int threads) {
        conclust::border_places(centres_of(scores, gram), nearest, borders, places, threads);
    },
          "scores"_a, "gram"_a, "nearest"_a, "borders"_a, "places"_a, "threads"_a, without_gil);
    m.def("count_valleys",
          [](Matrix<const double> scores, std::span<const double> gram,
             std::span<const std::int64_t> nearest, std::span<const std::uint8_t> first,
             conclust::Borders borders, std::span<std::int64_t> counts, int threads) {
        conclust::count_valleys(centres_of(scores, gram), nearest, first, borders, counts, threads);
    },
          "scores"_a, "gram"_a, "nearest"_a, "first"_a, "borders"_a, "counts"_a, "threads"_a,
          without_gil);
}
