#include "labelvec.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include <optional>

#include "bindings.h"

namespace {

using Starts = std::optional<Vector<const std::int64_t>>;
using Columns = std::optional<Vector<const std::int32_t>>;
using Values = std::optional<Vector<const double>>;

template <class Code>
conclust::LabelRows rows_of(const Matrix<const Code>& codes, const Vector<const std::int64_t>& offsets,
                            const Vector<const double>& weights, const Vector<const double>& counts,
                            const Starts& starts, const Columns& columns, const Values& values) {
    conclust::LabelRows in;
    in.n = codes.shape(0);
    in.m = codes.shape(1);
    in.codes = codes.data();
    in.code_bytes = sizeof(Code);
    in.offsets = offsets.data();
    in.weights = weights.data();
    in.counts = counts.data();
    if (starts) {
        in.soft_starts = starts->data();
        in.soft_columns = columns->data();
        in.soft_values = values->data();
    }
    return in;
}

template <class Code>
void bind_code(nb::module_& m) {
    m.def("seed_labels", [](Matrix<const Code> codes, Vector<const std::int64_t> offsets,
                            Vector<const double> weights, Vector<const double> counts, Starts starts,
                            Columns columns, Values values, std::int64_t n_clusters,
                            std::uint64_t seed, Vector<std::int64_t> labels) {
        const nb::gil_scoped_release release;
        conclust::seed_labels(rows_of(codes, offsets, weights, counts, starts, columns, values),
                              static_cast<std::size_t>(n_clusters), seed, labels.data());
    }, nb::arg("codes").noconvert(), nb::arg("offsets").noconvert(), nb::arg("weights").noconvert(),
       nb::arg("counts").noconvert(), nb::arg("soft_starts").none(), nb::arg("soft_columns").none(),
       nb::arg("soft_values").none(), nb::arg("n_clusters"), nb::arg("seed"),
       nb::arg("labels").noconvert());
    m.def("refine_labels", [](Matrix<const Code> codes, Vector<const std::int64_t> offsets,
                              Vector<const double> weights, Vector<const double> counts,
                              Starts starts, Columns columns, Values values, std::int64_t n_clusters,
                              bool entropic, std::int64_t max_iter, double tol,
                              Vector<std::int64_t> labels) {
        conclust::Refined refined;
        {
            const nb::gil_scoped_release release;
            refined = conclust::refine_labels(
                rows_of(codes, offsets, weights, counts, starts, columns, values),
                static_cast<std::size_t>(n_clusters), entropic, max_iter, tol, labels.data());
        }
        return std::pair(refined.losses, refined.converged);
    }, nb::arg("codes").noconvert(), nb::arg("offsets").noconvert(), nb::arg("weights").noconvert(),
       nb::arg("counts").noconvert(), nb::arg("soft_starts").none(), nb::arg("soft_columns").none(),
       nb::arg("soft_values").none(), nb::arg("n_clusters"), nb::arg("entropic"),
       nb::arg("max_iter"), nb::arg("tol"), nb::arg("labels").noconvert());
}

}  // namespace

void bind_labelvec(nb::module_& m) {
    bind_code<std::uint8_t>(m);
    bind_code<std::uint16_t>(m);
    bind_code<std::uint32_t>(m);
}
