#include "borders/valleys.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
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

// The half-space of another centre: its score less those of p and q, weighted, is at most the bound.
struct HalfSpace {
    std::size_t centre;
    double of_p, of_q, bound;
};

// A border in terms of the inner products of a point.
class Line {
  public:
    Line(const Centres& centres, std::size_t p, std::size_t q)
        : K_(centres.count), p_(p), q_(q), at_(K_, none) {
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
            if (c == p || c == q) {
                continue;
            }
            const double cp = Q[c * K_ + p];
            const double cq = Q[c * K_ + q];
            const double cc = Q[c * K_ + c];
            const double place = std::clamp((cq - cp - offset_) * per_length_, 0.0, 1.0);
            const double a = 1.0 - place;
            const double nearest = a * a * pp + 2.0 * a * place * pq + place * place * qq;
            const double distance = cc - 2.0 * (a * cp + place * cq) + nearest;
            if (distance > on_segment * length) {
                at_[c] = planes_.size();
                planes_.push_back({c, a, place, 0.5 * (cc - nearest)});
            }
        }
    }

    bool degenerate() const { return per_length_ == 0.0; }

    // Most points outside of the region lie beyond the plane of the centre that is nearest to them.
    bool holds(const double* scores, std::size_t nearest) const {
        const std::size_t likely = at_[nearest];
        if (likely != none && !within(planes_[likely], scores)) {
            return false;
        }
        return std::all_of(planes_.begin(), planes_.end(),
                           [&](const HalfSpace& plane) { return within(plane, scores); });
    }

    double place(const double* scores) const {
        return (scores[q_] - scores[p_] - offset_) * per_length_;
    }

  private:
    static constexpr std::size_t none = static_cast<std::size_t>(-1);

    std::size_t K_, p_, q_;
    double per_length_ = 0.0;  // 1 / squared length of the segment
    double offset_ = 0.0;
    std::vector<HalfSpace> planes_;
    std::vector<std::size_t> at_;  // the plane of each centre

    bool within(const HalfSpace& plane, const double* scores) const {
        return scores[plane.centre] - plane.of_p * scores[p_] - plane.of_q * scores[q_] <= plane.bound;
    }
};

Line line_of(const Centres& centres, Borders borders, std::size_t b) {
    return {centres, static_cast<std::size_t>(borders[2 * b]),
            static_cast<std::size_t>(borders[2 * b + 1])};
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
    std::size_t valley = middle[0];
    for (const std::size_t w : middle) {
        valley = by[w] < by[valley] ? w : valley;
    }
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

void nearest_centres(const Centres& centres, std::span<std::int64_t> nearest,
                     [[maybe_unused]] int threads) {
    const std::size_t K = centres.count;
    const auto n = static_cast<std::ptrdiff_t>(nearest.size());
#pragma omp parallel for default(none) num_threads(threads) schedule(static) \
    shared(centres, nearest, K, n)
    for (std::ptrdiff_t at = 0; at < n; ++at) {
        const auto i = static_cast<std::size_t>(at);
        const double* scores = centres.scores.data() + i * K;
        std::size_t best = 0;
        double most = -std::numeric_limits<double>::infinity();
        for (std::size_t c = 0; c < K; ++c) {
            const double near = scores[c] - 0.5 * centres.gram[c * K + c];
            if (near > most) {
                most = near;
                best = c;
            }
        }
        nearest[i] = static_cast<std::int64_t>(best);
    }
}

void border_places(const Centres& centres, std::span<const std::int64_t> nearest, Borders borders,
                   std::span<double> places, [[maybe_unused]] int threads) {
    const std::size_t n = nearest.size();
    const auto count = static_cast<std::ptrdiff_t>(borders.size() / 2);
    Interruption interruption;
#pragma omp parallel for default(none) num_threads(threads) schedule(dynamic) \
    shared(centres, nearest, borders, places, n, count, interruption)
    for (std::ptrdiff_t border = 0; border < count; ++border) {
        if (interruption.wanted()) {
            continue;
        }
        interruption.guard([&] {
            const auto b = static_cast<std::size_t>(border);
            const Line line = line_of(centres, borders, b);
            for (std::size_t i = 0; i < n; ++i) {
                const double* scores = centres.scores.data() + i * centres.count;
                const bool in =
                    !line.degenerate() && line.holds(scores, static_cast<std::size_t>(nearest[i]));
                places[b * n + i] = in ? line.place(scores) : std::numeric_limits<double>::quiet_NaN();
            }
        });
    }
    interruption.pass_on();
}

void count_valleys(const Centres& centres, std::span<const std::int64_t> nearest,
                   std::span<const std::uint8_t> first, Borders borders, std::span<std::int64_t> counts,
                   [[maybe_unused]] int threads) {
    const std::size_t n = nearest.size();
    const auto count = static_cast<std::ptrdiff_t>(borders.size() / 2);
    Interruption interruption;
#pragma omp parallel for default(none) num_threads(threads) schedule(dynamic) \
    shared(centres, nearest, first, borders, counts, n, count, interruption)
    for (std::ptrdiff_t border = 0; border < count; ++border) {
        if (interruption.wanted()) {
            continue;
        }
        interruption.guard([&] {
            const auto b = static_cast<std::size_t>(border);
            const Line line = line_of(centres, borders, b);
            std::array<Bins, 2> in_bins{};
            for (std::size_t i = 0; i < n && !line.degenerate(); ++i) {
                const double* scores = centres.scores.data() + i * centres.count;
                const double bin = std::floor((line.place(scores) - lowest) * bins_per_unit);
                if (bin >= 0.0 && bin < static_cast<double>(bins) &&
                    line.holds(scores, static_cast<std::size_t>(nearest[i]))) {
                    ++in_bins[first[i] != 0 ? 0 : 1][static_cast<std::size_t>(bin)];
                }
            }
            count_valley(in_bins[0], in_bins[1], counts.data() + 3 * b);
        });
    }
    interruption.pass_on();
}

}  // namespace conclust
