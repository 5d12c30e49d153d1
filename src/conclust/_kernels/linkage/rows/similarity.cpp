#include "linkage/rows/similarity.h"

#include <algorithm>
#include <numeric>

#include "base/clones.h"

namespace conclust {
namespace {

// Adding it to a number below 2048 rounds to multiples of 2^-40.
constexpr double shift = 1.5 * 4096.0;

// Number of entries of dead rows that are tolerated.
constexpr std::size_t fewest_packed = 4096;

// Places of which the largest similarity is found together.
constexpr std::size_t block = 128;

CONCLUST_INLINE double on_grid(double value) { return (value + shift) - shift; }

// Four steps of the grid.
constexpr double grid = 1.0 / (std::uint64_t{1} << 38);

// Number of clusters remembered of a row.
constexpr std::size_t most_remembered = 32;

struct Highest {
    double value;
    std::size_t place;
};

// The places of some of the largest similarities, and a bound of all others: those at the bound are left out.
struct Largest {
    Highest entries[2 * most_remembered];
    std::size_t count = 0;
    double bound = 0.0;

    // Precondition: value > bound.
    void add(double value, std::size_t place) {
        entries[count++] = {value, place};
        if (count < 2 * most_remembered) {
            return;
        }
        std::nth_element(entries, entries + most_remembered, entries + count,
                         [](const Highest& a, const Highest& b) { return a.value > b.value; });
        bound = entries[most_remembered].value;
        Highest* const end = std::remove_if(entries, entries + most_remembered,
                                            [this](const Highest& e) { return e.value <= bound; });
        count = static_cast<std::size_t>(end - entries);
    }
};

// The first largest positive sum, or {0, 0}, and others of the largest; resets all sums to 0.
CONCLUST_CLONES Highest take_highest(double* sums, const double* inverse, double own, std::size_t n,
                                     Largest& largest) {
    Highest best{0.0, 0};
    double values[block];
    for (std::size_t begin = 0; begin < n; begin += block) {
        const std::size_t length = std::min(block, n - begin);
        double top[8] = {};
        for (std::size_t i = 0; i < length; ++i) {
            values[i] = on_grid(sums[begin + i] * (own * inverse[begin + i]));
            sums[begin + i] = 0.0;
        }
        for (std::size_t i = length; i % 8 != 0; ++i) {
            values[i] = 0.0;
        }
        for (std::size_t i = 0; i < length; i += 8) {
            for (std::size_t j = 0; j < 8; ++j) {
                top[j] = values[i + j] > top[j] ? values[i + j] : top[j];
            }
        }
        const double highest = *std::max_element(top, top + 8);
        if (highest > largest.bound) {
            for (std::size_t i = 0; i < length; ++i) {
                if (values[i] > largest.bound) {
                    largest.add(values[i], begin + i);
                }
            }
        }
        if (highest > best.value) {
            const auto first = std::find(values, values + length, highest) - values;
            best = {highest, begin + static_cast<std::size_t>(first)};
        }
    }
    return best;
}

}  // namespace

RowSimilarity::RowSimilarity(const RowPairs& pairs)
    : columns_(pairs.rows.columns.begin(), pairs.rows.columns.end()),
      values_(pairs.rows.values.begin(), pairs.rows.values.end()),
      begin_(pairs.rows.starts.begin(), pairs.rows.starts.end() - 1),
      end_(pairs.rows.starts.begin() + 1, pairs.rows.starts.end()),
      live_entries_(columns_.size()),
      diagonal_(pairs.diagonal.begin(), pairs.diagonal.end()),
      mixing_starts_(pairs.mixing.starts.begin(), pairs.mixing.starts.end()),
      mixing_columns_(pairs.mixing.columns.begin(), pairs.mixing.columns.end()),
      mixing_values_(pairs.mixing.values.begin(), pairs.mixing.values.end()),
      masses_(pairs.masses.begin(), pairs.masses.end()),
      inverse_masses_(pairs.size()),
      presence_(pairs.presence.begin(), pairs.presence.end()),
      m_(pairs.presence.size() / pairs.size()),
      alive_(pairs.size(), 1),
      live_(pairs.size()) {
    const std::size_t n = pairs.size();
    for (std::size_t i = 0; i < n; ++i) {
        inverse_masses_[i] = 1.0 / masses_[i];
    }
    std::iota(live_.begin(), live_.end(), std::uint32_t{0});
    others_.reserve(n);
    if (diagonal_.empty()) {
        mixed_.resize(pairs.n_columns);
        return;
    }
    sums_.assign(n, 0.0);
    place_of_ = live_;
    slot_at_ = live_;
    inverse_at_ = inverse_masses_;
    if (m_ == 0) {
        remembered_.resize(n);
        leaders_ = live_;
        factors_.assign(pairs.n_columns, 0.0);
        rounding_ = 0x1p-50 * static_cast<double>(n + pairs.n_columns);
    }
    lists_.resize(pairs.n_columns);
    std::vector<std::size_t> lengths(pairs.n_columns, 0);
    for (const std::uint32_t column : columns_) {
        ++lengths[column];
    }
    for (std::size_t k = 0; k < lists_.size(); ++k) {
        lists_[k].places.reserve(lengths[k]);
        lists_[k].amounts.reserve(lengths[k]);
    }
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t e = begin_[i]; e < end_[i]; ++e) {
            lists_[columns_[e]].places.push_back(static_cast<std::uint32_t>(i));
            lists_[columns_[e]].amounts.push_back(values_[e]);
        }
    }
}

