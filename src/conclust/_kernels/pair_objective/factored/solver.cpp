#include "pair_objective/factored/solver.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>

#include "base/interrupt.h"
#include "pair_objective/factored/grams.h"
#include "pair_objective/factored/step.h"
#include "pair_objective/factored/visit.h"

namespace conclust {
namespace {

constexpr std::size_t lanes = 8;             // of every long floating sum
constexpr std::size_t blocks_per_round = 16;  // private copies; also the maximum number of threads
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

// As many partial sums as a round has blocks: fixed by n, merged in order.
std::size_t FactoredSolver::n_parts() const {
    return in_.labels.n <= in_.serial_limit ? 1 : blocks_per_round;
}

void FactoredSolver::rebuild(std::span<const double> rows, int threads) {
    const double* Y = rows.data();
    const std::size_t parts = n_parts();
    const std::size_t chunk = (in_.labels.n + parts - 1) / parts;
    const std::size_t width = sums_.size() + fields_.size() + 1;
    std::vector<double> partial(parts * width, 0.0);
    const auto count = static_cast<std::ptrdiff_t>(parts);
    Interruption interruption;
#pragma omp parallel for num_threads(threads) schedule(static) default(none) \
    shared(partial, Y, chunk, width, count, interruption)
    for (std::ptrdiff_t p = 0; p < count; ++p) {
        if (interruption.wanted()) {
            continue;
        }
        const std::size_t begin = std::min(in_.labels.n, static_cast<std::size_t>(p) * chunk);
        double* base = partial.data() + static_cast<std::size_t>(p) * width;
        interruption.guard([&] {
            sum_block({&in_, column_weights_.data(), &presence_, stride_, begin,
                       std::min(in_.labels.n, begin + chunk), Y, base, base + sums_.size(),
                       base + width - 1});
        });
    }
    interruption.pass_on();
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

// Objects [begin, end) that move before F is evaluated, and the sums that they change.
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
                                  double relaxation, int threads, bool watched) {
    double* Y = rows.data();
    Block all = block(Y, 0, in_.labels.n, Mode::sweep, tol);
    all.negligible = negligible;
    all.relaxation = relaxation;
    Round round(in_, sums_.size(), fields_.size());
    SweepResult result{0.0, 0.0, 0};
    const double start = watched ? objective() : 0.0;
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
        if (!watched) {
            continue;
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
    result.change = watched ? current - start : std::numeric_limits<double>::quiet_NaN();
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

// The Grams are updated after each part of the objects, the sums after each object.
void FactoredSolver::work_in_turn(Round& round, const Block& all) {
    const std::size_t parts = std::clamp(round.size / part_size, least_parts, most_parts);
    const std::size_t part = (round.size + parts - 1) / parts;
    Row row(in_);
    Entries entries = all_entries(presence_);
    for (std::size_t begin = round.begin; begin < round.end; begin += part) {
        stop_if_interrupted();
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
    Interruption interruption;
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1) default(none) \
    shared(round, blocks, table, n_blocks, interruption)
    for (std::ptrdiff_t p = 0; p < n_blocks; ++p) {
        if (interruption.wanted()) {
            continue;
        }
        Block& one = blocks[static_cast<std::size_t>(p)];
        std::copy(sums_.begin(), sums_.end(), one.sums);
        std::fill(one.moves, one.moves + table, 0.0);
        std::copy(one.Y + one.begin * stride_, one.Y + one.end * stride_,
                  round.before.data() + (one.begin - round.begin) * stride_);
        interruption.guard([&] {
            Row row(in_);
            Entries entries = all_entries(presence_);
            visit_block(one, row, entries);
        });
    }
    interruption.pass_on();
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

// The objects of a round moved, the sums with them, and F rose. Go back along the step to the
// minimum of F, an exact quartic in the step length.
void FactoredSolver::shorten(double* Y, const Round& round) {
    const std::size_t s = stride_;
    Step step(sums_.size(), grams_.size());
    std::vector<double> moves(2 * fields_.size(), 0.0);
    // The copy begins with the round's first object.
    const double* before = round.before.data() - round.begin * s;
    step_block({&in_, column_weights_.data(), &presence_, fields_.data(), s, round.begin, round.end,
                before, Y, step.sums.data(), moves.data(), moves.data() + fields_.size(), &step.powers});
    gather_moves(presence_, width_, moves.data(), step.first.data());
    gather_moves(presence_, width_, moves.data() + fields_.size(), step.second.data());
    // The sums as they were before the step.
    for (std::size_t c = 0; c < sums_.size(); ++c) {
        sums_[c] -= step.sums[c];
    }
    for (std::size_t c = 0; c < grams_.size(); ++c) {
        grams_[c] -= step.first[c] + step.second[c];
    }
    squares_ -= squares_along(step.powers, 1.0);
    fourths_ -= fourths_along(step.powers, 1.0);
    const double e = best_step(quartic(step), 1.0);
    go(step, e);
    double* moved = Y + round.begin * s;
    for (std::size_t c = 0; c < round.before.size(); ++c) {
        moved[c] = round.before[c] + e * (moved[c] - round.before[c]);
    }
}

// F along a step, less F before it: the coefficients of e, e^2, e^3, e^4.
std::array<double, 4> FactoredSolver::quartic(const Step& step) const {
    const std::size_t k = in_.k;
    const Powers& p = step.powers;
    std::array<double, 4> c{p[square_1] - 0.5 * p[fourth_1], p[square_2] - 0.5 * p[fourth_2],
                            -0.5 * p[fourth_3], -0.5 * p[fourth_4]};
    for (std::size_t g = 0; g < in_.groups.count; ++g) {
        const double w = group_weights_[g];
        const double* G = grams_.data() + g * width_;
        const double* first = step.first.data() + g * width_;
        const double* second = step.second.data() + g * width_;
        c[0] += w * gram_dot(G, first, k);
        c[1] += w * (gram_dot(G, second, k) + 0.5 * gram_dot(first, first, k));
        c[2] += w * gram_dot(first, second, k);
        c[3] += 0.5 * w * gram_dot(second, second, k);
    }
    for (std::size_t u = 0; u < in_.labels.m; ++u) {
        const double w = in_.labels.weight(u);
        const auto from = in_.labels.first_cluster(u) * stride_;
        const auto count = in_.labels.first_cluster(u + 1) * stride_ - from;
        c[0] -= 2.0 * w * lane_dot(sums_.data() + from, step.sums.data() + from, count);
        c[1] -= w * lane_sum(step.sums.data() + from, count);
    }
    return c;
}

// The sums go along a step.
void FactoredSolver::go(const Step& step, double e) {
    for (std::size_t c = 0; c < sums_.size(); ++c) {
        sums_[c] += e * step.sums[c];
    }
    for (std::size_t c = 0; c < grams_.size(); ++c) {
        grams_[c] += e * (step.first[c] + e * step.second[c]);
    }
    squares_ += squares_along(step.powers, e);
    fourths_ += fourths_along(step.powers, e);
}

void FactoredSolver::steps(std::span<const double> before, std::span<const double> after,
                           std::span<double> first, std::span<double> second, std::span<double> powers,
                           int threads) {
    see_fields();
    const std::size_t parts = n_parts();
    const std::size_t chunk = (in_.labels.n + parts - 1) / parts;
    const std::size_t table = fields_.size();
    std::vector<double> moves(parts * 2 * table, 0.0);
    std::vector<Powers> sums(parts, Powers{});
    const auto count = static_cast<std::ptrdiff_t>(parts);
    Interruption interruption;
#pragma omp parallel for num_threads(threads) schedule(static) default(none) \
    shared(moves, sums, before, after, chunk, table, count, interruption)
    for (std::ptrdiff_t part = 0; part < count; ++part) {
        if (interruption.wanted()) {
            continue;
        }
        const auto p = static_cast<std::size_t>(part);
        const std::size_t begin = std::min(in_.labels.n, p * chunk);
        double* mine = moves.data() + p * 2 * table;
        interruption.guard([&] {
            step_block({&in_, column_weights_.data(), &presence_, fields_.data(), stride_, begin,
                        std::min(in_.labels.n, begin + chunk), before.data(), after.data(), nullptr,
                        mine, mine + table, &sums[p]});
        });
    }
    interruption.pass_on();
    for (std::size_t p = 1; p < parts; ++p) {
        for (std::size_t c = 0; c < 2 * table; ++c) {
            moves[c] += moves[p * 2 * table + c];
        }
        for (std::size_t c = 0; c < n_powers; ++c) {
            sums[0][c] += sums[p][c];
        }
    }
    std::vector<double> grams(grams_.size(), 0.0);
    gather_moves(presence_, width_, moves.data(), grams.data());
    unpack(grams, first);
    std::fill(grams.begin(), grams.end(), 0.0);
    gather_moves(presence_, width_, moves.data() + table, grams.data());
    unpack(grams, second);
    std::copy(sums[0].begin(), sums[0].end(), powers.begin());
}

double FactoredSolver::step(std::span<const double> sums, std::span<const double> first,
                            std::span<const double> second, std::span<const double> powers,
                            double most) {
    Step along(sums_.size(), grams_.size());
    std::copy(sums.begin(), sums.end(), along.sums.begin());
    pack(first, along.first);
    pack(second, along.second);
    std::copy(powers.begin(), powers.end(), along.powers.begin());
    const double e = best_step(quartic(along), most);
    go(along, e);
    return e;
}

namespace {

// Independent objects: any split gives the same bits.
double visit_all(const Block& all, int threads) {
    constexpr std::size_t chunk = 1024;
    const auto n_chunks = static_cast<std::ptrdiff_t>((all.end + chunk - 1) / chunk);
    double worst = 0.0;
    Interruption interruption;
#pragma omp parallel num_threads(threads) default(none) shared(all, n_chunks, worst, interruption)
    {
        std::optional<Row> row;
        std::optional<Entries> entries;
        interruption.guard([&] {
            row.emplace(*all.in);
            entries.emplace(all_entries(*all.presence));
        });
        double mine = 0.0;
#pragma omp for schedule(dynamic, 4)
        for (std::ptrdiff_t c = 0; c < n_chunks; ++c) {
            if (interruption.wanted()) {
                continue;
            }
            Block block = all;
            block.begin = static_cast<std::size_t>(c) * chunk;
            block.end = std::min(all.end, block.begin + chunk);
            interruption.guard([&] { visit_block(block, *row, *entries); });
            mine = std::max(mine, block.residual);
        }
#pragma omp critical
        worst = std::max(worst, mine);
    }
    interruption.pass_on();
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

// Whole matrices from triangles, and back.
void FactoredSolver::unpack(const std::vector<double>& grams, std::span<double> matrices) const {
    double* G = matrices.data();
    const std::size_t k = in_.k;
    for (std::size_t g = 0; g < in_.groups.count; ++g, G += k * k) {
        const double* gram = grams.data() + g * width_;
        for (std::size_t a = 0; a < k; ++a) {
            for (std::size_t c = a; c < k; ++c) {
                G[a * k + c] = G[c * k + a] = *gram++;
            }
        }
    }
}

void FactoredSolver::pack(std::span<const double> matrices, std::vector<double>& grams) const {
    const double* G = matrices.data();
    const std::size_t k = in_.k;
    for (std::size_t g = 0; g < in_.groups.count; ++g, G += k * k) {
        double* gram = grams.data() + g * width_;
        for (std::size_t a = 0; a < k; ++a) {
            gram = std::copy(G + a * k + a, G + (a + 1) * k, gram);
        }
    }
}

void FactoredSolver::read_grams(std::span<double> grams) const { unpack(grams_, grams); }

void FactoredSolver::write_grams(std::span<const double> grams) { pack(grams, grams_); }

void FactoredSolver::take_sums(const FactoredSolver& other) {
    sums_ = other.sums_;
    grams_ = other.grams_;
    group_sizes_ = other.group_sizes_;
}

}  // namespace conclust
