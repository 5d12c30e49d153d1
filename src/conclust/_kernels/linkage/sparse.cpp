#include "linkage/sparse.h"

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <vector>

#include "base/interrupt.h"
#include "linkage/union_find.h"

namespace conclust {
namespace {

class Merges {
  public:
    Merges(std::size_t n, const MergesOut& out)
        : sets_(n), left_(out.left.data()), right_(out.right.data()), heights_(out.heights.data()) {}

    bool joined(std::uint32_t a, std::uint32_t b) { return sets_.find(a) == sets_.find(b); }

    void add(std::uint32_t a, std::uint32_t b, double height) {
        sets_.join(sets_.find(a), sets_.find(b));
        // A parent is never below its child, although rounded sums may differ by one bit.
        highest_ = std::max(highest_, height);
        left_[written_] = std::min(a, b);
        right_[written_] = std::max(a, b);
        heights_[written_] = highest_;
        ++written_;
    }

    // Joins the pieces that are left at height 1, and returns how many there were.
    std::size_t join_pieces(std::size_t n) {
        const std::size_t pieces = n - written_;
        for (std::uint32_t i = 1; i < n; ++i) {
            if (!joined(0, i)) {
                add(0, i, 1.0);
            }
        }
        return pieces;
    }

  private:
    UnionFind sets_;
    std::int64_t* left_;
    std::int64_t* right_;
    double* heights_;
    std::size_t written_ = 0;
    double highest_ = 0.0;
};

struct Pair {
    double similarity;
    std::uint32_t a, b;  // a < b

    bool before(const Pair& other) const {
        if (similarity != other.similarity) {
            return similarity > other.similarity;
        }
        return a != other.a ? a < other.a : b < other.b;
    }
};

struct Sums {
    double count, copresence;
};

// Equal fractions of whole counts are the same double. Sums of weights depend on the order of adding,
// so they are rounded to a grid: fractions that are equal on paper are equal there.
template <class Count>
double frequency(Sums sums) {
    const double s = sums.count / sums.copresence;
    if constexpr (std::is_floating_point_v<Count>) {
        return std::rint(s * 0x1p40) * 0x1p-40;
    }
    return s;
}

double dissimilarity(double similarity) { return std::max(0.0, 1.0 - similarity); }

// The sums c and N between two clusters, by their names: open addressing with linear probing, and
// removal by shifting back, so that it never fills with tombstones.
class PairTable {
  public:
    static constexpr std::size_t nowhere = ~std::size_t{0};

    explicit PairTable(std::size_t expected) {
        std::size_t capacity = 16;
        while (capacity < 2 * expected) {
            capacity *= 2;
        }
        entries_.resize(capacity, Entry{empty, {0.0, 0.0}});
        mask_ = capacity - 1;
    }

    // The place of the pair, or nowhere. Valid until the next change of the table.
    std::size_t find(std::uint32_t a, std::uint32_t b) const {
        const std::uint64_t key = key_of(a, b);
        for (std::size_t at = home(key);; at = (at + 1) & mask_) {
            if (entries_[at].key == key) {
                return at;
            }
            if (entries_[at].key == empty) {
                return nowhere;
            }
        }
    }

    void prefetch(std::uint32_t a, std::uint32_t b) const {
#if defined(__GNUC__)
        __builtin_prefetch(&entries_[home(key_of(a, b))]);
#else
        (void)a, (void)b;
#endif
    }

    Sums& operator[](std::size_t place) { return entries_[place].sums; }

    // Precondition: the table does not hold the pair. There are never more pairs than at the start, so the
    // table never grows.
    void insert(std::uint32_t a, std::uint32_t b, Sums sums) {
        const std::uint64_t key = key_of(a, b);
        std::size_t at = home(key);
        while (entries_[at].key != empty) {
            at = (at + 1) & mask_;
        }
        entries_[at] = {key, sums};
    }

    void erase(std::size_t hole) {
        for (std::size_t at = (hole + 1) & mask_; entries_[at].key != empty; at = (at + 1) & mask_) {
            // An entry may move to the hole if its home is not between the two.
            if (((at - home(entries_[at].key)) & mask_) >= ((at - hole) & mask_)) {
                entries_[hole] = entries_[at];
                hole = at;
            }
        }
        entries_[hole].key = empty;
    }

  private:
    struct Entry {
        std::uint64_t key;
        Sums sums;
    };
    static constexpr std::uint64_t empty = ~std::uint64_t{0};

    static std::uint64_t key_of(std::uint32_t a, std::uint32_t b) {
        return (static_cast<std::uint64_t>(std::min(a, b)) << 32) | std::max(a, b);
    }

    // The finaliser of splitmix64.
    std::size_t home(std::uint64_t key) const {
        key = (key ^ (key >> 30)) * 0xbf58476d1ce4e5b9u;
        key = (key ^ (key >> 27)) * 0x94d049bb133111ebu;
        return static_cast<std::size_t>(key ^ (key >> 31)) & mask_;
    }