double RowSimilarity::similarity(double sum, std::uint32_t p, std::uint32_t q) const {
    if (m_ == 0) {
        return on_grid(sum * (inverse_masses_[p] * inverse_masses_[q]));
    }
    const double* a = presence_.data() + p * m_;
    const double* b = presence_.data() + q * m_;
    double seen = 0.0;
    for (std::size_t u = 0; u < m_; ++u) {
        seen += a[u] * b[u];
    }
    return seen > 0.0 ? on_grid(sum / seen) : 0.0;
}

std::span<const RowSimilarity::Other> RowSimilarity::row(std::uint32_t slot) {
    others_.clear();
    if (diagonal_.empty()) {
        all_columns(slot);
    } else {
        shared_columns(slot);
    }
    return others_;
}

RowSimilarity::Other RowSimilarity::nearest(std::uint32_t slot) {
    if (!remembered_.empty()) {
        const Other best = nearest_remembered(slot);
        if (best.value > 0.0) {
            return best;
        }
    }
    // Where the lists reach few of the places, by those; with presences each pair has its own sum besides.
    if (diagonal_.empty() || m_ > 0 || 2 * entries_beside(slot) < slot_at_.size()) {
        return nearest_in_row(slot);
    }
    return nearest_in_sums(slot);
}

// {0, 0} if what is remembered does not decide.
RowSimilarity::Other RowSimilarity::nearest_remembered(std::uint32_t slot) {
    Other best{0.0, 0};
    Remembered& own = remembered_[slot];
    if (own.slots.empty()) {
        return best;
    }
    for (std::uint32_t& q : own.slots) {
        q = leader(q);
    }
    std::sort(own.slots.begin(), own.slots.end());
    own.slots.erase(std::unique(own.slots.begin(), own.slots.end()), own.slots.end());
    for (std::size_t e = begin_[slot]; e < end_[slot]; ++e) {
        factors_[columns_[e]] = diagonal_[columns_[e]] * values_[e];
    }
    // Means of what is not above the bound, rounded.
    const double certain = own.bound + (grid + rounding_ * own.bound);
    double bound = own.bound;
    std::size_t count = 0;
    for (const std::uint32_t q : own.slots) {
        if (q == slot) {
            continue;
        }
        double sum = 0.0;  // in the order of columns, as in a row
        for (std::size_t e = begin_[q]; e < end_[q]; ++e) {
            sum += factors_[columns_[e]] * values_[e];
        }
        const double value = similarity(sum, slot, q);
        if (!(value > certain)) {
            bound = std::max(bound, value);
            continue;
        }
        own.slots[count++] = q;
        if (value > best.value) {  // slots rise
            best = {value, q};
        }
    }
    for (std::size_t e = begin_[slot]; e < end_[slot]; ++e) {
        factors_[columns_[e]] = 0.0;
    }
    own.slots.resize(count);
    own.bound = bound;
    return best;
}

std::uint32_t RowSimilarity::leader(std::uint32_t slot) {
    while (leaders_[slot] != slot) {
        leaders_[slot] = leaders_[leaders_[slot]];
        slot = leaders_[slot];
    }
    return slot;
}

RowSimilarity::Other RowSimilarity::nearest_in_row(std::uint32_t slot) {
    Other best{0.0, 0};
    Largest largest;
    for (const Other other : row(slot)) {
        if (other.value > best.value || (other.value == best.value && other.slot < best.slot)) {
            best = other;
        }
        if (other.value > largest.bound) {
            largest.add(other.value, other.slot);
        }
    }
    if (!remembered_.empty()) {
        Remembered& own = remembered_[slot];
        own.slots.clear();
        for (std::size_t i = 0; i < largest.count; ++i) {
            own.slots.push_back(static_cast<std::uint32_t>(largest.entries[i].place));
        }
        own.bound = largest.bound;
    }
    return best;
}

