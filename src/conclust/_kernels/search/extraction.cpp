#include "search/extraction.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "base/clones.h"
#include "base/interrupt.h"
#include "base/random.h"
#include "base/wide.h"

namespace conclust {

namespace {

// A gain is a difference; it counts when it is above this share of its terms. Less is rounding.
constexpr double negligible = 1e-11;

// What the extraction of one cluster reads and changes, for all units.
struct Extraction {
    const double* a;
    const double* mass;
    const double* inner;  // q of a unit alone
    const std::uint8_t* alive;
    std::size_t n;
    double* sum;    // similarity of an object of the unit to all objects of S
    double* sign;   // 1 for a unit that can be added, -1 for a member
    double* own;    // of members: their part in `sum`; 0 for others
    double* gains;  // of the semi-average
};

// S: q and objects; the change that has not reached `sum` yet.
struct Extracted {
    double q = 0.0;
    double size = 0.0;
    const double* row = nullptr;
    double factor = 0.0;
};

void change_unit(const Extraction& in, std::size_t i, double sign, Extracted& to) {
    in.sign[i] = -sign;
    in.own[i] = sign > 0 ? in.mass[i] * in.a[i * in.n + i] : 0.0;
    to.factor = sign * in.mass[i];
    to.row = in.a + i * in.n;
}

// q after unit i is added, or removed.
CONCLUST_INLINE double changed(const Extraction& in, const Extracted& to, std::size_t i) {
    return to.q + in.sign[i] * (2.0 * in.mass[i] * (in.sum[i] - in.own[i]) + in.inner[i]);
}

// The same, and the gains, for eight units at a time, with the change of `sum`. Raises `top` to the highest gains.
CONCLUST_INLINE void find_gains(const Extraction& in, const Extracted& to, const Wide& average,
                                std::size_t i, Wide& top) {
    Wide sum, row, own, mass, sign, inner, factor, then, size;
    load(in.sum + i, sum);
    load(to.row + i, row);
    spread(to.factor, factor);
    row *= factor;
    sum += row;
    store(in.sum + i, sum);
    load(in.own + i, own);
    load(in.mass + i, mass);
    load(in.sign + i, sign);
    load(in.inner + i, inner);
    sum -= own;
    spread(2.0, then);
    then *= mass;
    then *= sum;
    then += inner;
    then *= sign;
    Wide q;
    spread(to.q, q);
    then += q;
    mass *= sign;
    spread(to.size, size);
    size += mass;
    then /= size;
    then -= average;
    store(in.gains + i, then);
    where_less(top, then, then, top, top);
}

// The move of one unit that raises the semi-average most, or n.
CONCLUST_CLONES std::size_t find_change(const Extraction& in, const Extracted& to) {
    constexpr std::size_t block = 8 * wide;
    const double average = to.q / to.size;
    Wide averages;
    spread(average, averages);
    double best = 0.0;
    std::size_t which = in.n;
    for (std::size_t begin = 0; begin < in.n; begin += block) {
        const std::size_t end = std::min(in.n, begin + block);
        Wide tops;
        spread(best, tops);
        std::size_t i = begin;
        for (; i + wide <= end; i += wide) {
            find_gains(in, to, averages, i, tops);
        }
        double lanes[wide];
        store(lanes, tops);
        double top = *std::max_element(lanes, lanes + wide);
        for (; i < end; ++i) {
            in.sum[i] += to.factor * to.row[i];
            in.gains[i] = changed(in, to, i) / (to.size + in.sign[i] * in.mass[i]) - average;
            top = std::max(top, in.gains[i]);
        }
        if (!(top > best)) {
            continue;
        }
        for (i = begin; i < end; ++i) {
            const double gain = in.gains[i];
            if (!(gain > best) || !in.alive[i] || (in.sign[i] < 0.0 && to.size <= in.mass[i])) {
                continue;
            }
            if (gain > best + negligible * (std::abs(average) + std::abs(gain))) {
                best = gain;
                which = i;
            }
        }
    }
    return which;
}

// Sets of units, by sums of random numbers: a table with linear probing, at most half full.
class Sets {
  public:
    Sets() : table_(64, 0) {}
    // Whether the set is new.
    bool add(std::uint64_t set) {
        if (2 * ++count_ > table_.size()) {
            std::vector<std::uint64_t> sets(4 * table_.size(), 0);
            sets.swap(table_);
            for (const std::uint64_t each : sets) {
                if (each != 0) {
                    table_[place(each)] = each;
                }
            }
        }
        std::uint64_t& there = table_[place(set)];
        const bool is_new = there != set;
        there = set;
        return is_new;
    }

  private:
    std::size_t place(std::uint64_t set) const {
        std::size_t at = (set >> 1) & (table_.size() - 1);
        while (table_[at] != 0 && table_[at] != set) {
            at = (at + 1) & (table_.size() - 1);
        }
        return at;
    }

    std::vector<std::uint64_t> table_;  // 0: free; no set has this sum
    std::size_t count_ = 0;
};

// The semi-average from a start; nothing if it reaches a set that an earlier start met, and so ends where that one did.
std::optional<double> extracted(const Extraction& in, std::size_t start, Sets& met) {
    const std::size_t n = in.n;
    std::fill_n(in.sum, n, 0.0);
    std::fill_n(in.sign, n, 1.0);
    std::fill_n(in.own, n, 0.0);
    Extracted found{in.inner[start], in.mass[start]};
    change_unit(in, start, 1.0, found);
    std::uint64_t set = random_bits(0, start, 0);
    // Each move raises the semi-average, so the loop ends. The bound guards against rounding.
    for (std::size_t step = 0; step < 20 * n + 20; ++step) {
        if (!met.add(set | 1)) {
            return std::nullopt;
        }
        stop_if_interrupted();
        const std::size_t which = find_change(in, found);
        if (which == n) {
            break;
        }
        set += in.sign[which] < 0.0 ? -random_bits(0, which, 0) : random_bits(0, which, 0);
        found.q = changed(in, found, which);
        found.size += in.sign[which] * in.mass[which];
        change_unit(in, which, in.sign[which], found);
    }
    return found.q / found.size;
}

}  // namespace

double add_rem_add(std::span<const double> a, std::span<const double> mass,
                   std::span<const std::uint8_t> alive, std::span<const std::int64_t> starts,
                   std::span<std::uint8_t> members) {
    const std::size_t n = mass.size();
    std::vector<double> space(5 * n);
    double* const inner = space.data();
    for (std::size_t i = 0; i < n; ++i) {
        inner[i] = mass[i] * (mass[i] - 1.0) * a[i * n + i];
    }
    const Extraction in{a.data(),  mass.data(),   inner,         alive.data(), n,
                        inner + n, inner + 2 * n, inner + 3 * n, inner + 4 * n};
    Sets met;
    double best = 0.0;
    for (std::size_t s = 0; s < starts.size(); ++s) {
        const std::optional<double> found = extracted(in, static_cast<std::size_t>(starts[s]), met);
        if (found && (s == 0 || *found > best + negligible * std::abs(best))) {
            best = *found;
            std::transform(in.sign, in.sign + n, members.begin(),
                           [](double sign) { return static_cast<std::uint8_t>(sign < 0.0); });
        }
    }
    return best;
}

}  // namespace conclust
