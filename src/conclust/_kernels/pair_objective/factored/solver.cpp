#include "pair_objective/factored/solver.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "pair_objective/factored/grams.h"
#include "pair_objective/factored/visit.h"

namespace conclust {
namespace {

constexpr std::size_t lanes = 8;             // of every long floating sum
constexpr std::size_t blocks_per_round = 16;  // private copies; also the most threads that help
constexpr double rounding = 1e-14;  // of F
// A round of few objects is cut into parts of this size, within these numbers of parts.
constexpr std::size_t part_size = 32;
constexpr std::size_t least_parts = 8;
constexpr std::size_t most_parts = 32;

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

// Groups of a set: a number that keeps the tables in a fast cache.
std::size_t groups_per_set(const FactoredInput& in) {
    constexpr std::size_t most_bytes = std::size_t{1} << 21;
    const std::size_t bytes = (in.groups.count + 3) / 4 * 16 * gram_width(in.k) * sizeof(double);
    return bytes <= most_bytes ? 4 : 2;
}

}  // namespace

FactoredSolver::FactoredSolver(const FactoredInput& input)
    : in_(input),
      presence_(input, groups_per_set(input)),
      stride_(padded(input.k)),
      width_(gram_width(input.k)),
      n_columns_(input.labels.n_clusters()),
      sums_(n_columns_ * stride_),
      grams_(input.groups.count * width_),
      fields_(presence_.n_entries() * width_),
      group_sizes_(input.groups.count),
      group_weights_(input.groups.count),
      column_weights_(n_columns_, 1.0) {
    for (std::size_t u = 0; u < in_.labels.m; ++u) {
        const double w = in_.labels.weight(u);
        group_weights_[static_cast<std::size_t>(in_.groups.of[u])] += w;
        for (auto t = in_.labels.offsets[u]; t < in_.labels.offsets[u + 1]; ++t) {
            column_weights_[static_cast<std::size_t>(t)] = w;
        }
    }
}

std::size_t FactoredSolver::padded(std::size_t k) { return (k + 3) / 4 * 4; }

void FactoredSolver::see_fields() {
    sum_by_entry(presence_, in_.k, grams_.data(), group_weights_.data(), group_sizes_.data(),
                 fields_.data());
}

void FactoredSolver::rebuild(std::span<const double> rows, int threads) {
    const double* Y = rows.data();
    // As many partial sums as a round has blocks: fixed by n, merged in order.
    const std::size_t parts = in_.labels.n <= in_.serial_limit ? 1 : blocks_per_round;
    const std::size_t chunk = (in_.labels.n + parts - 1) / parts;
    const std::size_t width = sums_.size() + fields_.size() + 1;
    std::vector<double> partial(parts * width, 0.0);
    const auto n_parts = static_cast<std::ptrdiff_t>(parts);
#pragma omp parallel for num_threads(threads) schedule(static) default(none) \
    shared(partial, Y, chunk, width, n_parts)
    for (std::ptrdiff_t p = 0; p < n_parts; ++p) {
        const std::size_t begin = std::min(in_.labels.n, static_cast<std::size_t>(p) * chunk);
        double* base = partial.data() + static_cast<std::size_t>(p) * width;
        sum_block({&in_, column_weights_.data(), &presence_, stride_, begin,
                   std::min(in_.labels.n, begin + chunk), Y, base, base + sums_.size(),
                   base + width - 1});
    }
    for (std::size_t p = 1; p < parts; ++p) {
        for (std::size_t c = 0; c < width; ++c) {
            partial[c] += partial[p * width + c];
        }
    }
    std::copy_n(partial.begin(), sums_.size(), sums_.begin());
    squares_ = partial[width - 1];
    fourths_ = 0.0;
    std::fill(grams_.begin(), grams_.end(), 0.0);
    gather_moves(presence_, width_, partial.data() + sums_.size(), grams_.data());
    for (std::size_t g = 0; g < in_.groups.count; ++g) {
        double* numbers = grams_.data() + g * width_ + gram_weight(in_.k);
        fourths_ += group_weights_[g] * numbers[0];
        group_sizes_[g] = numbers[1];
        numbers[0] = numbers[1] = 0.0;
    }
}

double FactoredSolver::objective() const {
    double grams = 0.0;
    for (std::size_t g = 0; g < in_.groups.count; ++g) {
        const double* gram = grams_.data() + g * width_;
        grams += group_weights_[g] * gram_dot(gram, gram, in_.k);
    }
    double sums = 0.0;
    for (std::size_t u = 0; u < in_.labels.m; ++u) {
        const auto begin = in_.labels.first_cluster(u) * stride_;
        const auto end = in_.labels.first_cluster(u + 1) * stride_;
        sums += (in_.labels.weight(u)) * lane_sum(sums_.data() + begin, end - begin);
    }
    return 0.5 * (grams - fourths_) - (sums - squares_);
}

// Objects [begin, end) that move before F is looked at, and the sums that they move.
struct FactoredSolver::Round {
    std::size_t blocks;         // that work on copies of the sums; or one, on the sums themselves
    std::size_t size;           // objects of a block
    std::size_t begin = 0;
    std::size_t end = 0;
    std::vector<double> before;  // Y of its objects
    std::vector<double> sums;    // blocks x sums, if there are several
    std::vector<double> moves;   // blocks x table
    double residual = 0.0;

