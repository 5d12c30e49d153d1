#include "factored.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "factored_grams.h"
#include "factored_visit.h"

namespace conclust {
namespace {

constexpr std::size_t lanes = 8;             // of every long floating sum
constexpr std::size_t blocks_per_round = 16;  // private copies; also the most threads that help

// Weighted sum of squares over a fixed number of lanes.
double lane_sum(const double* values, std::size_t count) {
    std::array<double, lanes> sum{};
    std::size_t i = 0;
    for (; i + lanes <= count; i += lanes) {
        for (std::size_t j = 0; j < lanes; ++j) {
            sum[j] += values[i + j] * values[i + j];
        }
    }
    double total = 0.0;
    for (; i < count; ++i) {
        total += values[i] * values[i];
    }
    for (const double part : sum) {
        total += part;
    }
    return total;
}

double lane_dot(const double* a, const double* b, std::size_t count) {
    std::array<double, lanes> sum{};
    std::size_t i = 0;
    for (; i + lanes <= count; i += lanes) {
        for (std::size_t j = 0; j < lanes; ++j) {
            sum[j] += a[i + j] * b[i + j];
        }
    }
    double total = 0.0;
    for (; i < count; ++i) {
        total += a[i] * b[i];
    }
    for (const double part : sum) {
        total += part;
    }
    return total;
}

// The step in [0, 1] that minimises c1 e + c2 e^2 + c3 e^3 + c4 e^4.
double best_step(double c1, double c2, double c3, double c4) {
    const auto value = [=](double e) { return e * (c1 + e * (c2 + e * (c3 + e * c4))); };
    const auto slope = [=](double e) { return c1 + e * (2.0 * c2 + e * (3.0 * c3 + e * 4.0 * c4)); };
    double best = 0.0;
    constexpr int pieces = 64;  // a cubic slope has at most three roots: bracket them, then bisect
    for (int p = 0; p < pieces; ++p) {
        double left = static_cast<double>(p) / pieces;
        double right = static_cast<double>(p + 1) / pieces;
        if (slope(left) < 0.0 && slope(right) >= 0.0) {
            for (int halving = 0; halving < 60; ++halving) {
                const double middle = 0.5 * (left + right);
                (slope(middle) < 0.0 ? left : right) = middle;
            }
            if (value(left) < value(best)) {
                best = left;
            }
        }
    }
    return value(1.0) < value(best) ? 1.0 : best;
}

std::size_t block_size(const FactoredInput& in) {
    if (in.n <= in.serial_limit) {
        return in.n;  // plain Gauss-Seidel
    }
    const std::size_t per_round = (in.n + in.rounds - 1) / in.rounds;
    return (per_round + blocks_per_round - 1) / blocks_per_round;
}

}  // namespace

FactoredSolver::FactoredSolver(const FactoredInput& input)
    : in_(input),
      stride_(padded(input.k)),
      width_(gram_width(input.k, stride_)),
      n_columns_(static_cast<std::size_t>(input.offsets[input.m])),
      sums_(n_columns_ * stride_),
      grams_(input.n_groups * width_),
      group_sizes_(input.n_groups),
      group_weights_(input.n_groups),
      column_weights_(n_columns_, 1.0) {
    for (std::size_t u = 0; u < in_.m; ++u) {
        const double w = in_.weights ? in_.weights[u] : 1.0;
        group_weights_[static_cast<std::size_t>(in_.group_of[u])] += w;
        for (auto t = in_.offsets[u]; t < in_.offsets[u + 1]; ++t) {
            column_weights_[static_cast<std::size_t>(t)] = w;
        }
    }
}

std::size_t FactoredSolver::padded(std::size_t k) {
    return (k + 3) / 4 * 4;
}

void FactoredSolver::block_sums(const double* Y, std::size_t begin, std::size_t end, double* sums,
                                double* grams, double* squares) const {
    Row row(in_);
    Summing part{&in_, column_weights_.data(), stride_, begin, end, Y, sums, grams, squares};
    sum_block(part, row);
}

void FactoredSolver::rebuild(const double* Y, int threads) {
    // As many partial sums as a round has blocks: fixed by n, merged in order.
    const std::size_t parts = in_.n <= in_.serial_limit ? 1 : blocks_per_round;
    const std::size_t chunk = (in_.n + parts - 1) / parts;
    const std::size_t width = sums_.size() + grams_.size() + 2 + in_.n_groups;
    std::vector<double> partial(parts * width, 0.0);
    const auto n_parts = static_cast<std::ptrdiff_t>(parts);
#pragma omp parallel for num_threads(threads) schedule(static) default(none) \
    shared(partial, Y, chunk, width, n_parts)
    for (std::ptrdiff_t p = 0; p < n_parts; ++p) {
        const std::size_t begin = std::min(in_.n, static_cast<std::size_t>(p) * chunk);
        const std::size_t end = std::min(in_.n, begin + chunk);
        double* base = partial.data() + static_cast<std::size_t>(p) * width;
        block_sums(Y, begin, end, base, base + sums_.size(), base + sums_.size() + grams_.size());
    }
    const auto merge = [&](std::vector<double>& into, std::size_t at) {
        for (std::size_t c = 0; c < into.size(); ++c) {
            double total = 0.0;
            for (std::size_t p = 0; p < parts; ++p) {
                total += partial[p * width + at + c];
            }
            into[c] = total;
        }
    };
    merge(sums_, 0);
    merge(grams_, sums_.size());
    std::vector<double> squares(2);
    merge(squares, sums_.size() + grams_.size());
    squares_ = squares[0];
    fourths_ = squares[1];
    merge(group_sizes_, sums_.size() + grams_.size() + 2);
}

double FactoredSolver::objective() const {
    double grams = 0.0;
    for (std::size_t g = 0; g < in_.n_groups; ++g) {
        const double* gram = grams_.data() + g * width_;
        grams += group_weights_[g] * gram_dot(gram, gram, in_.k, stride_);
    }
    double sums = 0.0;
    for (std::size_t u = 0; u < in_.m; ++u) {
        const auto begin = static_cast<std::size_t>(in_.offsets[u]) * stride_;
        const auto end = static_cast<std::size_t>(in_.offsets[u + 1]) * stride_;
        sums += (in_.weights ? in_.weights[u] : 1.0) * lane_sum(sums_.data() + begin, end - begin);
    }
    return 0.5 * (grams - fourths_) - (sums - squares_);
}

SweepResult FactoredSolver::sweep(double* Y, double tol, double negligible, int threads) {
    const std::size_t size = block_size(in_);
    SweepResult result{0.0, 0.0, 0};
    const double start = objective();
    if (size == in_.n) {
        Row row(in_);
        Block block{&in_, column_weights_.data(), group_sizes_.data(), stride_, 0, in_.n, Y,
                    sums_.data(), grams_.data(), tol, negligible, Mode::sweep, 0.0, 0.0, 0.0};
        visit_block(block, row);
        squares_ += block.squares;
        fourths_ += block.fourths;
        result.residual = block.residual;
        result.change = objective() - start;
        return result;
    }
    const std::size_t width = sums_.size() + grams_.size();
    std::vector<double> copies(blocks_per_round * width);
    std::vector<Block> blocks(blocks_per_round);
    std::vector<double> before;
    double current = start;
    for (std::size_t round = 0; round * size * blocks_per_round < in_.n; ++round) {
        const std::size_t first = round * size * blocks_per_round;
        const std::size_t last = std::min(in_.n, first + size * blocks_per_round);
        before.assign(Y + first * stride_, Y + last * stride_);
        const auto n_blocks = static_cast<std::ptrdiff_t>(blocks_per_round);
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1) default(none) \
    shared(blocks, copies, Y, first, last, size, width, tol, negligible, n_blocks)
        for (std::ptrdiff_t p = 0; p < n_blocks; ++p) {
            const auto at = static_cast<std::size_t>(p);
            double* copy = copies.data() + at * width;
            std::copy(sums_.begin(), sums_.end(), copy);
            std::copy(grams_.begin(), grams_.end(), copy + sums_.size());
            Row row(in_);
            const std::size_t begin = std::min(last, first + at * size);
            blocks[at] = Block{&in_, column_weights_.data(), group_sizes_.data(), stride_, begin,
                               std::min(last, begin + size), Y, copy, copy + sums_.size(), tol,
                               negligible, Mode::sweep, 0.0, 0.0, 0.0};
            visit_block(blocks[at], row);
        }
        const auto n_values = static_cast<std::ptrdiff_t>(width);
#pragma omp parallel for num_threads(threads) schedule(static) default(none) \
    shared(copies, width, n_values)
        for (std::ptrdiff_t c = 0; c < n_values; ++c) {
            const auto at = static_cast<std::size_t>(c);
            double& value = at < sums_.size() ? sums_[at] : grams_[at - sums_.size()];
            double moved = 0.0;
            for (std::size_t p = 0; p < blocks_per_round; ++p) {
                moved += copies[p * width + at] - value;
            }
            value += moved;
        }
        for (const Block& block : blocks) {
            squares_ += block.squares;
            fourths_ += block.fourths;
            result.residual = std::max(result.residual, block.residual);
        }
        double now = objective();
        if (now > current) {
            shorten(Y, before.data(), first, last);
            ++result.shortened;
            now = objective();
        }
        current = now;
    }
    result.change = current - start;
    return result;
}

