#include "base/bindings.h"

#include "evidence/contingency.h"
#include "evidence/pair_table.h"
#include "evidence/pairs.h"
#include "evidence/partition_terms.h"
#include "evidence/squared_evidence.h"
#include "labels/bound.h"

using conclust::PairSample;

namespace {

void bind_contingency(nb::module_& m) {
    m.def("contingency_gram", [](const BoundLabels& labels, Matrix<std::int64_t> gram, int n_threads) {
        const WithoutGil release;
        conclust::contingency_gram(labels.view, span_of(gram), n_threads);
    }, nb::arg("labels"), nb::arg("gram").noconvert(), nb::arg("n_threads"));
    m.def("contingency_rows",
          [](const BoundLabels& labels, std::size_t first, std::size_t last, Matrix<std::int64_t> rows,
             int n_threads) {
        const WithoutGil release;
        conclust::contingency_rows(labels.view, first, last, span_of(rows), n_threads);
    },
          nb::arg("labels"), nb::arg("first"), nb::arg("last"), nb::arg("rows").noconvert(),
          nb::arg("n_threads"));
    m.def("weighted_gram",
          [](const BoundLabels& labels, Vector<const double> mass, Matrix<double> gram, int n_threads) {
        const WithoutGil release;
        conclust::contingency_gram(labels.view, span_of(mass), span_of(gram), n_threads);
    }, nb::arg("labels"), nb::arg("mass").noconvert(), nb::arg("gram").noconvert(),
          nb::arg("n_threads"));
    m.def("squared_tables",
          [](const BoundLabels& labels, Vector<const std::int64_t> counts, Matrix<double> sums) {
        const WithoutGil release;
        conclust::squared_tables(labels.view, span_of(counts), span_of(sums));
    }, nb::arg("labels"), nb::arg("counts").noconvert(), nb::arg("sums").noconvert());
    m.def("sparse_gram",
          [](Vector<const std::int64_t> starts, Vector<const std::int32_t> columns,
             Vector<const double> values, Vector<const double> root, Matrix<double> gram) {
        const WithoutGil release;
        conclust::sparse_gram({span_of(starts), span_of(columns), span_of(values)}, span_of(root),
                              span_of(gram));
    },
          nb::arg("starts").noconvert(), nb::arg("columns").noconvert(), nb::arg("values").noconvert(),
          nb::arg("root").noconvert(), nb::arg("gram").noconvert());
}

template <class Index, class Sum>
void bind_lists(nb::module_& m) {
    m.def("pair_counts",
          [](const BoundLabels& labels, Vector<const Index> i, Vector<const Index> j, Vector<Sum> c,
             Vector<Sum> present, int n_threads) {
        const WithoutGil release;
        conclust::pair_counts(labels.view, span_of(i), span_of(j), span_of(c), span_of(present),
                              n_threads);
    },
          nb::arg("labels"), nb::arg("i").noconvert(), nb::arg("j").noconvert(),
          nb::arg("c").noconvert(), nb::arg("present").noconvert(), nb::arg("n_threads"));
}

template <class Sum>
void bind_graph_counts(nb::module_& m) {
    m.def("graph_counts",
          [](const BoundLabels& labels, Vector<const std::int64_t> indptr,
             Vector<const std::int32_t> indices, Vector<Sum> c, Vector<Sum> present, int n_threads) {
        const WithoutGil release;
        conclust::graph_counts(labels.view, span_of(indptr), span_of(indices), span_of(c),
                               span_of(present), n_threads);
    },
          nb::arg("labels"), nb::arg("indptr").noconvert(), nb::arg("indices").noconvert(),
          nb::arg("c").noconvert(), nb::arg("present").noconvert(), nb::arg("n_threads"));
}

void bind_pairs(nb::module_& m) {
    // Labels have weights if and only if the outputs are doubles.
    bind_lists<std::int32_t, std::uint32_t>(m);
    bind_lists<std::int64_t, std::uint32_t>(m);
    bind_lists<std::int32_t, double>(m);
    bind_lists<std::int64_t, double>(m);
    bind_graph_counts<std::uint32_t>(m);
    bind_graph_counts<double>(m);

    nb::class_<PairSample> cls(m, "PairSample");
    cls.def(
        "__init__",
        [](PairSample* self, std::size_t n, std::size_t per_object, std::uint64_t seed, int n_threads) {
        const WithoutGil release;
        new (self) PairSample(n, per_object, seed, n_threads);
    }, nb::arg("n_samples"), nb::arg("per_object"), nb::arg("seed"), nb::arg("n_threads"));
    cls.def_prop_ro("n_entries", &PairSample::n_entries);
    cls.def("read",
            [](const PairSample& self, Vector<std::int64_t> indptr, Vector<std::int32_t> indices,
               int n_threads) {
        const WithoutGil release;
        self.read(span_of(indptr), span_of(indices), n_threads);
    },
            nb::arg("indptr").noconvert(), nb::arg("indices").noconvert(), nb::arg("n_threads"));
}

template <class Count>
void bind_squares(nb::module_& m) {
    m.def("squared_evidence", [](Matrix<const Count> c, Matrix<const Count> N, std::size_t first) {
        const WithoutGil release;
        return conclust::squared_evidence(span_of(c), span_of(N), c.shape(1), first);
    }, nb::arg("c").noconvert(), nb::arg("N").noconvert(), nb::arg("first"));
}

void bind_squared_evidence(nb::module_& m) {
    bind_squares<std::uint8_t>(m);
    bind_squares<std::uint16_t>(m);
    bind_squares<std::uint32_t>(m);
    bind_squares<double>(m);
}

template <class Count>
void bind_tables(nb::module_& m) {
    m.def(
        "pair_table",
        [](Matrix<const Count> c, Matrix<const Count> N, std::size_t first, Matrix<std::int64_t> table) {
        const WithoutGil release;
        conclust::pair_table(span_of(c), span_of(N), first, c.shape(1), table.shape(0), span_of(table));
    }, nb::arg("c").noconvert(), nb::arg("N").noconvert(), nb::arg("first"),
        nb::arg("table").noconvert());
}

void bind_pair_table(nb::module_& m) {
    bind_tables<std::uint16_t>(m);
    bind_tables<std::uint32_t>(m);
}

template <class Label>
void bind_terms(nb::module_& m) {
    m.def(
        "partition_terms",
        [](Matrix<const Label> first, Vector<const std::int64_t> first_sizes, Matrix<const Label> second,
           Vector<const std::int64_t> second_sizes, bool squares, bool symmetric, int threads,
           nb::ndarray<double, nb::ndim<3>, nb::c_contig, nb::device::cpu> terms) {
        const WithoutGil release;
        conclust::partition_terms<Label>({span_of(first), span_of(first_sizes), first.shape(1)},
                                         {span_of(second), span_of(second_sizes), second.shape(1)},
                                         squares, symmetric, threads, span_of(terms));
    },
        nb::arg("first").noconvert(), nb::arg("first_sizes").noconvert(), nb::arg("second").noconvert(),
        nb::arg("second_sizes").noconvert(), nb::arg("squares"), nb::arg("symmetric"),
        nb::arg("threads"), nb::arg("terms").noconvert());
}

}  // namespace

void bind_evidence(nb::module_& m) {
    bind_contingency(m);
    bind_pairs(m);
    bind_pair_table(m);
    bind_terms<std::uint8_t>(m);
    bind_terms<std::int32_t>(m);
    bind_squared_evidence(m);
}
