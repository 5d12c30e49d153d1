#include "search/label_vectors.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/interrupt.h"
#include "base/random.h"
#include "labels/codes.h"

namespace conclust {
namespace {

struct Entry {
    std::size_t column;
    double value;
};

// The entries of one partition in the row at hand: [begin, end), none if the row is noise in it.
struct Block {
    std::size_t member;
    std::size_t begin;
    std::size_t end;
};

class RowReader {
  public:
    explicit RowReader(const LabelView& in) : in_(in) {}

    void read(std::size_t i) {
        entries.clear();
        blocks.clear();
        with_codes(in_, [&](const auto* codes) { read_codes(codes, i); });
    }

    std::vector<Entry> entries;
    std::vector<Block> blocks;

  private:
    template <class Code>
    void read_codes(const Code* codes, std::size_t i) {
        const Code* row = codes + i * in_.m;
        std::size_t e = in_.soft ? static_cast<std::size_t>(in_.soft->starts[i]) : 0;
        const std::size_t end = in_.soft ? static_cast<std::size_t>(in_.soft->starts[i + 1]) : 0;
        for (std::size_t u = 0; u < in_.m; ++u) {
            if (row[u] == missing_code<Code>) {
                continue;
            }
            const std::size_t begin = entries.size();
            if (in_.soft) {
                for (; e < end && in_.soft->columns[e] < in_.offsets[u + 1]; ++e) {
                    entries.push_back(
                        {static_cast<std::size_t>(in_.soft->columns[e]), in_.soft->values[e]});
                }
            } else if (row[u] < first_reserved_code<Code>) {
                entries.push_back({static_cast<std::size_t>(in_.offsets[u]) + row[u], 1.0});
            }
            blocks.push_back({u, begin, entries.size()});
        }
    }

    const LabelView& in_;
};

double xlogx(double x) { return x > 0.0 ? x * std::log(x) : 0.0; }

// A sum of powers that fell to this share of its old value is counted again: rounding would dominate it.
constexpr double recounted = 1e-4;

class Clusters {
  public:
    Clusters(const LabelRows& in, std::size_t k, const RowLoss& loss)
        : in_(in.labels),
          counts_(in.counts),
          k_(k),
          spread_(loss.spread),
          power_(loss.power),
          degrees_(loss.degrees),
          row_(in.labels),
          gain_(k),
          cross_(k),
          heaviest_(*std::max_element(in_.weights.begin(), in_.weights.end())) {
        if (!in_.soft && (spread_ == Spread::entropic || powers())) {
            double total = 0.0;
            for (std::size_t i = 0; i < in_.n; ++i) {
                total += counts_[i];
            }
            std::vector<double> table(static_cast<std::size_t>(total) + 2);
            for (std::size_t x = 0; x < table.size(); ++x) {
                table[x] = f(static_cast<double>(x));
            }
            table_ = std::move(table);
        }
    }

    void rebuild(std::span<const std::int64_t> chosen) {
        const std::size_t total = in_.n_clusters();
        sums_.assign(total * k_, 0.0);
        present_.assign(in_.m * k_, 0.0);
        squares_.assign(in_.m * k_, 0.0);
        if (spread_ == Spread::norm) {
            alone_.assign(in_.m * k_, 0.0);
            norms_.assign(in_.m * k_, 0.0);
            peaks_.assign(in_.m * k_, 0.0);
        } else if (spread_ == Spread::cut) {
            kept_.assign(k_, 0.0);
            degree_.assign(k_, 0.0);
            held_.assign(k_, 0.0);
        }
        constant_ = 0.0;
        for (std::size_t i = 0; i < in_.n; ++i) {
            if (chosen[i] >= 0) {
                row_.read(i);
                change(static_cast<std::size_t>(chosen[i]), i, 1.0);
                constant_ += counts_[i] * spread_of_row(i);
            }
        }
    }

    double loss() const {
        double kept = 0.0;
        for (std::size_t k = 0; spread_ == Spread::cut && k < k_; ++k) {
            kept += degree_[k] > 0.0 ? kept_[k] / degree_[k] : 0.0;
        }
        for (std::size_t u = 0; spread_ != Spread::cut && u < in_.m; ++u) {
            for (std::size_t k = 0; k < k_; ++k) {
                kept += in_.weights[u] * kept_of_block(u, k);
            }
        }
        return constant_ - kept;
    }

