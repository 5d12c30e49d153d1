#include "pair_objective/greedy/solver.h"

#include <algorithm>
#include <limits>

#include "base/interrupt.h"
#include "base/pack.h"

namespace conclust {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double dust = 1e-12;          // memberships that start below this start as zero
constexpr std::int64_t refresh_every = 16;  // steps per object
constexpr int most_confirmations = 50;
constexpr std::size_t rounds_per_poll =
    16;  // with few partners a step takes about as long as ten looks at the clock
constexpr double nearly = 0.5;  // gaps above this share of the next one's may overtake it

std::size_t longest_row(const GreedyInput& in) {
    if (in.pairs.dense()) {
        return in.pairs.n;
    }
    std::size_t longest = 0;
    for (std::size_t i = 0; i < in.pairs.n; ++i) {
        longest = std::max(longest, in.pairs.degree(i));
    }
    return longest;
}

// The first whole cache line.
double* aligned(std::vector<double>& memory) {
    const auto address = reinterpret_cast<std::uintptr_t>(memory.data());
    return memory.data() + (64 - address % 64) % 64 / sizeof(double);
}

}  // namespace

GreedySolver::GreedySolver(const GreedyInput& input, std::span<const double> Y)
    : in_(input),
      stride_((input.k + pack_lanes) / pack_lanes * pack_lanes),
      memory_(input.pairs.n * 2 * stride_ + 8, 0.0),
      records_(aligned(memory_)),
      evidence_(input.pairs.n, 0.0),
      queue_(records_ + stride_ - 1, 2 * stride_, input.pairs.n),
      row_(longest_row(input)),
      outside_(input.divergence.outside.call ? 3 * longest_row(input) : 0),
      old_(stride_),
      new_(stride_),
      sums_(stride_) {
    if (in_.divergence.outside.call) {
        OutsideDivergence& outside = in_.divergence.outside;
        outside.p = outside_.data();
        outside.q = outside.p + longest_row(in_);
        outside.out = outside.q + longest_row(in_);
    }
    if (!in_.pairs.dense()) {
        pattern_ = GreedyPattern(in_.pairs);
    }
    for (std::size_t i = 0; i < in_.pairs.n; ++i) {
        double* y = record(i);
        double sum = 0.0;
        for (std::size_t c = 0; c < in_.k; ++c) {
            const double value = Y[i * in_.k + c];
            y[c] = value < dust ? 0.0 : value;
            sum += y[c];
        }
        for (std::size_t c = 0; c < in_.k; ++c) {
            y[c] /= sum;
        }
    }
}

// The partners of object i and their counts. Returns how many there are.
std::size_t GreedySolver::fetch(std::size_t i) {
    if (!in_.pairs.dense()) {
        const std::size_t count = pattern_.count(i);
        const Counts counts = pattern_.counts(i);
        row_.partners = pattern_.partners(i);
        row_.count = count;
        row_.whole = (count + 7) / 8 * 8;
        to_doubles(counts, 0, row_.whole, row_.c);
        to_doubles(counts, row_.whole, row_.whole, row_.N);
        return count;
    }
    to_doubles(in_.pairs.c, i * in_.pairs.n, in_.pairs.n, row_.c);
    to_doubles(in_.pairs.N, i * in_.pairs.n, in_.pairs.n, row_.N);
    std::size_t count = 0;
    for (std::size_t j = 0; j < in_.pairs.n; ++j) {
        row_.own_partners[count] = static_cast<std::int32_t>(j);
        row_.c[count] = row_.c[j];
        row_.N[count] = row_.N[j];
        count += row_.N[j] > 0.0 && j != i;
    }
    row_.partners = row_.own_partners.data();
    finish_row(row_, count);
    return count;
}

std::size_t GreedySolver::refresh_row(std::size_t i) {
    if (i + 1 < in_.pairs.n) {
        ask_for_partners(i + 1);
    }
    const std::size_t count = fetch(i);
    double* y = record(i);
    double* g = y + stride_;
    const GreedyRecords records{records_, stride_};
    std::copy(y, y + in_.k, new_.begin());
    products(records, new_.data(), row_);
    slopes(in_.divergence, row_, row_.before);
    gradient(records, row_, g);
    std::fill(g + in_.k, g + stride_, infinity);
    evidence_[i] = sum_of(row_.N, count);
    refreshed_sum_ += value(in_.divergence, row_);
    queue_.set(i, gap_of(y, g, stride_));
    return count;
}

// The data of the next step are prefetched, stage by stage, while this step computes: the object with
// the second largest gap comes next, unless one that this step changes overtakes it.
void GreedySolver::ask_for_object(std::size_t i) const {
    prefetch(record(i));
    prefetch(&evidence_[i]);
    if (!in_.pairs.dense()) {
        pattern_.ask(i);
    }
}

void GreedySolver::ask_for_partners(std::size_t i) const {
    if (in_.pairs.dense()) {
        return;
    }
    const std::int32_t* partners = pattern_.partners(i);
    const std::size_t count = pattern_.count(i);
    for (std::size_t e = 0; e < count; ++e) {
        const auto j = static_cast<std::size_t>(partners[e]);
        const double* near = record(j);
        for (std::size_t at = 0; at < 2 * stride_; at += 8) {
            prefetch(near + at);
        }
    }
}

