#include "kmeans/runs.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "base/clones.h"
#include "base/interrupt.h"
#include "base/pack.h"
#include "base/random.h"
#include "base/wide.h"
#include "kmeans/tiles/tiles.h"
#include "labels/codes.h"

namespace conclust {
namespace {

// Objects lie in blocks of `lanes`, feature by feature: an object's value of feature j is at
// (block * d + j) * lanes + lane. Sums over features run in their order, whatever the lanes.
constexpr std::size_t lanes = wide;
// A feature of a block of objects: a line of the cache, so that no load crosses one.
struct alignas(lanes * sizeof(double)) Block {
    double lane[lanes];
};
// Number of centres processed together.
constexpr std::size_t group = 2 * pack_lanes;

// Scores x'c - |c|^2 / 2 of one object, the largest of which is the nearest centre; the first one of a tie.
// x: its features, `lanes` apart. centers: group after group, feature by feature, `group` values beside each other.
CONCLUST_CLONES std::int32_t nearest_by_sums(const double* x, std::size_t d, const double* centers,
                                             const double* half, std::size_t groups) {
    double best = -std::numeric_limits<double>::infinity();
    std::size_t which = 0;
    for (std::size_t g = 0; g < groups; ++g) {
        const double* c = centers + g * d * group;
        Pack low = spread(0.0);
        Pack high = spread(0.0);
        for (std::size_t j = 0; j < d; ++j) {
            const Pack value = spread(x[j * lanes]);
            low += value * load(c + j * group);
            high += value * load(c + j * group + pack_lanes);
        }
        double score[group];
        store(score, low);
        store(score + pack_lanes, high);
        for (std::size_t q = 0; q < group; ++q) {
            const double s = score[q] - half[g * group + q];
            const bool better = s > best;
            best = better ? s : best;
            which = better ? g * group + q : which;
        }
    }
    return static_cast<std::int32_t>(which);
}

// Number of candidates for a centre whose distances are computed together.
constexpr std::size_t most_beside = 6;

// closer[t][i] = min(closest[i], squared distance of object i to candidate t). sums[t]: their sums, lane by lane; what
// fills the last block has 0. candidates: feature by feature, `wanted` values beside each other. A register holds a
// block, or a part of it.
template <class Register, std::size_t beside>
CONCLUST_INLINE void approach_some(const double* points, std::size_t size, std::size_t d,
                                   const double* candidates, std::size_t wanted, const double* closest,
                                   double* const* closer, double* sums) {
    if constexpr (beside > 1) {
        if (wanted < beside) {
            return approach_some<Register, beside - 1>(points, size, d, candidates, wanted, closest,
                                                       closer, sums);
        }
    }
    constexpr std::size_t parts = sizeof(Block) / sizeof(Register);
    Register value, apart, old, by_lane[parts][beside] = {};
    for (std::size_t at = 0; at < size; at += lanes) {
        Register here[parts], squares[parts][beside] = {};
        for (std::size_t j = 0; j < d; ++j) {
            for (std::size_t part = 0; part < parts; ++part) {
                load(points + at * d + j * lanes + part * lanes / parts, here[part]);
            }
            for (std::size_t t = 0; t < beside; ++t) {
                spread(candidates[j * beside + t], value);
                for (std::size_t part = 0; part < parts; ++part) {
                    apart = here[part];
                    apart -= value;
                    apart = apart * apart;
                    squares[part][t] += apart;
                }
            }
        }
        for (std::size_t part = 0; part < parts; ++part) {
            const std::size_t first = at + part * lanes / parts;
            load(closest + first, old);
            for (std::size_t t = 0; t < beside; ++t) {
                where_less(squares[part][t], old, squares[part][t], old, value);
                store(closer[t] + first, value);
                by_lane[part][t] += value;
            }
        }
    }
    for (std::size_t t = 0; t < beside; ++t) {
        double each[lanes];
        for (std::size_t part = 0; part < parts; ++part) {
            store(each + part * lanes / parts, by_lane[part][t]);
        }
        sums[t] = std::accumulate(each, each + lanes, 0.0);
    }
}

CONCLUST_CLONES void approach(const double* points, std::size_t size, std::size_t d,
                              const double* candidates, std::size_t beside, const double* closest,
                              double* const* closer, double* sums) {
    approach_some<Pack, most_beside>(points, size, d, candidates, beside, closest, closer, sums);
}

#if CONCLUST_X86
CONCLUST_BEGIN_AVX512
void approach_avx512(const double* points, std::size_t size, std::size_t d, const double* candidates,
                     std::size_t beside, const double* closest, double* const* closer, double* sums) {
    approach_some<Wide, most_beside>(points, size, d, candidates, beside, closest, closer, sums);
}
CONCLUST_END
#else
constexpr auto* approach_avx512 = approach;
#endif

class Run {
  public:
    Run(const KMeansDraws& in, const KMeansSearch& search)
        : in_(in),
          search_(search),
          blocks_((in.size + lanes - 1) / lanes),
          groups_((search.n_clusters + group - 1) / group),
          points_(blocks_ * in.d),
          mean_(in.d),
          sums_(search.n_clusters * in.d),
          counts_(search.n_clusters),
          centers_(groups_ * group * in.d),
          half_(groups_ * group),
          labels_(blocks_ * lanes),
          before_(blocks_ * lanes),
          closest_(blocks_ * lanes),
          sums_to_(in.size),
          candidates_(most_beside * in.d),
          best_(blocks_ * lanes),
          number_(search.n_clusters),
          form_(with_fma(search.form)),
          tile_rows_(rows_of(form_)),
          tiles_((in.size + tile_rows_ - 1) / tile_rows_),
          values_(tiles_ * tile_rows_ * in.d),
          lengths_(tiles_ * tile_rows_),
          extras_(tiles_ * tile_rows_),
          columns_(in.d),
          packed_(search.n_clusters * in.d),
          minus_half_(search.n_clusters),
          which_(tile_rows_) {
        std::iota(columns_.begin(), columns_.end(), 0);
        for (auto& closer : closer_) {
            closer.resize(blocks_ * lanes);
        }
    }

