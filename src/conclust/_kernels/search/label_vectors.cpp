#include "search/label_vectors.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <utility>

#include "base/interrupt.h"
#include "labels/row_reader.h"
#include "search/rows/block_gains.h"
#include "search/rows/row_gains.h"

namespace conclust {
namespace {

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
          places_(in.labels.m),
          heaviest_(*std::max_element(in_.weights.begin(), in_.weights.end())),
          slack_(2.0 * std::numbers::ln2 *
                 std::accumulate(in_.weights.begin(), in_.weights.end(), 0.0)) {
        if (!in_.soft && (spread_ == Spread::entropic || powers())) {
            double total = 0.0;
            double most = 0.0;
            for (std::size_t i = 0; i < in_.n; ++i) {
                total += counts_[i];
                most = std::max(most, counts_[i]);
            }
            const std::size_t known = static_cast<std::size_t>(total) + 2;
            // A row is also scored in its own cluster, as if it joined it once more: `gain_without` replaces that score.
            std::vector<double> table(known + static_cast<std::size_t>(most), 0.0);
            for (std::size_t x = 0; x < known; ++x) {
                table[x] = f(static_cast<double>(x));
            }
            table_ = std::move(table);
            growth_.resize(counted() ? known - 1 : 0);
            for (std::size_t x = 0; x < growth_.size(); ++x) {
                growth_[x] = table_[x + 1] - table_[x];
            }
        }
        for (std::size_t i = 0; i < in_.n && !counted(); ++i) {  // a single label has no entropy
            whole() ? read_places(i) : row_.read(i);
            spreads_[i] = whole() ? spread_of_places(i) : spread_of_row(i);
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
            kept_.assign(width_, 0.0);
            degree_.assign(width_, 0.0);
            held_.assign(k_, 0.0);
        }
        constant_ = 0.0;
        if (whole()) {
            build_whole(chosen);
        } else {
            for (std::size_t i = 0; i < in_.n; ++i) {
                if (chosen[i] >= 0) {
                    row_.read(i);
                    change(static_cast<std::size_t>(chosen[i]), i, 1.0, true);
                    constant_ += counts_[i] * spreads_[i];
                }
            }
        }
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
            const double c = counts_[i];
            const bool quick = quick_for(c);
            quick ? read_places(i) : row_.read(i);
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
            quick ? quick_gains(i) : gains(i);
            if (quick && stands && spread_ == Spread::entropic && stays_for_sure(at)) {
                continue;
            }
            if (stands) {
                gain_[at] = quick ? quick_gain_without(at, i) : gain_without(at, i);
            }
            const double scale = cut ? own : c * heaviest_;
            const double limit = placed ? 1e-11 * (std::abs(gain_[at]) + scale) : 0.0;
            std::size_t best = at;
            const double most = greatest(gain_.data(), k_);
            if (most > gain_[at] + limit) {
                best = static_cast<std::size_t>(std::find(gain_.begin(), gain_.end(), most) -
                                                gain_.begin());
            }
            if (stands && best == at) {
                if (cut) {
                    take_degree(at, -c, degrees_[i]);
                    take_degree(at, c, degrees_[i]);
                }
                continue;
            }
            if (stands) {
                quick ? quick_change(at, i, -1.0) : change(at, i, -1.0);
            }
            if (!placed || best != at) {
                chosen[i] = static_cast<std::int64_t>(best);
                moved = true;
            }
            quick ? quick_change(best, i, 1.0) : change(best, i, 1.0);
        }
    }