// Prefetches the rows of the partners with a gap almost as large as the gap of `likely`.
void GreedySolver::ask_for_rising(std::size_t likely) const {
    if (in_.pairs.dense()) {
        return;
    }
    const double near = nearly * queue_.key(likely);
    for (std::size_t e = 0; e < row_.count; ++e) {
        const auto j = static_cast<std::size_t>(row_.partners[e]);
        if (queue_.key(j) > near) {
            pattern_.ask(j);
        }
    }
}

std::size_t GreedySolver::step(std::size_t J) {
    std::size_t likely = queue_.likely_second();
    ask_for_object(likely);
    queue_.ask(likely);
    queue_.ask(J);
    const std::size_t count = fetch(J);
    double* y = record(J);
    double* g = y + stride_;
    std::size_t U = 0;
    std::size_t V = 0;
    double low = infinity;
    double high = -infinity;
    for (std::size_t c = 0; c < in_.k; ++c) {
        if (g[c] < low) {
            low = g[c];
            U = c;
        }
        if (y[c] > 0.0 && g[c] > high) {
            high = g[c];
            V = c;
        }
    }
    const GreedyRecords records{records_, stride_};
    std::copy(y, y + in_.k, old_.begin());
    products_along(records, old_.data(), U, V, row_);
    ask_for_rising(likely);
    const double most = y[V];
    const std::int64_t evaluated = row_.evaluations;
    const double moved = line_search(in_.divergence, row_, most);
    evaluated_ += (row_.evaluations - evaluated) * static_cast<std::int64_t>(row_.count);
    if (!queue_.leads(likely)) {
        queue_.play_again(likely);
        likely = queue_.likely_second();
        ask_for_object(likely);
    }
    const double rest = moved < most ? most - moved : 0.0;
    if (rest == most) {
        // Nothing to gain beyond rounding: inactive until a partner moves.
        queue_.set(J, 0.0);
        return count;
    }
    y[V] = rest;
    y[U] += moved;
    std::copy(y, y + in_.k, new_.begin());
    products(records, new_.data(), row_);
    slopes(in_.divergence, row_, row_.after);
    ask_for_partners(likely);
    const double largest = move_gradients(records, old_.data(), new_.data(), row_, sums_.data());
    std::copy(sums_.begin(), sums_.begin() + static_cast<std::ptrdiff_t>(in_.k), g);
    queue_.set(J, gap_of(y, g, stride_));
    queue_.play_again(J);
    set_keys(likely, largest);
    return count;
}

// Puts the partners' gaps, of which `largest` is the largest, into the queue.
void GreedySolver::set_keys(std::size_t likely, double largest) {
    const std::size_t count = row_.count;
    std::size_t next = likely;
    std::size_t half = count;
    if (largest > queue_.key(likely)) {
        const double* gaps = row_.first;
        next = static_cast<std::size_t>(row_.partners[std::find(gaps, gaps + count, largest) - gaps]);
        ask_for_object(next);
        half = 0;
    }
    for (std::size_t e = 0; e < count; ++e) {
        if (e == half) {
            ask_for_partners(next);
        }
        queue_.set(static_cast<std::size_t>(row_.partners[e]), row_.first[e]);
    }
}

bool GreedySolver::run(std::int64_t visits) {
    std::size_t rounds = 0;
    for (std::int64_t left = visits; left > 0;) {
        if (rounds++ % rounds_per_poll == 0) {
            stop_if_interrupted();
        }
        if (refreshed_ < in_.pairs.n) {
            left -= static_cast<std::int64_t>(refresh_row(refreshed_)) + 1;
            if (++refreshed_ == in_.pairs.n) {
                trace_.push_back({steps_, 0.5 * refreshed_sum_, residual()});
                since_refresh_ = 0;
            }
            continue;
        }
        const std::size_t next = queue_.top();
        const double gap = queue_.key(next);
        if (gap > 0.0 && !(gap > in_.tol * evidence_[next])) {
            queue_.set(next, 0.0);  // stationary, until a partner moves
            --left;
            continue;
        }
        const bool settled = !(gap > 0.0);
        const bool spent = steps_ >= in_.max_steps;
        if (settled || spent ||
            since_refresh_ >= refresh_every * static_cast<std::int64_t>(in_.pairs.n)) {
            if (since_refresh_ == 0 || (settled && confirmations_ > most_confirmations)) {
                return true;
            }
            confirmations_ += settled;
            refreshed_ = 0;
            refreshed_sum_ = 0.0;
            continue;
        }
        const std::size_t count = step(next);
        ++steps_;
        ++since_refresh_;
        visited_ += static_cast<std::int64_t>(count);
        left -= static_cast<std::int64_t>(count) + 1;
    }
    return false;
}

double GreedySolver::residual() const {
    double worst = 0.0;
    for (std::size_t i = 0; i < refreshed_; ++i) {
        if (evidence_[i] > 0.0) {
            const double* y = record(i);
            worst = std::max(worst, gap_of(y, y + stride_, stride_) / evidence_[i]);
        }
    }
    return worst;
}

void GreedySolver::read(std::span<double> Y, std::span<double> gradients) const {
    for (std::size_t i = 0; i < in_.pairs.n; ++i) {
        const double* y = record(i);
        std::copy_n(y, in_.k, Y.data() + i * in_.k);
        std::copy_n(y + stride_, in_.k, gradients.data() + i * in_.k);
    }
}

}  // namespace conclust
