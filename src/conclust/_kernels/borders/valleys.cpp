#include "borders/valleys.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "base/interrupt.h"

namespace conclust {

namespace {

// A window is six bins of .05; windows begin at every second bin.
constexpr std::size_t bins = 38;
constexpr std::size_t window_bins = 6;
constexpr std::size_t windows = 17;
constexpr std::size_t apart = 3;  // windows of .3 that do not overlap
constexpr double lowest = -0.45;
constexpr double bins_per_unit = 20.0;
// Windows centred at .5, .4, .6, .3, .7: the candidates for the valley.
constexpr std::array<std::size_t, 5> middle = {8, 7, 9, 6, 10};

// A centre whose distance to the segment is below this share of the segment's length lies on it: no plane.
constexpr double on_segment = 1e-12;  // of squares
constexpr double rounding = 1e-13;  // far above the error of a score less two others
constexpr double infinity = std::numeric_limits<double>::infinity();

// The half-space of another centre: its score less those of p and q, weighted, is at most the bound.
struct HalfSpace {
    std::size_t centre;
    double of_p, of_q, bound;
};

// Points by their nearest centre, the first one if tied. Within a group the score of each centre, less that of its own, is
// between two bounds, by which a whole group is often on one side of a plane.
struct Groups {
    explicit Groups(const Centres& centres)
        : ends(centres.count + 1), lowest(centres.count * centres.count, infinity) {
        const std::size_t K = centres.count;
        const std::size_t n = centres.scores.size() / K;
        std::vector<std::size_t> nearest(n);
        highest.resize(K * K, -infinity);
        for (std::size_t i = 0; i < n; ++i) {
            const double* scores = centres.scores.data() + i * K;
            double most = -infinity;
            for (std::size_t c = 0; c < K; ++c) {
                const double near = scores[c] - 0.5 * centres.gram[c * K + c];
                nearest[i] = near > most ? c : nearest[i];
                most = std::max(near, most);
            }
            const std::size_t own = nearest[i];
            for (std::size_t c = 0; c < K; ++c) {
                const double above = scores[c] - scores[own];
                lowest[own * K + c] = std::min(lowest[own * K + c], above);
                highest[own * K + c] = std::max(highest[own * K + c], above);
                largest = std::max(largest, std::abs(scores[c]));
            }
            ++ends[own + 1];
        }
        std::partial_sum(ends.begin(), ends.end(), ends.begin());
        std::vector<std::size_t> at(ends.begin(), ends.end() - 1);
        points.resize(n);
        for (std::size_t i = 0; i < n; ++i) {
            points[at[nearest[i]]++] = i;
        }
    }

    std::vector<std::size_t> points, ends;  // group g: points[ends[g]] to points[ends[g + 1] - 1]
    std::vector<double> lowest, highest;  // K x K: bounds of each group
    double largest = 0.0;
};

// A border in terms of the inner products of a point.
class Line {
  public:
    Line(const Centres& centres, std::size_t p, std::size_t q) : K_(centres.count), p_(p), q_(q) {
        const double* Q = centres.gram.data();
        const double pp = Q[p * K_ + p];
        const double pq = Q[p * K_ + q];
        const double qq = Q[q * K_ + q];
        const double length = pp + qq - 2.0 * pq;  // squared
        // Rounding errors remain if the centres coincide.
        if (!(length > on_segment * (pp + qq))) {
            return;
        }
        per_length_ = 1.0 / length;
        offset_ = pq - pp;
        for (std::size_t c = 0; c < K_; ++c) {
            const double cp = Q[c * K_ + p];
            const double cq = Q[c * K_ + q];
            const double cc = Q[c * K_ + c];
            const double place = std::clamp((cq - cp - offset_) * per_length_, 0.0, 1.0);
            const double a = 1.0 - place;
            const double nearest = a * a * pp + 2.0 * a * place * pq + place * place * qq;
            const double distance = cc - 2.0 * (a * cp + place * cq) + nearest;
            const bool bounds = c != p && c != q && distance > on_segment * length;
            planes_.push_back({c, a, place, bounds ? 0.5 * (cc - nearest) : infinity});
        }
    }

