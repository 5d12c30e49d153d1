// The moves of LossSearch that take more than one unit: clusters merged, split, destroyed and built again.
#include <limits>

#include "base/interrupt.h"
#include "base/random.h"
#include "search/losses/expected_loss.h"

namespace conclust {
namespace {

// A rebuilt cluster is kept when the expected loss falls by more than this.
constexpr double least_fall = 1e-12;
// Passes over the units of a cluster that is destroyed or split.
constexpr int local_passes = 3;
// Maximum number of clusters broken up in every second turn of shaking.
constexpr std::size_t few_broken = 3;

template <class T>
void shuffle(std::vector<T>& items, std::uint64_t seed, std::uint64_t which) {
    for (std::size_t i = items.size(); i > 1; --i) {
        std::swap(items[i - 1], items[random_below(i, seed, which, i)]);
    }
}

}  // namespace

// Moves a unit from its cluster to another, in a linear loss: as `place` twice.
template <class Code>
void LossSearch::shift(const Code* codes, std::size_t unit, std::size_t to) {
    const Code* const row = codes + unit * view_.m;
    const auto from = static_cast<std::size_t>(labels_[unit]);
    const auto mass = static_cast<std::int32_t>(mass_[unit]);
    const auto move = [&](std::size_t at) {
        std::int32_t* const counts = counts_.data() + at * stride_;
        double* const deltas = deltas_.data() + at * stride_;
        counts[from] -= mass;
        counts[to] += mass;
        deltas[from] = step_[static_cast<std::size_t>(counts[from])];
        deltas[to] = step_[static_cast<std::size_t>(counts[to])];
    };
    for (std::size_t g = 0; g < group_first_.size(); ++g) {
        if (row[group_first_[g]] != missing_code<Code>) {
            move(view_.n_clusters() + g);
        }
    }
    for (std::size_t s = 0; s < view_.m; ++s) {
        if (row[s] < first_reserved_code<Code>) {
            move(view_.first_cluster(s) + row[s]);
        }
    }
    live_ -= --units_[from] == 0;
    live_ += units_[to]++ == 0;
    labels_[unit] = static_cast<std::int64_t>(to);
}

template void LossSearch::shift(const std::uint8_t*, std::size_t, std::size_t);
template void LossSearch::shift(const std::uint16_t*, std::size_t, std::size_t);
template void LossSearch::shift(const std::uint32_t*, std::size_t, std::size_t);

void LossSearch::compact() {
    if (live_ == used_) {
        return;
    }
    std::vector<std::int64_t> place(used_, -1);
    std::int64_t kept = 0;
    for (std::size_t c = 0; c < used_; ++c) {
        if (units_[c] > 0) {
            place[c] = kept++;
        }
    }
    std::vector<std::int64_t> labels(labels_.size());
    for (std::size_t i = 0; i < labels.size(); ++i) {
        labels[i] = labels_[i] < 0 ? -1 : place[labels_[i]];
    }
    set(labels, static_cast<std::size_t>(kept));
}

// The change of the loss by merging each two clusters (used_ x used_, both halves); of one cluster with each
// other if `only` is one.
void LossSearch::pair_changes(std::vector<double>& changes, std::size_t only) const {
    const std::size_t k = used_, clusters = view_.n_clusters();
    std::vector<std::size_t> there;
    const auto add_row = [&](std::size_t row, double weight, double* to) {
        const std::int32_t* const counts = counts_.data() + row * stride_;
        if (only != none && counts[only] == 0) {
            return;
        }
        there.clear();
        for (std::size_t c = 0; c < k; ++c) {
            if (counts[c] > 0) {
                there.push_back(c);
            }
        }
        const auto change = [&](std::size_t c, std::size_t d) {
            return weight * (f_[counts[c] + counts[d]] - f_[counts[c]] - f_[counts[d]]);
        };
        if (only != none) {
            for (const std::size_t d : there) {
                if (d != only) {
                    to[std::min(only, d) * k + std::max(only, d)] += change(only, d);
                }
            }
            return;
        }
        for (std::size_t x = 0; x < there.size(); ++x) {
            for (std::size_t y = x + 1; y < there.size(); ++y) {
                to[there[x] * k + there[y]] += change(there[x], there[y]);
            }
        }
    };
    if (only == none) {
        changes.assign(k * k, 0.0);
    } else {
        for (std::size_t d = 0; d < k; ++d) {
            changes[std::min(only, d) * k + std::max(only, d)] = 0.0;
        }
    }
    if (linear()) {
        for (std::size_t g = 0; g < group_first_.size(); ++g) {
            add_row(clusters + g, group_factor_[g], changes.data());
        }
        for (std::size_t s = 0; s < view_.m; ++s) {
            for (std::size_t t = view_.first_cluster(s); t < view_.first_cluster(s + 1); ++t) {
                add_row(t, both_factor_[s], changes.data());
            }
        }
        return;
    }
    std::vector<double> first(group_first_.size() * k * k, 0.0), both(k * k, 0.0);
    for (std::size_t g = 0; g < group_first_.size(); ++g) {
        add_row(clusters + g, 1.0, first.data() + g * k * k);
    }
    for (std::size_t s = 0; s < view_.m; ++s) {
        const Draw& draw = draws_[s];
        for (std::size_t t = view_.first_cluster(s); t < view_.first_cluster(s + 1); ++t) {
            add_row(t, 1.0, both.data());
        }
        const double* const risen = first.data() + draw.group * k * k;
        const double now = of(draw, first_[s], both_[s]);
        const auto add = [&](std::size_t c, std::size_t d) {
            const std::size_t at = c * k + d;
            changes[at] += draw.share * (of(draw, first_[s] + risen[at], both_[s] + both[at]) - now);
            both[at] = 0.0;
        };
        if (only != none) {
            for (std::size_t d = 0; d < k; ++d) {
                if (d != only) {
                    add(std::min(only, d), std::max(only, d));
                }
            }
            continue;
        }
        for (std::size_t c = 0; c < k; ++c) {
            for (std::size_t d = c + 1; d < k; ++d) {
                add(c, d);
            }
        }
    }
}

std::size_t LossSearch::merge() {
    compact();
    // The work of each merge of a loss that is not linear is the square of the clusters, for each draw.
    const std::size_t dear = linear() ? 2000 : 100;
    if (used_ < 2 || (used_ > dear && live_ <= most_)) {
        return 0;
    }
    std::vector<double> changes;
    pair_changes(changes, none);
    const std::size_t k = used_;
    std::vector<std::size_t> into(k);
    for (std::size_t c = 0; c < k; ++c) {
        into[c] = c;
    }
    const double tolerance = linear() ? 0.1 * negligible * total_factor_ * f_[step_.size()] : negligible;
    std::size_t merges = 0;
    while (live_ > 1) {
        stop_if_interrupted();
        double best = std::numeric_limits<double>::infinity();
        std::size_t at = none;
        for (std::size_t c = 0; c < k; ++c) {
            for (std::size_t d = c + 1; d < k && units_[c] > 0; ++d) {
                if (units_[d] > 0 && changes[c * k + d] < best) {
                    best = changes[c * k + d];
                    at = c * k + d;
                }
            }
        }
        if (live_ <= most_ && best >= -tolerance) {
            break;
        }
        const std::size_t c = at / k, d = at % k;
        for (std::size_t row = 0; row < rows_; ++row) {
            const std::int32_t count = counts_[row * stride_ + d];
            if (count > 0) {
                change(row, c, count);
                change(row, d, -count);
            }
        }
        units_[c] += units_[d];
        units_[d] = 0;
        into[d] = c;
        --live_;
        ++merges;
        refresh();
        pair_changes(changes, linear() ? c : none);
    }
    if (merges > 0) {
        for (std::int64_t& label : labels_) {
            if (label >= 0) {
                auto c = static_cast<std::size_t>(label);
                while (into[c] != c) {
                    c = into[c];
                }
                label = static_cast<std::int64_t>(c);
            }
        }
        compact();
    }
    return merges;
}

std::pair<std::size_t, bool> LossSearch::descend(std::uint64_t seed, std::size_t max_passes,
                                                 bool exact) {
    slopes_ = !exact && !linear() && step_.size() >= many_objects;
    std::vector<std::size_t> order(view_.n);
    for (std::size_t i = 0; i < order.size(); ++i) {
        order[i] = i;
    }
    std::size_t passes = 0;
    while (passes < max_passes) {
        shuffle(order, seed, passes);
        ++passes;
        const std::size_t moves = transfer(order);
        refresh();
        if (moves == 0 && merge() == 0) {
            if (linear()) {
                optima_.insert(fingerprint());
            }
            return {passes, true};
        }
        if (live_ > most_) {
            merge();
        } else if (moves > 0 && passes < max_passes && linear() && optima_.contains(fingerprint())) {
            compact();
            return {passes + 1, true};  // the next pass would move nothing
        }
    }
    if (live_ > most_) {
        merge();
    }
    return {passes, false};
}

// A hash of the partition, whatever the numbers of its clusters; units in no cluster are one of them.
std::uint64_t LossSearch::fingerprint() const {
    std::vector<std::uint64_t> sums(used_ + 1, 0);
    for (std::size_t i = 0; i < labels_.size(); ++i) {
        sums[labels_[i] < 0 ? used_ : static_cast<std::size_t>(labels_[i])] += random_bits(1, i, 0);
    }
    std::uint64_t whole = mix(mix(sums[used_]));
    for (std::size_t c = 0; c < used_; ++c) {
        whole += units_[c] > 0 ? mix(sums[c]) : 0;
    }
    return whole;
}

std::vector<std::size_t> LossSearch::units_of(std::size_t cluster) const {
    std::vector<std::size_t> units;
    units.reserve(static_cast<std::size_t>(units_[cluster]));
    for (std::size_t i = 0; i < labels_.size(); ++i) {
        if (labels_[i] == static_cast<std::int64_t>(cluster)) {
            units.push_back(i);
        }
    }
    return units;
}

std::size_t LossSearch::nearest_cluster(std::size_t cluster) const {
    std::vector<double> changes(used_ * used_, 0.0);
    pair_changes(changes, cluster);
    std::size_t nearest = none;
    double best = std::numeric_limits<double>::infinity();
    for (std::size_t d = 0; d < used_; ++d) {
        const double change = changes[std::min(cluster, d) * used_ + std::max(cluster, d)];
        if (d != cluster && units_[d] > 0 && change < best) {
            best = change;
            nearest = d;
        }
    }
    return nearest;
}

void LossSearch::take_out(std::span<const std::size_t> units) {
    with_codes(view_, [&](const auto* codes) {
        for (const std::size_t unit : units) {
            if (labels_[unit] >= 0) {
                place(codes, unit, static_cast<std::size_t>(labels_[unit]), -1);
            }
        }
    });
}

// Does the work, which moves these units only, and undoes it unless the loss falls below `before`, the present loss.
template <class Attempt>
bool LossSearch::attempt(std::span<const std::size_t> units, double& before, const Attempt& work) {
    std::vector<std::int64_t> old(units.size());
    for (std::size_t x = 0; x < units.size(); ++x) {
        old[x] = labels_[units[x]];
    }
    work();
    bool same = true;
    for (std::size_t x = 0; x < units.size() && same; ++x) {
        same = labels_[units[x]] == old[x];
    }
    const double after = same ? before : loss();
    if (after < before - least_fall) {
        before = after;
        return true;
    }
    with_codes(view_, [&](const auto* codes) {
        for (std::size_t x = 0; x < units.size(); ++x) {
            const std::size_t unit = units[x];
            if (labels_[unit] != old[x]) {
                if (labels_[unit] >= 0) {
                    place(codes, unit, static_cast<std::size_t>(labels_[unit]), -1);
                }
                place(codes, unit, static_cast<std::size_t>(old[x]), 1);
            }
        }
    });
    refresh();
    return false;
}

// The unit that most draws separate from one of them.
std::size_t LossSearch::farthest(std::span<const std::size_t> units, std::size_t from) const {
    return with_codes(view_, [&]<class Code>(const Code* codes) {
        std::size_t most = 0, found = units.front();
        for (const std::size_t unit : units) {
            std::size_t apart = 0;
            for (std::size_t s = 0; s < view_.m; ++s) {
                const Code one = codes[unit * view_.m + s], other = codes[from * view_.m + s];
                apart += one != other && one != missing_code<Code> && other != missing_code<Code>;
            }
            if (unit != from && (found == from || apart > most)) {
                most = apart;
                found = unit;
            }
        }
        return found;
    });
}

std::size_t LossSearch::rebuild(std::uint64_t seed) {
    compact();
    slopes_ = !linear() && step_.size() >= many_objects;
    std::vector<std::size_t> clusters(used_);
    for (std::size_t c = 0; c < used_; ++c) {
        clusters[c] = c;
    }
    shuffle(clusters, seed, 0);
    std::size_t better = 0;
    double now = loss();
    for (const std::size_t c : clusters) {
        if (units_[c] == 0) {
            continue;
        }
        std::vector<std::size_t> units = units_of(c);
        // Places the units, which are in no cluster, and moves them until they are as before or none moves.
        const auto again = [&] {
            std::vector<std::int64_t> old(units.size());
            for (std::size_t x = 0; x < units.size(); ++x) {
                old[x] = labels_[units[x]];
            }
            take_out(units);
            const auto changed = [&] {
                for (std::size_t x = 0; x < units.size(); ++x) {
                    if (labels_[units[x]] != old[x]) {
                        return true;
                    }
                }
                return false;
            };
            for (int pass = 0; pass < local_passes && transfer(units) > 0 && changed(); ++pass) {
            }
        };
        shuffle(units, seed, 3 * c + 1);
        if (live_ > 1 && attempt(units, now, again)) {
            ++better;
            continue;
        }
        if (units.size() > 1 && live_ < most_ && attempt(units, now, [&] {
            const std::size_t other = empty_cluster();
            const std::size_t one = units.front(), two = farthest(units, one);
            take_out(units);
            const std::size_t sides[2] = {c, other};
            with_codes(view_, [&](const auto* codes) {
                place(codes, one, c, 1);
                place(codes, two, other, 1);
            });
            for (int pass = 0; pass < local_passes && transfer(units, sides) > 0; ++pass) {
            }
            transfer(units);
        })) {
            ++better;
            continue;
        }
        const std::size_t near = live_ > 2 ? nearest_cluster(c) : none;
        if (near == none) {
            continue;
        }
        const std::vector<std::size_t> more = units_of(near);
        units.insert(units.end(), more.begin(), more.end());
        shuffle(units, seed, 3 * c + 2);
        better += attempt(units, now, again);
    }
    return better;
}

std::size_t LossSearch::shake(std::uint64_t seed, std::size_t turns, std::size_t max_passes) {
    std::size_t passes = 0;
    std::vector<std::int64_t> old;
    std::vector<std::int32_t> counts;
    std::vector<double> deltas;
    for (std::size_t turn = 0; turn < turns && labels_.size() > 1; ++turn) {
        stop_if_interrupted();
        compact();
        const double before = loss();
        const std::size_t k = used_, stride = stride_;
        old = labels_;
        counts = counts_;
        deltas = deltas_;
        const std::vector<std::int64_t> sizes = units_;
        std::vector<std::size_t> clusters(k);
        for (std::size_t c = 0; c < k; ++c) {
            clusters[c] = c;
        }
        shuffle(clusters, seed, 5 * turn);
        // Alternately a few of them and as many as there are.
        const std::size_t broken =
            1 + random_below(turn % 2 ? k : std::min(k, few_broken), seed, 5 * turn + 1, 0);
        std::vector<bool> breaks(k, false);
        for (std::size_t x = 0; x < broken; ++x) {
            breaks[clusters[x]] = true;
        }
        std::vector<std::size_t> units;
        for (std::size_t i = 0; i < labels_.size(); ++i) {
            if (breaks[labels_[i]]) {
                units.push_back(i);
            }
        }
        // As many new clusters as the broken ones, a few more or fewer; the others stay.
        const std::size_t room = std::min(units.size(), most_ - (k - broken));
        const std::size_t parts =
            1 + random_below(std::min(room, 2 * broken + 1), seed, 5 * turn + 2, 0);
        std::vector<std::int64_t> labels = old;
        std::vector<std::int64_t> place(k, -1);
        std::int64_t kept = 0;
        for (std::size_t c = 0; c < k; ++c) {
            if (!breaks[c]) {
                place[c] = kept++;
            }
        }
        for (std::int64_t& label : labels) {
            label = place[label];
        }
        for (const std::size_t i : units) {
            labels[i] = kept + static_cast<std::int64_t>(random_below(parts, seed, 5 * turn + 3, i));
        }
        set(labels, static_cast<std::size_t>(kept) + parts);
        const std::size_t taken = descend(random_bits(seed, 5 * turn + 4, 0), max_passes, false).first;
        if (loss() < before - least_fall) {
            passes += taken;
        } else if (stride_ != stride) {
            set(old, k);
        } else {
            labels_ = old;
            counts_.swap(counts);
            deltas_.swap(deltas);
            units_ = sizes;
            used_ = live_ = k;
            refresh();
        }
    }
    return passes;
}

}  // namespace conclust
