#include "search/concepts.h"

#include <algorithm>
#include <bit>
#include <functional>

#include "base/clones.h"
#include "labels/codes.h"

namespace conclust {

namespace {

constexpr std::size_t kBlock = 8;  // number of words processed together
constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();
constexpr int kMaxPlanes = 32;
constexpr std::size_t kMostWitnesses = 64;

void set_bit(std::vector<std::uint64_t>& bits, std::size_t i) {
    bits[i / 64] |= std::uint64_t{1} << (i % 64);
}

bool has_bit(const std::uint64_t* bits, std::size_t i) { return (bits[i / 64] >> (i % 64)) & 1; }

using Words = std::uint64_t[kBlock];

// Adds a and b to sum, by bit.
CONCLUST_INLINE void add(Words& carry, Words& sum, const std::uint64_t* a, const std::uint64_t* b) {
    for (std::size_t k = 0; k < kBlock; ++k) {
        const std::uint64_t one = a[k] ^ b[k];
        carry[k] = (a[k] & b[k]) | (one & sum[k]);
        sum[k] ^= one;
    }
}

// Adds `carry`, bits of plane `from`, to the counters; `over`: where the last plane has carried over.
CONCLUST_INLINE void add_from(Words* plane, int from, int planes, Words& carry, Words& over) {
    for (int p = from; p < planes; ++p) {
        for (std::size_t k = 0; k < kBlock; ++k) {
            const std::uint64_t both = plane[p][k] & carry[k];
            plane[p][k] ^= carry[k];
            carry[k] = both;
        }
    }
    for (std::size_t k = 0; k < kBlock; ++k) {
        over[k] |= carry[k];
    }
}

// hits[k]: the bits that at least `threshold` of the rows have in word at + k. The counters begin at
// 2^planes - threshold, so that the threshold is reached where the last plane carries over.
// Precondition: 2^planes >= threshold >= 1, planes <= kMaxPlanes.
CONCLUST_CLONES
void count_block(const std::uint64_t* const* rows, std::size_t count, std::size_t at, int planes,
                 std::uint64_t threshold, std::uint64_t* hits) {
    Words plane[kMaxPlanes];
    const std::uint64_t begin = (std::uint64_t{1} << planes) - threshold;
    for (int p = 0; p < planes; ++p) {
        for (std::size_t k = 0; k < kBlock; ++k) {
            plane[p][k] = (begin >> p) & 1 ? ~std::uint64_t{0} : 0;
        }
    }
    Words over = {};
    std::size_t r = 0;
    if (planes >= 2) {  // four rows at a time
        Words ones, twos;
        for (std::size_t k = 0; k < kBlock; ++k) {
            ones[k] = plane[0][k];
            twos[k] = plane[1][k];
        }
        for (; r + 4 <= count; r += 4) {
            Words two, also_two, four;
            add(two, ones, rows[r] + at, rows[r + 1] + at);
            add(also_two, ones, rows[r + 2] + at, rows[r + 3] + at);
            add(four, twos, two, also_two);
            add_from(plane, 2, planes, four, over);
        }
        for (std::size_t k = 0; k < kBlock; ++k) {
            plane[0][k] = ones[k];
            plane[1][k] = twos[k];
        }
    }
    for (; r < count; ++r) {
        Words carry;
        for (std::size_t k = 0; k < kBlock; ++k) {
            carry[k] = rows[r][at + k];
        }
        add_from(plane, 0, planes, carry, over);
    }
    for (std::size_t k = 0; k < kBlock; ++k) {
        hits[k] = over[k];
    }
}

// hits[k] &= the bits that any of the rows has in word at + k. Returns whether any is left.
CONCLUST_CLONES
bool spare_block(const std::uint64_t* const* rows, std::size_t count, std::size_t at,
                 std::uint64_t* hits) {
    Words either = {};
    for (std::size_t r = 0; r < count; ++r) {
        for (std::size_t k = 0; k < kBlock; ++k) {
            either[k] |= rows[r][at + k];
        }
    }
    std::uint64_t any = 0;
    for (std::size_t k = 0; k < kBlock; ++k) {
        hits[k] &= either[k];
        any |= hits[k];
    }
    return any != 0;
}

// found[k] &= the bits that all rows have in word at + k. Returns whether any is left.
CONCLUST_CLONES
bool intersect_block(const std::uint64_t* const* rows, std::size_t count, std::size_t at,
                     std::uint64_t* found) {
    for (std::size_t r = 0; r < count; ++r) {
        std::uint64_t any = 0;
        for (std::size_t k = 0; k < kBlock; ++k) {
            found[k] &= rows[r][at + k];
            any |= found[k];
        }
        if (!any) {
            return false;
        }
    }
    return true;
}

}  // namespace

ConceptGrowth::ConceptGrowth(const LabelView& labels)
    : n_(labels.n),
      m_(labels.m),
      n_words_((n_ + 64 * kBlock - 1) / (64 * kBlock) * kBlock),
      weights_(labels.weights.begin(), labels.weights.end()),
      clusters_(n_ * m_) {
    with_codes(labels, [this](const auto* codes) { take(codes); });
}

template <class Code>
void ConceptGrowth::take(const Code* codes) {
    const std::size_t n = n_;
    const std::size_t m = m_;
    std::vector<std::uint32_t> offsets(m + 1, 0);
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t u = 0; u < m; ++u) {
            const Code code = codes[i * m + u];
            if (code < first_reserved_code<Code>) {
                offsets[u + 1] = std::max(offsets[u + 1], static_cast<std::uint32_t>(code) + 1);
            }
            any_missing_ |= code == missing_code<Code>;
        }
    }
    for (std::size_t u = 0; u < m; ++u) {
        offsets[u + 1] += offsets[u];
    }
    const std::size_t total = offsets[m];
    members_at_.assign(total + 1, 0);
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t u = 0; u < m; ++u) {
            const Code code = codes[i * m + u];
            std::uint32_t& id = clusters_[i * m + u];
            if (code < first_reserved_code<Code>) {
                id = offsets[u] + static_cast<std::uint32_t>(code);
                ++members_at_[id + 1];
            } else {
                id = code == missing_code<Code> ? kMissing : kAlone;
            }
        }
    }
    for (std::size_t t = 0; t < total; ++t) {
        members_at_[t + 1] += members_at_[t];
    }
    members_.resize(members_at_[total]);
    std::vector<std::size_t> fill(members_at_.begin(), members_at_.end() - 1);
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t u = 0; u < m; ++u) {
            const std::uint32_t id = cluster(i, u);
            if (id < kAlone) {
                members_[fill[id]++] = static_cast<std::uint32_t>(i);
            }
        }
    }
    // A bitset takes n_words words. Only clusters of at least n_words / 4 units have one, so that all
    // bitsets together take at most four words per label.
    bits_at_.assign(total, kNone);
    std::size_t words = 0;
    for (std::size_t t = 0; t < total; ++t) {
        if (4 * (members_at_[t + 1] - members_at_[t]) >= n_words_) {
            bits_at_[t] = words;
            words += n_words_;
        }
    }
    bits_.assign(words, 0);
    for (std::size_t t = 0; t < total; ++t) {
        if (bits_at_[t] != kNone) {
            for (std::size_t e = members_at_[t]; e < members_at_[t + 1]; ++e) {
                bits_[bits_at_[t] + members_[e] / 64] |= std::uint64_t{1} << (members_[e] % 64);
            }
        }
    }
    covered_.assign(n_words_, 0);
    inside_.assign(n_words_, 0);
    found_.assign(n_words_, 0);
    small_.resize(m);
}