    Round(const FactoredInput& in, std::size_t n_sums, std::size_t table)
        : blocks(in.labels.n <= in.serial_limit ? 1 : blocks_per_round) {
        const std::size_t rounds = blocks == 1 ? 1 : in.rounds;
        size = ((in.labels.n + rounds - 1) / rounds + blocks - 1) / blocks;
        sums.resize(blocks == 1 ? 0 : blocks * n_sums);
        moves.resize(blocks * table);
    }
};

SweepResult FactoredSolver::sweep(std::span<double> rows, double tol, double negligible,
                                  double relaxation, int threads) {
    double* Y = rows.data();
    Block all = block(Y, 0, in_.labels.n, Mode::sweep, tol);
    all.negligible = negligible;
    all.relaxation = relaxation;
    Round round(in_, sums_.size(), fields_.size());
    SweepResult result{0.0, 0.0, 0};
    const double start = objective();
    double current = start;
    for (; round.begin < in_.labels.n; round.begin = round.end) {
        round.end = std::min(in_.labels.n, round.begin + round.size * round.blocks);
        round.before.resize((round.end - round.begin) * stride_);
        if (round.blocks == 1) {
            std::copy(Y, Y + in_.labels.n * stride_, round.before.begin());
            work_in_turn(round, all);
        } else {
            work_together(round, all, threads);
        }
        double now = objective();
        if (now - current > rounding * std::abs(current)) {
            shorten(Y, round);
            ++result.shortened;
            now = objective();
        }
        current = now;
    }
    result.residual = round.residual;
    result.change = current - start;
    return result;
}

// Objects against the sums and the latest fields; they move no Gram.
Block FactoredSolver::block(double* Y, std::size_t begin, std::size_t end, Mode mode, double tol) {
    return Block{&in_,
                 column_weights_.data(),
                 &presence_,
                 stride_,
                 begin,
                 end,
                 Y,
                 sums_.data(),
                 fields_.data(),
                 nullptr,
                 tol,
                 0.0,
                 1.0,
                 mode,
                 0.0,
                 0.0,
                 0.0};
}

// The Grams move with a part of the objects after the other, the sums with each object.
void FactoredSolver::work_in_turn(Round& round, const Block& all) {
    const std::size_t parts = std::clamp(round.size / part_size, least_parts, most_parts);
    const std::size_t part = (round.size + parts - 1) / parts;
    Row row(in_);
    Entries entries = all_entries(presence_);
    for (std::size_t begin = round.begin; begin < round.end; begin += part) {
        see_fields();
        std::fill(round.moves.begin(), round.moves.end(), 0.0);
        Block one = all;
        one.begin = begin;
        one.end = std::min(round.end, begin + part);
        one.moves = round.moves.data();
        visit_block(one, row, entries);
        finish(one, round);
    }
}

// The sums move with the objects of a block, in its copy.
void FactoredSolver::work_together(Round& round, const Block& all, int threads) {
    const std::size_t table = fields_.size();
    see_fields();
    std::vector<Block> blocks(round.blocks, all);
    for (std::size_t p = 0; p < round.blocks; ++p) {
        blocks[p].begin = std::min(round.end, round.begin + p * round.size);
        blocks[p].end = std::min(round.end, blocks[p].begin + round.size);
        blocks[p].sums = round.sums.data() + p * sums_.size();
        blocks[p].moves = round.moves.data() + p * table;
    }
    const auto n_blocks = static_cast<std::ptrdiff_t>(round.blocks);
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1) default(none) \
    shared(round, blocks, table, n_blocks)
    for (std::ptrdiff_t p = 0; p < n_blocks; ++p) {
        Block& one = blocks[static_cast<std::size_t>(p)];
        std::copy(sums_.begin(), sums_.end(), one.sums);
        std::fill(one.moves, one.moves + table, 0.0);
        std::copy(one.Y + one.begin * stride_, one.Y + one.end * stride_,
                  round.before.data() + (one.begin - round.begin) * stride_);
        Row row(in_);
        Entries entries = all_entries(presence_);
        visit_block(one, row, entries);
    }
    for (std::size_t c = 0; c < sums_.size(); ++c) {
        double moved = 0.0;
        for (const Block& one : blocks) {
            moved += one.sums[c] - sums_[c];
        }
        sums_[c] += moved;
    }
    for (const Block& one : blocks) {
        finish(one, round);
    }
}