    void pass(std::span<std::int64_t> chosen, bool& moved) {
        moved = false;
        for (std::size_t i = 0; i < in_.n; ++i) {
            if (i % 1024 == 0) {
                stop_if_interrupted();
            }
            row_.read(i);
            const double c = counts_[i];
            const bool cut = spread_ == Spread::cut;
            const double own = cut || chosen[i] < 0 ? c * spread_of_row(i) : 0.0;
            if (chosen[i] >= 0) {
                change(static_cast<std::size_t>(chosen[i]), i, -1.0);
            } else {
                constant_ += own;
            }
            gains(i);
            std::size_t best = chosen[i] >= 0 ? static_cast<std::size_t>(chosen[i]) : 0;
            const double scale = cut ? own : c * heaviest_;
            double limit = chosen[i] >= 0 ? 1e-11 * (std::abs(gain_[best]) + scale) : 0.0;
            for (std::size_t k = 0; k < k_; ++k) {
                if (gain_[k] > gain_[best] + limit) {
                    best = k;
                    limit = 0.0;
                }
            }
            if (chosen[i] != static_cast<std::int64_t>(best)) {
                chosen[i] = static_cast<std::int64_t>(best);
                moved = true;
            }
            change(best, i, 1.0);
        }
    }

    // Whether sums are kept by differences that leave rounding behind.
    bool drifts() const { return in_.soft || powers() || spread_ == Spread::cut; }

  private:
    bool powers() const { return spread_ == Spread::norm && power_ != 2.0; }

    double f(double x) const {
        if (!table_.empty()) {
            return table_[static_cast<std::size_t>(x)];
        }
        return spread_ == Spread::entropic ? xlogx(x) : std::pow(x, power_);
    }

    double root(double x) const { return powers() ? std::pow(x, 1.0 / power_) : std::sqrt(x); }

    // By how much f, or the square, grows from x to y.
    double growth(double x, double y) const { return powers() ? f(y) - f(x) : (y - x) * (y + x); }

    // The part of the loss of one object of row i, the one at hand, that no cluster changes.
    double spread_of_row(std::size_t i) const {
        double sum = 0.0;
        for (const Block& block : row_.blocks) {
            double own = block.begin == block.end && spread_ != Spread::entropic ? 1.0 : 0.0;
            for (std::size_t e = block.begin; e < block.end; ++e) {
                const double x = row_.entries[e].value;
                own += spread_ == Spread::entropic ? xlogx(x) : powers() ? std::pow(x, power_) : x * x;
            }
            sum += in_.weights[block.member] * (spread_ == Spread::norm ? root(own) : own);
        }
        if (spread_ == Spread::cut) {
            return degrees_[i] > 0.0 ? sum / degrees_[i] : 0.0;
        }
        return sum;
    }

    double kept_of_block(std::size_t u, std::size_t k) const {
        if (spread_ == Spread::norm) {
            return norms_[u * k_ + k];
        }
        const double p = present_[u * k_ + k];
        if (spread_ == Spread::quadratic) {
            return p > 0.0 ? squares_[u * k_ + k] / p : 0.0;
        }
        double sum = 0.0;
        for (auto t = in_.first_cluster(u); t < in_.first_cluster(u + 1); ++t) {
            sum += xlogx(sums_[t * k_ + k]);
        }
        return sum - xlogx(p);
    }

    // Puts all copies of row i, the one at hand, into cluster k (sign 1) or takes them out (sign -1).
    void change(std::size_t k, std::size_t i, double sign) {
        const double c = sign * counts_[i];
        for (const Block& block : row_.blocks) {
            const bool alone = block.begin == block.end;
            double square = alone ? c : 0.0;
            for (std::size_t e = block.begin; e < block.end; ++e) {
                double& s = sums_[row_.entries[e].column * k_ + k];
                const double after = std::max(s + c * row_.entries[e].value, 0.0);
                square += growth(s, after);
                s = after;
            }
            const std::size_t at = block.member * k_ + k;
            present_[at] += c;
            squares_[at] = std::max(squares_[at] + square, 0.0);
            if (spread_ == Spread::norm) {
                alone_[at] += alone ? c : 0.0;
                take_norm(block.member, k);
            }
        }
        if (spread_ == Spread::cut) {
            take_cut(k, c, degrees_[i]);
        }
    }

    void take_norm(std::size_t u, std::size_t k) {
        const std::size_t at = u * k_ + k;
        if (powers() && squares_[at] < recounted * peaks_[at]) {
            squares_[at] = alone_[at];
            for (auto t = in_.first_cluster(u); t < in_.first_cluster(u + 1); ++t) {
                squares_[at] += f(sums_[t * k_ + k]);
            }
            peaks_[at] = squares_[at];
        }
        peaks_[at] = std::max(peaks_[at], squares_[at]);
        norms_[at] = root(squares_[at]);
    }

