// The body of clusterwise.cpp, included there once in each form's namespace (see forms.h): no
// include guard on purpose.

#include "evidence/bitsliced/slices_form.h"

// Converts one object's sums against `count` objects to dissimilarities. Returns the total size of the objects
// that no partition observed together with it.
CONCLUST_FORM_INLINE std::int64_t dissimilar(const double* c, const double* N, const std::int64_t* sizes,
                                             std::size_t count, double* out) {
    std::int64_t unobserved = 0;
    for (std::size_t k = 0; k < count; ++k) {
        const bool known = N[k] > 0.0;
        // Without a branch: pairs without evidence are divided by 1.
        const double apart = 1.0 - (known ? c[k] : 0.0) / (known ? N[k] : 1.0);
        out[k] = std::clamp(apart, 0.0, 1.0);
        unobserved += known ? 0 : sizes[k];
    }
    return unobserved;
}

// Writes the dissimilarities of object i and the later objects of blocks [from, to) to its row of the output.
inline std::int64_t dissimilar_row(const Pairs& pairs, std::size_t i, std::size_t from, std::size_t to,
                                   const double* tables, const std::uint32_t* b) {
    constexpr std::size_t size = BitSlices::block_size;
    alignas(64) double together[size];
    alignas(64) double observed[size];
    double* row = pairs.out + i * pairs.n;
    std::fill_n(observed, size, pairs.whole);
    std::int64_t unobserved = 0;
    for (std::size_t block = from; block < to; ++block) {
        const std::size_t first = block * size;
        const std::size_t last = std::min(pairs.n, first + size);
        const std::size_t begin = std::max(first, i + 1);
        if (begin >= last) {
            continue;
        }
        weighted_block(pairs.slices, tables, block, b, together, nullptr);
        if (!pairs.weights.empty() && !pairs.slices.complete()) {
            weighted_block(pairs.slices, pairs.weights.data(), block, b, nullptr, observed);
        }
        const double* N = pairs.weights.empty() ? row + begin : observed + (begin - first);
        unobserved +=
            dissimilar(together + (begin - first), N, pairs.sizes + begin, last - begin, row + begin);
    }
    return unobserved * pairs.sizes[i];
}
