#include "base/bindings.h"

#include "evidence/contingency.h"
#include "evidence/pair_table.h"
#include "evidence/pairs.h"
#include "evidence/partition_terms.h"
#include "evidence/squared_evidence.h"
#include "labels/label_view.h"

using conclust::LabelView;
using conclust::PairSample;

namespace {

void bind_contingency(nb::module_& m) {
    m.def("contingency_gram",
          nb::overload_cast<const LabelView&, std::span<std::int64_t>, int>(&conclust::contingency_gram),
          "labels"_a, "gram"_a, "n_threads"_a, without_gil);
    m.def("contingency_rows", &conclust::contingency_rows, "labels"_a, "first"_a, "last"_a, "rows"_a,
          "n_threads"_a, without_gil);
    m.def("weighted_gram",
          nb::overload_cast<const LabelView&, std::span<const double>, std::span<double>, int>(
              &conclust::contingency_gram),
          "labels"_a, "mass"_a, "gram"_a, "n_threads"_a, without_gil);
    m.def("squared_tables", &conclust::squared_tables, "labels"_a, "counts"_a, "sums"_a, without_gil);
    m.def("sparse_gram",
          [](std::span<const std::int64_t> starts, std::span<const std::int32_t> columns,
             std::span<const double> values, std::span<const double> root,
             std::span<double> gram) { conclust::sparse_gram({starts, columns, values}, root, gram); },
          "starts"_a, "columns"_a, "values"_a, "root"_a, "gram"_a, without_gil);
}

// Labels have weights if and only if the sums are doubles.
template <class Sum>
void bind_sums(nb::module_& m) {
    m.def("pair_counts", &conclust::pair_counts<std::int32_t, Sum>, "labels"_a, "i"_a, "j"_a, "c"_a,
          "present"_a, "n_threads"_a, without_gil);
    m.def("pair_counts", &conclust::pair_counts<std::int64_t, Sum>, "labels"_a, "i"_a, "j"_a, "c"_a,
          "present"_a, "n_threads"_a, without_gil);
    m.def("graph_counts", &conclust::graph_counts<Sum>, "labels"_a, "indptr"_a, "indices"_a, "c"_a,
          "present"_a, "n_threads"_a, without_gil);
}

[[maybe_unused]] void bind_sample(nb::module_& m) {
    nb::class_<PairSample>(m, "PairSample")
        .def(nb::init<std::size_t, std::size_t, std::uint64_t, int>(), "n_samples"_a, "per_object"_a,
             "seed"_a, "n_threads"_a, without_gil)
        .def_prop_ro("n_entries", &PairSample::n_entries)
        .def("read", &PairSample::read, "indptr"_a, "indices"_a, "n_threads"_a, without_gil);
}

template <class Count>
void bind_squares(nb::module_& m) {
    m.def("squared_evidence", [](Matrix<const Count> c, std::span<const Count> N, std::size_t first) {
        return conclust::squared_evidence<Count>(c, N, c.columns, first);
    }, "c"_a, "N"_a, "first"_a, without_gil);
}

template <class Count>
void bind_table(nb::module_& m) {
    m.def("pair_table",
          [](Matrix<const Count> c, std::span<const Count> N, std::size_t first,
             Matrix<std::int64_t> table) {
        conclust::pair_table<Count>(c, N, first, c.columns, table.rows, table);
    },
          "c"_a, "N"_a, "first"_a, "table"_a, without_gil);
}

template <class Label>
void bind_terms(nb::module_& m) {
    m.def("partition_terms",
          [](Matrix<const Label> first, std::span<const std::int64_t> first_sizes,
             Matrix<const Label> second, std::span<const std::int64_t> second_sizes, bool squares,
             bool symmetric, int threads, std::span<double> terms) {
        conclust::partition_terms<Label>({first, first_sizes, first.columns},
                                         {second, second_sizes, second.columns}, squares, symmetric,
                                         threads, terms);
    },
          "first"_a, "first_sizes"_a, "second"_a, "second_sizes"_a, "squares"_a, "symmetric"_a,
          "threads"_a, "terms"_a, without_gil);
}

}  // namespace

void bind_evidence(nb::module_& m) {
    bind_contingency(m);
    bind_terms<std::uint8_t>(m);
    bind_terms<std::int32_t>(m);
    if constexpr (CONCLUST_WHOLE) {
        bind_sums<std::uint32_t>(m);
        bind_sums<double>(m);
        bind_sample(m);
        bind_table<std::uint16_t>(m);
        bind_table<std::uint32_t>(m);
        bind_squares<std::uint8_t>(m);
        bind_squares<std::uint16_t>(m);
        bind_squares<std::uint32_t>(m);
        bind_squares<double>(m);
    }
}