    // Recomputes from the rows the sums in which differences leave rounding errors.
    void recount(std::span<const std::int64_t> chosen) {
        if (!whole()) {
            rebuild(chosen);
            return;
        }
        degree_.assign(width_, 0.0);
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
            return table_[static_cast<std::size_t>(static_cast<std::int64_t>(x))];
        }
        return spread_ == Spread::entropic ? xlogx(x) : std::pow(x, power_);
    }

    // f(x + 1) - f(x) of a whole number.
    double growth_of(double x) const {
        return growth_[static_cast<std::size_t>(static_cast<std::int64_t>(x))];
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

    // The same of the row in places_.
    double spread_of_places(std::size_t i) const {
        double sum = 0.0;
        for (std::size_t u = 0; u < in_.m; ++u) {
            sum += places_[u] == place_missing ? 0.0 : in_.weights[u];
        }
        return spread_ != Spread::cut ? sum : degrees_[i] > 0.0 ? sum / degrees_[i] : 0.0;
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
            sum += f(sums_[t * width_ + k]);
        }
        return sum - f(p);
    }

    // Counts the labels in empty clusters, if all sums are of whole numbers.
    void build_whole(std::span<const std::int64_t> chosen) {
        for (std::size_t i = 0; i < in_.n; ++i) {
            if (chosen[i] < 0) {
                continue;
            }
            const auto k = static_cast<std::size_t>(chosen[i]);
            const double c = counts_[i];
            read_places(i);
            for (std::size_t u = 0; u < in_.m; ++u) {
                if (places_[u] >= 0) {
                    sums_[static_cast<std::size_t>(places_[u]) + k] += c;
                } else if (places_[u] == place_noise) {
                    squares_[u * width_ + k] += c;
                }
                present_[u * width_ + k] += places_[u] == place_missing ? 0.0 : c;
            }
            if (spread_ == Spread::cut) {
                take_degree(k, c, degrees_[i]);
            }
            constant_ += c * spreads_[i];
        }
        if (spread_ == Spread::norm) {
            alone_ = squares_;
        }
        for (std::size_t u = 0; u < in_.m; ++u) {
            for (auto t = in_.first_cluster(u); t < in_.first_cluster(u + 1); ++t) {
                for (std::size_t k = 0; k < width_; ++k) {
                    const double s = sums_[t * width_ + k];
                    squares_[u * width_ + k] += s * s;
                }
            }
            for (std::size_t k = 0; spread_ == Spread::norm && k < width_; ++k) {
                take_norm(u, k);
            }
        }
        if (counted()) {
            std::transform(sums_.begin(), sums_.end(), joined_sums_.begin(),
                           [this](double s) { return growth_of(s); });
            std::transform(present_.begin(), present_.end(), joined_present_.begin(),
                           [this](double p) { return -growth_of(p); });
        }
    }

    // Puts all copies of row i, the current one, into cluster k (sign 1) or takes them out (sign -1).
    void change(std::size_t k, std::size_t i, double sign, bool building = false) {
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
                    joined_sums_[place] = growth_of(after);
                }
            }
            const std::size_t at = block.member * width_ + k;
            present_[at] += c;
            squares_[at] = std::max(squares_[at] + square, 0.0);
            if (counted()) {
                joined_present_[at] = -growth_of(present_[at]);
            }
            if (spread_ == Spread::norm) {
                alone_[at] += alone ? c : 0.0;
                take_norm(block.member, k);
            }
        }
        if (spread_ == Spread::cut) {
            take_degree(k, c, degrees_[i]);
            if (!building) {
                kept_[k] = kept_of(k);
            }
        }
    }

    // The same of the row in places_.
    void quick_change(std::size_t k, std::size_t i, double sign) {
        const double c = sign * counts_[i];
        for (std::size_t u = 0; u < in_.m; ++u) {
            if (places_[u] == place_missing) {
                continue;
            }
            const std::size_t at = u * width_ + k;
            double square = c;
            if (places_[u] != place_noise) {
                double& sum = sums_[static_cast<std::size_t>(places_[u]) + k];
                const double after = sum + c;
                square = (after - sum) * (after + sum);
                sum = after;
                if (counted()) {
                    joined_sums_[static_cast<std::size_t>(places_[u]) + k] = growth_of(after);
                }
            }
            present_[at] += c;
            squares_[at] += square;
            if (counted()) {
                joined_present_[at] = -growth_of(present_[at]);
            }
        }
        if (spread_ == Spread::cut) {
            take_degree(k, c, degrees_[i]);
            kept_[k] = kept_of(k);
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
        } else {
            for (const RowBlock& block : row_.blocks) {
                spread_ == Spread::entropic ? gains_entropic(block, counts_[i])
                                            : gains_powers(block, counts_[i]);
            }
        }
        if (spread_ == Spread::cut) {
            cut_gains_of(kept_.data(), degree_.data(), counts_[i] * degrees_[i], width_, gain_.data());
        }
    }

    // Whether a row of c copies is read as places: labels are hard, and c is one if entropies are of one object more.
    bool quick_for(double c) const {
        return whole() && spread_ != Spread::norm && (spread_ != Spread::entropic || c == 1.0);
    }

    void read_places(std::size_t i) {
        with_codes(in_, [&]<class Code>(const Code* codes) {
            const Code* row = codes + i * in_.m;
            for (std::size_t u = 0; u < in_.m; ++u) {
                const auto column = static_cast<std::size_t>(in_.offsets[u]) + row[u];
                const std::int64_t reserved = row[u] == missing_code<Code> ? place_missing : place_noise;
                const bool own = row[u] < first_reserved_code<Code>;
                places_[u] = own ? static_cast<std::int64_t>(column * width_) : reserved;
            }
        });
    }

    // The same as `gains`, of the row in places_.
    void quick_gains(std::size_t i) {
        const bool entropic = spread_ == Spread::entropic;
        const HardRow row{places_,
                          in_.weights.data(),
                          entropic ? joined_sums_.data() : sums_.data(),
                          squares_.data(),
                          entropic ? joined_present_.data() : present_.data(),
                          counts_[i],
                          width_};
        if (entropic) {
            entropic_row_gains(row, gain_.data());
        } else if (spread_ == Spread::quadratic) {
            quadratic_row_gains(row, gain_.data());
        } else {
            cut_row_gains(row, gain_.data());
            cut_gains_of(kept_.data(), degree_.data(), counts_[i] * degrees_[i], width_, gain_.data());
        }
    }

    // Whether no other cluster can win the row in places_ from cluster k, whose gain counts the row itself. Without it,
    // each partition's gain is smaller by less than 2 log 2: f(s + 1) - f(s) grows by at most that from s - 1 to s.
    bool stays_for_sure(std::size_t k) {
        const double own = gain_[k];
        gain_[k] = -std::numeric_limits<double>::infinity();
        const double other = greatest(gain_.data(), k_);
        gain_[k] = own;
        return other < own - slack_ - 1e-9 * (std::abs(own) + slack_);
    }

    // The same as `gain_without`, of the row in places_.
    double quick_gain_without(std::size_t k, std::size_t i) const {
        const double c = counts_[i];
        double gain = 0.0;
        double kept = 0.0;
        for (std::size_t u = 0; u < in_.m; ++u) {
            const std::size_t at = u * width_ + k;
            const double w = in_.weights[u];
            const std::int64_t place = places_[u];
            if (place == place_missing) {
                kept += w * squares_[at];
                continue;
            }
            const bool alone = place == place_noise;
            const double s = alone ? 0.0 : sums_[static_cast<std::size_t>(place) + k] - c;
            if (spread_ == Spread::entropic) {
                const double sum = -growth_of(present_[at] - 1.0);
                gain += w * (alone ? sum : sum + growth_of(s));
                continue;
            }
            const double crossed = alone ? c : c * (2.0 * s + c);
            if (spread_ == Spread::cut) {
                gain += w * crossed;
                kept += w * (squares_[at] - crossed);
            } else {
                gain += quadratic_gain(w, crossed, squares_[at] - crossed, present_[at] - c, c);
            }
        }
        if (spread_ != Spread::cut) {
            return gain;
        }
        const double degree = held_[k] - c > 0.0 ? std::max(degree_[k] - c * degrees_[i], 0.0) : 0.0;
        return cut_gain(gain, kept, degree, c * degrees_[i]);
    }

    // The gain of cluster k, which holds row i, the current one, if the row were not there: of entropies and norms
    // of whole numbers.
    double gain_without(std::size_t k, std::size_t i) {
        const double c = counts_[i];
        double gain = 0.0;
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
            gain += norm_gain(w, crossed, square, std::sqrt(square));
        }
        return gain;
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
    std::vector<double> kept_;  // K, of cut: sum over partitions of weight times squares
    std::vector<double> degree_;  // K, of cut
    std::vector<double> held_;  // K, of cut: objects
    std::vector<double> gain_;
    std::vector<double> cross_;
    std::vector<std::int64_t> places_;  // m: of the current row, see row_gains.h
    double heaviest_;  // of the weights of the partitions
    double slack_;  // of stays_for_sure
    std::vector<double> table_;  // f of whole numbers, if hard
    std::vector<double> growth_;  // the differences of table_, of entropies
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
