// FCA-Consensus: disjoint concepts of a partition context, each grown while enough partitions agree.
//
// Units are distinct rows of labels (codes.h), in the order in which they are tried. A concept has an extent
// (a set of units) and an intent (the partitions that put all of them into one cluster). It grows from one
// unit, its seed; the labels of the intent are the seed's labels. Extents never overlap. Bitsets hold sets of
// units: each large cluster, the units covered so far, the extent at work. Bit-sliced addition counts the
// agreement of the units with an intent, 512 units at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "labels/label_view.h"

namespace conclust {

class ConceptGrowth {
  public:
    // Preconditions: 1 <= n < 2^32 - 1, 1 <= m < 2^31, T < 2^32 - 2; no two rows without noise are
    // equal; weights are above 0. Nothing points to the labels afterwards.
    explicit ConceptGrowth(const LabelView& labels);

    // Starts again. A concept needs the votes of partitions of `threshold` weight altogether (without
    // weights: `threshold` partitions, a whole number >= 1). A unit that fewer partitions observed
    // begins no concept.
    void start(double threshold);

    // Processes about `words` words of 64 units, so that the caller can check for interrupts.
    // Returns whether the fixpoint is reached, that is, another pass over the concepts would change none.
    bool grow(std::size_t words);

    std::size_t n_concepts() const { return queue_.size(); }
    std::size_t n_passes() const { return passes_; }

    // Writes the concept of each unit (n; -1: none covers it) and the intents (n_concepts, m).
    // Precondition: grow() has returned true.
    void read(std::span<std::int64_t> concept_of, std::span<std::uint8_t> intents) const;

    // Assigns each uncovered unit from begin to end to the concept with the largest weight of its labels in the
    // intent; ties go to the larger extent (sizes: objects per unit), then to the lower index. A unit without
    // a label in any intent stays at -1.
    // Preconditions: concept_of is as read() wrote it, or after assign() of other units; sizes has n
    // places; begin <= end <= n.
    void assign(std::span<const std::int64_t> sizes, std::span<std::int64_t> concept_of,
                std::size_t begin, std::size_t end) const;

  private:
    template <class Code>
    void take(const Code* codes);

    struct Concept {
        std::uint32_t seed;
        std::vector<std::uint32_t> extent;
        std::vector<std::uint32_t> intent;  // rising
    };
    struct Row {  // the units that share the seed's cluster of a partition
        const std::uint64_t* bits;
        std::uint32_t partition;
    };
    // A unit that spoilt a closure: it is covered, or comes before the unit that was tried. It also
    // spoils the closures of all later units but those in a cluster that it lacks.
    struct Witness {
        std::uint32_t unit = 0;
        std::vector<const std::uint64_t*> lacks;  // bits of the seed's clusters
    };

    static constexpr std::uint32_t kMissing = std::numeric_limits<std::uint32_t>::max();
    static constexpr std::uint32_t kAlone = kMissing - 1;  // noise

    std::uint32_t cluster(std::size_t unit, std::size_t partition) const {
        return clusters_[unit * m_ + partition];
    }
    double votes(std::size_t unit) const;
    void seed(std::uint32_t unit);
    void visit(Concept& grown);
    void open(const Concept& grown);
    void close(const Concept& grown);
    void extend(Concept& grown);
    bool is_full() const;
    bool find_hits(std::size_t at, const std::uint64_t* candidates, std::uint64_t* hits) const;
    bool absorb(std::uint32_t unit, Concept& grown);
    void add_witness(std::uint32_t unit);
    void find_lacks(Witness& witness) const;

    std::size_t n_, m_, n_words_;
    std::vector<double> weights_;  // empty: all count 1
    std::vector<std::uint32_t> clusters_;  // (n, m): clusters of all partitions numbered together
    std::vector<std::size_t> members_at_;  // (T + 1,)
    std::vector<std::uint32_t> members_;  // units of each cluster, rising
    std::vector<std::size_t> bits_at_;  // (T,): where the bitset of a large cluster is
    std::vector<std::uint64_t> bits_;
    bool any_missing_ = false;

    double threshold_ = 1;
    std::size_t fewest_ = 1;  // partitions that can reach the threshold
    std::size_t passes_ = 0, next_ = 0, spent_ = 0;
    bool seeding_ = true, changed_ = false;
    std::vector<Concept> queue_, kept_;
    std::vector<std::uint64_t> covered_;

    // State of the current concept.
    std::vector<Row> rows_, agreeing_;
    std::vector<const std::uint64_t*> pointers_, agreeing_pointers_;  // the bits of the same rows
    std::vector<std::uint64_t> inside_, found_;
    std::vector<std::vector<std::uint64_t>> small_;  // per partition: the bitset of a small cluster
    std::vector<Witness> witnesses_;
    std::size_t newest_ = 0;  // of the witnesses
};

}  // namespace conclust
