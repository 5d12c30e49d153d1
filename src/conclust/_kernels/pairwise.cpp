#include "pairwise.h"

#include <algorithm>

#include "pack.h"

namespace conclust {
namespace {

template <class T>
void widen(const T* from, std::size_t count, double* to) {
    for (std::size_t j = 0; j < count; ++j) {
        to[j] = static_cast<double>(from[j]);
    }
}

void read(const Numbers& numbers, std::size_t begin, std::size_t count, double* to) {
    switch (numbers.bytes) {
        case 1: return widen(static_cast<const std::uint8_t*>(numbers.data) + begin, count, to);
        case 2: return widen(static_cast<const std::uint16_t*>(numbers.data) + begin, count, to);
        case 4: return widen(static_cast<const std::uint32_t*>(numbers.data) + begin, count, to);
        default: return widen(static_cast<const double*>(numbers.data) + begin, count, to);
    }
}

std::size_t round_up(std::size_t x, std::size_t to) { return (x + to - 1) / to * to; }

}  // namespace

PairwiseSolver::PairwiseSolver(const PairwiseInput& in) : in_(in) {
    column_.divergence = in.divergence;
    column_.parameter = in.parameter;
    column_.k = in.k;
    column_.stride = round_up(in.k, 4);
    std::size_t longest = in.n;
    if (in.starts) {
        longest = 0;
        for (std::size_t i = 0; i < in.n; ++i) {
            longest = std::max(longest, static_cast<std::size_t>(in.starts[i + 1] - in.starts[i]));
        }
    }
    const std::size_t ld = round_up(std::max<std::size_t>(longest, 1), 8);
    const std::size_t s = column_.stride;
    column_.ld = ld;
    yt_.assign(s * ld, 0.0);
    column_.yt = yt_.data();
    memory_.assign(6 * ld + 5 * s + s * s, 0.0);
    double* next = memory_.data();
    for (double** part : {&column_.c, &column_.N, &column_.a, &column_.w, &column_.h, &column_.da}) {
        *part = next;
        next += ld;
    }
    for (double** part : {&column_.y, &column_.g, &column_.q, &column_.z, &column_.d, &column_.H}) {
        *part = next;
        next += s;
    }
}

void PairwiseSolver::take(const double* Y) {
    if (in_.starts) {
        return;
    }
    const std::size_t s = column_.stride;
    for (std::size_t i = 0; i < in_.n; ++i) {
        for (std::size_t c = 0; c < in_.k; ++c) {
            yt_[c * column_.ld + i] = Y[i * s + c];
        }
    }
}

void PairwiseSolver::read_column(const double* Y, std::size_t i, bool later) {
    PairColumn& col = column_;
    const std::size_t s = col.stride;
    std::copy(Y + i * s, Y + (i + 1) * s, col.y);
    std::size_t count;
    if (in_.starts) {
        const std::int32_t* partners = in_.partners + in_.starts[i];
        const std::int32_t* end = in_.partners + in_.starts[i + 1];
        if (later) {
            partners = std::lower_bound(partners, end, static_cast<std::int32_t>(i));
        }
        count = static_cast<std::size_t>(end - partners);
        const auto begin = static_cast<std::size_t>(partners - in_.partners);
        read(in_.counts, begin, count, col.c);
        read(in_.copresence, begin, count, col.N);
        for (std::size_t j = 0; j < count; ++j) {
            const double* row = Y + static_cast<std::size_t>(partners[j]) * s;
            for (std::size_t c = 0; c < s; ++c) {
                yt_[c * col.ld + j] = row[c];
            }
        }
        col.length = round_up(count, 8);
        for (std::size_t c = 0; c < s; ++c) {
            std::fill(yt_.data() + c * col.ld + count, yt_.data() + c * col.ld + col.length, 0.0);
        }
    } else {
        const std::size_t first = later ? i / 8 * 8 : 0;
        count = in_.n - first;
        read(in_.counts, i * in_.n + first, count, col.c);
        read(in_.copresence, i * in_.n + first, count, col.N);
        for (std::size_t j = later ? 0 : i; j <= i - first; ++j) {
            col.c[j] = col.N[j] = 0.0;
        }
        col.yt = yt_.data() + first;
        col.length = round_up(count, 8);
    }
    for (std::size_t j = count; j < col.length; ++j) {
        col.c[j] = col.N[j] = 0.0;
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

VisitResult PairwiseSolver::visit(double* Y, const std::int32_t* objects, std::size_t count, double tol,
                                  double negligible, bool finish, double* gaps) {
    VisitResult result{0.0, 0};
    const std::size_t s = column_.stride;
    for (std::size_t o = 0; o < count; ++o) {
        const std::size_t i = static_cast<std::size_t>(objects[o]);
        read_column(Y, i, false);
        gaps[i] = 0.0;
        if (!(column_.degree > 0.0)) {
            continue;  // no evidence about this object: it stays where it is
        }
        const Gap gap = pair_gradient(column_, true);
        gaps[i] = gap.gap / column_.degree;
        result.residual = std::max(result.residual, gaps[i]);
        const double enough = tol * column_.degree;
        if (gap.gap <= enough || (!finish && gap.possible <= negligible)) {
            continue;
        }
        if (!pair_descend(column_, gap, enough, finish)) {
            continue;
        }
        ++result.moved;
        std::copy(column_.y, column_.y + s, Y + i * s);
        if (!in_.starts) {
            for (std::size_t c = 0; c < in_.k; ++c) {
                yt_[c * column_.ld + i] = column_.y[c];
            }
        }
    }
    return result;
}

double PairwiseSolver::objective(const double* Y, std::size_t begin, std::size_t end) {
    double total = 0.0;
    for (std::size_t i = begin; i < end; ++i) {
        read_column(Y, i, true);
        total += pair_value(column_);
    }
    return total;
}

void PairwiseSolver::residuals(const double* Y, std::size_t begin, std::size_t end, double* gaps) {
    for (std::size_t i = begin; i < end; ++i) {
        read_column(Y, i, false);
        gaps[i] = column_.degree > 0.0 ? pair_gradient(column_, false).gap / column_.degree : 0.0;
    }
}

}  // namespace conclust
