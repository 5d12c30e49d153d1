#include "pair_objective/landmark/placing.h"

#include <algorithm>

#include "base/interrupt.h"
#include "pair_objective/landmark/ground.h"
#include "pair_objective/landmark/newton.h"
#include "pair_objective/pairwise/column.h"
#include "simplex/active_set.h"

namespace conclust {
namespace {

constexpr std::size_t block = 128;      // number of objects that a thread takes at a time
constexpr double interior = 0.02;       // share of the uniform membership in a start
constexpr int most_descents = 20;

// One object after the other, in memory that they share.
class Placer {
  public:
    Placer(const FactoredInput& in, const LandmarkTable& table, const Ground& ground,
           const References& references, double tol);
    Placer(const Placer&) = delete;  // the column points into the vectors
    Placer& operator=(const Placer&) = delete;

    // Writes the membership of object i to y (k) and adds it to `placed`.
    void place(std::size_t i, double mass, double* y, Placed& placed);

  private:
    const FactoredInput& in_;
    const LandmarkTable& table_;
    const Ground& ground_;
    const References& references_;
    double tol_;
    std::vector<double> memory_;
    std::vector<double> guess_;
    ClusterScratch clusters_;
    ActiveSet quadratic_;
    PairColumn column_;
    Row row_;
    Observers observers_;
    bool counted_ = false;

    void count(std::size_t i);
    void solve();
    bool near_reference();
    void from_anywhere(bool guessed);
};

Placer::Placer(const FactoredInput& in, const LandmarkTable& table, const Ground& ground,
               const References& references, double tol)
    : in_(in),
      table_(table),
      ground_(ground),
      references_(references),
      tol_(tol),
      memory_(6 * ground.width, 0.0),
      guess_(ground.stride),
      clusters_(ground.k, 1),
      quadratic_(ground.k),
      row_(in),
      observers_(in) {
    column_.parameter = table.a;
    clusters_.lend(0, column_);
    column_.length = ground.width;
    column_.ld = ground.width;
    column_.yt = ground.prototypes.data();
    double* at = memory_.data();
    for (double** part : {&column_.c, &column_.N, &column_.a, &column_.w, &column_.h, &column_.da}) {
        *part = at;
        at += ground.width;
    }
}

// The counts of object i with the landmarks of each prototype.
void Placer::count(std::size_t i) {
    read_row(in_, ground_.column_weights.data(), i, row_);
    ground_.sums.add(row_.columns.data(), row_.unit ? nullptr : row_.weighted.data(), row_.n_clusters,
                     column_.c);
    // Objects observed by all partitions are counted with the same objects.
    if (!counted_ || !in_.labels.complete || in_.labels.soft) {
        read_observers(in_, i, observers_);
        const double* weights = observers_.weights.data();
        const bool unit = std::all_of(weights, weights + observers_.n_groups,
                                      [](double weight) { return weight == 1.0; });
        ground_.present.add(observers_.groups.data(), unit ? nullptr : weights, observers_.n_groups,
                            column_.N);
        column_.degree = row_sum(column_.N, ground_.width);
        column_.enough = tol_ * column_.degree;
        counted_ = true;
    }
    for (std::size_t g = 0; g < ground_.width; ++g) {
        // Sums of posteriors can pass the number of observers by a rounding error.
        column_.c[g] = std::min(column_.c[g], column_.N[g]);
    }
}

// Newton steps from the reference most similar to the object. False if they do not converge.
bool Placer::near_reference() {
    const std::size_t square = ground_.stride * ground_.stride;
    const std::size_t r = references_.nearest(ground_, guess_.data(), column_.a);
    std::copy_n(references_.y.data() + r * ground_.stride, ground_.stride, column_.y);
    const double share = column_.degree / references_.degree;
    const double* H = references_.H.data() + r * square;
    for (std::size_t e = 0; e < square; ++e) {
        column_.H[e] = share * H[e];
    }
    column_.active = true;
    return newton(column_, table_.divergence, quadratic_);
}

// Quadratics with line searches, from the guess moved inside, or from the uniform membership.
void Placer::from_anywhere(bool guessed) {
    const double even = 1.0 / static_cast<double>(ground_.k);
    for (std::size_t c = 0; c < ground_.k; ++c) {
        column_.y[c] = guessed ? (1.0 - interior) * guess_[c] + interior * even : even;
    }
    column_.active = true;  // columns that have converged become inactive
    pair_work(PairWork::curved, &column_, 1, table_.divergence, nullptr);
    for (int round = 0; round < most_descents && column_.gap > column_.enough; ++round) {
        column_.moved = false;
        pair_work(PairWork::finish, &column_, 1, table_.divergence, nullptr);
        if (!column_.moved) {
            break;
        }
        column_.active = true;
        pair_work(PairWork::curved, &column_, 1, table_.divergence, nullptr);
    }
    column_.active = true;
}

void Placer::solve() {
    const bool guessed = guess(ground_, column_.c, guess_.data());
    if (!guessed || references_.count == 0 || !near_reference()) {
        from_anywhere(guessed);
    }
}

void Placer::place(std::size_t i, double mass, double* y, Placed& placed) {
    count(i);
    if (!(column_.degree > 0.0)) {
        std::fill_n(y, table_.k, 1.0 / static_cast<double>(table_.k));
        return;
    }
    solve();
    placed.residual = std::max(placed.residual, column_.gap / column_.degree);
    pair_work(PairWork::value, &column_, 1, table_.divergence, nullptr);
    placed.loss += mass * column_.value;
    double total = 0.0;
    for (std::size_t c = 0; c < ground_.k; ++c) {
        total += column_.y[c];
    }
    std::fill_n(y, table_.k, 0.0);
    for (std::size_t c = 0; c < ground_.k; ++c) {
        y[ground_.kept[c]] = column_.y[c] / total;
    }
}

}  // namespace

Placed place_objects(const FactoredInput& input, const LandmarkTable& table, double tol,
                     std::span<const double> masses, std::span<double> Y, int threads) {
    const Ground ground(input, table);
    const References references(input, table, ground);
    const std::size_t blocks = (input.labels.n + block - 1) / block;
    std::vector<Placed> parts(blocks, Placed{0.0, 0.0});
    const auto n_blocks = static_cast<std::ptrdiff_t>(blocks);
    Interruption interruption;
#pragma omp parallel for num_threads(threads) schedule(dynamic) default(none) shared( \
        input, table, ground, references, parts, interruption) firstprivate(n_blocks, tol, masses, Y)
    for (std::ptrdiff_t b = 0; b < n_blocks; ++b) {
        if (interruption.wanted()) {
            continue;
        }
        const std::size_t begin = static_cast<std::size_t>(b) * block;
        const std::size_t end = std::min(input.labels.n, begin + block);
        interruption.guard([&] {
            Placer placer(input, table, ground, references, tol);
            for (std::size_t i = begin; i < end; ++i) {
                placer.place(i, masses[i], Y.data() + i * table.k, parts[static_cast<std::size_t>(b)]);
            }
        });
    }
    (void)threads;
    interruption.pass_on();
    Placed all{0.0, 0.0};
    for (const Placed& part : parts) {
        all.loss += part.loss;
        all.residual = std::max(all.residual, part.residual);
    }
    return all;
}

}  // namespace conclust