    std::vector<Entry> entries_;
    std::size_t mask_;
};

// Calls visit(i, j, sums) for the entries i < j that hold evidence.
template <class Count, class Visit>
void for_each_pair(const SparsePairs<Count>& in, Visit visit) {
    const std::size_t n = in.n();
    for (std::uint32_t i = 0; i < n; ++i) {
        if (i % 1024 == 0) {
            stop_if_interrupted();
        }
        const auto end = static_cast<std::size_t>(in.indptr[i + 1]);
        for (auto e = static_cast<std::size_t>(in.indptr[i]); e < end; ++e) {
            const auto j = static_cast<std::uint32_t>(in.indices[e]);
            if (i < j && in.copresence[e] > 0) {
                visit(i, j,
                      Sums{static_cast<double>(in.counts[e]), static_cast<double>(in.copresence[e])});
            }
        }
    }
}

}  // namespace

template <class Count>
std::size_t sparse_single(const SparsePairs<Count>& in, const MergesOut& out) {
    const std::size_t n = in.n();
    std::vector<Pair> pairs;
    pairs.reserve(static_cast<std::size_t>(in.indptr[n]) / 2);
    for_each_pair(in, [&](std::uint32_t i, std::uint32_t j, Sums sums) {
        pairs.push_back({frequency<Count>(sums), i, j});
    });
    std::size_t compared = 0;  // a comparison that throws ends the sort
    std::sort(pairs.begin(), pairs.end(), [&compared](const Pair& x, const Pair& y) {
        if (++compared % (1 << 15) == 0) {
            stop_if_interrupted();
        }
        return x.before(y);
    });
    Merges merges(n, out);
    std::size_t looked = 0;
    for (const Pair& pair : pairs) {
        if (++looked % (1 << 15) == 0) {
            stop_if_interrupted();
        }
        if (!merges.joined(pair.a, pair.b)) {
            merges.add(pair.a, pair.b, dissimilarity(pair.similarity));
        }
    }
    return merges.join_pieces(n);
}

template <class Count>
std::size_t sparse_average(const SparsePairs<Count>& in, const MergesOut& out) {
    const std::size_t n = in.n();
    std::vector<Pair> heap;
    heap.reserve(static_cast<std::size_t>(in.indptr[n]) / 2);
    std::vector<std::vector<std::uint32_t>> partners(n);  // may contain clusters that no longer exist
    for_each_pair(in, [&](std::uint32_t i, std::uint32_t j, Sums sums) {
        heap.push_back({frequency<Count>(sums), i, j});
        partners[i].push_back(j);
        partners[j].push_back(i);
    });
    PairTable table(heap.size());
    for_each_pair(in, [&](std::uint32_t i, std::uint32_t j, Sums sums) { table.insert(i, j, sums); });
    const auto below = [](const Pair& x, const Pair& y) { return y.before(x); };
    std::make_heap(heap.begin(), heap.end(), below);

    Merges merges(n, out);
    std::vector<bool> alive(n, true);
    for (std::size_t taken = 0; !heap.empty(); ++taken) {
        if (taken % 1024 == 0) {
            stop_if_interrupted();
        }
        std::pop_heap(heap.begin(), heap.end(), below);
        const Pair pair = heap.back();
        heap.pop_back();
        if (!alive[pair.a] || !alive[pair.b]) {
            continue;
        }
        const std::size_t between = table.find(pair.a, pair.b);
        if (frequency<Count>(table[between]) != pair.similarity) {
            continue;  // the evidence has changed since, and was pushed again
        }
        merges.add(pair.a, pair.b, dissimilarity(pair.similarity));
        table.erase(between);
        std::uint32_t kept = pair.a;
        std::uint32_t gone = pair.b;
        if (partners[kept].size() < partners[gone].size()) {
            std::swap(kept, gone);
        }
        alive[gone] = false;
        std::vector<std::uint32_t>& moving = partners[gone];
        std::erase_if(moving, [&](std::uint32_t other) { return !alive[other] || other == kept; });
        constexpr std::size_t ahead = 8;
        for (std::size_t k = 0; k < moving.size(); ++k) {
            if (k + ahead < moving.size()) {
                table.prefetch(gone, moving[k + ahead]);
                table.prefetch(kept, moving[k + ahead]);
            }
            const std::uint32_t other = moving[k];
            const std::size_t moved = table.find(gone, other);
            Sums sums = table[moved];
            table.erase(moved);
            if (const std::size_t at = table.find(kept, other); at != PairTable::nowhere) {
                table[at].count += sums.count;
                table[at].copresence += sums.copresence;
                sums = table[at];
            } else {
                table.insert(kept, other, sums);
                partners[kept].push_back(other);
                partners[other].push_back(kept);
            }
            heap.push_back({frequency<Count>(sums), std::min(kept, other), std::max(kept, other)});
            std::push_heap(heap.begin(), heap.end(), below);
        }
        std::vector<std::uint32_t>().swap(moving);
    }
    return merges.join_pieces(n);
}

#define CONCLUST_INSTANTIATE(Count)                                                  \
    template std::size_t sparse_single(const SparsePairs<Count>&, const MergesOut&); \
    template std::size_t sparse_average(const SparsePairs<Count>&, const MergesOut&);

CONCLUST_INSTANTIATE(std::uint32_t)
CONCLUST_INSTANTIATE(double)

}  // namespace conclust
