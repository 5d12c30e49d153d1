#include "greedy.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "pack.h"

namespace conclust {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double dust = 1e-12;          // memberships that start below this start as zero
constexpr std::int64_t refresh_every = 16;  // steps per object
constexpr int most_confirmations = 50;

void prefetch(const void* address) {
#if defined(__GNUC__)
    __builtin_prefetch(address);
#else
    (void)address;
#endif
}

std::size_t longest_row(const GreedyInput& in) {
    if (in.indptr == nullptr) {
        return in.n;
    }
    std::int64_t longest = 0;
    for (std::size_t i = 0; i < in.n; ++i) {
        longest = std::max(longest, in.indptr[i + 1] - in.indptr[i]);
    }
    return static_cast<std::size_t>(longest);
}

}  // namespace

GreedySolver::GreedySolver(const GreedyInput& input, const double* Y)
    : in_(input),
      stride_((input.k + pack_lanes - 1) / pack_lanes * pack_lanes),
      memory_(input.n * 2 * stride_ + 8, 0.0),
      evidence_(input.n, 0.0),
      queue_(input.n),
      row_(longest_row(input)),
      old_(stride_),
      sums_(stride_) {
    if (in_.indptr != nullptr) {
        lay_entries();
    }
    const auto address = reinterpret_cast<std::uintptr_t>(memory_.data());
    records_ = memory_.data() + (64 - address % 64) % 64 / sizeof(double);
    for (std::size_t i = 0; i < in_.n; ++i) {
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

// Copies the pattern, so that what belongs to an entry lies together: a row is a few cache lines.
void GreedySolver::lay_entries() {
    const auto count = static_cast<std::size_t>(in_.indptr[in_.n]);
    constexpr std::size_t chunk = 4096;
    std::vector<double> c(chunk);
    std::vector<double> N(chunk);
    const auto each = [&](auto take) {
        for (std::size_t from = 0; from < count; from += chunk) {
            const std::size_t some = std::min(chunk, count - from);
            to_doubles(in_.c, from, some, c.data());
            to_doubles(in_.N, from, some, N.data());
            for (std::size_t e = 0; e < some; ++e) {
                take(in_.indices[from + e], c[e], N[e]);
            }
        }
    };
    bool small = in_.c.bytes < 8 && in_.N.bytes < 8;
    each([&](std::int32_t, double, double present) { small = small && present < 65536.0; });
    if (small) {
        small_.reserve(count);
        each([&](std::int32_t j, double matches, double present) {
            small_.push_back({j, static_cast<std::uint16_t>(matches), static_cast<std::uint16_t>(present)});
        });
    } else {
        large_.reserve(count);
        each([&](std::int32_t j, double matches, double present) { large_.push_back({j, matches, present}); });
    }
}

// The partners of object i and their counts. Returns how many there are.
std::size_t GreedySolver::fetch(std::size_t i) {
    if (in_.indptr == nullptr) {
        to_doubles(in_.c, i * in_.n, in_.n, row_.c);
        to_doubles(in_.N, i * in_.n, in_.n, row_.N);
        std::size_t count = 0;
        for (std::size_t j = 0; j < in_.n; ++j) {
            row_.partners[count] = static_cast<std::int32_t>(j);
            row_.c[count] = row_.c[j];
            row_.N[count] = row_.N[j];
            count += row_.N[j] > 0.0 && j != i;
        }
        finish_row(row_, count);
    } else if (small_.empty()) {
        read_entries(large_.data(), i);
    } else {
        read_entries(small_.data(), i);
    }
    return row_.count;
}

template <class Value>
void GreedySolver::read_entries(const GreedyEntry<Value>* entries, std::size_t i) {
    entries += in_.indptr[i];
    const auto count = static_cast<std::size_t>(in_.indptr[i + 1] - in_.indptr[i]);
    for (std::size_t e = 0; e < count; ++e) {
        const auto j = static_cast<std::size_t>(entries[e].partner);
        prefetch(record(j));
        prefetch(queue_.place(j));
        row_.partners[e] = entries[e].partner;
        row_.c[e] = static_cast<double>(entries[e].c);
        row_.N[e] = static_cast<double>(entries[e].N);
    }
    finish_row(row_, count);
}

std::size_t GreedySolver::refresh_row(std::size_t i) {
    const std::size_t count = fetch(i);
    double* y = record(i);
    double* g = y + stride_;
    const GreedyRecords records{records_, stride_};
    products(records, y, row_);
    slopes(in_.divergence, in_.a, row_, row_.before);
    gradient(records, row_, g);
    std::fill(g + in_.k, g + stride_, infinity);
    evidence_[i] = sum_of(row_.N, count);
    refreshed_sum_ += value(in_.divergence, in_.a, row_);
    queue_.set(i, gap_of(y, g, stride_));
    return count;
}

// The object that has the second largest gap comes next more often than not: what its step will read
// is asked for, stage by stage, while this step computes.
void GreedySolver::ask_for_object(std::size_t i) const {
    prefetch(record(i));
    prefetch(&evidence_[i]);
    if (in_.indptr != nullptr) {
        prefetch(in_.indptr + i);
    }
}

void GreedySolver::ask_for_entries(std::size_t i) const {
    if (in_.indptr == nullptr) {
        return;
    }
    const auto begin = static_cast<std::size_t>(in_.indptr[i]);
    const auto end = static_cast<std::size_t>(in_.indptr[i + 1]);
    const auto lines = [&](const auto& entries) {
        for (std::size_t e = begin; e < end; e += 64 / sizeof(entries[0])) {
            prefetch(&entries[e]);
        }
    };
    if (small_.empty()) {
        lines(large_);
    } else {
        lines(small_);
    }
}

void GreedySolver::ask_for_partners(std::size_t i) const {
    if (in_.indptr == nullptr) {
        return;
    }
    for (std::int64_t e = in_.indptr[i]; e < in_.indptr[i + 1]; ++e) {
        const auto at = static_cast<std::size_t>(e);
        const auto j = static_cast<std::size_t>(small_.empty() ? large_[at].partner : small_[at].partner);
        prefetch(record(j));
        prefetch(queue_.place(j));
    }
}

std::size_t GreedySolver::step(std::size_t J, std::size_t likely) {
    ask_for_object(likely);
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
    ask_for_entries(likely);
    products_along(records, y, U, V, row_);
    slopes(in_.divergence, in_.a, row_, row_.before);
    const double most = y[V];
    const double moved = line_search(in_.divergence, in_.a, row_, most);
    const double rest = moved < most ? most - moved : 0.0;
    if (rest == most) {
        // Nothing to gain beyond rounding: aside until a partner moves.
        queue_.set(J, 0.0);
        return count;
    }
    std::copy(y, y + stride_, old_.begin());
    y[V] = rest;
    y[U] += moved;
    products(records, y, row_);
    slopes(in_.divergence, in_.a, row_, row_.after);
    move_gradients(records, old_.data(), y, row_, sums_.data());
    std::copy(sums_.begin(), sums_.begin() + static_cast<std::ptrdiff_t>(in_.k), g);
    queue_.set(J, gap_of(y, g, stride_));
    // Who has the largest gap among those that changed? If it is larger, that object comes next.
    std::size_t highest = 0;
    for (std::size_t e = 1; e < count; ++e) {
        highest = row_.first[e] > row_.first[highest] ? e : highest;
    }
    const bool other = count > 0 && row_.first[highest] > queue_.key(likely);
    const std::size_t next = other ? static_cast<std::size_t>(row_.partners[highest]) : likely;
    if (other) {
        ask_for_object(next);
    } else {
        ask_for_partners(next);
    }
    for (std::size_t e = 0; e < count; ++e) {
        if (other && e == count / 2) {
            ask_for_entries(next);
        }
        queue_.set(static_cast<std::size_t>(row_.partners[e]), row_.first[e]);
    }
    return count;
}

bool GreedySolver::run(std::int64_t visits) {
    for (std::int64_t left = visits; left > 0;) {
        if (refreshed_ < in_.n) {
            left -= static_cast<std::int64_t>(refresh_row(refreshed_)) + 1;
            if (++refreshed_ == in_.n) {
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
        if (settled || spent || since_refresh_ >= refresh_every * static_cast<std::int64_t>(in_.n)) {
            if (since_refresh_ == 0 || (settled && confirmations_ > most_confirmations)) {
                return true;
            }
            confirmations_ += settled;
            refreshed_ = 0;
            refreshed_sum_ = 0.0;
            continue;
        }
        const std::size_t count = step(next, queue_.runner_up(next));
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

void GreedySolver::read(double* Y, double* gradients) const {
    for (std::size_t i = 0; i < in_.n; ++i) {
        const double* y = record(i);
        std::copy(y, y + in_.k, Y + i * in_.k);
        std::copy(y + stride_, y + stride_ + in_.k, gradients + i * in_.k);
    }
}

}  // namespace conclust