void ConceptGrowth::start(double threshold) {
    threshold_ = threshold;
    fewest_ = weights_.empty() ? static_cast<std::size_t>(threshold) : 0;
    if (!weights_.empty()) {
        // The heaviest partitions that reach the threshold, but for rounding.
        std::vector<double> falling(weights_);
        std::sort(falling.begin(), falling.end(), std::greater<>());
        double sum = 0;
        for (fewest_ = 0; fewest_ < m_ && sum < threshold * (1 - 1e-12); ++fewest_) {
            sum += falling[fewest_];
        }
        fewest_ = std::max<std::size_t>(fewest_, 1);
    }
    passes_ = next_ = 0;
    seeding_ = true;
    changed_ = false;
    queue_.clear();
    kept_.clear();
    std::fill(covered_.begin(), covered_.end(), 0);
}

bool ConceptGrowth::grow(std::size_t words) {
    for (spent_ = 0; spent_ < words; ++spent_) {
        if (!seeding_) {
            if (next_ == queue_.size()) {
                // A second pass would change nothing: it would refuse every unit that this one has
                // refused. The concepts before cover the same units, no more partitions agree on
                // the unit, and what spoilt its closure is still outside, because a closure brings
                // nothing that comes before the unit tried.
                queue_.swap(kept_);
                passes_ = changed_ ? 2 : 1;
                return true;
            }
            visit(queue_[next_++]);
        } else if (next_ < n_) {
            seed(static_cast<std::uint32_t>(next_++));
        } else {
            seeding_ = false;
            queue_.swap(kept_);
            next_ = 0;
            std::fill(covered_.begin(), covered_.end(), 0);
        }
    }
    return false;
}