// Objects [begin, end) moved from `before` to Y and the sums with them, and F rose. Go back along
// the step to where F, an exact quartic in the step length, is least.
void FactoredSolver::shorten(double* Y, const double* before, std::size_t begin, std::size_t end) {
    const std::size_t s = stride_;
    const std::size_t n_sums = sums_.size();
    const std::size_t n_grams = grams_.size();
    // Along y + e d: the sums change by e A, the Grams by e P + e^2 Q.
    std::vector<double> A(n_sums, 0.0), P(n_grams, 0.0), Q(n_grams, 0.0);
    double sq1 = 0.0, sq2 = 0.0;                      // squares: sq1 e + sq2 e^2
    double f1 = 0.0, f2 = 0.0, f3 = 0.0, f4 = 0.0;    // fourths
    Row row(in_);
    std::vector<double> d(s);
    for (std::size_t i = begin; i < end; ++i) {
        const double* y = before + (i - begin) * s;
        double yy = 0.0, yd = 0.0, dd = 0.0;
        for (std::size_t c = 0; c < s; ++c) {
            d[c] = Y[i * s + c] - y[c];
            yy += y[c] * y[c];
            yd += y[c] * d[c];
            dd += d[c] * d[c];
        }
        if (dd == 0.0) {
            continue;
        }
        read_row(in_, column_weights_.data(), i, row);
        for (std::size_t e = 0; e < row.n_clusters; ++e) {
            const double x = row.unit ? 1.0 : row.values[e];
            double* a = A.data() + static_cast<std::size_t>(row.columns[e]) * s;
            for (std::size_t c = 0; c < s; ++c) {
                a[c] += x * d[c];
            }
        }
        for (std::size_t g = 0; g < row.n_groups; ++g) {
            auto at = static_cast<std::size_t>(row.groups[g]) * width_;
            for (std::size_t a = 0; a < in_.k; ++a) {
                for (std::size_t c = gram_from(a); c < s; ++c, ++at) {
                    P[at] += y[a] * d[c] + d[a] * y[c];
                    Q[at] += d[a] * d[c];
                }
            }
        }
        sq1 += 2.0 * row.self * yd;
        sq2 += row.self * dd;
        // |y + e d|^4 = (yy + 2 e yd + e^2 dd)^2
        f1 += row.present * 4.0 * yy * yd;
        f2 += row.present * (4.0 * yd * yd + 2.0 * yy * dd);
        f3 += row.present * 4.0 * yd * dd;
        f4 += row.present * dd * dd;
    }
    // The sums as they were before the step.
    for (std::size_t c = 0; c < n_sums; ++c) {
        sums_[c] -= A[c];
    }
    for (std::size_t c = 0; c < n_grams; ++c) {
        grams_[c] -= P[c] + Q[c];
    }
    squares_ -= sq1 + sq2;
    fourths_ -= f1 + f2 + f3 + f4;
    double c1 = sq1 - 0.5 * f1, c2 = sq2 - 0.5 * f2, c3 = -0.5 * f3, c4 = -0.5 * f4;
    for (std::size_t g = 0; g < in_.n_groups; ++g) {
        const double w = group_weights_[g];
        const double* G = grams_.data() + g * width_;
        const double* p = P.data() + g * width_;
        const double* q = Q.data() + g * width_;
        c1 += w * gram_dot(G, p, in_.k, s);
        c2 += w * (gram_dot(G, q, in_.k, s) + 0.5 * gram_dot(p, p, in_.k, s));
        c3 += w * gram_dot(p, q, in_.k, s);
        c4 += 0.5 * w * gram_dot(q, q, in_.k, s);
    }
    for (std::size_t u = 0; u < in_.m; ++u) {
        const double w = in_.weights ? in_.weights[u] : 1.0;
        const auto from = static_cast<std::size_t>(in_.offsets[u]) * s;
        const auto count = static_cast<std::size_t>(in_.offsets[u + 1]) * s - from;
        c1 -= 2.0 * w * lane_dot(sums_.data() + from, A.data() + from, count);
        c2 -= w * lane_sum(A.data() + from, count);
    }
    const double e = best_step(c1, c2, c3, c4);
    for (std::size_t c = 0; c < n_sums; ++c) {
        sums_[c] += e * A[c];
    }
    for (std::size_t c = 0; c < n_grams; ++c) {
        grams_[c] += e * (P[c] + e * Q[c]);
    }
    squares_ += e * (sq1 + e * sq2);
    fourths_ += e * (f1 + e * (f2 + e * (f3 + e * f4)));
    for (std::size_t i = begin; i < end; ++i) {
        for (std::size_t c = 0; c < s; ++c) {
            const double y = before[(i - begin) * s + c];
            Y[i * s + c] = y + e * (Y[i * s + c] - y);
        }
    }
}