    // Writes nothing after an interrupt.
    void operator()(std::size_t run, const KMeansResults& out, Interruption& interruption) {
        const std::int32_t* drawn = in_.drawn.data() + run * in_.size;
        gather(drawn);
        if (!in_.starts.empty()) {
            for (std::size_t k = 0; k < search_.n_clusters; ++k) {
                const std::int32_t* at =
                    std::lower_bound(drawn, drawn + in_.size, in_.starts[run * search_.n_clusters + k]);
                take(static_cast<std::size_t>(at - drawn), k);
            }
        } else {
            seed_centers(in_.seeds[run], interruption);
        }
        descend(interruption);
        if (interruption.wanted()) {
            return;
        }
        std::visit([&](auto codes) { write_codes(run, drawn, codes, out); }, out.codes);
        write_centers(run, out);
    }

  private:
    double& value(std::size_t i, std::size_t j) {
        return points_[(i / lanes) * in_.d + j].lane[i % lanes];
    }

    // Copies the points of a draw, centred at their mean, so that scores lose no digits to the offset.
    void gather(const std::int32_t* drawn) {
        std::fill(mean_.begin(), mean_.end(), 0.0);
        for (std::size_t i = 0; i < in_.size; ++i) {
            const double* row = in_.points.data() + static_cast<std::size_t>(drawn[i]) * in_.d;
            for (std::size_t j = 0; j < in_.d; ++j) {
                mean_[j] += row[j];
            }
        }
        for (std::size_t j = 0; j < in_.d; ++j) {
            mean_[j] /= static_cast<double>(in_.size);
        }
        std::fill_n(&points_[(blocks_ - 1) * in_.d], in_.d, Block{});
        for (std::size_t i = 0; i < in_.size; ++i) {
            const double* row = in_.points.data() + static_cast<std::size_t>(drawn[i]) * in_.d;
            for (std::size_t j = 0; j < in_.d; ++j) {
                value(i, j) = row[j] - mean_[j];
            }
        }
        fill_tiles();
    }

    // The points in single precision, scaled by a power of two such that coordinates are at most 1. Centres are
    // their means.
    void fill_tiles() {
        double largest = 0.0;
        for (const Block& block : points_) {
            for (const double x : block.lane) {
                largest = std::max(largest, std::abs(x));
            }
        }
        const bool known =
            largest >= smallest_known && largest <= largest_known && in_.d <= most_features_known;
        scale_ = 0.0;
        if (!known) {
            return;
        }
        int exponent = 0;
        std::frexp(largest, &exponent);
        scale_ = std::ldexp(1.0, -exponent);
        const double in_double = 2.0 * (static_cast<double>(in_.d) + 4.0) * double_unit;
        for (std::size_t i = 0; i < in_.size; ++i) {
            float* to = values_.data() + i / tile_rows_ * tile_rows_ * in_.d + i % tile_rows_;
            double square = 0.0;
            for (std::size_t j = 0; j < in_.d; ++j) {
                const double x = value(i, j) * scale_;
                square += x * x;
                to[j * tile_rows_] = static_cast<float>(x);
            }
            const double length = std::sqrt(square) * bound_slack;
            lengths_[i] = static_cast<float>(length);
            extras_[i] = static_cast<float>(in_double * length * length);
        }
    }