// Adds the moves of a block, except for its sums.
void FactoredSolver::finish(const Block& block, Round& round) {
    gather_moves(presence_, width_, block.moves, grams_.data());
    squares_ += block.squares;
    fourths_ += block.fourths;
    round.residual = std::max(round.residual, block.residual);
}

// The objects of a round moved, the sums with them, and F rose. Go back along the step to where F, an
// exact quartic in the step length, is least.
void FactoredSolver::shorten(double* Y, const Round& round) {
    const std::size_t s = stride_;
    const std::size_t k = in_.k;
    const std::size_t n_sums = sums_.size();
    const std::size_t n_grams = grams_.size();
    // Along y + e d: the sums change by e A, the Grams by e P + e^2 Q.
    std::vector<double> A(n_sums, 0.0), P(n_grams, 0.0), Q(n_grams, 0.0);
    std::vector<double> P_moves(fields_.size(), 0.0), Q_moves(fields_.size(), 0.0);
    double sq1 = 0.0, sq2 = 0.0;                      // squares: sq1 e + sq2 e^2
    double f1 = 0.0, f2 = 0.0, f3 = 0.0, f4 = 0.0;    // fourths
    Row row(in_);
    Entries entries = all_entries(presence_);
    std::vector<double> d(s), p(width_), q(width_);
    for (std::size_t i = round.begin; i < round.end; ++i) {
        const double* y = round.before.data() + (i - round.begin) * s;
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
        read_entries(in_, presence_, i, entries);
        add_entries(fields_.data(), width_, entries, p.data());
        const double present = p[gram_weight(k)];
        std::fill(p.begin(), p.end(), 0.0);
        for (std::size_t a = 0, at = 0; a < k; ++a) {
            for (std::size_t c = a; c < k; ++c, ++at) {
                p[at] = y[a] * d[c] + d[a] * y[c];
                q[at] = d[a] * d[c];
            }
        }
        move_entries(P_moves.data(), width_, entries, p.data());
        move_entries(Q_moves.data(), width_, entries, q.data());
        sq1 += 2.0 * row.self * yd;
        sq2 += row.self * dd;
        // |y + e d|^4 = (yy + 2 e yd + e^2 dd)^2
        f1 += present * 4.0 * yy * yd;
        f2 += present * (4.0 * yd * yd + 2.0 * yy * dd);
        f3 += present * 4.0 * yd * dd;
        f4 += present * dd * dd;
    }
    gather_moves(presence_, width_, P_moves.data(), P.data());
    gather_moves(presence_, width_, Q_moves.data(), Q.data());
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
    for (std::size_t g = 0; g < in_.groups.count; ++g) {
        const double w = group_weights_[g];
        const double* G = grams_.data() + g * width_;
        const double* first = P.data() + g * width_;
        const double* second = Q.data() + g * width_;
        c1 += w * gram_dot(G, first, k);
        c2 += w * (gram_dot(G, second, k) + 0.5 * gram_dot(first, first, k));
        c3 += w * gram_dot(first, second, k);
        c4 += 0.5 * w * gram_dot(second, second, k);
    }
    for (std::size_t u = 0; u < in_.labels.m; ++u) {
        const double w = in_.labels.weight(u);
        const auto from = in_.labels.first_cluster(u) * s;
        const auto count = in_.labels.first_cluster(u + 1) * s - from;
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
    double* moved = Y + round.begin * s;
    for (std::size_t c = 0; c < round.before.size(); ++c) {
        moved[c] = round.before[c] + e * (moved[c] - round.before[c]);
    }
}

namespace {

// Independent objects: any split gives the same bits.
double visit_all(const Block& all, int threads) {
    constexpr std::size_t chunk = 1024;
    const auto n_chunks = static_cast<std::ptrdiff_t>((all.end + chunk - 1) / chunk);
    double worst = 0.0;
#pragma omp parallel num_threads(threads) default(none) shared(all, n_chunks, worst)
    {
        Row row(*all.in);
        Entries entries = all_entries(*all.presence);
        double mine = 0.0;
#pragma omp for schedule(dynamic, 4)
        for (std::ptrdiff_t c = 0; c < n_chunks; ++c) {
            Block block = all;
            block.begin = static_cast<std::size_t>(c) * chunk;
            block.end = std::min(all.end, block.begin + chunk);
            visit_block(block, row, entries);
            mine = std::max(mine, block.residual);
        }
#pragma omp critical
        worst = std::max(worst, mine);
    }
    return worst;
}

}  // namespace

double FactoredSolver::residual(std::span<double> rows, int threads) {
    see_fields();
    return visit_all(block(rows.data(), 0, in_.labels.n, Mode::residual, 0.0), threads);
}

void FactoredSolver::assign(std::span<double> rows, double tol, int threads) {
    see_fields();
    visit_all(block(rows.data(), 0, in_.labels.n, Mode::assign, tol), threads);
}

void FactoredSolver::read_grams(std::span<double> grams) const {
    double* G = grams.data();
    const std::size_t k = in_.k;
    for (std::size_t g = 0; g < in_.groups.count; ++g, G += k * k) {
        const double* gram = grams_.data() + g * width_;
        for (std::size_t a = 0; a < k; ++a) {
            for (std::size_t c = a; c < k; ++c) {
                G[a * k + c] = G[c * k + a] = *gram++;
            }
        }
    }
}

void FactoredSolver::write_grams(std::span<const double> grams) {
    const double* G = grams.data();
    const std::size_t k = in_.k;
    for (std::size_t g = 0; g < in_.groups.count; ++g, G += k * k) {
        double* gram = grams_.data() + g * width_;
        for (std::size_t a = 0; a < k; ++a) {
            gram = std::copy(G + a * k + a, G + (a + 1) * k, gram);
        }
    }
}

void FactoredSolver::take_sums(const FactoredSolver& other) {
    sums_ = other.sums_;
    grams_ = other.grams_;
    group_sizes_ = other.group_sizes_;
}

}  // namespace conclust
