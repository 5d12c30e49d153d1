#include "pair_objective/pairwise/solver.h"

#include <algorithm>

#include "base/interrupt.h"
#include "base/slots.h"

namespace conclust {
namespace {

// With few partners a visit takes about as long as ten looks at the clock.
constexpr std::size_t visits_per_poll = 16;

}  // namespace

PairwiseSolver::PairwiseSolver(const PairwiseInput& in, int threads)
    : in_(in),
      stride_((in.k + 3) / 4 * 4),
      ld_(longest_column(in)),
      polled_(in.pairs.dense() ? 1 : visits_per_poll) {
    all_.assign(in.pairs.dense() ? stride_ * ld_ : 0, 0.0);
    const int team = in.outside.call ? 1 : threads;
    for (int thread = 0; thread < team; ++thread) {
        batches_.emplace_back(in, all_.data(), ld_);
    }
}

void PairwiseSolver::take(std::span<const double> Y) {
    if (!in_.pairs.dense()) {
        return;
    }
    for (std::size_t i = 0; i < in_.pairs.n; ++i) {
        write_dense(Y.data(), i);
    }
}

void PairwiseSolver::write_dense(const double* Y, std::size_t i) {
    for (std::size_t c = 0; c < in_.k; ++c) {
        all_[c * ld_ + i] = Y[i * stride_ + c];
    }
}

// Calls work(batch, at, end) for parts of the slots of `count` objects: it works on objects from `at` on
// and returns how many they were. Its work for an object must not depend on the batch. Calls
// close(begin, end) after each slot.
template <class Work, class Close>
void PairwiseSolver::share(std::size_t count, std::size_t size, const Work& work, const Close& close) {
    const auto team = static_cast<std::ptrdiff_t>(batches_.size());
    Slots slots(count, std::max<std::size_t>(size, 1), batches_.size());
    Interruption stop;
    const auto help = [&](PairBatch& batch) {
        std::size_t calls = 0;
        const auto all_of = [&](std::size_t at, std::size_t end) {
            while (at < end && !(calls++ % polled_ == 0 && stop.wanted())) {
                at += work(batch, at, end);
            }
        };
        slots.help(all_of, close);
    };
    if (team == 1) {  // a divergence outside may throw, which a parallel region would not let through
        help(batches_[0]);
        stop.pass_on();
        return;
    }
#pragma omp parallel for num_threads(static_cast<int>(team)) schedule(static, 1) default(none) \
    shared(help, team)
    for (std::ptrdiff_t thread = 0; thread < team; ++thread) {
        help(batches_[static_cast<std::size_t>(thread)]);
    }
    stop.pass_on();
}

// Keeps the results of a visit of the objects from place `at` of a slot on.
void PairwiseSolver::keep(const PairBatch& batch, std::size_t some, std::size_t at) {
    for (std::size_t b = 0; b < some; ++b) {
        const PairColumn& col = batch.column(b);
        visited_[at + b] = {col.moved, col.moved ? col.lowered : 0.0, col.spent};
        if (col.moved) {
            std::copy(col.y, col.y + stride_, rows_.data() + (at + b) * stride_);
        }
    }
}

// Moves the objects of a slot.
void PairwiseSolver::write_back(double* Y, const std::int32_t* objects, std::size_t count) {
    for (std::size_t o = 0; o < count; ++o) {
        if (visited_[o].moved) {
            const auto i = static_cast<std::size_t>(objects[o]);
            const double* row = rows_.data() + o * stride_;
            std::copy(row, row + stride_, Y + i * stride_);
            if (in_.pairs.dense()) {
                write_dense(Y, i);
            }
        }
    }
}

VisitResult PairwiseSolver::visit(std::span<double> rows, std::span<const std::int32_t> which,
                                  std::size_t slot, const VisitAim& aim, std::span<double> found) {
    double* Y = rows.data();
    const std::int32_t* objects = which.data();
    const std::size_t count = which.size();
    double* gaps = found.data();
    const std::size_t most = std::min(count, slot == 1 ? max_batch : slot);
    rows_.resize(most * stride_);
    visited_.resize(most);
    VisitResult result{0.0, 0.0, 0};
    const auto close = [&](std::size_t begin, std::size_t end) {
        for (std::size_t o = begin; o < end; ++o) {
            result.residual = std::max(result.residual, gaps[objects[o]]);
            result.lowered += visited_[o - begin].lowered;
            result.spent += visited_[o - begin].spent;
        }
        write_back(Y, objects + begin, end - begin);
    };
    if (slot == 1) {
        std::size_t calls = 0;
        for (std::size_t begin = 0, some = 0; begin < count; begin += some) {
            if (calls++ % polled_ == 0) {
                stop_if_interrupted();
            }
            some = batches_[0].visit(Y, objects + begin, count - begin, true, aim, gaps);
            keep(batches_[0], some, 0);
            close(begin, begin + some);
        }
        return result;
    }
    share(count, slot, [&](PairBatch& batch, std::size_t at, std::size_t end) {
        const std::size_t some = batch.visit(Y, objects + at, end - at, false, aim, gaps);
        keep(batch, some, at % slot);
        return some;
    }, close);
    return result;
}

double PairwiseSolver::objective(std::span<const double> Y, std::size_t begin, std::size_t end) {
    values_.resize(end - begin);
    share(end - begin, end - begin, [&](PairBatch& batch, std::size_t at, std::size_t stop) {
        return batch.objective(Y.data(), begin + at, begin + stop, values_.data() + at);
    }, [](std::size_t, std::size_t) {});
    double total = 0.0;
    for (const double value : values_) {
        total += value;
    }
    return total;
}

void PairwiseSolver::residuals(std::span<const double> Y, std::size_t begin, std::size_t end,
                               std::span<double> gaps) {
    share(end - begin, end - begin, [&](PairBatch& batch, std::size_t at, std::size_t stop) {
        return batch.residuals(Y.data(), begin + at, begin + stop, gaps.data() + begin + at);
    }, [](std::size_t, std::size_t) {});
}

}  // namespace conclust