    void take_cut(std::size_t k, double c, double degree) {
        held_[k] += c;
        degree_[k] = held_[k] > 0.0 ? std::max(degree_[k] + c * degree, 0.0) : 0.0;
        kept_[k] = 0.0;
        for (std::size_t u = 0; u < in_.m; ++u) {
            kept_[k] += in_.weights[u] * squares_[u * k_ + k];
        }
    }

    // By how much less is lost when all copies of row i, the one at hand, join each cluster, but for a
    // common constant.
    void gains(std::size_t i) {
        std::fill(gain_.begin(), gain_.end(), 0.0);
        for (const Block& block : row_.blocks) {
            if (spread_ == Spread::entropic) {
                gains_entropic(block, counts_[i]);
            } else if (powers()) {
                gains_powers(block, counts_[i]);
            } else {
                gains_square(block, counts_[i]);
            }
        }
        if (spread_ == Spread::cut) {
            // (kept + gain) / (D + d) - kept / D, over one denominator; 0 / 0 is 0.
            const double d = counts_[i] * degrees_[i];
            for (std::size_t k = 0; k < k_; ++k) {
                const double held = degree_[k] > 0.0 ? degree_[k] : 1.0;
                const double both = degree_[k] + d;
                gain_[k] = both > 0.0 ? (gain_[k] * held - d * kept_[k]) / (held * both) : 0.0;
            }
        }
    }

    void gains_entropic(const Block& block, double c) {
        const double w = in_.weights[block.member];
        const double* p = present_.data() + block.member * k_;
        for (std::size_t k = 0; k < k_; ++k) {
            double sum = f(p[k]) - f(p[k] + c);
            for (std::size_t e = block.begin; e < block.end; ++e) {
                const double s = sums_[row_.entries[e].column * k_ + k];
                sum += f(s + c * row_.entries[e].value) - f(s);
            }
            gain_[k] += w * sum;
        }
    }

    void gains_powers(const Block& block, double c) {
        const double w = in_.weights[block.member];
        for (std::size_t k = 0; k < k_; ++k) {
            double sum = block.begin == block.end ? c : 0.0;
            for (std::size_t e = block.begin; e < block.end; ++e) {
                const double s = sums_[row_.entries[e].column * k_ + k];
                sum += f(s + c * row_.entries[e].value) - f(s);
            }
            const std::size_t at = block.member * k_ + k;
            gain_[k] += w * (root(squares_[at] + sum) - norms_[at]);
        }
    }

    // Of the losses that are made of sums of squares.
    void gains_square(const Block& block, double c) {
        const double w = in_.weights[block.member];
        std::fill(cross_.begin(), cross_.end(), block.begin == block.end ? c : 0.0);
        for (std::size_t e = block.begin; e < block.end; ++e) {
            const double x = c * row_.entries[e].value;
            const double* s = sums_.data() + row_.entries[e].column * k_;
            for (std::size_t k = 0; k < k_; ++k) {
                cross_[k] += x * (2.0 * s[k] + x);
            }
        }
        const double* square = squares_.data() + block.member * k_;
        if (spread_ == Spread::cut) {
            for (std::size_t k = 0; k < k_; ++k) {
                gain_[k] += w * cross_[k];
            }
        } else if (spread_ == Spread::norm) {
            const double* norm = norms_.data() + block.member * k_;
            for (std::size_t k = 0; k < k_; ++k) {
                // sqrt(square + cross) - sqrt(square), without the difference; 0 / 0 is 0.
                const double both = std::sqrt(square[k] + cross_[k]) + norm[k];
                gain_[k] += w * cross_[k] / (both > 0.0 ? both : 1.0);
            }
        } else {
            const double* p = present_.data() + block.member * k_;
            for (std::size_t k = 0; k < k_; ++k) {
                // (square + cross) / (p + c) - square / p, over one denominator; 0 / 0 is 0.
                const double held = p[k] > 0.0 ? p[k] : 1.0;
                gain_[k] += w * (cross_[k] * held - c * square[k]) / (held * (p[k] + c));
            }
        }
    }

