#include "search/rows/block_gains.h"

#include <algorithm>

namespace conclust {
namespace {

// Adds the decrease of the loss, partition by partition, if the row joins each cluster.
template <class Gain>
CONCLUST_INLINE void add_gains(const RowGains& in, double* __restrict gain, double* __restrict cross,
                               Gain of) {
    const double c = in.count;
    for (const RowBlock& block : in.blocks) {
        const double w = in.weights[block.member];
        const double* __restrict square = in.squares + block.member * in.width;
        const double* __restrict third = in.third + block.member * in.width;
        if (block.end - block.begin == 1) {
            const double x = c * in.entries[block.begin].value;
            const double* __restrict s = in.sums + in.entries[block.begin].column * in.width;
            for (std::size_t k = 0; k < in.width; ++k) {
                gain[k] += of(w, x * (2.0 * s[k] + x), square[k], third[k], c);
            }
            continue;
        }
        std::fill(cross, cross + in.width, block.begin == block.end ? c : 0.0);
        for (std::size_t e = block.begin; e < block.end; ++e) {
            const double x = c * in.entries[e].value;
            const double* __restrict s = in.sums + in.entries[e].column * in.width;
            for (std::size_t k = 0; k < in.width; ++k) {
                cross[k] += x * (2.0 * s[k] + x);
            }
        }
        for (std::size_t k = 0; k < in.width; ++k) {
            gain[k] += of(w, cross[k], square[k], third[k], c);
        }
    }
}

}  // namespace

CONCLUST_CLONES void quadratic_gains(const RowGains& in, double* gain, double* cross) {
    add_gains(in, gain, cross, [](double w, double crossed, double square, double p, double c) {
        return quadratic_gain(w, crossed, square, p, c);
    });
}

CONCLUST_CLONES void norm_gains(const RowGains& in, double* gain, double* cross) {
    add_gains(in, gain, cross, [](double w, double crossed, double square, double norm, double) {
        return norm_gain(w, crossed, square, norm);
    });
}

CONCLUST_CLONES void cut_gains(const RowGains& in, double* gain, double* cross) {
    add_gains(in, gain, cross,
              [](double w, double crossed, double, double, double) { return w * crossed; });
}

}  // namespace conclust
