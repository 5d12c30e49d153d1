#include "search/label_vectors.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/clones.h"
#include "base/interrupt.h"
#include "labels/row_reader.h"

namespace conclust {
namespace {

// The current row, and what clusters hold, in rows of `width` numbers, for the losses of squares.
struct RowGains {
    std::span<const RowBlock> blocks;
    const RowEntry* entries;
    const double* weights;
    const double* sums;
    const double* squares;
    const double* third;  // objects present; of norm: the norms
    double count;         // copies of the row
    std::size_t width;
};

// Adds the decrease of the loss, partition by partition, if the row joins each cluster.
template <class Gain>
CONCLUST_INLINE void add_gains(const RowGains& in, double* __restrict__ gain, double* __restrict__ cross,
                               Gain of) {
    const double c = in.count;
    for (const RowBlock& block : in.blocks) {
        const double w = in.weights[block.member];
        const double* __restrict__ square = in.squares + block.member * in.width;
        const double* __restrict__ third = in.third + block.member * in.width;
        if (block.end - block.begin == 1) {
            const double x = c * in.entries[block.begin].value;
            const double* __restrict__ s = in.sums + in.entries[block.begin].column * in.width;
            for (std::size_t k = 0; k < in.width; ++k) {
                gain[k] += of(w, x * (2.0 * s[k] + x), square[k], third[k], c);
            }
            continue;
        }
        std::fill(cross, cross + in.width, block.begin == block.end ? c : 0.0);
        for (std::size_t e = block.begin; e < block.end; ++e) {
            const double x = c * in.entries[e].value;
            const double* __restrict__ s = in.sums + in.entries[e].column * in.width;
            for (std::size_t k = 0; k < in.width; ++k) {
                cross[k] += x * (2.0 * s[k] + x);
            }
        }
        for (std::size_t k = 0; k < in.width; ++k) {
            gain[k] += of(w, cross[k], square[k], third[k], c);
        }
    }
}

// (square + crossed) / (p + c) - square / p, over one denominator; 0 / 0 is 0.
CONCLUST_INLINE double quadratic_gain(double w, double crossed, double square, double p, double c) {
    const double held = p > 0.0 ? p : 1.0;
    return w * (crossed * held - c * square) / (held * (p + c));
}

// sqrt(square + crossed) - sqrt(square), without the difference; 0 / 0 is 0.
CONCLUST_INLINE double norm_gain(double w, double crossed, double square, double norm) {
    const double both = std::sqrt(square + crossed) + norm;
    return w * crossed / (both > 0.0 ? both : 1.0);
}

// (kept + gain) / (D + d) - kept / D, over one denominator; 0 / 0 is 0.
double cut_gain(double gain, double kept, double degree, double d) {
    const double held = degree > 0.0 ? degree : 1.0;
    const double both = degree + d;
    return both > 0.0 ? (gain * held - d * kept) / (held * both) : 0.0;
}

CONCLUST_CLONES void quadratic_gains(const RowGains& in, double* gain, double* cross) {
    add_gains(in, gain, cross, [](double w, double crossed, double square, double p, double c) {
        return quadratic_gain(w, crossed, square, p, c);
    });
}

CONCLUST_CLONES void norm_gains(const RowGains& in, double* gain, double* cross) {
    add_gains(in, gain, cross, [](double w, double crossed, double square, double norm, double) {
        return norm_gain(w, crossed, square, norm);
    });
}

CONCLUST_CLONES void cut_gains(const RowGains& in, double* gain, double* cross) {
    add_gains(in, gain, cross,
              [](double w, double crossed, double, double, double) { return w * crossed; });
}

// Of one object that joins, whole numbers of objects being there: what each loss of entropy grows by.
CONCLUST_CLONES void entropic_gains(const RowGains& in, double* __restrict__ gain) {
    for (const RowBlock& block : in.blocks) {
        const double w = in.weights[block.member];
        const double* __restrict__ present = in.third + block.member * in.width;
        if (block.begin == block.end) {
            for (std::size_t k = 0; k < in.width; ++k) {
                gain[k] += w * present[k];
            }
            continue;
        }
        const double* __restrict__ sums = in.sums + in.entries[block.begin].column * in.width;
        for (std::size_t k = 0; k < in.width; ++k) {
            gain[k] += w * (present[k] + sums[k]);
        }
    }
}

double xlogx(double x) { return x > 0.0 ? x * std::log(x) : 0.0; }

// A sum of powers that fell to this share of its old value is counted again: rounding would dominate it.
constexpr double recounted = 1e-4;

class Clusters {
  public:
    Clusters(const LabelRows& in, std::size_t k, const RowLoss& loss)
        : in_(in.labels),
          counts_(in.counts),
          k_(k),
          width_((k + 3) / 4 * 4),
          spread_(loss.spread),
          power_(loss.power),
          degrees_(loss.degrees),
          row_(in.labels),
          spreads_(in.labels.n),
          gain_(width_),
          cross_(width_),
          taken_(in.labels.m),
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
        for (std::size_t i = 0; i < in_.n; ++i) {
            row_.read(i);
            spreads_[i] = spread_of_row(i);
        }
    }

