#include "search/median.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/clones.h"
#include "base/interrupt.h"
#include "base/pack.h"
#include "base/wide.h"

namespace conclust {

namespace {

// A gain is a difference; it counts when it is above this share of its terms. Less is rounding.
constexpr double negligible = 1e-11;

// The sum of some rows of a table, each times a factor, in packs that stay in registers.
template <std::size_t packs>
CONCLUST_INLINE void add_some(const double* const* rows, const double* factors, std::size_t count,
                              std::size_t begin, double* out) {
    Pack sums[packs];
    for (std::size_t p = 0; p < packs; ++p) {
        sums[p] = spread(0.0);
    }
    for (std::size_t e = 0; e < count; ++e) {
        const Pack factor = spread(factors[e]);
        for (std::size_t p = 0; p < packs; ++p) {
            sums[p] += factor * load(rows[e] + begin + p * pack_lanes);
        }
    }
    for (std::size_t p = 0; p < packs; ++p) {
        store(out + begin + p * pack_lanes, sums[p]);
    }
}

// What a fusion of one cluster with each other one changes. Sizes are above 0.
struct Fusions {
    const double* q;
    const double* size;
    const double* now;  // `gone` of a cluster that is in another one
    const double* cross;  // of the one cluster
    std::size_t n;
};
constexpr double gone = std::numeric_limits<double>::infinity();

template <Criterion criterion>
CONCLUST_INLINE std::size_t first_best(const Fusions& of, std::size_t c) {
    constexpr std::size_t block = 8 * wide;
    double gains[block];
    double best = -gone;
    std::size_t which = of.n;
    Wide q_own, size_own, now_own, half, zero;
    spread(of.q[c], q_own);
    spread(of.size[c], size_own);
    spread(of.now[c], now_own);
    spread(0.5, half);
    spread(0.0, zero);
    for (std::size_t begin = c + 1; begin < of.n; begin += block) {
        const std::size_t count = std::min(block, of.n - begin);
        Wide top;
        spread(best, top);
        std::size_t x = 0;
        for (; x + wide <= count; x += wide) {
            const std::size_t d = begin + x;
            Wide gain, other;
            load(of.cross + d, gain);
            gain += gain;
            load(of.q + d, other);
            other += q_own;
            gain += other;
            if constexpr (criterion == Criterion::additive) {
                gain *= half;
            } else {
                load(of.size + d, other);
                other += size_own;
                gain /= other;
            }
            if constexpr (criterion == Criterion::explained) {
                Wide positive = zero;
                positive -= gain;
                where_less(gain, zero, positive, gain, positive);
                gain *= positive;
            }
            gain -= now_own;
            load(of.now + d, other);
            gain -= other;
            store(gains + x, gain);
            where_less(top, gain, gain, top, top);
        }
        double lanes[wide];
        store(lanes, top);
        double most = *std::max_element(lanes, lanes + wide);
        for (; x < count; ++x) {
            const std::size_t d = begin + x;
            const double q = of.q[c] + of.q[d] + 2.0 * of.cross[d];
            const double average = q / (of.size[c] + of.size[d]);
            gains[x] = (criterion == Criterion::additive   ? 0.5 * q
                        : criterion == Criterion::averaged ? average
                                                           : average * std::abs(average)) -
                       of.now[c] - of.now[d];
            most = std::max(most, gains[x]);
        }
        if (most > best) {
            best = most;
            which = begin;
            for (x = 0; gains[x] != most; ++x) {
                ++which;
            }
        }
    }
    return which;
}

// The first later cluster with the highest gain; n if no later cluster is left.
CONCLUST_CLONES std::size_t best_fusion(Criterion criterion, const Fusions& of, std::size_t c) {
    switch (criterion) {
        case Criterion::additive: return first_best<Criterion::additive>(of, c);
        case Criterion::averaged: return first_best<Criterion::averaged>(of, c);
        default: return first_best<Criterion::explained>(of, c);
    }
}

// width: a multiple of four.
CONCLUST_CLONES void add_rows(const double* const* rows, const double* factors, std::size_t count,
                              std::size_t width, double* out) {
    std::size_t c = 0;
    for (; c + 4 * pack_lanes <= width; c += 4 * pack_lanes) {
        add_some<4>(rows, factors, count, c, out);
    }
    switch ((width - c) / pack_lanes) {
        case 3: add_some<3>(rows, factors, count, c, out); break;
        case 2: add_some<2>(rows, factors, count, c, out); break;
        case 1: add_some<1>(rows, factors, count, c, out); break;
        default: break;
    }
}

// Sparse rows: the numbers of their columns and a factor for each.
struct SparseRows {
    std::vector<std::size_t> ends;  // of each row; the next one begins there
    std::vector<const double*> tables;  // a table's row for each of the columns
    std::vector<double> factors;
};

template <std::size_t packs>
CONCLUST_INLINE void add_block(const SparseRows& rows, std::size_t c, std::size_t width, double* out) {
    std::size_t begin = 0;
    for (std::size_t r = 0; r < rows.ends.size(); ++r) {
        add_some<packs>(rows.tables.data() + begin, rows.factors.data() + begin, rows.ends[r] - begin, c,
                        out + r * width);
        begin = rows.ends[r];
    }
}

// The product of sparse rows and a table of `width` columns, a multiple of four, block by block, so that the block
// of the table remains in the cache.
CONCLUST_CLONES void add_all_rows(const SparseRows& rows, std::size_t width, double* out) {
    std::size_t c = 0;
    for (; c + 4 * pack_lanes <= width; c += 4 * pack_lanes) {
        add_block<4>(rows, c, width, out);
    }
    for (; c < width; c += pack_lanes) {
        add_block<1>(rows, c, width, out);
    }
}

}  // namespace

PartitionSearch::PartitionSearch(std::span<const std::int64_t> starts,
                                 std::span<const std::int32_t> columns, std::span<const double> values,
                                 std::span<const double> weights, std::span<const double> mass,
                                 Criterion criterion, bool fixed)
    : starts_(starts.begin(), starts.end()),
      columns_(columns.begin(), columns.end()),
      values_(values.begin(), values.end()),
      weights_(weights.begin(), weights.end()),
      mass_(mass.begin(), mass.end()),
      self_(mass.size()),
      labels_(mass.size(), -1),
      n_(mass.size()),
      n_columns_(weights.size()),
      criterion_(criterion),
      fixed_(fixed) {
    for (std::size_t i = 0; i < n_; ++i) {
        for (std::int64_t e = starts_[i]; e < starts_[i + 1]; ++e) {
            self_[i] += weights_[columns_[e]] * values_[e] * values_[e];
        }
    }
}

inline double PartitionSearch::value(double q, double mass) const {
    if (mass <= 0.0) {
        return 0.0;
    }
    if (criterion_ == Criterion::additive) {  // most searches: without the division
        return 0.5 * q;
    }
    const double average = q / mass;
    return criterion_ == Criterion::averaged ? average : average * std::abs(average);
}

void PartitionSearch::reserve(std::size_t clusters) {
    if (clusters <= stride_) {
        return;
    }
    const std::size_t stride =
        (std::max(clusters, 2 * stride_) + pack_lanes - 1) / pack_lanes * pack_lanes;
    std::vector<double> sums(n_columns_ * stride, 0.0);
    for (std::size_t t = 0; t < n_columns_; ++t) {
        std::copy_n(sums_.begin() + t * stride_, used_, sums.begin() + t * stride);
    }
    sums_.swap(sums);
    stride_ = stride;
    q_.resize(stride, 0.0);
    now_.resize(stride, 0.0);
    size_.resize(stride, 0.0);
    score_.resize(stride, 0.0);
    units_.resize(stride, 0);
    barred_.resize(stride, 0);
}

void PartitionSearch::keep_apart(std::span<const std::int64_t> starts,
                                 std::span<const std::int64_t> others) {
    apart_starts_.assign(starts.begin(), starts.end());
    apart_.assign(others.begin(), others.end());
}

// Bars the clusters of the units that a unit is kept apart from.
void PartitionSearch::bar(std::size_t unit) {
    ++visits_;
    if (apart_.empty()) {
        return;
    }
    for (std::int64_t e = apart_starts_[unit]; e < apart_starts_[unit + 1]; ++e) {
        const std::int64_t cluster = labels_[apart_[e]];
        if (cluster >= 0) {
            barred_[cluster] = visits_;
        }
    }
}

void PartitionSearch::set(std::span<const std::int64_t> labels, std::size_t k) {
    std::copy(labels.begin(), labels.end(), labels_.begin());
    used_ = 0;
    if (k < stride_ / 4) {  // rows of many clusters that are gone would be far apart
        stride_ = 0;
    }
    reserve(k);
    used_ = k;
    std::fill(sums_.begin(), sums_.end(), 0.0);
    std::fill(q_.begin(), q_.end(), 0.0);
    std::fill(size_.begin(), size_.end(), 0.0);
    std::fill(units_.begin(), units_.end(), 0);
    for (std::size_t i = 0; i < n_; ++i) {
        if (labels_[i] >= 0) {
            const auto c = static_cast<std::size_t>(labels_[i]);
            for (std::int64_t e = starts_[i]; e < starts_[i + 1]; ++e) {
                sums_[columns_[e] * stride_ + c] += mass_[i] * values_[e];
            }
            size_[c] += mass_[i];
            units_[c] += 1;
            q_[c] -= mass_[i] * self_[i];
        }
    }
    for (std::size_t t = 0; t < n_columns_; ++t) {
        for (std::size_t c = 0; c < used_; ++c) {
            const double sum = sums_[t * stride_ + c];
            q_[c] += weights_[t] * sum * sum;
        }
    }
}

void PartitionSearch::scores(std::size_t unit) {
    rows_.clear();
    factors_.clear();
    for (std::int64_t e = starts_[unit]; e < starts_[unit + 1]; ++e) {
        factors_.push_back(weights_[columns_[e]] * values_[e]);
        rows_.push_back(sums_.data() + columns_[e] * stride_);
    }
    const std::size_t width = (used_ + pack_lanes - 1) / pack_lanes * pack_lanes;
    add_rows(rows_.data(), factors_.data(), rows_.size(), width, score_.data());
}

void PartitionSearch::move(std::size_t unit, std::size_t cluster, double sign) {
    const double mass = sign * mass_[unit];
    for (std::int64_t e = starts_[unit]; e < starts_[unit + 1]; ++e) {
        sums_[columns_[e] * stride_ + cluster] += mass * values_[e];
    }
    size_[cluster] += mass;
    units_[cluster] += sign > 0 ? 1 : -1;
    if (units_[cluster] == 0) {  // no rounding error remains
        for (std::size_t t = 0; t < n_columns_; ++t) {
            sums_[t * stride_ + cluster] = 0.0;
        }
        size_[cluster] = q_[cluster] = 0.0;
    }
}

std::size_t PartitionSearch::transfer(std::span<const std::int64_t> order) {
    std::size_t moves = 0;
    std::size_t seen = 0;
    for (std::size_t c = 0; c < used_; ++c) {
        now_[c] = value(q_[c], size_[c]);
    }
    for (const std::int64_t unit : order) {
        if (seen++ % 256 == 0) {
            stop_if_interrupted();
        }
        const auto i = static_cast<std::size_t>(unit);
        const std::int64_t old = labels_[i];
        if (fixed_ && old >= 0 && units_[old] == 1) {
            continue;
        }
        scores(i);
        bar(i);
        const double m = mass_[i], inner = m * (m - 1.0) * self_[i];
        double left = 0.0, q_left = 0.0;  // the change by leaving
        if (old >= 0) {
            q_left = q_[old] - 2.0 * m * (score_[old] - m * self_[i]) - inner;
            left = value(units_[old] == 1 ? 0.0 : q_left, units_[old] == 1 ? 0.0 : size_[old] - m) -
                   now_[old];
        }
        double best = 0.0, q_best = 0.0;
        std::int64_t to = old;
        std::int64_t empty = -1;
        for (std::size_t c = 0; c < used_; ++c) {
            if (units_[c] == 0) {
                empty = empty < 0 ? static_cast<std::int64_t>(c) : empty;
                continue;
            }
            if (static_cast<std::int64_t>(c) == old || barred_[c] == visits_) {
                continue;
            }
            const double q = q_[c] + 2.0 * m * score_[c] + inner;
            const double now = now_[c], then = value(q, size_[c] + m);
            const double gain = left + then - now;
            if (to >= 0 && !(gain > best)) {
                continue;
            }
            const double rounding = negligible * (std::abs(now) + std::abs(then) + std::abs(left));
            if (to < 0 || gain > best + rounding) {
                best = gain;
                q_best = q;
                to = static_cast<std::int64_t>(c);
            }
        }
        // A new singleton cluster, unless the unit is already a singleton.
        if (!fixed_ && (old < 0 || units_[old] > 1)) {
            const double alone = value(inner, m), gain = left + alone;
            if (to < 0 || gain > best + negligible * (std::abs(alone) + std::abs(left))) {
                if (empty < 0) {
                    reserve(used_ + 1);
                    empty = static_cast<std::int64_t>(used_++);
                    for (std::size_t t = 0; t < n_columns_; ++t) {
                        sums_[t * stride_ + empty] = 0.0;
                    }
                    size_[empty] = q_[empty] = 0.0;
                    units_[empty] = 0;
                }
                q_best = inner;
                to = empty;
            }
        }
        if (to == old) {
            continue;
        }
        if (old >= 0) {
            q_[old] = q_left;
            move(i, static_cast<std::size_t>(old), -1.0);
            now_[old] = value(q_[old], size_[old]);
        }
        move(i, static_cast<std::size_t>(to), 1.0);
        q_[to] = q_best;
        now_[to] = value(q_[to], size_[to]);
        labels_[i] = to;
        ++moves;
    }
    return moves;
}

void PartitionSearch::compact() {
    std::vector<std::int64_t> place(used_, -1);
    std::size_t kept = 0;
    for (std::size_t c = 0; c < used_; ++c) {
        if (units_[c] > 0) {
            place[c] = static_cast<std::int64_t>(kept++);
        }
    }
    if (kept == used_) {
        return;
    }
    for (std::size_t i = 0; i < n_; ++i) {
        labels_[i] = labels_[i] < 0 ? -1 : place[labels_[i]];
    }
    const std::vector<std::int64_t> labels = labels_;
    set(labels, kept);
}

std::size_t PartitionSearch::fuse(std::size_t k) {
    compact();
    const std::size_t n = used_;
    // Similarity of each two clusters, in rows of `width`.
    const std::size_t width = (n + pack_lanes - 1) / pack_lanes * pack_lanes;
    std::vector<double> cross(n * width, 0.0);
    // The clusters that each column meets, and their sums; then the columns of each cluster in turn, so that one row
    // of `cross` is written at a time.
    std::vector<std::size_t> ends(n_columns_ + 1, 0), met;
    std::vector<double> held;
    for (std::size_t t = 0; t < n_columns_; ++t) {
        const double* const row = sums_.data() + t * stride_;
        for (std::size_t c = 0; c < n; ++c) {
            if (row[c] != 0.0) {
                met.push_back(c);
                held.push_back(row[c]);
            }
        }
        ends[t + 1] = met.size();
    }
    SparseRows all;
    std::vector<std::size_t> columns;
    std::size_t work = 0;
    for (std::size_t c = 0; c < n; ++c) {
        for (std::size_t t = 0; t < n_columns_; ++t) {
            const double own = sums_[t * stride_ + c];
            if (own != 0.0) {
                columns.push_back(t);
                all.tables.push_back(sums_.data() + t * stride_);
                all.factors.push_back(weights_[t] * own);
                work += ends[t + 1] - ends[t];
            }
        }
        all.ends.push_back(columns.size());
    }
    if (work * wide >= columns.size() * n) {  // whole rows, with their zeros, take less time
        add_all_rows(all, width, cross.data());
    } else {
        std::size_t x = 0;
        for (std::size_t c = 0; c < n; ++c) {
            double* const to = cross.data() + c * width;
            for (; x < all.ends[c]; ++x) {
                for (std::size_t e = ends[columns[x]]; e < ends[columns[x] + 1]; ++e) {
                    to[met[e]] += all.factors[x] * held[e];
                }
            }
        }
    }
    // Whether two clusters hold units that are kept apart.
    std::vector<char> apart(apart_.empty() ? 0 : n * n, 0);
    for (std::size_t i = 0; !apart.empty() && i < n_; ++i) {
        for (std::int64_t e = apart_starts_[i]; e < apart_starts_[i + 1]; ++e) {
            if (labels_[i] >= 0 && labels_[apart_[e]] >= 0) {
                apart[labels_[i] * n + labels_[apart_[e]]] = 1;
            }
        }
    }
    const auto allowed = [&](std::size_t c, std::size_t d) {
        return apart.empty() || !apart[c * n + d];
    };
    std::vector<double> best(n);
    std::vector<std::int64_t> partner(n, -1);
    std::vector<std::size_t> into(n);
    std::vector<std::size_t> alive(n);  // clusters that are left, rising
    std::iota(alive.begin(), alive.end(), std::size_t{0});
    const auto gain = [&](std::size_t c, std::size_t d) {
        return value(q_[c] + q_[d] + 2.0 * cross[c * width + d], size_[c] + size_[d]) - now_[c] -
               now_[d];
    };
    const auto search = [&](std::size_t c) {
        partner[c] = -1;
        if (apart.empty()) {
            const Fusions of{q_.data(), size_.data(), now_.data(), cross.data() + c * width, n};
            const std::size_t d = best_fusion(criterion_, of, c);
            if (d < n) {
                best[c] = gain(c, d);
                partner[c] = static_cast<std::int64_t>(d);
            }
            return;
        }
        for (auto at = std::upper_bound(alive.begin(), alive.end(), c); at != alive.end(); ++at) {
            const std::size_t d = *at;
            if (allowed(c, d)) {
                const double found = gain(c, d);
                if (partner[c] < 0 || found > best[c]) {
                    best[c] = found;
                    partner[c] = static_cast<std::int64_t>(d);
                }
            }
        }
    };
    for (std::size_t c = 0; c < n; ++c) {
        into[c] = c;
        now_[c] = value(q_[c], size_[c]);
    }
    for (std::size_t c = 0; c < n; ++c) {
        search(c);
    }
    std::size_t left = n;
    while (left > std::max<std::size_t>(k, 1)) {
        stop_if_interrupted(
            done_of_shrinking(static_cast<std::ptrdiff_t>(n - left), static_cast<std::ptrdiff_t>(n)));
        std::size_t c = n;
        for (const std::size_t x : alive) {
            if (partner[x] >= 0 && (c == n || best[x] > best[c])) {
                c = x;
            }
        }
        if (c == n) {  // all remaining clusters must be kept apart
            break;
        }
        const auto d = static_cast<std::size_t>(partner[c]);
        const double scale = std::abs(now_[c]) + std::abs(now_[d]) + std::abs(cross[c * width + d]);
        if (k == 0 && best[c] <= negligible * scale) {
            break;
        }
        q_[c] += q_[d] + 2.0 * cross[c * width + d];
        size_[c] += size_[d];
        now_[c] = value(q_[c], size_[c]);
        now_[d] = gone;
        alive.erase(std::lower_bound(alive.begin(), alive.end(), d));
        into[d] = c;
        --left;
        for (const std::size_t x : alive) {
            cross[c * width + x] = cross[x * width + c] = cross[c * width + x] + cross[d * width + x];
        }
        for (std::size_t x = 0; !apart.empty() && x < n; ++x) {
            apart[c * n + x] |= apart[d * n + x];
            apart[x * n + c] = apart[c * n + x];
        }
        search(c);
        for (const std::size_t x : alive) {
            if (x == c) {
                continue;
            }
            const auto p = partner[x];
            if (p == static_cast<std::int64_t>(c) || p == static_cast<std::int64_t>(d)) {
                search(x);
            } else if (x < c && allowed(x, c)) {
                const double found = gain(x, c);
                if (p < 0 || found > best[x]) {
                    best[x] = found;
                    partner[x] = static_cast<std::int64_t>(c);
                }
            }
        }
    }
    if (left == n) {
        return 0;
    }
    for (std::size_t i = 0; i < n_; ++i) {
        if (labels_[i] >= 0) {
            auto c = static_cast<std::size_t>(labels_[i]);
            while (into[c] != c) {
                c = into[c];
            }
            labels_[i] = static_cast<std::int64_t>(c);
        }
    }
    const std::vector<std::int64_t> labels = labels_;
    set(labels, n);
    compact();
    return n - left;
}

void PartitionSearch::similarities(std::span<double> a) const {
    const std::size_t width = (n_ + pack_lanes - 1) / pack_lanes * pack_lanes;
    std::vector<double> columns(n_columns_ * width, 0.0);
    SparseRows rows;
    for (std::size_t i = 0; i < n_; ++i) {
        for (std::int64_t e = starts_[i]; e < starts_[i + 1]; ++e) {
            columns[columns_[e] * width + i] += values_[e];
            rows.tables.push_back(columns.data() + columns_[e] * width);
            rows.factors.push_back(weights_[columns_[e]] * values_[e]);
        }
        rows.ends.push_back(rows.tables.size());
    }
    if (width == n_) {
        return add_all_rows(rows, width, a.data());
    }
    std::vector<double> padded(n_ * width);
    add_all_rows(rows, width, padded.data());
    for (std::size_t i = 0; i < n_; ++i) {
        std::copy_n(padded.begin() + static_cast<std::ptrdiff_t>(i * width), n_,
                    a.begin() + static_cast<std::ptrdiff_t>(i * n_));
    }
}

double PartitionSearch::objective() const {
    double sum = 0.0;
    for (std::size_t c = 0; c < used_; ++c) {
        sum += value(q_[c], size_[c]);
    }
    return sum;
}

std::size_t PartitionSearch::n_clusters() const {
    return static_cast<std::size_t>(
        std::count_if(units_.begin(), units_.begin() + used_, [](std::int64_t u) { return u > 0; }));
}

}  // namespace conclust