namespace {

// Independent objects: any split gives the same bits.
void visit_all(const Block& prototype, std::size_t n, int threads, double* residual) {
    constexpr std::size_t chunk = 1024;
    const auto n_chunks = static_cast<std::ptrdiff_t>((n + chunk - 1) / chunk);
    double worst = 0.0;
#pragma omp parallel num_threads(threads) default(none) shared(prototype, n, n_chunks, worst)
    {
        Row row(*prototype.in);
        double mine = 0.0;
#pragma omp for schedule(dynamic, 4)
        for (std::ptrdiff_t c = 0; c < n_chunks; ++c) {
            Block block = prototype;
            block.begin = static_cast<std::size_t>(c) * chunk;
            block.end = std::min(n, block.begin + chunk);
            visit_block(block, row);
            mine = std::max(mine, block.residual);
        }
#pragma omp critical
        worst = std::max(worst, mine);
    }
    *residual = worst;
}

}  // namespace

double FactoredSolver::residual(double* Y, int threads) {
    const Block block{&in_, column_weights_.data(), group_sizes_.data(), stride_, 0, in_.n, Y,
                      sums_.data(), grams_.data(), 0.0, 0.0, Mode::residual, 0.0, 0.0, 0.0};
    double worst = 0.0;
    visit_all(block, in_.n, threads, &worst);
    return worst;
}