RowSimilarity::Other RowSimilarity::nearest_in_sums(std::uint32_t slot) {
    double* sums = sums_.data();  // all 0
    for (std::size_t e = begin_[slot]; e < end_[slot]; ++e) {
        const double factor = diagonal_[columns_[e]] * values_[e];
        const List& list = lists_[columns_[e]];
        const std::uint32_t* places = list.places.data();
        const double* amounts = list.amounts.data();
        const std::size_t length = list.places.size();
        for (std::size_t i = 0; i < length; ++i) {
            sums[places[i]] += factor * amounts[i];
        }
    }
    sums[place_of_[slot]] = 0.0;
    Largest largest;
    const Highest best =
        take_highest(sums, inverse_at_.data(), inverse_masses_[slot], slot_at_.size(), largest);
    Remembered& own = remembered_[slot];
    own.slots.clear();
    for (std::size_t i = 0; i < largest.count; ++i) {
        own.slots.push_back(slot_at_[largest.entries[i].place]);
    }
    own.bound = largest.bound;
    return {best.value, best.value > 0.0 ? slot_at_[best.place] : 0};
}

// What the lists of a cluster's columns hold together.
std::size_t RowSimilarity::entries_beside(std::uint32_t slot) const {
    std::size_t entries = 0;
    for (std::size_t e = begin_[slot]; e < end_[slot]; ++e) {
        entries += lists_[columns_[e]].places.size();
    }
    return entries;
}

void RowSimilarity::shared_columns(std::uint32_t slot) {
    const std::size_t most = entries_beside(slot) + 1;
    if (touched_.size() < most) {
        touched_.resize(most);
    }
    double* sums = sums_.data();  // all 0
    std::uint32_t* touched = touched_.data();
    std::size_t count = 0;
    for (std::size_t e = begin_[slot]; e < end_[slot]; ++e) {
        const double factor = diagonal_[columns_[e]] * values_[e];
        const List& list = lists_[columns_[e]];
        const std::uint32_t* places = list.places.data();
        const double* amounts = list.amounts.data();
        const std::size_t length = list.places.size();
        for (std::size_t i = 0; i < length; ++i) {
            double& sum = sums[places[i]];
            touched[count] = places[i];
            count += sum == 0.0;  // a negligible entry may occur again: it is then 0
            sum += factor * amounts[i];
        }
    }
    for (std::size_t i = 0; i < count; ++i) {
        const std::uint32_t q = slot_at_[touched[i]];
        const double sum = sums[touched[i]];
        sums[touched[i]] = 0.0;
        if (q != slot && sum != 0.0) {
            others_.push_back({similarity(sum, slot, q), q});
        }
    }
}

void RowSimilarity::all_columns(std::uint32_t slot) {
    std::fill(mixed_.begin(), mixed_.end(), 0.0);
    for (std::size_t e = begin_[slot]; e < end_[slot]; ++e) {
        const auto from = static_cast<std::size_t>(mixing_starts_[columns_[e]]);
        const auto to = static_cast<std::size_t>(mixing_starts_[columns_[e] + 1]);
        for (std::size_t f = from; f < to; ++f) {
            mixed_[static_cast<std::size_t>(mixing_columns_[f])] += values_[e] * mixing_values_[f];
        }
    }
    const double* mixed = mixed_.data();
    for (const std::uint32_t q : live_) {
        if (alive_[q] == 0 || q == slot) {
            continue;
        }
        const std::uint32_t* column = columns_.data() + begin_[q];
        const double* value = values_.data() + begin_[q];
        const std::size_t length = end_[q] - begin_[q];
        double sums[4] = {0.0, 0.0, 0.0, 0.0};
        std::size_t e = 0;
        for (; e + 4 <= length; e += 4) {
            sums[0] += mixed[column[e]] * value[e];
            sums[1] += mixed[column[e + 1]] * value[e + 1];
            sums[2] += mixed[column[e + 2]] * value[e + 2];
            sums[3] += mixed[column[e + 3]] * value[e + 3];
        }
        for (; e < length; ++e) {
            sums[0] += mixed[column[e]] * value[e];
        }
        others_.push_back({similarity((sums[0] + sums[1]) + (sums[2] + sums[3]), slot, q), q});
    }
}

void RowSimilarity::merge(std::uint32_t kept, std::uint32_t absorbed) {
    if (!diagonal_.empty()) {
        merge_lists(kept, absorbed);
    }
    if (!remembered_.empty()) {
        Remembered& own = remembered_[kept];
        Remembered& other = remembered_[absorbed];
        own.slots.insert(own.slots.end(), other.slots.begin(), other.slots.end());
        own.bound = std::max(own.bound, other.bound);
        other = {};
        leaders_[absorbed] = kept;
    }
    merge_rows(kept, absorbed);
    masses_[kept] += masses_[absorbed];
    inverse_masses_[kept] = 1.0 / masses_[kept];
    if (!diagonal_.empty()) {
        inverse_at_[place_of_[kept]] = inverse_masses_[kept];
    }
    for (std::size_t u = 0; u < m_; ++u) {
        presence_[kept * m_ + u] += presence_[absorbed * m_ + u];
    }
    alive_[absorbed] = 0;
    if (++dead_in_live_ > live_.size() / 4) {
        std::erase_if(live_, [this](std::uint32_t q) { return alive_[q] == 0; });
        dead_in_live_ = 0;
        if (!diagonal_.empty()) {
            pack_places();
        }
    }
    while (second_ < alive_.size() && alive_[second_] == 0) {
        ++second_;
    }
}