double ConceptGrowth::votes(std::size_t unit) const {
    double sum = 0;
    for (std::size_t u = 0; u < m_; ++u) {
        if (cluster(unit, u) != kMissing) {
            sum += weights_.empty() ? 1.0 : weights_[u];
        }
    }
    return sum;
}

// Begins a concept at a unit that no concept covers yet: all units that share its labels.
void ConceptGrowth::seed(std::uint32_t unit) {
    if (has_bit(covered_.data(), unit) || votes(unit) < threshold_) {
        return;
    }
    Concept begun{unit, {unit}, {}};
    bool alone = !any_missing_;  // rows are distinct
    for (std::uint32_t u = 0; u < m_; ++u) {
        if (cluster(unit, u) != kMissing) {
            begun.intent.push_back(u);
            alone |= cluster(unit, u) == kAlone;
        }
    }
    set_bit(covered_, unit);
    if (!alone) {
        open(begun);
        // Units before this one are covered, or were observed by too few to share all its labels.
        for (std::size_t at = unit / 64 / kBlock * kBlock; at < n_words_; at += kBlock) {
            std::uint64_t found[kBlock];
            for (std::size_t k = 0; k < kBlock; ++k) {
                found[k] = ~covered_[at + k];
            }
            spent_ += kBlock;
            if (!intersect_block(pointers_.data(), pointers_.size(), at, found)) {
                continue;
            }
            for (std::size_t k = 0; k < kBlock; ++k) {
                for (std::uint64_t left = found[k]; left; left &= left - 1) {
                    const std::size_t i =
                        (at + k) * 64 + static_cast<std::size_t>(std::countr_zero(left));
                    begun.extent.push_back(static_cast<std::uint32_t>(i));
                    set_bit(covered_, i);
                }
            }
        }
        close(begun);
    }
    kept_.push_back(std::move(begun));
}

// Processes one concept in a pass: it is removed if another has taken part of it, or else grown and kept.
void ConceptGrowth::visit(Concept& grown) {
    for (const std::uint32_t i : grown.extent) {
        if (has_bit(covered_.data(), i)) {
            changed_ = true;
            return;
        }
    }
    for (const std::uint32_t i : grown.extent) {
        set_bit(covered_, i);
    }
    open(grown);
    // Without missing labels rows are distinct, so that no other unit shares all labels of the seed.
    if (any_missing_ || rows_.size() < m_ || !is_full()) {
        extend(grown);
    }
    close(grown);
    kept_.push_back(std::move(grown));
}