    double& center(std::size_t k, std::size_t j) {
        return centers_[((k / group) * in_.d + j) * group + k % group];
    }

    // Makes object i the centre k.
    void take(std::size_t i, std::size_t k) {
        for (std::size_t j = 0; j < in_.d; ++j) {
            center(k, j) = value(i, j);
        }
    }

    void seed_centers(std::uint64_t seed, Interruption& interruption) {
        std::fill_n(closest_.begin(), in_.size, std::numeric_limits<double>::infinity());
        std::size_t chosen = random_below(in_.size, seed, 0, 0);
        take(chosen, 0);
        double total = 0.0;
        try_candidates(&chosen, 1, &total);
        closest_.swap(closer_[0]);
        for (std::size_t k = 1; k < search_.n_clusters && !interruption.wanted(); ++k) {
            std::partial_sum(closest_.data(), closest_.data() + in_.size, sums_to_.begin());
            double lowest = std::numeric_limits<double>::infinity();
            for (std::size_t first = 0; first < search_.candidates; first += most_beside) {
                const std::size_t beside = std::min(most_beside, search_.candidates - first);
                std::size_t drawn[most_beside];
                double sums[most_beside];
                for (std::size_t t = 0; t < beside; ++t) {
                    drawn[t] = drawn_by_distance(total, random_bits(seed, k, first + t));
                }
                try_candidates(drawn, beside, sums);
                for (std::size_t t = 0; t < beside; ++t) {
                    if (sums[t] < lowest) {
                        lowest = sums[t];
                        chosen = drawn[t];
                        best_.swap(closer_[t]);
                    }
                }
            }
            take(chosen, k);
            closest_.swap(best_);
            total = lowest;
        }
    }

    // The squared distances of all objects to their nearest centre if an object were one, and their sum.
    void try_candidates(const std::size_t* objects, std::size_t beside, double* sums) {
        double* closer[most_beside];
        for (std::size_t t = 0; t < beside; ++t) {
            closer[t] = closer_[t].data();
            for (std::size_t j = 0; j < in_.d; ++j) {
                candidates_[j * beside + t] = value(objects[t], j);
            }
        }
        (form_ == Form::avx512 ? approach_avx512 : approach)(
            points_[0].lane, in_.size, in_.d, candidates_.data(), beside, closest_.data(), closer, sums);
    }

    // An object, with a probability that grows with its squared distance, at most the last one that adds to their sum.
    // Any object if all lie on centres.
    std::size_t drawn_by_distance(double total, std::uint64_t bits) const {
        const double uniform = static_cast<double>(bits >> 11) * 0x1p-53;
        if (!(total > 0.0)) {
            return static_cast<std::size_t>(uniform * static_cast<double>(in_.size));
        }
        auto at = std::upper_bound(sums_to_.begin(), sums_to_.end(), uniform * total);
        if (at == sums_to_.end()) {
            at = std::lower_bound(sums_to_.begin(), sums_to_.end(), sums_to_.back());
        }
        return static_cast<std::size_t>(at - sums_to_.begin());
    }

    void descend(Interruption& interruption) {
        std::fill(sums_.begin(), sums_.end(), 0.0);
        std::fill(counts_.begin(), counts_.end(), std::int64_t{0});
        std::fill(before_.begin(), before_.end(), -1);
        const double still = search_.tol > 0.0 ? search_.tol * mean_variance() : -1.0;
        for (std::size_t iteration = 0;; ++iteration) {
            if (interruption.wanted()) {
                return;
            }
            assign();
            if (iteration == search_.max_iter || !move()) {
                return;
            }
            if (shift_ <= still) {
                assign();
                return;
            }
        }
    }

    double mean_variance() {
        double sum = 0.0;
        for (std::size_t i = 0; i < in_.size; ++i) {
            for (std::size_t j = 0; j < in_.d; ++j) {
                sum += value(i, j) * value(i, j);
            }
        }
        return sum / static_cast<double>(in_.size * in_.d);
    }

