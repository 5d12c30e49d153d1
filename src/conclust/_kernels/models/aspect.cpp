#include "models/aspect.h"

#include <algorithm>
#include <limits>

#include "base/clones.h"
#include "base/pack.h"
#include "base/special.h"

namespace conclust {
namespace {

// Pairs worked on together: a whole number of packs that stays in the cache.
constexpr std::size_t chunk = 256;

// S = stride if it is known at compile time, else 0.
template <int S>
struct Step {
    const double* x;
    const double* beta;
    double* sums;
    std::size_t any_stride;

    CONCLUST_INLINE std::size_t stride() const { return S ? static_cast<std::size_t>(S) : any_stride; }

    CONCLUST_INLINE const double* beta_of(std::int32_t b) const {
        return beta + static_cast<std::size_t>(b) * stride();
    }

    // The products of a row of x with four rows of beta.
    CONCLUST_INLINE Pack products(const double* row, const std::int32_t* b) const {
        const double* at[pack_lanes] = {beta_of(b[0]), beta_of(b[1]), beta_of(b[2]), beta_of(b[3])};
        Pack p0 = spread(0.0), p1 = p0, p2 = p0, p3 = p0;
        for (std::size_t r = 0; r < stride(); r += pack_lanes) {
            const Pack share = load(row + r);
            p0 += share * load(at[0] + r);
            p1 += share * load(at[1] + r);
            p2 += share * load(at[2] + r);
            p3 += share * load(at[3] + r);
        }
        transpose(p0, p1, p2, p3);
        return (p0 + p1) + (p2 + p3);
    }

    // P of row a with up to `chunk` others; written in whole packs.
    CONCLUST_INLINE void expect(const double* row, const std::int32_t* b, std::size_t count,
                                double* P) const {
        std::size_t c = 0;
        for (; c + pack_lanes <= count; c += pack_lanes) {
            store(P + c, products(row, b + c));
        }
        if (c < count) {
            std::int32_t last[pack_lanes];
            for (std::size_t lane = 0; lane < pack_lanes; ++lane) {
                last[lane] = b[std::min(c + lane, count - 1)];
            }
            store(P + c, products(row, last));
        }
    }

    CONCLUST_INLINE void add(double* to, double ratio, const double* from) const {
        const Pack times = spread(ratio);
        for (std::size_t r = 0; r < stride(); r += pack_lanes) {
            store(to + r, load(to + r) + times * load(from + r));
        }
    }

    // The sum of the value over the pairs of one row.
    CONCLUST_INLINE double row(const AspectPairs& pairs, std::size_t a) const {
        double P[chunk];
        double ratio[chunk];
        double value = 0.0;
        const auto end = static_cast<std::size_t>(pairs.starts[a + 1]);
        for (auto first = static_cast<std::size_t>(pairs.starts[a]); first < end; first += chunk) {
            const std::size_t count = std::min(chunk, end - first);
            const std::int32_t* b = pairs.columns.data() + first;
            const double* w = pairs.weights.data() + first;
            expect(x + a * stride(), b, count, P);
            for (std::size_t c = 0; c < count; ++c) {
                P[c] = std::max(P[c], std::numeric_limits<double>::min());
                ratio[c] = w[c] / P[c];
                P[c] = w[c] * natural_log(P[c]);
            }
            for (std::size_t c = 0; c < count; ++c) {
                const auto other = static_cast<std::size_t>(b[c]);
                add(sums + a * stride(), ratio[c], beta + other * stride());
                if (other != a) {
                    add(sums + other * stride(), ratio[c], beta + a * stride());
                }
                value += other == a ? P[c] : 2.0 * P[c];
            }
        }
        return value;
    }

    CONCLUST_INLINE double rows(const AspectPairs& pairs, std::size_t begin, std::size_t end) const {
        double value = 0.0;
        for (std::size_t a = begin; a < end; ++a) {
            value += row(pairs, a);
        }
        return value;
    }
};

}  // namespace

CONCLUST_CLONES double aspect_pairs(const AspectPairs& pairs, std::span<const double> x,
                                    std::span<const double> beta, std::size_t stride, std::size_t begin,
                                    std::size_t end, std::span<double> sums) {
    switch (stride) {
        case 4: return Step<4>{x.data(), beta.data(), sums.data(), stride}.rows(pairs, begin, end);
        case 8: return Step<8>{x.data(), beta.data(), sums.data(), stride}.rows(pairs, begin, end);
        case 12: return Step<12>{x.data(), beta.data(), sums.data(), stride}.rows(pairs, begin, end);
        case 16: return Step<16>{x.data(), beta.data(), sums.data(), stride}.rows(pairs, begin, end);
        case 20: return Step<20>{x.data(), beta.data(), sums.data(), stride}.rows(pairs, begin, end);
        default: return Step<0>{x.data(), beta.data(), sums.data(), stride}.rows(pairs, begin, end);
    }
}

}  // namespace conclust