// Prepares the bitsets of the seed's clusters in the intent, and of the extent.
void ConceptGrowth::open(const Concept& grown) {
    rows_.clear();
    for (const std::uint32_t u : grown.intent) {
        const std::uint32_t id = cluster(grown.seed, u);
        if (id >= kAlone) {
            continue;  // no other unit shares noise
        }
        if (bits_at_[id] != kNone) {
            rows_.push_back({bits_.data() + bits_at_[id], u});
            continue;
        }
        small_[u].resize(n_words_, 0);
        for (std::size_t e = members_at_[id]; e < members_at_[id + 1]; ++e) {
            set_bit(small_[u], members_[e]);
        }
        rows_.push_back({small_[u].data(), u});
    }
    pointers_.clear();
    for (const Row& row : rows_) {
        pointers_.push_back(row.bits);
    }
    for (const std::uint32_t i : grown.extent) {
        set_bit(inside_, i);
    }
    witnesses_.clear();
}

void ConceptGrowth::close(const Concept& grown) {
    for (std::size_t u = 0; u < m_; ++u) {
        const std::uint32_t id = cluster(grown.seed, u);
        if (id < kAlone && bits_at_[id] == kNone && !small_[u].empty()) {
            for (std::size_t e = members_at_[id]; e < members_at_[id + 1]; ++e) {
                small_[u][members_[e] / 64] = 0;
            }
        }
    }
    for (const std::uint32_t i : grown.extent) {
        inside_[i / 64] = 0;
    }
}

// Tries all units that are not covered, in order.
void ConceptGrowth::extend(Concept& grown) {
    const std::size_t last = n_ - 1;
    for (std::size_t at = 0; at < n_words_; at += kBlock) {
        std::uint64_t candidates[kBlock];
        std::uint64_t any = 0;
        for (std::size_t k = 0; k < kBlock; ++k) {
            candidates[k] = ~covered_[at + k];
            const std::size_t first = (at + k) * 64;
            if (first > last) {
                candidates[k] = 0;
            } else if (last - first < 63) {
                candidates[k] &= (std::uint64_t{2} << (last - first)) - 1;
            }
            any |= candidates[k];
        }
        spent_ += 1;
        while (any) {
            spent_ += kBlock;
            std::uint64_t hits[kBlock];
            bool grew = false;
            if (!find_hits(at, candidates, hits)) {
                break;
            }
            for (std::size_t k = 0; k < kBlock && !grew; ++k) {
                while (hits[k] && !grew) {
                    const int bit = std::countr_zero(hits[k]);
                    hits[k] &= hits[k] - 1;
                    const std::size_t unit = (at + k) * 64 + static_cast<std::size_t>(bit);
                    grew = absorb(static_cast<std::uint32_t>(unit), grown);
                    if (!grew) {
                        const auto& lacks = witnesses_[newest_].lacks;
                        spare_block(lacks.data(), lacks.size(), at, hits);
                        continue;
                    }
                    if (is_full()) {
                        return;
                    }
                    // The intent is smaller: count again, from the next unit on.
                    std::fill(candidates, candidates + k, 0);
                    candidates[k] &= bit == 63 ? 0 : ~std::uint64_t{0} << (bit + 1);
                    any = 0;
                    for (std::size_t l = k; l < kBlock; ++l) {
                        candidates[l] &= ~covered_[at + l];
                        any |= candidates[l];
                    }
                }
            }
            if (!grew) {
                break;
            }
        }
    }
}

// Whether no other unit can agree with the intent on enough partitions.
// Precondition: every unit that is not covered disagrees with the intent in some partition.
bool ConceptGrowth::is_full() const {
    if (weights_.empty()) {
        return static_cast<double>(rows_.size()) <= threshold_;
    }
    double sum = 0;
    double least = std::numeric_limits<double>::infinity();
    for (const Row& row : rows_) {
        sum += weights_[row.partition];
        least = std::min(least, weights_[row.partition]);
    }
    return sum - least < threshold_ - 1e-12 * sum;
}

