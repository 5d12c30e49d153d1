#include "kmeans/runs.h"

#include <algorithm>
#include <atomic>
#include <limits>
#include <utility>
#include <vector>

#include "base/clones.h"
#include "base/interrupt.h"
#include "base/pack.h"
#include "base/random.h"
#include "labels/codes.h"

namespace conclust {
namespace {

// Objects lie in blocks of `lanes`, feature by feature: an object's value of feature j is at
// (block * d + j) * lanes + lane. Sums over features run in their order, whatever the lanes.
constexpr std::size_t lanes = 2 * pack_lanes;
// Centres worked on together.
constexpr std::size_t group = 4;

// Scores x'c - |c|^2 / 2, the largest of which is the nearest centre; the first one of a tie.
// centers: group after group, feature by feature, `group` values beside each other.
CONCLUST_CLONES void nearest(const double* points, std::size_t blocks, std::size_t d,
                             const double* centers, const double* half, std::size_t groups,
                             std::int32_t* labels) {
    for (std::size_t b = 0; b < blocks; ++b) {
        const double* x = points + b * d * lanes;
        double best[lanes];
        double which[lanes];
        for (std::size_t l = 0; l < lanes; ++l) {
            best[l] = -std::numeric_limits<double>::infinity();
            which[l] = 0.0;
        }
        for (std::size_t g = 0; g < groups; ++g) {
            const double* c = centers + g * d * group;
            Pack low[group];
            Pack high[group];
            for (std::size_t q = 0; q < group; ++q) {
                low[q] = high[q] = spread(0.0);
            }
            for (std::size_t j = 0; j < d; ++j) {
                const Pack a = load(x + j * lanes);
                const Pack z = load(x + j * lanes + pack_lanes);
                for (std::size_t q = 0; q < group; ++q) {
                    const Pack value = spread(c[j * group + q]);
                    low[q] += a * value;
                    high[q] += z * value;
                }
            }
            for (std::size_t q = 0; q < group; ++q) {
                const std::size_t k = g * group + q;
                double score[lanes];
                store(score, low[q]);
                store(score + pack_lanes, high[q]);
                for (std::size_t l = 0; l < lanes; ++l) {
                    const double s = score[l] - half[k];
                    const bool better = s > best[l];
                    best[l] = better ? s : best[l];
                    which[l] = better ? static_cast<double>(k) : which[l];
                }
            }
        }
        for (std::size_t l = 0; l < lanes; ++l) {
            labels[b * lanes + l] = static_cast<std::int32_t>(which[l]);
        }
    }
}

// closer[i] = min(closest[i], squared distance of object i to a centre); the two may be one array. Returns
// their sum over the first `size` objects, lane by lane: the others fill the last block and lie on the mean.
CONCLUST_CLONES double approach(const double* points, std::size_t size, std::size_t d,
                                const double* center, const double* closest, double* closer) {
    double sums[lanes] = {};
    for (std::size_t b = 0; b * lanes < size; ++b) {
        const double* x = points + b * d * lanes;
        Pack low = spread(0.0);
        Pack high = spread(0.0);
        for (std::size_t j = 0; j < d; ++j) {
            const Pack value = spread(center[j]);
            Pack a = load(x + j * lanes);
            Pack z = load(x + j * lanes + pack_lanes);
            a -= value;
            z -= value;
            low += a * a;
            high += z * z;
        }
        double distance[lanes];
        store(distance, low);
        store(distance + pack_lanes, high);
        for (std::size_t l = 0; l < lanes; ++l) {
            const double old = closest[b * lanes + l];
            const double now = distance[l] < old ? distance[l] : old;
            closer[b * lanes + l] = now;
            sums[l] += b * lanes + l < size ? now : 0.0;
        }
    }
    double total = 0.0;
    for (std::size_t l = 0; l < lanes; ++l) {
        total += sums[l];
    }
    return total;
}

class Run {
  public:
    Run(const KMeansDraws& in, const KMeansSearch& search)
        : in_(in),
          search_(search),
          blocks_((in.size + lanes - 1) / lanes),
          groups_((search.n_clusters + group - 1) / group),
          points_(blocks_ * lanes * in.d),
          mean_(in.d),
          row_(in.d),
          sums_(search.n_clusters * in.d),
          counts_(search.n_clusters),
          centers_(groups_ * group * in.d),
          half_(groups_ * group),
          labels_(blocks_ * lanes),
          before_(blocks_ * lanes),
          closest_(blocks_ * lanes),
          closer_(blocks_ * lanes),
          best_(blocks_ * lanes),
          number_(search.n_clusters) {}

    // Writes nothing where the user wants to stop.
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
        return points_[((i / lanes) * in_.d + j) * lanes + i % lanes];
    }