    void rebuild(std::span<const std::int64_t> chosen) {
        const std::size_t total = in_.n_clusters();
        sums_.assign(total * width_, 0.0);
        present_.assign(in_.m * width_, 0.0);
        squares_.assign(in_.m * width_, 0.0);
        if (counted()) {
            joined_sums_.assign(total * width_, 0.0);
            joined_present_.assign(in_.m * width_, 0.0);
        }
        if (spread_ == Spread::norm) {
            alone_.assign(in_.m * width_, 0.0);
            norms_.assign(in_.m * width_, 0.0);
            peaks_.assign(in_.m * width_, 0.0);
        } else if (spread_ == Spread::cut) {
            kept_.assign(k_, 0.0);
            degree_.assign(k_, 0.0);
            held_.assign(k_, 0.0);
        }
        constant_ = 0.0;
        building_ = true;
        for (std::size_t i = 0; i < in_.n; ++i) {
            if (chosen[i] >= 0) {
                row_.read(i);
                change(static_cast<std::size_t>(chosen[i]), i, 1.0);
                constant_ += counts_[i] * spreads_[i];
            }
        }
        building_ = false;
        for (std::size_t k = 0; spread_ == Spread::cut && k < k_; ++k) {
            kept_[k] = kept_of(k);
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
            const double own = cut || chosen[i] < 0 ? c * spreads_[i] : 0.0;
            const bool placed = chosen[i] >= 0;
            const std::size_t at = placed ? static_cast<std::size_t>(chosen[i]) : 0;
            // Whole numbers stay as they are unless the row moves: its own cluster's are counted without it.
            const bool stands = placed && whole();
            if (!placed) {
                constant_ += own;
            } else if (!stands) {
                change(at, i, -1.0);
            }
            gains(i);
            if (stands) {
                gain_[at] = gain_without(at, i);
            }
            std::size_t best = at;
            const double scale = cut ? own : c * heaviest_;
            double limit = placed ? 1e-11 * (std::abs(gain_[best]) + scale) : 0.0;
            for (std::size_t k = 0; k < k_; ++k) {
                if (gain_[k] > gain_[best] + limit) {
                    best = k;
                    limit = 0.0;
                }
            }
            if (stands && best == at) {
                if (cut) {
                    take_degree(at, -c, degrees_[i]);
                    take_degree(at, c, degrees_[i]);
                }
                continue;
            }
            if (stands) {
                change(at, i, -1.0);
            }
            if (!placed || best != at) {
                chosen[i] = static_cast<std::int64_t>(best);
                moved = true;
            }
            change(best, i, 1.0);
        }
    }

    // Recomputes from the rows the sums in which differences leave rounding errors.
    void recount(std::span<const std::int64_t> chosen) {
        if (!whole()) {
            rebuild(chosen);
            return;
        }
        degree_.assign(k_, 0.0);
        held_.assign(k_, 0.0);
        constant_ = 0.0;
        for (std::size_t i = 0; i < in_.n; ++i) {
            if (chosen[i] >= 0) {
                take_degree(static_cast<std::size_t>(chosen[i]), counts_[i], degrees_[i]);
                constant_ += counts_[i] * spreads_[i];
            }
        }
    }

    // Whether sums are kept by differences that leave rounding behind.
    bool drifts() const { return in_.soft || powers() || spread_ == Spread::cut; }

  private:
    // Whether all sums are of whole numbers, so that none is rounded.
    bool whole() const { return !in_.soft && !powers(); }

    // Whether the losses of entropy are of whole numbers, and kept for one object more.
    bool counted() const { return spread_ == Spread::entropic && !table_.empty(); }

    bool powers() const { return spread_ == Spread::norm && power_ != 2.0; }

    double f(double x) const {
        if (!table_.empty()) {
            return table_[static_cast<std::size_t>(x)];
        }
        return spread_ == Spread::entropic ? xlogx(x) : std::pow(x, power_);
    }

