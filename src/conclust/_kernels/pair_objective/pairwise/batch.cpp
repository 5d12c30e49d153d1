#include "pair_objective/pairwise/batch.h"

#include <algorithm>

#include "base/prefetch.h"
#include "pair_objective/pairwise/gather.h"

namespace conclust {
namespace {

// Objects are collected for one call of an outside divergence until they have this many partners.
constexpr std::size_t batch_partners = 8192;
// The memberships of the partners are prefetched for the object this many places ahead, and the lists of
// partners for the one `lists_ahead` places ahead.
constexpr std::size_t ahead = 8;
constexpr std::size_t lists_ahead = 16;
constexpr std::size_t line = 64;  // bytes

std::size_t round_up(std::size_t x, std::size_t to) { return (x + to - 1) / to * to; }

}  // namespace

std::size_t longest_column(const PairwiseInput& in) {
    std::size_t longest = in.pairs.n;
    if (!in.pairs.dense()) {
        longest = 0;
        for (std::size_t i = 0; i < in.pairs.n; ++i) {
            longest = std::max(longest, in.pairs.degree(i));
        }
    }
    return round_up(std::max<std::size_t>(longest, 1), 8);
}

PairBatch::PairBatch(const PairwiseInput& in, const double* all, std::size_t ld)
    : in_(in),
      all_(all),
      room_(in.outside.call ? std::max(ld, batch_partners) : ld),
      // The number of columns that fit if all have the maximum length.
      batch_(!in.outside.call   ? 1
             : in.pairs.dense() ? std::min(max_batch, room_ / ld)
                                : max_batch),
      clusters_(in.k, batch_) {
    const std::size_t s = round_up(in.k, 4);
    memberships_.assign(in.pairs.dense() ? 0 : s * room_, 0.0);
    partners_.assign(6 * room_, 0.0);
    columns_.assign(batch_, PairColumn{});
    for (std::size_t b = 0; b < batch_; ++b) {
        PairColumn& col = columns_[b];
        clusters_.lend(b, col);
        col.parameter = in.parameter;
        col.ld = ld;  // dense; on a pattern each column has its own
    }
    if (in.outside.call) {
        outside_.assign(3 * room_, 0.0);
        in_.outside.p = outside_.data();
        in_.outside.q = in_.outside.p + room_;
        in_.outside.out = in_.outside.q + room_;
    }
    if (batch_ > 1) {
        in_batch_.assign(in.pairs.n, 0);
    }
}

std::size_t PairBatch::length_of(std::size_t i) const {
    return round_up(in_.pairs.dense() ? in_.pairs.n : in_.pairs.degree(i), 8);
}

// Reads object i into a column; its partners begin at `at` of the batch's memory.
void PairBatch::read_column(const double* Y, std::size_t i, bool later, PairColumn& col,
                            std::size_t at) {
    const std::size_t s = col.stride;
    double* next = partners_.data() + at;
    for (double** part : {&col.c, &col.N, &col.a, &col.w, &col.h, &col.da}) {
        *part = next;
        next += room_;
    }
    col.object = i;
    col.active = true;
    col.spent = 0;
    std::copy(Y + i * s, Y + (i + 1) * s, col.y);
    std::size_t count;
    if (!in_.pairs.dense()) {
        const std::int32_t* partners = in_.pairs.partners.data() + in_.pairs.starts[i];
        const std::int32_t* end = in_.pairs.partners.data() + in_.pairs.starts[i + 1];
        if (later) {
            partners = std::lower_bound(partners, end, static_cast<std::int32_t>(i));
        }
        count = static_cast<std::size_t>(end - partners);
        const auto begin = static_cast<std::size_t>(partners - in_.pairs.partners.data());
        to_doubles(in_.pairs.c, begin, count, col.c);
        to_doubles(in_.pairs.N, begin, count, col.N);
        col.length = round_up(count, 8);
        col.ld = col.length;
        double* yt = memberships_.data() + at * s;
        col.yt = yt;
        gather_columns(Y, s, partners, count, yt, col.ld);
    } else {
        const std::size_t first = later ? i / 8 * 8 : 0;
        count = in_.pairs.n - first;
        to_doubles(in_.pairs.c, i * in_.pairs.n + first, count, col.c);
        to_doubles(in_.pairs.N, i * in_.pairs.n + first, count, col.N);
        for (std::size_t j = later ? 0 : i; j <= i - first; ++j) {
            col.c[j] = col.N[j] = 0.0;
        }
        col.yt = all_ + first;
        col.length = round_up(count, 8);
    }
    double degree[4] = {0.0, 0.0, 0.0, 0.0};  // lanes, so that the additions overlap
    for (std::size_t j = 0; j < col.length; j += 4) {
        for (std::size_t lane = 0; lane < 4; ++lane) {
            const double N = col.N[j + lane];
            degree[lane] += N;
            col.c[j + lane] = col.c[j + lane] < N ? col.c[j + lane] : N;
        }
    }
    col.degree = (degree[0] + degree[1]) + (degree[2] + degree[3]);
}

// Prefetches the lists of a later object.
void PairBatch::ask_lists(std::size_t i) const {
    const auto begin = in_.pairs.begin(i);
    const auto end = in_.pairs.begin(i + 1);
    const auto all_of = [&](const void* data, std::size_t bytes) {
        const char* values = static_cast<const char*>(data);
        for (std::size_t at = begin * bytes; at < end * bytes + line; at += line) {
            prefetch(values + std::min(at, end * bytes));
        }
    };
    all_of(in_.pairs.partners.data(), sizeof(std::int32_t));
    all_of(in_.pairs.c.data, static_cast<std::size_t>(in_.pairs.c.bytes));
    all_of(in_.pairs.N.data, static_cast<std::size_t>(in_.pairs.N.bytes));
}

// Prefetches the partners' memberships of an upcoming object.
void PairBatch::ask_partners(const double* Y, std::size_t i) const {
    const std::size_t s = columns_[0].stride;
    for (std::int64_t e = in_.pairs.starts[i]; e < in_.pairs.starts[i + 1]; ++e) {
        const double* row = Y + static_cast<std::size_t>(in_.pairs.partners[e]) * s;
        for (std::size_t c = 0; c < s; c += 8) {
            prefetch(row + c);
        }
        prefetch(row + s - 1);
    }
}

// Reads the next objects that fit into a batch, with `apart` only up to the first partner of one of them.
// Returns their number.
std::size_t PairBatch::read(const double* Y, const std::int32_t* objects, std::size_t count, bool later,
                            bool apart) {
    std::size_t some = 0;
    std::size_t at = 0;
    while (some < std::min(count, batch_)) {
        const std::size_t i = static_cast<std::size_t>(objects[some]);
        const std::size_t length = length_of(i);
        if (some > 0 && (at + length > room_ || (apart && meets_batch(i)))) {
            break;
        }
        if (!in_.pairs.dense() && some + lists_ahead < count) {
            ask_lists(static_cast<std::size_t>(objects[some + lists_ahead]));
        }
        if (!in_.pairs.dense() && some + ahead < count) {
            ask_partners(Y, static_cast<std::size_t>(objects[some + ahead]));
        }
        read_column(Y, i, later, columns_[some], at);
        at += length;
        ++some;
        if (batch_ > 1) {
            in_batch_[i] = 1;
        }
    }
    if (batch_ > 1) {
        for (std::size_t o = 0; o < some; ++o) {
            in_batch_[static_cast<std::size_t>(objects[o])] = 0;
        }
    }
    return some;
}

bool PairBatch::meets_batch(std::size_t i) const {
    if (in_.pairs.dense()) {
        return true;
    }
    return std::any_of(in_.pairs.partners.data() + in_.pairs.starts[i],
                       in_.pairs.partners.data() + in_.pairs.starts[i + 1],
                       [this](std::int32_t j) { return in_batch_[static_cast<std::size_t>(j)] != 0; });
}

void PairBatch::work(PairWork what, std::size_t count) {
    pair_work(what, columns_.data(), count, in_.divergence, in_.outside.call ? &in_.outside : nullptr);
}

std::size_t PairBatch::visit(const double* Y, const std::int32_t* objects, std::size_t count,
                             bool in_turn, const VisitAim& aim, double* gaps) {
    const std::size_t some = read(Y, objects, count, false, in_turn);
    for (std::size_t b = 0; b < some; ++b) {
        PairColumn& col = columns_[b];
        gaps[col.object] = 0.0;
        col.active = col.degree > 0.0;  // not moved, as there is no evidence
    }
    work(PairWork::curved, some);
    bool any = false;
    for (std::size_t b = 0; b < some; ++b) {
        PairColumn& col = columns_[b];
        col.moved = false;
        if (col.active) {
            gaps[col.object] = col.gap / col.degree;
            col.enough = aim.tol * col.degree;
            col.active = col.gap > col.enough && (aim.finish || col.possible > aim.negligible);
            any = any || col.active;
        }
    }
    if (any && aim.finish) {
        finish(some);
    } else if (any) {
        work(PairWork::step, some);
    }
    return some;
}

// Finishes the active columns; the decrease of f is then exact instead of estimated.
void PairBatch::finish(std::size_t count) {
    double before[max_batch];
    bool chosen[max_batch];
    work(PairWork::value, count);
    for (std::size_t b = 0; b < count; ++b) {
        chosen[b] = columns_[b].active;
        before[b] = columns_[b].value;
    }
    work(PairWork::finish, count);
    for (std::size_t b = 0; b < count; ++b) {
        columns_[b].active = chosen[b];
    }
    work(PairWork::value, count);
    for (std::size_t b = 0; b < count; ++b) {
        if (chosen[b]) {
            columns_[b].lowered = before[b] - columns_[b].value;
        }
    }
}

std::size_t PairBatch::read_range(const double* Y, std::size_t i, std::size_t end, bool later) {
    std::int32_t objects[max_batch];
    const std::size_t count = std::min(end - i, batch_);
    for (std::size_t o = 0; o < count; ++o) {
        objects[o] = static_cast<std::int32_t>(i + o);
    }
    return read(Y, objects, count, later, false);
}

std::size_t PairBatch::objective(const double* Y, std::size_t i, std::size_t end, double* values) {
    const std::size_t some = read_range(Y, i, end, true);
    work(PairWork::value, some);
    for (std::size_t b = 0; b < some; ++b) {
        values[b] = columns_[b].value;
    }
    return some;
}

std::size_t PairBatch::residuals(const double* Y, std::size_t i, std::size_t end, double* gaps) {
    const std::size_t some = read_range(Y, i, end, false);
    work(PairWork::gradient, some);
    for (std::size_t b = 0; b < some; ++b) {
        const PairColumn& col = columns_[b];
        gaps[b] = col.degree > 0.0 ? col.gap / col.degree : 0.0;
    }
    return some;
}

}  // namespace conclust