void RowSimilarity::merge_lists(std::uint32_t kept, std::uint32_t absorbed) {
    const std::uint32_t low = place_of_[kept], high = place_of_[absorbed];
    std::size_t e = begin_[kept];
    for (std::size_t f = begin_[absorbed]; f < end_[absorbed]; ++f) {
        while (e < end_[kept] && columns_[e] < columns_[f]) {
            ++e;
        }
        List& list = lists_[columns_[f]];
        const auto places = list.places.begin();
        const auto to = std::lower_bound(places, list.places.end(), low);
        const auto from = std::lower_bound(to, list.places.end(), high);
        const auto own = list.amounts.begin() + (to - places),
                   other = list.amounts.begin() + (from - places);
        if (e < end_[kept] && columns_[e] == columns_[f]) {
            *own += *other;
            *other = 0.0;
            continue;
        }
        const double amount = *other;
        std::move_backward(to, from, from + 1);
        std::move_backward(own, other, other + 1);
        *to = low;
        *own = amount;
    }
}

// Precondition: `live_` holds those that live and no others.
void RowSimilarity::pack_places() {
    constexpr auto dead = ~std::uint32_t{0};
    std::vector<std::uint32_t> now(slot_at_.size(), dead);
    for (std::size_t place = 0; place < live_.size(); ++place) {
        const std::uint32_t slot = live_[place];
        now[place_of_[slot]] = static_cast<std::uint32_t>(place);
        place_of_[slot] = static_cast<std::uint32_t>(place);
        inverse_at_[place] = inverse_masses_[slot];
    }
    slot_at_ = live_;
    for (List& list : lists_) {
        std::size_t kept = 0;
        for (std::size_t i = 0; i < list.places.size(); ++i) {
            if (now[list.places[i]] != dead) {
                list.places[kept] = now[list.places[i]];
                list.amounts[kept] = list.amounts[i];
                ++kept;
            }
        }
        list.places.resize(kept);
        list.amounts.resize(kept);
    }
}

void RowSimilarity::merge_rows(std::uint32_t kept, std::uint32_t absorbed) {
    const std::size_t begin = columns_.size();
    std::size_t e = begin_[kept], f = begin_[absorbed];
    while (e < end_[kept] || f < end_[absorbed]) {
        const bool from_kept = f == end_[absorbed] || (e < end_[kept] && columns_[e] <= columns_[f]);
        const bool from_absorbed = e == end_[kept] || (f < end_[absorbed] && columns_[f] <= columns_[e]);
        const std::uint32_t column = from_kept ? columns_[e] : columns_[f];
        double value = 0.0;
        if (from_kept) {
            value += values_[e++];
        }
        if (from_absorbed) {
            value += values_[f++];
        }
        columns_.push_back(column);
        values_.push_back(value);
    }
    live_entries_ -= (end_[kept] - begin_[kept]) + (end_[absorbed] - begin_[absorbed]);
    live_entries_ += columns_.size() - begin;
    begin_[kept] = begin;
    end_[kept] = columns_.size();
    begin_[absorbed] = end_[absorbed] = 0;
    if (columns_.size() > 2 * live_entries_ + fewest_packed) {
        pack_rows();
    }
}

// Rows that live, one after the other: by slot, which is the order in which they are read.
void RowSimilarity::pack_rows() {
    std::vector<std::uint32_t> columns;
    std::vector<double> values;
    columns.reserve(live_entries_ + live_entries_ / 2);
    values.reserve(live_entries_ + live_entries_ / 2);
    for (std::size_t slot = 0; slot < begin_.size(); ++slot) {
        const std::size_t begin = columns.size();
        columns.insert(columns.end(), columns_.begin() + static_cast<std::ptrdiff_t>(begin_[slot]),
                       columns_.begin() + static_cast<std::ptrdiff_t>(end_[slot]));
        values.insert(values.end(), values_.begin() + static_cast<std::ptrdiff_t>(begin_[slot]),
                      values_.begin() + static_cast<std::ptrdiff_t>(end_[slot]));
        begin_[slot] = begin;
        end_[slot] = columns.size();
    }
    columns_ = std::move(columns);
    values_ = std::move(values);
}

}  // namespace conclust