    double root(double x) const { return powers() ? std::pow(x, 1.0 / power_) : std::sqrt(x); }

    // The increase of f, or of the square, from x to y.
    double growth(double x, double y) const { return powers() ? f(y) - f(x) : (y - x) * (y + x); }

    // The part of the loss of one object of row i, the current one, that no cluster changes.
    double spread_of_row(std::size_t i) const {
        double sum = 0.0;
        for (const RowBlock& block : row_.blocks) {
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
            return norms_[u * width_ + k];
        }
        const double p = present_[u * width_ + k];
        if (spread_ == Spread::quadratic) {
            return p > 0.0 ? squares_[u * width_ + k] / p : 0.0;
        }
        double sum = 0.0;
        for (auto t = in_.first_cluster(u); t < in_.first_cluster(u + 1); ++t) {
            sum += xlogx(sums_[t * width_ + k]);
        }
        return sum - xlogx(p);
    }

    // Puts all copies of row i, the current one, into cluster k (sign 1) or takes them out (sign -1).
    void change(std::size_t k, std::size_t i, double sign) {
        const double c = sign * counts_[i];
        for (const RowBlock& block : row_.blocks) {
            const bool alone = block.begin == block.end;
            double square = alone ? c : 0.0;
            for (std::size_t e = block.begin; e < block.end; ++e) {
                const std::size_t place = row_.entries[e].column * width_ + k;
                const double s = sums_[place];
                const double after = std::max(s + c * row_.entries[e].value, 0.0);
                square += growth(s, after);
                sums_[place] = after;
                if (counted()) {
                    joined_sums_[place] = f(after + 1.0) - f(after);
                }
            }
            const std::size_t at = block.member * width_ + k;
            present_[at] += c;
            squares_[at] = std::max(squares_[at] + square, 0.0);
            if (counted()) {
                joined_present_[at] = f(present_[at]) - f(present_[at] + 1.0);
            }
            if (spread_ == Spread::norm) {
                alone_[at] += alone ? c : 0.0;
                take_norm(block.member, k);
            }
        }
        if (spread_ == Spread::cut) {
            take_degree(k, c, degrees_[i]);
            if (!building_) {
                kept_[k] = kept_of(k);
            }
        }
    }

    void take_norm(std::size_t u, std::size_t k) {
        const std::size_t at = u * width_ + k;
        if (powers() && squares_[at] < recounted * peaks_[at]) {
            squares_[at] = alone_[at];
            for (auto t = in_.first_cluster(u); t < in_.first_cluster(u + 1); ++t) {
                squares_[at] += f(sums_[t * width_ + k]);
            }
            peaks_[at] = squares_[at];
        }
        peaks_[at] = std::max(peaks_[at], squares_[at]);
        norms_[at] = root(squares_[at]);
    }

    void take_degree(std::size_t k, double c, double degree) {
        held_[k] += c;
        degree_[k] = held_[k] > 0.0 ? std::max(degree_[k] + c * degree, 0.0) : 0.0;
    }

    double kept_of(std::size_t k) const {
        double kept = 0.0;
        for (std::size_t u = 0; u < in_.m; ++u) {
            kept += in_.weights[u] * squares_[u * width_ + k];
        }
        return kept;
    }

    // By how much less is lost when all copies of row i, the current one, join each cluster, but for a
    // common constant.
    void gains(std::size_t i) {
        std::fill(gain_.begin(), gain_.end(), 0.0);
        if (spread_ != Spread::entropic && !powers()) {
            gains_square(counts_[i]);
        } else if (counted() && counts_[i] == 1.0) {
            const RowGains in{row_.blocks,
                              row_.entries.data(),
                              in_.weights.data(),
                              joined_sums_.data(),
                              nullptr,
                              joined_present_.data(),
                              1.0,
                              width_};
            entropic_gains(in, gain_.data());
        } else {
            for (const RowBlock& block : row_.blocks) {
                spread_ == Spread::entropic ? gains_entropic(block, counts_[i])
                                            : gains_powers(block, counts_[i]);
            }
        }
        if (spread_ == Spread::cut) {
            const double d = counts_[i] * degrees_[i];
            for (std::size_t k = 0; k < k_; ++k) {
                gain_[k] = cut_gain(gain_[k], kept_[k], degree_[k], d);
            }
        }
    }

