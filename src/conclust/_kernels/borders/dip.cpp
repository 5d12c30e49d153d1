#include "borders/dip.h"

#include <algorithm>
#include <vector>

#include "base/interrupt.h"

namespace conclust {

namespace {

// The different values of a sample, with the numbers of objects below and up to each.
struct Steps {
    std::vector<double> x;
    std::vector<double> below;
    std::vector<double> upto;

    void read(std::span<const double> sample) {
        x.clear();
        below.clear();
        upto.clear();
        for (std::size_t i = 0; i < sample.size(); ++i) {
            if (x.empty() || sample[i] != x.back()) {
                x.push_back(sample[i]);
                below.push_back(static_cast<double>(i));
                upto.push_back(0.0);
            }
            upto.back() = static_cast<double>(i + 1);
        }
    }
};

// The convex hull from below (sign 1) or above (-1) of the points lo .. hi: its corners, lo and hi among
// them, and its height at each of these points.
struct Hull {
    std::vector<std::size_t> corners;
    std::vector<double> height;

    void span(const std::vector<double>& x, const std::vector<double>& y, std::size_t lo, std::size_t hi,
              double sign) {
        corners.clear();
        for (std::size_t i = lo; i <= hi; ++i) {
            while (corners.size() > 1) {
                const std::size_t b = corners.back();
                const std::size_t a = corners[corners.size() - 2];
                const double turn = (y[b] - y[a]) * (x[i] - x[b]) - (y[i] - y[b]) * (x[b] - x[a]);
                if (sign * turn < 0.0) {
                    break;
                }
                corners.pop_back();
            }
            corners.push_back(i);
        }
        height.resize(x.size());
        height[lo] = y[lo];
        for (std::size_t c = 1; c < corners.size(); ++c) {
            const std::size_t a = corners[c - 1];
            const std::size_t b = corners[c];
            const double slope = (y[b] - y[a]) / (x[b] - x[a]);
            for (std::size_t i = a + 1; i < b; ++i) {
                height[i] = y[a] + slope * (x[i] - x[a]);
            }
            height[b] = y[b];
        }
    }
};

// Heights are numbers of objects. The modal interval lo .. hi shrinks to where the hulls are farthest apart.
// The hull is final outside of it: the minorant on the left, the majorant on the right. Each round shortens
// the interval: at lo and hi themselves the corner next to a corner is the same point.
struct Dip {
    Steps steps;
    Hull minorant;
    Hull majorant;

    double of(std::span<const double> sample) {
        steps.read(sample);
        std::size_t lo = 0;
        std::size_t hi = steps.x.size() - 1;
        double dip = 0.0;
        while (lo < hi) {
            minorant.span(steps.x, steps.below, lo, hi, 1.0);
            majorant.span(steps.x, steps.upto, lo, hi, -1.0);
            double apart = -1.0;
            std::size_t left = lo;
            std::size_t right = hi;
            const auto& convex = minorant.corners;
            const auto& concave = majorant.corners;
            // The widest gap at a corner of either, and the corner of the other next to it.
            for (const std::size_t g : convex) {
                const double gap = majorant.height[g] - steps.below[g];
                if (gap > apart) {
                    apart = gap;
                    left = g;
                    right = *std::lower_bound(concave.begin(), concave.end(), g);
                }
            }
            for (const std::size_t l : concave) {
                const double gap = steps.upto[l] - minorant.height[l];
                if (gap > apart) {
                    apart = gap;
                    left = *(std::upper_bound(convex.begin(), convex.end(), l) - 1);
                    right = l;
                }
            }
            if (apart <= dip) {
                break;
            }
            for (std::size_t i = lo; i < left; ++i) {
                dip = std::max(dip, steps.upto[i] - minorant.height[i]);
            }
            for (std::size_t i = right + 1; i <= hi; ++i) {
                dip = std::max(dip, majorant.height[i] - steps.below[i]);
            }
            lo = left;
            hi = right;
        }
        return dip / (2.0 * static_cast<double>(sample.size()));
    }
};

}  // namespace

void dips_of_sorted(std::span<const double> samples, std::size_t n, std::span<double> dips,
                    [[maybe_unused]] int threads) {
    const auto rows = static_cast<std::ptrdiff_t>(dips.size());
    Interruption interruption;
#pragma omp parallel default(none) num_threads(threads) shared(samples, n, dips, rows, interruption)
    {
        Dip dip;
#pragma omp for schedule(static)
        for (std::ptrdiff_t row = 0; row < rows; ++row) {
            if (!interruption.wanted()) {
                const auto r = static_cast<std::size_t>(row);
                interruption.guard([&] { dips[r] = dip.of(samples.subspan(r * n, n)); });
            }
        }
    }
    interruption.pass_on();
}

}  // namespace conclust