    void assign() {
        for (std::size_t k = 0; k < groups_ * group; ++k) {
            double square = 0.0;
            for (std::size_t j = 0; j < in_.d; ++j) {
                square += center(k, j) * center(k, j);
            }
            half_[k] = k < search_.n_clusters ? 0.5 * square : std::numeric_limits<double>::infinity();
        }
        if (scale_ > 0.0) {
            assign_by_tiles();
            return;
        }
        for (std::size_t i = 0; i < in_.size; ++i) {
            labels_[i] = summed(i);
        }
    }

    std::int32_t summed(std::size_t i) const {
        return nearest_by_sums(points_[(i / lanes) * in_.d].lane + i % lanes, in_.d, centers_.data(),
                               half_.data(), groups_);
    }

    void assign_by_tiles() {
        const PackedMember member = pack_centers();
        for (std::size_t t = 0; t < tiles_; ++t) {
            const std::size_t first = t * tile_rows_;
            const std::size_t rows = std::min(tile_rows_, in_.size - first);
            std::uint64_t doubts = 0;
            score_tile(form_,
                       {values_.data() + first * in_.d, lengths_.data() + first, extras_.data() + first},
                       std::span(&member, 1), which_.data(), &doubts);
            std::copy_n(which_.data(), rows, labels_.data() + first);
            doubts &= rows < 64 ? (std::uint64_t{1} << rows) - 1 : ~std::uint64_t{0};
            for (; doubts != 0; doubts &= doubts - 1) {
                const std::size_t i = first + static_cast<std::size_t>(std::countr_zero(doubts));
                labels_[i] = summed(i);
            }
        }
    }

    PackedMember pack_centers() {
        PackedMember member;
        member.clusters = search_.n_clusters;
        member.features = in_.d;
        member.columns = columns_.data();
        member.centers = packed_.data();
        member.minus_half = minus_half_.data();
        double longest = 0.0;
        for (std::size_t k = 0; k < search_.n_clusters; ++k) {
            const PackedPlace place = packed_place(k, search_.n_clusters, in_.d);
            double square = 0.0;
            for (std::size_t j = 0; j < in_.d; ++j) {
                const double x = center(k, j) * scale_;
                square += x * x;
                packed_[place.first + j * place.beside] = static_cast<float>(x);
            }
            minus_half_[k] = static_cast<float>(-0.5 * square);
            longest = std::max(longest, square);
        }
        bound_errors(member, longest);
        return member;
    }

    // Updates the sums for objects that changed, and moves the centres to their means. Returns false if none changed.
    bool move() {
        bool moved = false;
        for (std::size_t i = 0; i < in_.size; ++i) {
            if (before_[i] != labels_[i]) {
                moved = true;
                change(i, labels_[i]);
            }
        }
        if (!moved) {
            return false;
        }
        if (search_.refills) {
            refill();
        }
        shift_ = 0.0;
        for (std::size_t k = 0; k < search_.n_clusters; ++k) {
            if (counts_[k] > 0) {
                for (std::size_t j = 0; j < in_.d; ++j) {
                    const double mean = sums_[k * in_.d + j] / static_cast<double>(counts_[k]);
                    const double step = mean - center(k, j);
                    shift_ += step * step;
                    center(k, j) = mean;
                }
            }
        }
        return true;
    }

    // Assigns every empty cluster one of the objects farthest from their centres, the farthest first.
    void refill() {
        const auto empty = static_cast<std::size_t>(std::count(counts_.begin(), counts_.end(), 0));
        if (empty == 0) {
            return;
        }
        std::vector<std::pair<double, std::size_t>> far(in_.size);
        for (std::size_t i = 0; i < in_.size; ++i) {
            far[i] = {-square_to_center(i, static_cast<std::size_t>(labels_[i])), i};
        }
        const auto end = far.begin() + static_cast<std::ptrdiff_t>(empty);
        std::partial_sort(far.begin(), end, far.end());
        std::size_t next = 0;
        for (std::size_t k = 0; k < search_.n_clusters; ++k) {
            if (counts_[k] == 0) {
                // An object on its centre cannot be improved.
                if (const auto& [distance, i] = far[next++]; distance < 0.0) {
                    change(i, static_cast<std::int32_t>(k));
                }
            }
        }
    }

    double square_to_center(std::size_t i, std::size_t k) {
        double sum = 0.0;
        for (std::size_t j = 0; j < in_.d; ++j) {
            const double apart = value(i, j) - center(k, j);
            sum += apart * apart;
        }
        return sum;
    }

    // Puts object i into cluster `to`: its sums and its count.
    void change(std::size_t i, std::int32_t to) {
        const std::int32_t from = before_[i];
        before_[i] = to;
        add(i, static_cast<std::size_t>(to), 1.0);
        ++counts_[static_cast<std::size_t>(to)];
        if (from >= 0) {
            add(i, static_cast<std::size_t>(from), -1.0);
            --counts_[static_cast<std::size_t>(from)];
        }
    }