    // The gain of cluster k, which holds row i, the current one, if the row were not there: of whole numbers.
    double gain_without(std::size_t k, std::size_t i) {
        const double c = counts_[i];
        double gain = 0.0;
        std::fill(taken_.begin(), taken_.end(), 0.0);
        for (const RowBlock& block : row_.blocks) {
            const double w = in_.weights[block.member];
            const std::size_t at = block.member * width_ + k;
            const bool alone = block.begin == block.end;
            const double s = alone ? 0.0 : sums_[row_.entries[block.begin].column * width_ + k] - c;
            const double p = present_[at] - c;
            if (spread_ == Spread::entropic) {
                const double sum = f(p) - f(p + c);
                gain += w * (alone ? sum : sum + (f(s + c) - f(s)));
                continue;
            }
            const double crossed = alone ? c : c * (2.0 * s + c);
            const double square = squares_[at] - crossed;
            if (spread_ == Spread::cut) {
                gain += w * crossed;
                taken_[block.member] = crossed;
            } else if (spread_ == Spread::norm) {
                gain += norm_gain(w, crossed, square, std::sqrt(square));
            } else {
                gain += quadratic_gain(w, crossed, square, p, c);
            }
        }
        if (spread_ != Spread::cut) {
            return gain;
        }
        double kept = 0.0;
        for (std::size_t u = 0; u < in_.m; ++u) {
            kept += in_.weights[u] * (squares_[u * width_ + k] - taken_[u]);
        }
        const double degree = held_[k] - c > 0.0 ? std::max(degree_[k] - c * degrees_[i], 0.0) : 0.0;
        return cut_gain(gain, kept, degree, c * degrees_[i]);
    }

    void gains_entropic(const RowBlock& block, double c) {
        const double w = in_.weights[block.member];
        const double* p = present_.data() + block.member * width_;
        for (std::size_t k = 0; k < k_; ++k) {
            double sum = f(p[k]) - f(p[k] + c);
            for (std::size_t e = block.begin; e < block.end; ++e) {
                const double s = sums_[row_.entries[e].column * width_ + k];
                sum += f(s + c * row_.entries[e].value) - f(s);
            }
            gain_[k] += w * sum;
        }
    }

    void gains_powers(const RowBlock& block, double c) {
        const double w = in_.weights[block.member];
        for (std::size_t k = 0; k < k_; ++k) {
            double sum = block.begin == block.end ? c : 0.0;
            for (std::size_t e = block.begin; e < block.end; ++e) {
                const double s = sums_[row_.entries[e].column * width_ + k];
                sum += f(s + c * row_.entries[e].value) - f(s);
            }
            const std::size_t at = block.member * width_ + k;
            gain_[k] += w * (root(squares_[at] + sum) - norms_[at]);
        }
    }

    // State of the losses that are sums of squares.
    void gains_square(double c) {
        const RowGains in{row_.blocks,
                          row_.entries.data(),
                          in_.weights.data(),
                          sums_.data(),
                          squares_.data(),
                          present_.data(),
                          c,
                          width_};
        if (spread_ == Spread::cut) {
            cut_gains(in, gain_.data(), cross_.data());
        } else if (spread_ == Spread::norm) {
            RowGains normed = in;
            normed.third = norms_.data();
            norm_gains(normed, gain_.data(), cross_.data());
        } else {
            quadratic_gains(in, gain_.data(), cross_.data());
        }
    }

    const LabelView& in_;
    std::span<const double> counts_;
    std::size_t k_;
    std::size_t width_;  // numbers a row: k_ in whole packs of four, the rest 0
    Spread spread_;
    double power_;
    std::span<const double> degrees_;
    RowReader row_;
    std::vector<double> spreads_;  // n: of one object of each row
    std::vector<double> sums_;     // T x width
    std::vector<double> present_;  // m x width
    std::vector<double> squares_;  // m x width: sum of sums^2 of the block; of norm, to the power
    std::vector<double> alone_;    // m x width, of norm: noise
    std::vector<double> norms_;    // m x width, of norm
    std::vector<double> peaks_;  // m x width, of norm: the largest of squares_ since it was last counted
    // T x width and m x width, of entropies of whole numbers: what one object more adds.
    std::vector<double> joined_sums_;
    std::vector<double> joined_present_;
    bool building_ = false;
    std::vector<double> kept_;  // K, of cut: sum over partitions of weight times squares
    std::vector<double> degree_;  // K, of cut
    std::vector<double> held_;  // K, of cut: objects
    std::vector<double> gain_;
    std::vector<double> cross_;
    std::vector<double> taken_;  // m
    double heaviest_;  // of the weights of the partitions
    std::vector<double> table_;  // f of whole numbers, if hard
    double constant_ = 0.0;
};

}  // namespace

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
            clusters.recount(chosen);
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