    // Copies the points of a draw, moved to their mean: scores then lose no digits to where they lie.
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
        std::fill(points_.begin() + static_cast<std::ptrdiff_t>((blocks_ - 1) * lanes * in_.d),
                  points_.end(), 0.0);
        for (std::size_t i = 0; i < in_.size; ++i) {
            const double* row = in_.points.data() + static_cast<std::size_t>(drawn[i]) * in_.d;
            for (std::size_t j = 0; j < in_.d; ++j) {
                value(i, j) = row[j] - mean_[j];
            }
        }
    }

    double& center(std::size_t k, std::size_t j) {
        return centers_[((k / group) * in_.d + j) * group + k % group];
    }

    void read_row(std::size_t i) {
        for (std::size_t j = 0; j < in_.d; ++j) {
            row_[j] = value(i, j);
        }
    }

    // Makes object i the centre k.
    void take(std::size_t i, std::size_t k) {
        for (std::size_t j = 0; j < in_.d; ++j) {
            center(k, j) = value(i, j);
        }
    }

    void seed_centers(std::uint64_t seed, Interruption& interruption) {
        std::fill(closest_.begin(), closest_.end(), std::numeric_limits<double>::infinity());
        std::size_t chosen = random_below(in_.size, seed, 0, 0);
        take(chosen, 0);
        read_row(chosen);
        double total =
            approach(points_.data(), in_.size, in_.d, row_.data(), closest_.data(), closest_.data());
        for (std::size_t k = 1; k < search_.n_clusters && !interruption.wanted(); ++k) {
            double lowest = std::numeric_limits<double>::infinity();
            for (std::size_t t = 0; t < search_.candidates; ++t) {
                const std::size_t i = drawn_by_distance(total, random_bits(seed, k, t));
                read_row(i);
                const double sum = approach(points_.data(), in_.size, in_.d, row_.data(),
                                            closest_.data(), closer_.data());
                if (sum < lowest) {
                    lowest = sum;
                    chosen = i;
                    best_.swap(closer_);
                }
            }
            take(chosen, k);
            closest_.swap(best_);
            total = lowest;
        }
    }

    // An object, with a probability that grows with its squared distance; the last one that has any.
    // Any object where all lie on centres.
    std::size_t drawn_by_distance(double total, std::uint64_t bits) const {
        const double uniform = static_cast<double>(bits >> 11) * 0x1p-53;
        if (!(total > 0.0)) {
            return static_cast<std::size_t>(uniform * static_cast<double>(in_.size));
        }
        const double wanted = uniform * total;
        double sum = 0.0;
        std::size_t last = 0;
        for (std::size_t i = 0; i < in_.size; ++i) {
            if (closest_[i] > 0.0) {
                sum += closest_[i];
                last = i;
                if (sum > wanted) {
                    break;
                }
            }
        }
        return last;
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
        nearest(points_.data(), blocks_, in_.d, centers_.data(), half_.data(), groups_, labels_.data());
    }

    // Moves the sums along with the objects that changed, and the centres to their means. False: none did.
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

    // Gives every empty cluster one of the objects farthest from their centres, the farthest first.
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
                // One that lies on its centre leaves nothing to gain.
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
        const double* x = points_.data() + (i / lanes) * in_.d * lanes + i % lanes;
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
    std::vector<double> points_;
    std::vector<double> mean_;
    std::vector<double> row_;
    std::vector<double> sums_;
    std::vector<std::int64_t> counts_;
    std::vector<double> centers_;
    std::vector<double> half_;
    std::vector<std::int32_t> labels_;
    std::vector<std::int32_t> before_;
    std::vector<double> closest_;
    std::vector<double> closer_;
    std::vector<double> best_;
    std::vector<std::int32_t> number_;
    double shift_ = 0.0;  // of the centres in the last pass, squared
};

}  // namespace

void kmeans_runs(const KMeansDraws& draws, const KMeansSearch& search, const KMeansResults& out,
                 std::size_t begin, std::size_t end, int threads) {
    // Made here, where an exception can leave.
    const std::size_t wanted = std::min(static_cast<std::size_t>(threads), end - begin);
    std::vector<Run> workers;
    workers.reserve(wanted);
    for (std::size_t w = 0; w < wanted; ++w) {
        workers.emplace_back(draws, search);
    }
    std::atomic<std::size_t> taken{0};
    Interruption interruption;
#pragma omp parallel default(none) num_threads(static_cast<int>(wanted)) \
    shared(out, begin, end, workers, taken, interruption)
    {
        Run& run = workers[taken.fetch_add(1)];
#pragma omp for schedule(dynamic, 1)
        for (std::size_t r = begin; r < end; ++r) {
            if (!interruption.wanted(static_cast<std::ptrdiff_t>(r - begin),
                                     static_cast<std::ptrdiff_t>(end - begin))) {
                run(r, out, interruption);
            }
        }
    }
    interruption.pass_on();
}

}  // namespace conclust