    void add(std::size_t i, std::size_t k, double sign) {
        const double* x = points_[(i / lanes) * in_.d].lane + i % lanes;
        double* sum = sums_.data() + k * in_.d;
        for (std::size_t j = 0; j < in_.d; ++j) {
            sum[j] += sign * x[j * lanes];
        }
    }

    template <class Code>
    void write_codes(std::size_t run, const std::int32_t* drawn, std::span<Code> codes,
                     const KMeansResults& out) {
        Code* column = codes.data() + run;
        const bool wanted = !codes.empty();
        for (std::size_t i = 0; wanted && i < in_.n; ++i) {
            column[i * in_.runs] = missing_code<Code>;
        }
        std::fill(number_.begin(), number_.end(), -1);
        std::int32_t found = 0;
        double inertia = 0.0;
        for (std::size_t i = 0; i < in_.size; ++i) {
            const auto k = static_cast<std::size_t>(labels_[i]);
            if (number_[k] < 0) {
                number_[k] = found++;
            }
            if (wanted) {
                column[static_cast<std::size_t>(drawn[i]) * in_.runs] = static_cast<Code>(number_[k]);
            }
            for (std::size_t j = 0; j < in_.d; ++j) {
                const double apart = value(i, j) - center(k, j);
                inertia += apart * apart;
            }
        }
        out.found[run] = found;
        out.inertia[run] = inertia;
    }

    void write_centers(std::size_t run, const KMeansResults& out) {
        for (std::size_t k = 0; !out.centers.empty() && k < search_.n_clusters; ++k) {
            if (number_[k] >= 0) {
                double* row = out.centers.data() +
                              (run * search_.n_clusters + static_cast<std::size_t>(number_[k])) * in_.d;
                for (std::size_t j = 0; j < in_.d; ++j) {
                    row[j] = center(k, j) + mean_[j];
                }
            }
        }
    }

    const KMeansDraws& in_;
    const KMeansSearch& search_;
    std::size_t blocks_;
    std::size_t groups_;
    std::vector<Block> points_;
    std::vector<double> mean_;
    std::vector<double> sums_;
    std::vector<std::int64_t> counts_;
    std::vector<double> centers_;
    std::vector<double> half_;
    std::vector<std::int32_t> labels_;
    std::vector<std::int32_t> before_;
    std::vector<double> closest_;
    std::vector<double> sums_to_;  // of `closest_`, up to each object
    std::vector<double> candidates_;
    std::array<std::vector<double>, most_beside> closer_;
    std::vector<double> best_;
    std::vector<std::int32_t> number_;
    // The input of the scores in single precision.
    Form form_;
    std::size_t tile_rows_;
    std::size_t tiles_;
    std::vector<float> values_;  // points, scaled: tile after tile, feature by feature
    std::vector<float> lengths_;
    std::vector<float> extras_;
    std::vector<std::int32_t> columns_;
    std::vector<float> packed_;  // centres
    std::vector<float> minus_half_;
    std::vector<std::int32_t> which_;
    double scale_ = 0.0;  // 0: coordinates are too large or too small for them
    double shift_ = 0.0;  // of the centres in the last pass, squared
};

}  // namespace

void kmeans_runs(const KMeansDraws& draws, const KMeansSearch& search, const KMeansResults& out,
                 std::size_t begin, std::size_t end, int threads) {
    // Allocated here, where an exception can propagate.
    const std::size_t wanted = std::min(static_cast<std::size_t>(threads), end - begin);
    std::vector<Run> workers;
    workers.reserve(wanted);
    for (std::size_t w = 0; w < wanted; ++w) {
        workers.emplace_back(draws, search);
    }
    std::atomic<std::size_t> taken{0};
    Interruption interruption;
    const auto count = static_cast<std::ptrdiff_t>(end - begin);
#pragma omp parallel default(none) num_threads(static_cast<int>(wanted)) \
    shared(out, begin, count, workers, taken, interruption)
    {
        Run& run = workers[taken.fetch_add(1)];
#pragma omp for schedule(dynamic, 1)
        for (std::ptrdiff_t done = 0; done < count; ++done) {
            if (!interruption.wanted(done, count)) {
                interruption.guard(
                    [&] { run(begin + static_cast<std::size_t>(done), out, interruption); });
            }
        }
    }
    interruption.pass_on();
}

}  // namespace conclust