// The candidates that agree with the intent on enough partitions, but for those whose closure is
// spoilt by a witness. Returns whether there are any.
bool ConceptGrowth::find_hits(std::size_t at, const std::uint64_t* candidates,
                              std::uint64_t* hits) const {
    if (rows_.size() < fewest_) {
        return false;
    }
    const auto planes = static_cast<int>(std::bit_width(fewest_ - 1));
    count_block(pointers_.data(), pointers_.size(), at, planes, fewest_, hits);
    std::uint64_t any = 0;
    for (std::size_t k = 0; k < kBlock; ++k) {
        hits[k] &= candidates[k];
        any |= hits[k];
    }
    if (!any) {
        return false;
    }
    for (const Witness& witness : witnesses_) {
        if (!spare_block(witness.lacks.data(), witness.lacks.size(), at, hits)) {
            return false;
        }
    }
    if (weights_.empty()) {
        return true;
    }
    any = 0;
    for (std::size_t k = 0; k < kBlock; ++k) {
        const std::uint64_t enough = hits[k];
        hits[k] = 0;
        if (!enough) {
            continue;
        }
        double sums[64] = {};
        for (const Row& row : rows_) {
            for (std::uint64_t left = row.bits[at + k] & enough; left; left &= left - 1) {
                const int bit = std::countr_zero(left);
                sums[bit] += weights_[row.partition];
                if (sums[bit] >= threshold_) {
                    hits[k] |= std::uint64_t{1} << bit;
                }
            }
        }
        any |= hits[k];
    }
    return any != 0;
}

// Closes extent and unit under the partitions that agree on them, and takes the closure if it brings
// no unit that comes before this one (canonicity) and none of another concept (disjointness).
bool ConceptGrowth::absorb(std::uint32_t unit, Concept& grown) {
    agreeing_.clear();
    agreeing_pointers_.clear();
    for (const Row& row : rows_) {
        if (has_bit(row.bits, unit)) {
            agreeing_.push_back(row);
            agreeing_pointers_.push_back(row.bits);
        }
    }
    const auto& rows = agreeing_pointers_;
    for (std::size_t at = 0; at < n_words_; at += kBlock) {
        for (std::size_t k = 0; k < kBlock; ++k) {
            found_[at + k] = ~inside_[at + k];
        }
        if (!intersect_block(rows.data(), rows.size(), at, &found_[at])) {
            continue;
        }
        for (std::size_t k = at; k < at + kBlock; ++k) {
            std::uint64_t before = 0;
            if (k < unit / 64) {
                before = ~std::uint64_t{0};
            } else if (k == unit / 64) {
                before = (std::uint64_t{1} << (unit % 64)) - 1;
            }
            const std::uint64_t spoilt = found_[k] & (covered_[k] | before);
            if (spoilt) {
                add_witness(static_cast<std::uint32_t>(k * 64) +
                            static_cast<std::uint32_t>(std::countr_zero(spoilt)));
                spent_ += at + kBlock;
                return false;
            }
        }
    }
    spent_ += n_words_;
    for (std::size_t k = 0; k < n_words_; ++k) {
        for (std::uint64_t left = found_[k]; left; left &= left - 1) {
            grown.extent.push_back(static_cast<std::uint32_t>(k * 64) +
                                   static_cast<std::uint32_t>(std::countr_zero(left)));
        }
        inside_[k] |= found_[k];
        covered_[k] |= found_[k];
    }
    rows_.swap(agreeing_);
    pointers_.swap(agreeing_pointers_);
    std::erase_if(witnesses_, [&](const Witness& w) { return has_bit(inside_.data(), w.unit); });
    for (Witness& witness : witnesses_) {
        find_lacks(witness);
    }
    grown.intent.clear();
    for (const Row& row : rows_) {
        grown.intent.push_back(row.partition);
    }
    changed_ = true;
    return true;
}

