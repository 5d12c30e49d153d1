#include "search/resemblance/resemblance.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/interrupt.h"
#include "base/random.h"
#include "base/wide.h"

namespace conclust {

namespace {

constexpr double nothing = -std::numeric_limits<double>::infinity();  // the logarithm of 0
// A value counts as larger if it exceeds the other by more than this share of it; smaller differences are rounding
// errors.
constexpr double negligible = 1e-11;
// A sum that a subtraction reduces below this share is recomputed.
constexpr double cancelled = 1e-6;

double pairs_of(double s) { return 2.0 * s * (s - 1.0); }

// log2 of s (s + 1) 2^(s - 2).
double log_subsets(double s) { return s > 0.0 ? std::log2(s * (s + 1.0)) + s - 2.0 : nothing; }

// log2(2^a + 2^b).
double log_add(double a, double b) {
    const double high = std::max(a, b), low = std::min(a, b);
    return low == nothing ? high : high + std::log2(1.0 + std::exp2(low - high));
}

}  // namespace

ResemblanceSearch::ResemblanceSearch(std::span<const std::int32_t> labels, std::span<const double> mass,
                                     std::span<const std::int64_t> offsets,
                                     std::span<const double> cluster_sizes,
                                     std::span<const double> factors, bool all_subsets, bool fixed)
    : labels_(labels.begin(), labels.end()),
      mass_(mass.begin(), mass.end()),
      cluster_sizes_(cluster_sizes.begin(), cluster_sizes.end()),
      factors_(factors.begin(), factors.end()),
      offsets_(offsets.begin(), offsets.end()),
      n_(mass.size()),
      m_(factors.size()),
      n_columns_(static_cast<std::size_t>(offsets.back()) + 1),
      stride_((m_ + wide - 1) / wide * wide),
      all_subsets_(all_subsets),
      fixed_(fixed),
      partition_(n_, -1),
      shared_(stride_),
      norm_(stride_),
      score_(m_) {
    if (!all_subsets_) {
        take_columns();
    } else {
        const double objects = std::accumulate(mass_.begin(), mass_.end(), 0.0);
        for (double s = 0.0; s <= objects; s += 1.0) {
            log_subsets_.push_back(log_subsets(s));
        }
        for (double& size : cluster_sizes_) {
            size = std::log2(size);
        }
    }
}

// What the form for pairs reads: each label's column, and where labels are not missing.
void ResemblanceSearch::take_columns() {
    cluster_sizes_.push_back(std::numeric_limits<double>::infinity());
    before_.assign(2 * stride_, 0.0);
    columns_.assign(n_ * stride_, static_cast<std::int32_t>(n_columns_ - 1));
    if (std::find(labels_.begin(), labels_.end(), -1) != labels_.end()) {
        observed_.assign(n_ * stride_, 0.0);
    }
    for (std::size_t i = 0; i < n_; ++i) {
        for (std::size_t u = 0; u < m_; ++u) {
            const std::int32_t label = labels_[i * m_ + u];
            if (label >= 0) {
                columns_[i * stride_ + u] = static_cast<std::int32_t>(offsets_[u]) + label;
            }
            if (!observed_.empty()) {
                observed_[i * stride_ + u] = label == -1 ? 0.0 : 1.0;
            }
        }
    }
}

PairFixed ResemblanceSearch::fixed_terms() const {
    return {cluster_sizes_.data(), factors_.data(), m_, stride_};
}

PairUnit ResemblanceSearch::pair_unit(std::size_t unit, double mass) const {
    const double* observed = observed_.empty() ? nullptr : observed_.data() + unit * stride_;
    return {columns_.data() + unit * stride_, observed, mass};
}

PairCluster ResemblanceSearch::pair_cluster(std::size_t c) {
    const std::size_t cell = c * stride_;
    return {counts_.data() + c * n_columns_, size_.data() + cell, sum_.data() + cell,
            part_.data() + cell, own_.data() + cell};
}

// The norm's term of a cluster of this size.
double ResemblanceSearch::own(double size) const {
    if (size <= 0.0) {
        return all_subsets_ ? nothing : 0.0;
    }
    return all_subsets_ ? log_subsets_[static_cast<std::size_t>(size)] - 2.0 * std::log2(size)
                        : pairs_of(size) / (size * size);
}

// From here to `score`: with all subsets only; pair_resemblance.h has the form for pairs.
//
// The kernel of cluster c with partition u when `mass` objects of a label join it.
double ResemblanceSearch::inside(std::size_t c, std::size_t u, std::int32_t label, double mass) const {
    const double size = size_[c * stride_ + u] + mass;
    if (size <= 0.0) {
        return nothing;
    }
    const double* const counts = counts_.data() + c * n_columns_ + offsets_[u];
    const double* const sizes = cluster_sizes_.data() + offsets_[u];
    const std::int64_t k = offsets_[u + 1] - offsets_[u];
    const auto term = [&](std::int64_t l) {
        const double count = counts[l] + (l == label ? mass : 0.0);
        return log_subsets_[static_cast<std::size_t>(count)] - sizes[l];
    };
    const double noise = noise_[c * stride_ + u] + (label == -2 ? mass : 0.0);
    double high = noise > 0.0 ? 0.0 : nothing;
    for (std::int64_t l = 0; l < k; ++l) {
        high = std::max(high, term(l));
    }
    double sum = noise > 0.0 ? noise * std::exp2(-high) : 0.0;
    for (std::int64_t l = 0; l < k; ++l) {
        const double found = term(l);
        sum += found == nothing ? 0.0 : std::exp2(found - high);
    }
    return high + std::log2(sum) - std::log2(size);
}

// A total over clusters with the term of cluster c replaced.
double ResemblanceSearch::replaced(double total, const std::vector<double>& parts, std::size_t c,
                                   std::size_t u, double part) const {
    const double before = parts[c * stride_ + u];
    const double rest = 1.0 - std::exp2(before - total), added = std::exp2(part - total);
    if (rest > cancelled && added < 1e300) {  // false where the total is log2 of 0
        return total + std::log2(rest + added);
    }
    double sum = part;
    for (std::size_t d = 0; d < used_; ++d) {
        if (d != c) {
            sum = log_add(sum, parts[d * stride_ + u]);
        }
    }
    return sum;
}

double ResemblanceSearch::score(double shared, double norm) const {
    return shared == nothing ? nothing : shared - 0.5 * norm;
}

void ResemblanceSearch::reserve(std::size_t clusters) {
    if (clusters <= units_.size()) {
        return;
    }
    const std::size_t room = std::max(clusters, 2 * units_.size());
    counts_.resize(room * n_columns_, 0.0);
    const double none = all_subsets_ ? nothing : 0.0;
    for (auto* table : {&size_, &noise_, &sum_}) {
        table->resize(room * stride_, 0.0);
    }
    part_.resize(room * stride_, none);
    own_.resize(room * stride_, none);
    units_.resize(room, 0);
}

void ResemblanceSearch::set(std::span<const std::int64_t> partition, std::size_t k) {
    std::copy(partition.begin(), partition.end(), partition_.begin());
    reserve(k);
    used_ = k;
    for (auto* table : {&counts_, &size_, &noise_, &sum_}) {
        std::fill(table->begin(), table->end(), 0.0);
    }
    const double none = all_subsets_ ? nothing : 0.0;
    std::fill(part_.begin(), part_.end(), none);
    std::fill(own_.begin(), own_.end(), none);
    std::fill(units_.begin(), units_.end(), 0);
    for (std::size_t i = 0; i < n_; ++i) {
        if (partition_[i] < 0) {
            continue;
        }
        const auto c = static_cast<std::size_t>(partition_[i]);
        units_[c] += 1;
        for (std::size_t u = 0; u < m_; ++u) {
            const std::int32_t label = labels_[i * m_ + u];
            if (label == -1) {
                continue;
            }
            size_[c * stride_ + u] += mass_[i];
            if (label >= 0) {
                counts_[c * n_columns_ + offsets_[u] + label] += mass_[i];
            } else {
                noise_[c * stride_ + u] += mass_[i];
            }
        }
    }
    take_terms();
}

// Computes all terms and totals from the counts.
void ResemblanceSearch::take_terms() {
    for (std::size_t u = 0; u < m_; ++u) {
        double shared = all_subsets_ ? nothing : 0.0, norm = shared;
        for (std::size_t c = 0; c < used_; ++c) {
            const std::size_t cell = c * stride_ + u;
            double part = 0.0;
            if (all_subsets_) {
                part = inside(c, u, -1, 0.0);
            } else {
                double sum = 0.0;
                for (std::int64_t t = offsets_[u]; t < offsets_[u + 1]; ++t) {
                    sum += pairs_of(counts_[c * n_columns_ + t]) / cluster_sizes_[t];
                }
                sum_[cell] = sum;
                part = size_[cell] > 0.0 ? sum / size_[cell] : 0.0;
            }
            const double self = own(size_[cell]);
            part_[cell] = part;
            own_[cell] = self;
            shared = all_subsets_ ? log_add(shared, part) : shared + part;
            norm = all_subsets_ ? log_add(norm, self) : norm + self;
        }
        shared_[u] = shared;
        norm_[u] = norm;
        if (all_subsets_) {
            score_[u] = score(shared, norm);
        }
    }
}

// Add a unit's mass to cluster c (negative: remove it).
void ResemblanceSearch::change(std::size_t unit, std::size_t c, double mass) {
    if (all_subsets_) {
        change_subsets(unit, c, mass);
        return;
    }
    change_pairs(fixed_terms(), pair_unit(unit, mass), pair_cluster(c), totals(), nullptr);
    count(unit, c, mass);
}

// Adds to the counts of labels, if only pairs count.
void ResemblanceSearch::count(std::size_t unit, std::size_t c, double mass) {
    for (std::size_t u = 0; u < m_; ++u) {
        if (labels_[unit * m_ + u] >= 0) {
            counts_[c * n_columns_ + static_cast<std::size_t>(columns_[unit * stride_ + u])] += mass;
        }
    }
}

void ResemblanceSearch::change_subsets(std::size_t unit, std::size_t c, double mass) {
    for (std::size_t u = 0; u < m_; ++u) {
        const std::int32_t label = labels_[unit * m_ + u];
        if (label == -1) {
            continue;
        }
        const std::size_t cell = c * stride_ + u;
        const double part = inside(c, u, label, mass), self = own(size_[cell] + mass);
        shared_[u] = replaced(shared_[u], part_, c, u, part);
        norm_[u] = replaced(norm_[u], own_, c, u, self);
        score_[u] = score(shared_[u], norm_[u]);
        part_[cell] = part;
        own_[cell] = self;
        size_[cell] += mass;
        if (label >= 0) {
            counts_[c * n_columns_ + offsets_[u] + label] += mass;
        } else {
            noise_[cell] += mass;
        }
    }
}

void ResemblanceSearch::leave(std::size_t unit) {
    const auto c = static_cast<std::size_t>(partition_[unit]);
    change(unit, c, -mass_[unit]);
    units_[c] -= 1;
    partition_[unit] = -1;
}

void ResemblanceSearch::join(std::size_t unit, std::size_t c) {
    change(unit, c, mass_[unit]);
    units_[c] += 1;
    partition_[unit] = static_cast<std::int64_t>(c);
}

// The value after a unit without a cluster joins cluster c.
double ResemblanceSearch::joined(std::size_t unit, std::size_t c) {
    if (!all_subsets_) {
        return joined_pairs(fixed_terms(), pair_unit(unit, mass_[unit]), pair_cluster(c), totals());
    }
    double total = nothing;
    for (std::size_t u = 0; u < m_; ++u) {
        const std::int32_t label = labels_[unit * m_ + u];
        double found = score_[u];
        if (label != -1) {
            const double part = inside(c, u, label, mass_[unit]);
            const double self = own(size_[c * stride_ + u] + mass_[unit]);
            found = score(replaced(shared_[u], part_, c, u, part), replaced(norm_[u], own_, c, u, self));
        }
        total = log_add(total, factors_[u] + found);
    }
    return total;
}

double ResemblanceSearch::objective() {
    if (!all_subsets_) {
        return sum_pairs(fixed_terms(), totals());
    }
    double total = nothing;
    for (std::size_t u = 0; u < m_; ++u) {
        total = log_add(total, factors_[u] + score_[u]);
    }
    return total;
}

// Remove empty clusters, and recompute sums, because many moves leave rounding errors. Counts are whole numbers and
// have none.
void ResemblanceSearch::renew() {
    std::vector<std::int64_t> place(used_, -1);
    std::size_t kept = 0;
    for (std::size_t c = 0; c < used_; ++c) {
        if (units_[c] == 0) {
            continue;
        }
        place[c] = static_cast<std::int64_t>(kept);
        if (kept < c) {
            move_counts(c, kept);
        }
        ++kept;
    }
    if (kept < used_) {
        for (std::int64_t& c : partition_) {
            c = c < 0 ? -1 : place[static_cast<std::size_t>(c)];
        }
        const double none = all_subsets_ ? nothing : 0.0;
        std::fill(sum_.begin() + static_cast<std::ptrdiff_t>(kept * stride_), sum_.end(), 0.0);
        for (auto* table : {&part_, &own_}) {
            std::fill(table->begin() + static_cast<std::ptrdiff_t>(kept * stride_), table->end(), none);
        }
        used_ = kept;
    }
    take_terms();
}

// Moves what is counted in a cluster to another, which is empty.
void ResemblanceSearch::move_counts(std::size_t from, std::size_t to) {
    const auto move = [&](std::vector<double>& table, std::size_t width) {
        const auto begin = table.begin() + static_cast<std::ptrdiff_t>(from * width);
        const auto end = begin + static_cast<std::ptrdiff_t>(width);
        std::copy(begin, end, table.begin() + static_cast<std::ptrdiff_t>(to * width));
        std::fill(begin, end, 0.0);
    };
    move(counts_, n_columns_);
    move(size_, stride_);
    move(noise_, stride_);
    std::swap(units_[from], units_[to]);
}

std::size_t ResemblanceSearch::empty_cluster() {
    for (std::size_t c = 0; c < used_; ++c) {
        if (units_[c] == 0) {
            return c;
        }
    }
    reserve(used_ + 1);
    return used_++;
}

std::size_t ResemblanceSearch::transfer(std::span<const std::int64_t> order) {
    std::size_t moves = 0;
    std::size_t seen = 0;
    for (const std::int64_t unit : order) {
        if (seen++ % 256 == 0) {
            stop_if_interrupted();
        }
        const auto i = static_cast<std::size_t>(unit);
        const std::int64_t old = partition_[i];
        const bool alone = old >= 0 && units_[old] == 1;
        if (fixed_ && alone) {
            continue;
        }
        if (old >= 0) {
            leave(i);
        }
        double best = nothing;
        std::int64_t to = old;
        if (old >= 0) {
            best = joined(i, static_cast<std::size_t>(old));
        }
        const auto ask = [&](std::size_t c) {
            const double found = joined(i, c);
            if (to < 0 || found > best + negligible * std::abs(best)) {
                best = found;
                to = static_cast<std::int64_t>(c);
            }
        };
        for (std::size_t c = 0; c < used_; ++c) {
            if (units_[c] > 0 && static_cast<std::int64_t>(c) != old) {
                ask(c);
            }
        }
        if (!fixed_ && !alone) {
            ask(empty_cluster());
        }
        join(i, static_cast<std::size_t>(to));
        moves += to != old;
    }
    return moves;
}

// Draw a unit and its target; false if that is not a move.
bool ResemblanceSearch::propose(std::uint64_t seed, std::size_t draw, std::size_t& unit,
                                std::size_t& to) {
    unit = random_below(n_, seed, draw, 0);
    const auto from = static_cast<std::size_t>(partition_[unit]);
    to = random_below(used_ + (fixed_ ? 0 : 1), seed, draw, 1);
    const bool fresh = to == used_ || units_[to] == 0;
    if (to == from || (units_[from] == 1 && (fresh || fixed_)) || (fresh && fixed_)) {
        return false;
    }
    if (fresh) {
        to = empty_cluster();
    }
    return true;
}

// The value after a unit moves to another cluster; `decide` follows.
double ResemblanceSearch::moved(std::size_t unit, std::size_t to) {
    const auto from = static_cast<std::size_t>(partition_[unit]);
    if (all_subsets_) {
        change_subsets(unit, from, -mass_[unit]);
    } else {
        change_pairs(fixed_terms(), pair_unit(unit, -mass_[unit]), pair_cluster(from), totals(),
                     before_.data());
    }
    return joined(unit, to);
}

void ResemblanceSearch::decide(std::size_t unit, std::size_t to, bool taken) {
    const auto from = static_cast<std::size_t>(partition_[unit]);
    if (all_subsets_) {
        change_subsets(unit, taken ? to : from, mass_[unit]);
    } else if (taken) {
        count(unit, from, -mass_[unit]);
        change(unit, to, mass_[unit]);
    } else {
        return_pairs(fixed_terms(), pair_unit(unit, mass_[unit]), pair_cluster(from), totals(),
                     before_.data());
    }
    if (taken) {
        --units_[from];
        ++units_[to];
        partition_[unit] = static_cast<std::int64_t>(to);
    }
}

std::size_t ResemblanceSearch::anneal(std::uint64_t seed, std::size_t first, double temperature,
                                      std::size_t proposals) {
    std::size_t moves = 0;
    double now = objective();
    for (std::size_t draw = first; draw < first + proposals; ++draw) {
        std::size_t unit = 0, to = 0;
        if (!propose(seed, draw, unit, to)) {
            continue;
        }
        const double then = moved(unit, to);
        const double uniform = static_cast<double>(random_bits(seed, draw, 2) >> 11) * 0x1p-53;
        const bool taken = then >= now || uniform < std::exp((then - now) / temperature);
        decide(unit, to, taken);
        now = taken ? then : now;
        moves += taken;
    }
    renew();
    return moves;
}

double ResemblanceSearch::mean_fall(std::uint64_t seed, std::size_t proposals) {
    const double now = objective();
    double sum = 0.0, falls = 0.0;
    for (std::size_t draw = 0; draw < proposals; ++draw) {
        std::size_t unit = 0, to = 0;
        if (!propose(seed, draw, unit, to)) {
            continue;
        }
        const double fall = now - moved(unit, to);
        decide(unit, to, false);
        if (fall > negligible * std::abs(now) && fall < -nothing) {
            sum += fall;
            falls += 1.0;
        }
    }
    return falls > 0.0 ? sum / falls : 0.0;
}

std::size_t ResemblanceSearch::n_clusters() const {
    return static_cast<std::size_t>(std::count_if(units_.begin(), units_.begin() + used_,
                                                  [](std::int64_t units) { return units > 0; }));
}

void ResemblanceSearch::read(std::span<std::int64_t> partition) const {
    std::copy(partition_.begin(), partition_.end(), partition.begin());
}

}  // namespace conclust