void FactoredSolver::assign(double* Y, double tol, int threads) {
    const Block block{&in_, column_weights_.data(), group_sizes_.data(), stride_, 0, in_.n, Y,
                      sums_.data(), grams_.data(), tol, 0.0, Mode::assign, 0.0, 0.0, 0.0};
    double ignored = 0.0;
    visit_all(block, in_.n, threads, &ignored);
}

void FactoredSolver::read_grams(double* G) const {
    std::vector<double> H(in_.k * stride_);
    for (std::size_t g = 0; g < in_.n_groups; ++g) {
        whole(grams_.data() + g * width_, in_.k, stride_, H.data());
        for (std::size_t a = 0; a < in_.k; ++a) {
            G = std::copy_n(H.data() + a * stride_, in_.k, G);
        }
    }
}

void FactoredSolver::write_grams(const double* G) {
    for (std::size_t g = 0; g < in_.n_groups; ++g) {
        double* gram = grams_.data() + g * width_;
        for (std::size_t a = 0; a < in_.k; ++a, G += in_.k) {
            std::copy(G + gram_from(a), G + in_.k, gram + gram_row(a, stride_));
        }
    }
}

void FactoredSolver::take_sums(const FactoredSolver& other) {
    sums_ = other.sums_;
    grams_ = other.grams_;
    group_sizes_ = other.group_sizes_;
}

}  // namespace conclust