    // Calls found(i, place) for each point i of the region whose place is in [from, to); for none if the centres coincide.
    template <class Found>
    void walk(const Centres& centres, const Groups& groups, double from, double to,
              const Found& found) const {
        std::vector<HalfSpace> doubtful;
        for (std::size_t g = 0; g < K_ && per_length_ != 0.0; ++g) {
            const double* low = groups.lowest.data() + g * K_;
            const double* high = groups.highest.data() + g * K_;
            doubtful.clear();
            const auto beyond = [&](const HalfSpace& plane) {
                const double slack = rounding * (groups.largest + std::abs(plane.bound));
                const double most = high[plane.centre] - plane.of_p * low[p_] - plane.of_q * low[q_];
                if (most > plane.bound - slack) {
                    doubtful.push_back(plane);
                }
                return low[plane.centre] - plane.of_p * high[p_] - plane.of_q * high[q_] >
                       plane.bound + slack;
            };
            // Most points outside of the region lie beyond the plane of the centre that is nearest to them.
            if (beyond(planes_[g]) || std::ranges::any_of(planes_, beyond)) {
                continue;
            }
            for (std::size_t at = groups.ends[g]; at < groups.ends[g + 1]; ++at) {
                const std::size_t i = groups.points[at];
                const double* scores = centres.scores.data() + i * K_;
                const auto within = [&](const HalfSpace& plane) {
                    return scores[plane.centre] - plane.of_p * scores[p_] - plane.of_q * scores[q_] <=
                           plane.bound;
                };
                const double place = (scores[q_] - scores[p_] - offset_) * per_length_;
                if (place >= from && place < to && std::ranges::all_of(doubtful, within)) {
                    found(i, place);
                }
            }
        }
    }

  private:
    std::size_t K_, p_, q_;
    double per_length_ = 0.0;  // 1 / squared length of the segment
    double offset_ = 0.0;
    std::vector<HalfSpace> planes_;  // of all centres; those without one have no bound
};

// Calls work(b, line) for each border.
template <class Work>
void for_lines(const Centres& centres, Borders borders, [[maybe_unused]] int threads, const Work& work) {
    const auto count = static_cast<std::ptrdiff_t>(borders.size() / 2);
    Interruption interruption;
#pragma omp parallel for default(none) num_threads(threads) schedule(dynamic) \
    shared(centres, borders, count, work, interruption)
    for (std::ptrdiff_t border = 0; border < count; ++border) {
        if (!interruption.wanted()) {
            interruption.guard([&] {
                const auto b = static_cast<std::size_t>(border);
                work(b, Line(centres, static_cast<std::size_t>(borders[2 * b]),
                             static_cast<std::size_t>(borders[2 * b + 1])));
            });
        }
    }
    interruption.pass_on();
}

using Bins = std::array<std::int64_t, bins>;

std::array<std::int64_t, windows> windows_of(const Bins& counts) {
    std::array<std::int64_t, windows> sums{};
    for (std::size_t w = 0; w < windows; ++w) {
        for (std::size_t b = 0; b < window_bins; ++b) {
            sums[w] += counts[2 * w + b];
        }
    }
    return sums;
}

void count_valley(const Bins& chosen_by, const Bins& counted, std::int64_t* counts) {
    const auto by = windows_of(chosen_by);
    const auto in = windows_of(counted);
    const std::size_t valley = std::ranges::min(middle, {}, [&](std::size_t w) { return by[w]; });
    std::size_t left = valley - apart;
    for (std::size_t w = left; w-- > 0;) {
        left = by[w] > by[left] ? w : left;
    }
    std::size_t right = valley + apart;
    for (std::size_t w = right + 1; w < windows; ++w) {
        right = by[w] > by[right] ? w : right;
    }
    counts[0] = in[left];
    counts[1] = in[valley];
    counts[2] = in[right];
}

}  // namespace

void border_places(const Centres& centres, std::span<const std::uint8_t> first, Borders borders,
                   std::span<double> places, std::span<std::int64_t> sizes) {
    const Groups groups(centres);
    for_lines(centres, borders, 1, [&](std::size_t b, const Line& line) {
        double* to = places.data() + b * first.size();
        line.walk(centres, groups, -infinity, infinity, [&](std::size_t i, double place) {
            if (first[i] == 0) {
                *to++ = place;
            }
        });
        sizes[b] = to - (places.data() + b * first.size());
    });
}

void count_valleys(const Centres& centres, std::span<const std::uint8_t> first, Borders borders,
                   std::span<std::int64_t> counts, int threads) {
    constexpr double end = 1.5;  // beyond the last bin
    const Groups groups(centres);
    for_lines(centres, borders, threads, [&](std::size_t b, const Line& line) {
        std::array<Bins, 2> in_bins{};
        line.walk(centres, groups, lowest, end, [&](std::size_t i, double place) {
            const auto bin = static_cast<std::size_t>((place - lowest) * bins_per_unit);
            if (bin < bins) {
                ++in_bins[first[i] != 0 ? 0 : 1][bin];
            }
        });
        count_valley(in_bins[0], in_bins[1], counts.data() + 3 * b);
    });
}

}  // namespace conclust
