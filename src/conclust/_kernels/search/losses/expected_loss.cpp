#include "search/losses/expected_loss.h"

#include <cmath>
#include <numeric>
#include <unordered_map>

#include "base/clones.h"
#include "base/interrupt.h"
#include "base/random.h"
#include "base/wide.h"
#include "labels/codes.h"
#include "search/losses/loss_terms.h"

namespace conclust {
namespace {

CONCLUST_CLONES void add_scaled(const double* from, double weight, std::size_t n, double* to) {
    for (std::size_t k = 0; k < n; ++k) {
        to[k] += weight * from[k];
    }
}

CONCLUST_INLINE void sum_rows(const double* const* rows, const double* factors, std::size_t count,
                              std::size_t n, double* to) {
    for (std::size_t k = 0; k < n; k += wide) {
        Wide sum;
        spread(0.0, sum);
        for (std::size_t r = 0; r < count; ++r) {
            Wide row, factor;
            load(rows[r] + k, row);
            spread(factors[r], factor);
            row *= factor;
            sum += row;
        }
        store(to + k, sum);
    }
}

// The sum of rows, each times a factor, of `n` places rounded up to whole vectors.
CONCLUST_CLONES void add_rows(const double* const* rows, const double* factors, std::size_t count,
                              std::size_t n, double* to) {
    sum_rows(rows, factors, count, n, to);
}

// The same; whether a sum of the first n, but for number `own`, is below the limit.
CONCLUST_CLONES bool add_rows_below(const double* const* rows, const double* factors, std::size_t count,
                                    std::size_t n, std::size_t own, double limit, double* to) {
    sum_rows(rows, factors, count, n, to);
    bool below = false;
    const double kept = to[own];
    to[own] = limit;
    for (std::size_t k = 0; k < n; ++k) {
        below |= to[k] < limit;
    }
    to[own] = kept;
    return below;
}

CONCLUST_CLONES void add_risen(const std::int32_t* counts, const double* f, std::int64_t mass,
                               double weight, std::size_t n, double* to) {
    const double* const risen = f + mass;
    for (std::size_t k = 0; k < n; ++k) {
        to[k] += weight * (risen[counts[k]] - f[counts[k]]);
    }
}

// One draw's loss with a unit in each of the clusters, added to their scores.
CONCLUST_CLONES void add_nvi(double share, double a, double j, double b, double whole,
                             const double* first, const double* both, std::size_t n, double* to) {
    for (std::size_t k = 0; k < n; ++k) {
        to[k] += share * nvi(a + first[k], j + both[k], b, whole);
    }
}
CONCLUST_CLONES void add_id(double share, double a, double j, double b, double objects,
                            const double* first, const double* both, std::size_t n, double* to) {
    for (std::size_t k = 0; k < n; ++k) {
        to[k] += share * id(a + first[k], j + both[k], b, objects);
    }
}
CONCLUST_CLONES void add_nid(double share, double a, double j, double b, double whole,
                             const double* first, const double* both, std::size_t n, double* to) {
    for (std::size_t k = 0; k < n; ++k) {
        to[k] += share * nid(a + first[k], j + both[k], b, whole);
    }
}
CONCLUST_CLONES void add_omari(double share, double a, double j, double b, double objects, double whole,
                               const double* first, const double* both, std::size_t n, double* to) {
    for (std::size_t k = 0; k < n; ++k) {
        to[k] += share * omari(a + first[k], j + both[k], b, objects, whole);
    }
}

}  // namespace

LossSearch::LossSearch(const LabelView& labels, std::span<const std::int64_t> mass,
                       std::span<const double> share, Loss loss, double split_cost,
                       std::size_t max_clusters)
    : view_(labels),
      mass_(mass.begin(), mass.end()),
      draws_(labels.m),
      both_factor_(labels.m, 0.0),
      loss_(loss),
      split_(split_cost),
      merge_(2.0 - split_cost),
      most_(max_clusters ? max_clusters : none),
      labels_(labels.n, -1) {
    const auto largest =
        static_cast<std::size_t>(std::accumulate(mass_.begin(), mass_.end(), std::int64_t{1}));
    // A unit is scored in its own cluster too, as if it came to it once more.
    f_.assign(largest + static_cast<std::size_t>(*std::max_element(mass_.begin(), mass_.end())), 0.0);
    for (std::size_t x = 1; x < f_.size(); ++x) {
        const auto value = static_cast<double>(x);
        f_[x] = squares() ? value * value : value * std::log2(value);
    }
    step_.resize(largest);
    for (std::size_t x = 0; x < largest; ++x) {
        step_[x] = squares() ? 2.0 * static_cast<double>(x) : f_[x + 1] - f_[x];
    }

    // Sizes, and which draws observed the same units: by a sum of random numbers, one for each unit that is missing.
    const std::size_t clusters = view_.n_clusters();
    std::vector<std::int64_t> sizes(clusters, 0), observed(view_.m, 0), noise(view_.m, 0);
    std::vector<std::uint64_t> unseen(view_.m, 0);
    with_codes(view_, [&]<class Code>(const Code* codes) {
        for (std::size_t i = 0; i < view_.n; ++i) {
            for (std::size_t s = 0; s < view_.m; ++s) {
                const Code code = codes[i * view_.m + s];
                if (code == missing_code<Code>) {
                    unseen[s] += random_bits(0, i, 0);
                    continue;
                }
                observed[s] += mass_[i];
                if (code == noise_code<Code>) {
                    noise[s] += mass_[i];
                } else {
                    sizes[view_.first_cluster(s) + code] += mass_[i];
                }
            }
        }
    });
    std::unordered_map<std::uint64_t, std::size_t> groups;
    for (std::size_t s = 0; s < view_.m; ++s) {
        Draw& draw = draws_[s];
        draw.share = share[s];
        draw.n = static_cast<double>(observed[s]);
        draw.whole = f_[observed[s]];
        draw.second = static_cast<double>(noise[s]) * f_[1];
        for (std::size_t t = view_.first_cluster(s); t < view_.first_cluster(s + 1); ++t) {
            draw.second += f_[sizes[t]];
        }
        draw.alone = static_cast<double>(noise[s]) * f_[1];
        const auto [place, added] = groups.try_emplace(unseen[s], group_first_.size());
        draw.group = place->second;
        if (added) {
            group_first_.push_back(s);
            group_factor_.push_back(0.0);
        }
        if (linear()) {
            const double scale = draw.share / (squares() ? draw.n * draw.n : draw.n);
            both_factor_[s] = -(split_ + merge_) * scale;
            group_factor_[draw.group] += merge_ * scale;
            total_factor_ += (split_ + merge_) * scale;
        }
    }
    rows_ = clusters + group_first_.size();
    first_.assign(view_.m, 0.0);
    both_.assign(view_.m, 0.0);
    summed_.resize(view_.m + group_first_.size());
    summed_factor_.resize(summed_.size());
    reserve(8);
}

double LossSearch::of(const Draw& draw, double first, double both) const {
    switch (loss_) {
        case Loss::binder:
            return (split_ * (draw.second - both) + merge_ * (first - both)) / (draw.n * draw.n);
        case Loss::vi: return (split_ * (draw.second - both) + merge_ * (first - both)) / draw.n;
        case Loss::omari: return omari(first, both, draw.second, draw.n, draw.whole);
        case Loss::nvi: return nvi(first, both, draw.second, draw.whole);
        case Loss::id: return id(first, both, draw.second, draw.n);
        case Loss::nid: return nid(first, both, draw.second, draw.whole);
    }
    return 0.0;
}

void LossSearch::reserve(std::size_t clusters) {
    if (clusters <= stride_) {
        return;
    }
    const std::size_t stride = (std::max(clusters, stride_ + stride_ / 2) + 7) / 8 * 8;
    std::vector<std::int32_t> counts(rows_ * stride, 0);
    std::vector<double> deltas(rows_ * stride, step_[0]);
    for (std::size_t row = 0; row < rows_ && used_; ++row) {
        std::copy_n(counts_.begin() + static_cast<std::ptrdiff_t>(row * stride_), used_,
                    counts.begin() + static_cast<std::ptrdiff_t>(row * stride));
        std::copy_n(deltas_.begin() + static_cast<std::ptrdiff_t>(row * stride_), used_,
                    deltas.begin() + static_cast<std::ptrdiff_t>(row * stride));
    }
    counts_.swap(counts);
    deltas_.swap(deltas);
    stride_ = stride;
    units_.resize(stride, 0);
    score_.resize(stride);
    term_.resize(stride);
    group_term_.resize(group_first_.size() * stride);
}

std::size_t LossSearch::empty_cluster() {
    for (std::size_t c = 0; c < used_; ++c) {
        if (units_[c] == 0) {
            return c;
        }
    }
    reserve(used_ + 1);
    return used_++;
}

void LossSearch::change(std::size_t row, std::size_t cluster, std::int64_t by) {
    const std::size_t at = row * stride_ + cluster;
    counts_[at] += static_cast<std::int32_t>(by);
    deltas_[at] = step_[static_cast<std::size_t>(counts_[at])];
}

void LossSearch::set(std::span<const std::int64_t> labels, std::size_t k) {
    std::copy(labels.begin(), labels.end(), labels_.begin());
    used_ = 0;
    reserve(k);
    used_ = k;
    live_ = 0;
    std::fill(counts_.begin(), counts_.end(), 0);
    std::fill(units_.begin(), units_.end(), 0);
    const std::size_t clusters = view_.n_clusters();
    with_codes(view_, [&]<class Code>(const Code* codes) {
        for (std::size_t i = 0; i < view_.n; ++i) {
            if (labels_[i] < 0) {
                continue;
            }
            const Code* const row = codes + i * view_.m;
            const auto c = static_cast<std::size_t>(labels_[i]);
            const auto mass = static_cast<std::int32_t>(mass_[i]);
            live_ += units_[c]++ == 0;
            for (std::size_t s = 0; s < view_.m; ++s) {
                if (row[s] < first_reserved_code<Code>) {
                    counts_[(view_.first_cluster(s) + row[s]) * stride_ + c] += mass;
                }
            }
            for (std::size_t g = 0; g < group_first_.size(); ++g) {
                if (row[group_first_[g]] != missing_code<Code>) {
                    counts_[(clusters + g) * stride_ + c] += mass;
                }
            }
        }
    });
    for (std::size_t at = 0; at < counts_.size(); ++at) {
        deltas_[at] = step_[static_cast<std::size_t>(counts_[at])];
    }
    refresh();
}

void LossSearch::refresh() {
    if (linear()) {
        return;
    }
    const std::size_t clusters = view_.n_clusters();
    std::vector<double> sums(group_first_.size(), 0.0);
    for (std::size_t g = 0; g < sums.size(); ++g) {
        for (std::size_t c = 0; c < used_; ++c) {
            sums[g] += f_[counts_[(clusters + g) * stride_ + c]];
        }
    }
    for (std::size_t s = 0; s < view_.m; ++s) {
        first_[s] = sums[draws_[s].group];
        both_[s] = draws_[s].alone;
        for (std::size_t t = view_.first_cluster(s); t < view_.first_cluster(s + 1); ++t) {
            for (std::size_t c = 0; c < used_; ++c) {
                both_[s] += f_[counts_[t * stride_ + c]];
            }
        }
    }
}

double LossSearch::loss() const {
    const std::size_t clusters = view_.n_clusters();
    const auto sum_of = [&](std::size_t row) {
        double sum = 0.0;
        for (std::size_t c = 0; c < used_; ++c) {
            sum += f_[counts_[row * stride_ + c]];
        }
        return sum;
    };
    std::vector<double> sums(group_first_.size());
    for (std::size_t g = 0; g < sums.size(); ++g) {
        sums[g] = sum_of(clusters + g);
    }
    double total = 0.0;
    for (std::size_t s = 0; s < view_.m; ++s) {
        double both = draws_[s].alone;
        for (std::size_t t = view_.first_cluster(s); t < view_.first_cluster(s + 1); ++t) {
            both += sum_of(t);
        }
        total += draws_[s].share * of(draws_[s], sums[draws_[s].group], both);
    }
    return total;
}

// The loss from the tracked sums.
double LossSearch::value() const {
    double total = 0.0;
    for (std::size_t s = 0; s < view_.m; ++s) {
        total += draws_[s].share * of(draws_[s], first_[s], both_[s]);
    }
    return total;
}

void LossSearch::find_slopes() {
    std::fill(group_factor_.begin(), group_factor_.end(), 0.0);
    total_factor_ = 0.0;
    for (std::size_t s = 0; s < view_.m; ++s) {
        const Draw& draw = draws_[s];
        const Slopes slopes = slopes_of(loss_, first_[s], both_[s], draw.second, draw.n, draw.whole);
        both_factor_[s] = draw.share * slopes.both;
        group_factor_[draw.group] += draw.share * slopes.first;
        total_factor_ -= both_factor_[s];
    }
}

template <class Code>
void LossSearch::place(const Code* codes, std::size_t unit, std::size_t cluster, std::int64_t sign) {
    const Code* const row = codes + unit * view_.m;
    const std::int64_t by = sign * mass_[unit];
    const std::size_t clusters = view_.n_clusters();
    for (std::size_t g = 0; g < group_first_.size(); ++g) {
        if (row[group_first_[g]] != missing_code<Code>) {
            const std::int32_t before = counts_[(clusters + g) * stride_ + cluster];
            change(clusters + g, cluster, by);
            group_term_[g * stride_] = f_[static_cast<std::size_t>(before + by)] - f_[before];
        }
    }
    if (linear()) {
        for (std::size_t s = 0; s < view_.m; ++s) {
            if (row[s] < first_reserved_code<Code>) {
                change(view_.first_cluster(s) + row[s], cluster, by);
            }
        }
    } else {
        for (std::size_t s = 0; s < view_.m; ++s) {
            if (row[s] == missing_code<Code>) {
                continue;
            }
            first_[s] += group_term_[draws_[s].group * stride_];
            if (row[s] < first_reserved_code<Code>) {
                const std::size_t t = view_.first_cluster(s) + row[s];
                const std::int32_t before = counts_[t * stride_ + cluster];
                both_[s] += f_[static_cast<std::size_t>(before + by)] - f_[before];
                change(t, cluster, by);
            }
        }
    }
    if (sign > 0) {
        live_ += units_[cluster]++ == 0;
        labels_[unit] = static_cast<std::int64_t>(cluster);
    } else {
        live_ -= --units_[cluster] == 0;
        labels_[unit] = -1;
    }
}

// By factors the change by placing the unit; otherwise, of a unit that is in no cluster, the loss
// then (of the draws that observed it). The last score is that of a new cluster.
template <class Code>
void LossSearch::score(const Code* codes, std::size_t unit) {
    const Code* const row = codes + unit * view_.m;
    const std::int64_t mass = mass_[unit];
    const std::size_t clusters = view_.n_clusters();
    const auto m = static_cast<double>(mass);
    const auto add = [&](std::size_t at, double weight, double* to) {
        if (squares()) {
            add_scaled(deltas_.data() + at * stride_, weight * m, used_, to);
        } else if (mass == 1) {
            add_scaled(deltas_.data() + at * stride_, weight, used_, to);
        } else {
            add_risen(counts_.data() + at * stride_, f_.data(), mass, weight, used_, to);
        }
    };
    std::fill_n(score_.begin(), used_, 0.0);
    if (by_factors()) {
        double base = 0.0;  // of squares: m^2, which all clusters have
        std::size_t summed = 0;
        const bool steps = squares() || mass == 1;
        const auto take = [&](std::size_t at, double weight) {
            base += weight;
            if (steps) {
                summed_[summed] = deltas_.data() + at * stride_;
                summed_factor_[summed++] = squares() ? weight * m : weight;
            } else {
                add(at, weight, score_.data());
            }
        };
        for (std::size_t g = 0; g < group_first_.size(); ++g) {
            if (row[group_first_[g]] != missing_code<Code>) {
                take(clusters + g, group_factor_[g]);
            }
        }
        for (std::size_t s = 0; s < view_.m; ++s) {
            if (row[s] < first_reserved_code<Code>) {
                take(view_.first_cluster(s) + row[s], both_factor_[s]);
            }
        }
        if (steps) {
            add_rows(summed_.data(), summed_factor_.data(), summed, used_, score_.data());
        }
        new_score_ = base * f_[mass];
        if (squares()) {
            for (std::size_t c = 0; c < used_; ++c) {
                score_[c] += new_score_;
            }
        }
        return;
    }
    const double alone = f_[mass], base = squares() ? alone : 0.0;
    for (std::size_t g = 0; g < group_first_.size(); ++g) {
        double* const term = group_term_.data() + g * stride_;
        std::fill_n(term, used_, base);
        if (row[group_first_[g]] != missing_code<Code>) {
            add(clusters + g, 1.0, term);
        }
    }
    new_score_ = 0.0;
    for (std::size_t s = 0; s < view_.m; ++s) {
        if (row[s] == missing_code<Code>) {
            continue;
        }
        const Draw& draw = draws_[s];
        const bool noise = row[s] >= first_reserved_code<Code>;
        std::fill_n(term_.begin(), used_, noise ? 0.0 : base);
        if (!noise) {
            add(view_.first_cluster(s) + row[s], 1.0, term_.data());
        }
        const double* const first = group_term_.data() + draw.group * stride_;
        const double a = first_[s], j = both_[s], b = draw.second;
        switch (loss_) {
            case Loss::nvi:
                add_nvi(draw.share, a, j, b, draw.whole, first, term_.data(), used_, score_.data());
                break;
            case Loss::id:
                add_id(draw.share, a, j, b, draw.n, first, term_.data(), used_, score_.data());
                break;
            case Loss::nid:
                add_nid(draw.share, a, j, b, draw.whole, first, term_.data(), used_, score_.data());
                break;
            default:
                add_omari(draw.share, a, j, b, draw.n, draw.whole, first, term_.data(), used_,
                          score_.data());
        }
        new_score_ += draw.share * of(draw, a + alone, j + (noise ? 0.0 : alone));
    }
}

// By factors: the change by placing the unit in the cluster (sign 1), or by leaving the unit there that is in it,
// against taking it out (-1).
template <class Code>
double LossSearch::score_of(const Code* codes, std::size_t unit, std::size_t cluster, int sign) const {
    const Code* const row = codes + unit * view_.m;
    const std::int64_t mass = mass_[unit], lower = sign > 0 ? 0 : -mass;
    const std::size_t clusters = view_.n_clusters();
    const auto rise = [&](std::size_t at) {
        const std::int64_t count = counts_[at * stride_ + cluster] + lower;
        return f_[static_cast<std::size_t>(count + mass)] - f_[static_cast<std::size_t>(count)];
    };
    double sum = 0.0;
    for (std::size_t g = 0; g < group_first_.size(); ++g) {
        if (row[group_first_[g]] != missing_code<Code>) {
            sum += group_factor_[g] * rise(clusters + g);
        }
    }
    for (std::size_t s = 0; s < view_.m; ++s) {
        if (row[s] < first_reserved_code<Code>) {
            sum += both_factor_[s] * rise(view_.first_cluster(s) + row[s]);
        }
    }
    return sum;
}

void LossSearch::save_sums() {
    saved_.assign(first_.begin(), first_.end());
    saved_.insert(saved_.end(), both_.begin(), both_.end());
}

void LossSearch::restore_sums() {
    std::copy_n(saved_.begin(), view_.m, first_.begin());
    std::copy_n(saved_.begin() + static_cast<std::ptrdiff_t>(view_.m), view_.m, both_.begin());
}

// Whether a unit of one object in a cluster stays there, in a loss of sums of x log2 x by factors. Sets the scores, and
// `own`, the score of its cluster.
template <class Code>
bool LossSearch::stays(const Code* codes, std::size_t unit, double& own) {
    const Code* const row = codes + unit * view_.m;
    const auto old = static_cast<std::size_t>(labels_[unit]);
    const std::size_t clusters = view_.n_clusters();
    double base = 0.0, sum = 0.0;
    std::size_t summed = 0;
    const auto take = [&](std::size_t at, double factor) {
        base += factor;
        sum += factor * step_[static_cast<std::size_t>(counts_[at * stride_ + old] - 1)];
        summed_[summed] = deltas_.data() + at * stride_;
        summed_factor_[summed++] = factor;
    };
    for (std::size_t g = 0; g < group_first_.size(); ++g) {
        if (row[group_first_[g]] != missing_code<Code>) {
            take(clusters + g, group_factor_[g]);
        }
    }
    for (std::size_t s = 0; s < view_.m; ++s) {
        if (row[s] < first_reserved_code<Code>) {
            take(view_.first_cluster(s) + row[s], both_factor_[s]);
        }
    }
    own = sum;
    new_score_ = base * f_[1];
    const double limit = own - negligible * (total_factor_ * step_.back());
    const bool below =
        add_rows_below(summed_.data(), summed_factor_.data(), summed, used_, old, limit, score_.data());
    return !below && !(live_ < most_ && units_[old] > 1 && new_score_ < limit);
}

// Moves the unit to the best allowed cluster, or to the best of all clusters and a new one; returns whether it moved.
template <class Code>
bool LossSearch::visit(const Code* codes, std::size_t unit, std::span<const std::size_t> allowed) {
    const std::int64_t old = labels_[unit];
    const bool was_alone = old >= 0 && units_[old] == 1;
    double own = 0.0, tolerance = negligible;
    const bool at_once = old >= 0 && mass_[unit] == 1 && allowed.empty() && by_factors() && !squares();
    if (at_once && stays(codes, unit, own)) {
        return false;
    }
    if (by_factors()) {
        if (allowed.empty() && !at_once) {
            score(codes, unit);
        }
        for (const std::size_t c : allowed) {
            score_[c] = score_of(codes, unit, c, 1);
        }
        if (old >= 0 && !at_once) {
            own = score_of(codes, unit, static_cast<std::size_t>(old), -1);
        }
        tolerance *= total_factor_ * static_cast<double>(mass_[unit]) * step_.back();
    } else {
        if (old >= 0) {
            save_sums();
            place(codes, unit, static_cast<std::size_t>(old), -1);
        }
        score(codes, unit);
        own = was_alone ? new_score_ : old >= 0 ? score_[old] : 0.0;
    }
    std::int64_t to = old;
    double best = own;
    const auto consider = [&](std::size_t c) {
        if (static_cast<std::int64_t>(c) != old && (to < 0 || score_[c] < best - tolerance)) {
            best = score_[c];
            to = static_cast<std::int64_t>(c);
        }
    };
    if (!allowed.empty()) {
        for (const std::size_t c : allowed) {
            consider(c);
        }
    } else {
        for (std::size_t c = 0; c < used_; ++c) {
            if (units_[c] > 0) {
                consider(c);
            }
        }
        const bool room = live_ < most_ || to < 0;
        if (room && !was_alone && (to < 0 || new_score_ < best - tolerance)) {
            to = static_cast<std::int64_t>(empty_cluster());
        }
    }
    if (!by_factors() && to == old && old >= 0) {
        place(codes, unit, static_cast<std::size_t>(old), 1);
        restore_sums();
        return false;
    }
    if (to == old) {
        return false;
    }
    const bool in_doubt = slopes_ && old >= 0;
    const double before = in_doubt ? value() : 0.0;
    if (in_doubt) {
        save_sums();
    }
    if (linear() && old >= 0) {
        shift(codes, unit, static_cast<std::size_t>(to));
        return true;
    }
    if (by_factors() && old >= 0) {
        place(codes, unit, static_cast<std::size_t>(old), -1);
    }
    place(codes, unit, static_cast<std::size_t>(to), 1);
    if (in_doubt && !(value() < before - negligible)) {
        place(codes, unit, static_cast<std::size_t>(to), -1);
        place(codes, unit, static_cast<std::size_t>(old), 1);
        restore_sums();
        return false;
    }
    if (slopes_ && ++moves_ % moves_by_slopes == 0) {
        find_slopes();
    }
    return true;
}

std::size_t LossSearch::transfer(std::span<const std::size_t> order,
                                 std::span<const std::size_t> allowed) {
    if (slopes_) {
        find_slopes();
    }
    return with_codes(view_, [&](const auto* codes) {
        std::size_t moves = 0, seen = 0;
        for (const std::size_t unit : order) {
            if (seen++ % 64 == 0) {
                stop_if_interrupted();
            }
            moves += visit(codes, unit, allowed);
        }
        return moves;
    });
}

template void LossSearch::place(const std::uint8_t*, std::size_t, std::size_t, std::int64_t);
template void LossSearch::place(const std::uint16_t*, std::size_t, std::size_t, std::int64_t);
template void LossSearch::place(const std::uint32_t*, std::size_t, std::size_t, std::int64_t);

}  // namespace conclust
