#include "aspect.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "clones.h"
#include "pack.h"
#include "special.h"

namespace conclust {
namespace {

// Pairs worked on together: a whole number of packs that stays in the cache.
constexpr std::size_t chunk = 512;

CONCLUST_INLINE double lane_sum(const double* x, const double* y, std::size_t count) {
    Pack sum = spread(0.0);
    std::size_t c = 0;
    for (; c + pack_lanes <= count; c += pack_lanes) {
        sum += load(x + c) * load(y + c);
    }
    double lanes[pack_lanes];
    store(lanes, sum);
    double total = (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]);
    for (; c < count; ++c) {
        total += x[c] * y[c];
    }
    return total;
}

}  // namespace

CONCLUST_CLONES double aspect_rows(const double* pairs, const double* counts, const double* x,
                                   const double* beta, std::size_t n, std::size_t k,
                                   std::size_t begin, std::size_t end, double* fresh) {
    double expected[chunk];
    double ratio[chunk];
    double logs[chunk];
    std::vector<double> sums(k);
    double value = 0.0;
    for (std::size_t a = begin; a < end; ++a) {
        std::fill(sums.begin(), sums.end(), 0.0);
        double own = 0.0;
        for (std::size_t first = 0; first < n; first += chunk) {
            const std::size_t count = std::min(chunk, n - first);
            const double* p = pairs + a * n + first;
            std::fill(expected, expected + count, 0.0);
            for (std::size_t r = 0; r < k; ++r) {
                const double share = x[a * k + r];
                const double* b = beta + r * n + first;
                for (std::size_t c = 0; c < count; ++c) {
                    expected[c] += share * b[c];
                }
            }
            for (std::size_t c = 0; c < count; ++c) {
                const double P = std::max(expected[c], std::numeric_limits<double>::min());
                expected[c] = P;
                ratio[c] = p[c] / P;
            }
            for (std::size_t r = 0; r < k; ++r) {
                sums[r] += lane_sum(ratio, beta + r * n + first, count);
            }
            if (first + count > a) {
                const std::size_t skipped = a > first ? a - first : 0;
                for (std::size_t c = skipped; c < count; ++c) {
                    logs[c] = natural_log(expected[c]);
                }
                own += 2.0 * lane_sum(p + skipped, logs + skipped, count - skipped);
                if (a >= first) {
                    own -= p[skipped] * logs[skipped];
                }
            }
        }
        value += counts[a] * own;
        for (std::size_t r = 0; r < k; ++r) {
            fresh[a * k + r] = x[a * k + r] * sums[r];
        }
    }
    return value;
}

}  // namespace conclust