void ConceptGrowth::add_witness(std::uint32_t unit) {
    if (witnesses_.size() < kMostWitnesses) {
        newest_ = witnesses_.size();
        witnesses_.emplace_back();
    } else {
        newest_ = (newest_ + 1) % kMostWitnesses;
    }
    witnesses_[newest_].unit = unit;
    find_lacks(witnesses_[newest_]);
}

void ConceptGrowth::find_lacks(Witness& witness) const {
    witness.lacks.clear();
    for (const Row& row : rows_) {
        if (!has_bit(row.bits, witness.unit)) {
            witness.lacks.push_back(row.bits);
        }
    }
}

void ConceptGrowth::read(std::span<std::int64_t> concept_of, std::span<std::uint8_t> intents) const {
    std::fill(concept_of.begin(), concept_of.end(), -1);
    std::fill(intents.begin(), intents.end(), 0);
    for (std::size_t c = 0; c < queue_.size(); ++c) {
        for (const std::uint32_t i : queue_[c].extent) {
            concept_of[i] = static_cast<std::int64_t>(c);
        }
        for (const std::uint32_t u : queue_[c].intent) {
            intents[c * m_ + u] = 1;
        }
    }
}

void ConceptGrowth::assign(std::span<const std::int64_t> sizes, std::span<std::int64_t> concept_of,
                           std::size_t begin, std::size_t end) const {
    const std::size_t total = bits_at_.size();
    // For each cluster, the concepts that have it in their intent, by a counting sort.
    std::vector<std::size_t> held_at(total + 2, 0);
    std::vector<std::int64_t> objects(queue_.size(), 0);
    for (std::size_t c = 0; c < queue_.size(); ++c) {
        for (const std::uint32_t i : queue_[c].extent) {
            objects[c] += sizes[i];
        }
        for (const std::uint32_t u : queue_[c].intent) {
            const std::uint32_t id = cluster(queue_[c].seed, u);
            if (id < kAlone) {
                ++held_at[id + 2];
            }
        }
    }
    for (std::size_t t = 1; t < held_at.size(); ++t) {
        held_at[t] += held_at[t - 1];
    }
    std::vector<std::uint32_t> holders(held_at.back());
    for (std::size_t c = 0; c < queue_.size(); ++c) {
        for (const std::uint32_t u : queue_[c].intent) {
            const std::uint32_t id = cluster(queue_[c].seed, u);
            if (id < kAlone) {
                holders[held_at[id + 1]++] = static_cast<std::uint32_t>(c);
            }
        }
    }
    std::vector<double> score(queue_.size(), 0.0);
    std::vector<std::uint32_t> touched;
    for (std::size_t i = begin; i < end; ++i) {
        if (concept_of[i] >= 0) {
            continue;
        }
        touched.clear();
        for (std::size_t u = 0; u < m_; ++u) {
            const std::uint32_t id = cluster(i, u);
            if (id >= kAlone) {
                continue;
            }
            for (std::size_t e = held_at[id]; e < held_at[id + 1]; ++e) {
                if (score[holders[e]] == 0.0) {
                    touched.push_back(holders[e]);
                }
                score[holders[e]] += weights_.empty() ? 1.0 : weights_[u];
            }
        }
        std::uint32_t best = kMissing;
        for (const std::uint32_t c : touched) {
            if (best == kMissing || score[c] > score[best] ||
                (score[c] == score[best] &&
                 (objects[c] > objects[best] || (objects[c] == objects[best] && c < best)))) {
                best = c;
            }
        }
        for (const std::uint32_t c : touched) {
            score[c] = 0.0;
        }
        if (best != kMissing) {
            concept_of[i] = best;
        }
    }
}

}  // namespace conclust
