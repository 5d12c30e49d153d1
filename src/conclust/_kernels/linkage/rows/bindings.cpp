#include "base/bindings.h"

#include <algorithm>

#include "linkage/rows/average.h"
#include "linkage/rows/single.h"

using conclust::AverageChain;
using conclust::RowPairs;
using conclust::SingleTree;

namespace {

// The arrays that a RowPairs reads, kept alive with it: it is made once and read by what links.
struct BoundPairs {
    Vector<const std::int64_t> starts;
    Vector<const std::int32_t> columns;
    Vector<const double> values;
    Vector<const double> diagonal;
    Vector<const std::int64_t> mixing_starts;
    Vector<const std::int32_t> mixing_columns;
    Vector<const double> mixing_values;
    Vector<const double> masses;
    Matrix<const double> presence;
    std::size_t n_columns;

    RowPairs pairs() const {
        return {{span_of(starts), span_of(columns), span_of(values)},
                span_of(diagonal),
                {span_of(mixing_starts), span_of(mixing_columns), span_of(mixing_values)},
                span_of(masses),
                span_of(presence),
                n_columns};
    }
};

void bind_pairs(nb::module_& m) {
    // W is the diagonal, or what the mixing arrays say; the others are None.
    nb::class_<BoundPairs>(m, "RowPairs")
        .def("__init__",
             [](BoundPairs* self, Vector<const std::int64_t> starts, Vector<const std::int32_t> columns,
                Vector<const double> values, Vector<const double> masses, std::size_t n_columns,
                Vector<const double> diagonal, Vector<const std::int64_t> mixing_starts,
                Vector<const std::int32_t> mixing_columns, Vector<const double> mixing_values,
                Matrix<const double> presence) {
        new (self) BoundPairs{starts,         columns,       values, diagonal, mixing_starts,
                              mixing_columns, mixing_values, masses, presence, n_columns};
    },
             nb::arg("starts").noconvert(), nb::arg("columns").noconvert(),
             nb::arg("values").noconvert(), nb::arg("masses").noconvert(), nb::arg("n_columns"),
             nb::arg("diagonal").noconvert() = nb::none(),
             nb::arg("mixing_starts").noconvert() = nb::none(),
             nb::arg("mixing_columns").noconvert() = nb::none(),
             nb::arg("mixing_values").noconvert() = nb::none(),
             nb::arg("presence").noconvert() = nb::none());
}

void bind_average(nb::module_& m) {
    nb::class_<AverageChain> cls(m, "AverageChain");
    cls.def("__init__", [](AverageChain* self, const BoundPairs& bound, std::size_t until) {
        const RowPairs pairs = bound.pairs();
        const WithoutGil release;
        new (self) AverageChain(pairs, until);
    }, nb::arg("pairs"), nb::arg("until"));
    cls.def("run", [](AverageChain& self, std::size_t rows) {
        const WithoutGil release;
        return self.run(rows);
    }, nb::arg("rows"));
    // Precondition: nothing is left to run; of n - until merges, and n leaders.
    cls.def("read",
            [](const AverageChain& self, Vector<std::int64_t> left, Vector<std::int64_t> right,
               Vector<double> heights, Vector<std::int64_t> leaders) {
        const WithoutGil release;
        self.read({span_of(left), span_of(right), span_of(heights)}, span_of(leaders));
    },
            nb::arg("left").noconvert(), nb::arg("right").noconvert(), nb::arg("heights").noconvert(),
            nb::arg("leaders").noconvert());
}

void bind_single(nb::module_& m) {
    nb::class_<SingleTree> cls(m, "SingleTree");
    cls.def("__init__", [](SingleTree* self, const BoundPairs& bound) {
        const RowPairs pairs = bound.pairs();
        const WithoutGil release;
        new (self) SingleTree(pairs);
    }, nb::arg("pairs"));
    cls.def("grow", [](SingleTree& self, std::size_t clusters) {
        const WithoutGil release;
        return self.grow(clusters);
    }, nb::arg("clusters"));
    // Precondition: nothing is left to grow; order is (n,), heights (n - 1,).
    cls.def("read", [](const SingleTree& self, Vector<std::int64_t> order, Vector<double> heights) {
        const WithoutGil release;
        std::copy(self.order().begin(), self.order().end(), order.data());
        std::copy(self.heights().begin(), self.heights().end(), heights.data());
    }, nb::arg("order").noconvert(), nb::arg("heights").noconvert());
}

}  // namespace

void bind_row_linkage(nb::module_& m) {
    bind_pairs(m);
    bind_average(m);
    bind_single(m);
}
