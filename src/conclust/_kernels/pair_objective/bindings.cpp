#include "base/bindings.h"

#include "pair_objective/pair_counts.h"

using conclust::PairCounts;

namespace {

// Counts, or sums of weights: unsigned integers of 1, 2 or 4 bytes, or doubles.
using AnyCounts = nb::ndarray<nb::c_contig, nb::device::cpu, nb::ro>;

conclust::Counts counts_of(const AnyCounts& array) {
    return {array.data(), static_cast<int>(array.itemsize()), array.size()};
}

}  // namespace

void bind_pair_objective(nb::module_& m) {
    nb::class_<PairCounts>(m, "PairCounts")
        .def("__init__",
             [](PairCounts* self, const AnyCounts& c, const AnyCounts& N,
                std::span<const std::int64_t> starts, std::span<const std::int32_t> partners) {
        const std::size_t n = starts.empty() ? c.shape(0) : starts.size() - 1;
        new (self) PairCounts{n, counts_of(c), counts_of(N), starts, partners};
    },
             "c"_a.noconvert(), "N"_a.noconvert(), "starts"_a = nb::none(), "partners"_a = nb::none(),
             kept<2>, kept<3>, kept<4>, kept<5>);
}