    const LabelView& in_;
    std::span<const double> counts_;
    std::size_t k_;
    Spread spread_;
    double power_;
    std::span<const double> degrees_;
    RowReader row_;
    std::vector<double> sums_;     // T x K
    std::vector<double> present_;  // m x K
    std::vector<double> squares_;  // m x K: sum of sums^2 of the block; of norm, to the power
    std::vector<double> alone_;    // m x K, of norm: noise
    std::vector<double> norms_;    // m x K, of norm
    std::vector<double> peaks_;  // m x K, of norm: the largest of squares_ since it was last counted
    std::vector<double> kept_;  // K, of cut: sum over partitions of weight times squares
    std::vector<double> degree_;  // K, of cut
    std::vector<double> held_;  // K, of cut: objects
    std::vector<double> gain_;
    std::vector<double> cross_;
    double heaviest_;  // of the weights of the partitions
    std::vector<double> table_;  // f of whole numbers, if hard
    double constant_ = 0.0;
};

}  // namespace

void seed_labels(const LabelRows& rows, std::size_t n_clusters, std::uint64_t seed,
                 std::span<std::int64_t> chosen) {
    const LabelView& in = rows.labels;
    std::vector<double> centre(in.n_clusters());
    std::vector<double> norm(in.m);  // |b_u|^2 of the centre, below 0 where it is missing
    std::vector<double> nearest(in.n, std::numeric_limits<double>::infinity());
    std::vector<double> chance(in.n);
    RowReader row(in);
    double all_weights = 0.0;
    for (std::size_t u = 0; u < in.m; ++u) {
        all_weights += in.weights[u];
    }
    std::copy(rows.counts.begin(), rows.counts.end(), chance.begin());
    for (std::size_t k = 0; k < n_clusters; ++k) {
        double mass = 0.0;
        for (std::size_t i = 0; i < in.n; ++i) {
            mass += chance[i];
        }
        if (!(mass > 0.0)) {
            break;  // every row is a copy of one that was drawn
        }
        double left = mass * static_cast<double>(random_bits(seed, 0, k) >> 11) * 0x1p-53;
        std::size_t drawn = 0;
        for (std::size_t i = 0; i < in.n; ++i) {
            if (chance[i] > 0.0) {
                drawn = i;
                left -= chance[i];
                if (left < 0.0) {
                    break;
                }
            }
        }
        std::fill(centre.begin(), centre.end(), 0.0);
        std::fill(norm.begin(), norm.end(), -1.0);
        row.read(drawn);
        for (const Block& block : row.blocks) {
            double own = block.begin == block.end ? 1.0 : 0.0;
            for (std::size_t e = block.begin; e < block.end; ++e) {
                centre[row.entries[e].column] = row.entries[e].value;
                own += row.entries[e].value * row.entries[e].value;
            }
            norm[block.member] = own;
        }
        for (std::size_t i = 0; i < in.n; ++i) {
            row.read(i);
            double distance = 0.0;
            double both = 0.0;
            double own_weight = 0.0;
            for (const Block& block : row.blocks) {
                own_weight += in.weights[block.member];
                if (norm[block.member] < 0.0) {
                    continue;
                }
                double square = norm[block.member] + (block.begin == block.end ? 1.0 : 0.0);
                for (std::size_t e = block.begin; e < block.end; ++e) {
                    const double x = row.entries[e].value;
                    square += x * (x - 2.0 * centre[row.entries[e].column]);
                }
                distance += in.weights[block.member] * std::max(square, 0.0);
                both += in.weights[block.member];
            }
            // Rows that no partition observed together are as far apart as can be.
            distance = both > 0.0 ? distance / both * all_weights : 2.0 * all_weights;
            if (i == drawn || !(own_weight > 0.0)) {
                distance = 0.0;
            }
            if (distance < nearest[i]) {
                nearest[i] = distance;
                chosen[i] = static_cast<std::int64_t>(k);
            }
            chance[i] = rows.counts[i] * nearest[i];
        }
    }
}

Refined refine_labels(const LabelRows& in, std::size_t n_clusters, const RowLoss& loss,
                      std::int64_t max_iter, double tol, std::span<std::int64_t> chosen) {
    Clusters clusters(in, n_clusters, loss);
    clusters.rebuild(chosen);
    Refined result;
    result.losses.push_back(clusters.loss());
    for (std::int64_t pass = 0; pass < max_iter; ++pass) {
        bool incomplete = pass == 0 && *std::min_element(chosen.begin(), chosen.end()) < 0;
        bool moved = false;
        clusters.pass(chosen, moved);
        if (clusters.drifts()) {
            clusters.rebuild(chosen);
        }
        const double before = result.losses.back();
        const double after = clusters.loss();
        result.losses.push_back(after);
        if (!moved || (!incomplete && before - after <= tol * after)) {
            result.converged = true;
            break;
        }
    }
    return result;
}

}  // namespace conclust
