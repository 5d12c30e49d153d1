#include "base/bindings.h"

#include "borders/valleys.h"

namespace {

conclust::Centres centres_of(const Matrix<const double>& scores, const Matrix<const double>& gram) {
    return {span_of(scores), span_of(gram), scores.shape(1)};
}

}  // namespace

void bind_borders(nb::module_& m) {
    m.def("nearest_centres",
          [](Matrix<const double> scores, Matrix<const double> gram, Vector<std::int64_t> nearest,
             int threads) {
        const WithoutGil release;
        conclust::nearest_centres(centres_of(scores, gram), span_of(nearest), threads);
    },
          nb::arg("scores").noconvert(), nb::arg("gram").noconvert(), nb::arg("nearest").noconvert(),
          nb::arg("threads"));
    m.def("border_places",
          [](Matrix<const double> scores, Matrix<const double> gram, Vector<const std::int64_t> nearest,
             Matrix<const std::int64_t> borders, Matrix<double> places, int threads) {
        const WithoutGil release;
        conclust::border_places(centres_of(scores, gram), span_of(nearest), span_of(borders),
                                span_of(places), threads);
    },
          nb::arg("scores").noconvert(), nb::arg("gram").noconvert(), nb::arg("nearest").noconvert(),
          nb::arg("borders").noconvert(), nb::arg("places").noconvert(), nb::arg("threads"));
    m.def("count_valleys",
          [](Matrix<const double> scores, Matrix<const double> gram, Vector<const std::int64_t> nearest,
             Vector<const std::uint8_t> first, Matrix<const std::int64_t> borders,
             Matrix<std::int64_t> counts, int threads) {
        const WithoutGil release;
        conclust::count_valleys(centres_of(scores, gram), span_of(nearest), span_of(first),
                                span_of(borders), span_of(counts), threads);
    },
          nb::arg("scores").noconvert(), nb::arg("gram").noconvert(), nb::arg("nearest").noconvert(),
          nb::arg("first").noconvert(), nb::arg("borders").noconvert(), nb::arg("counts").noconvert(),
          nb::arg("threads"));
}
