#include "linkage/agglomerate.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "base/clones.h"
#include "base/interrupt.h"

namespace conclust {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr std::size_t block = 256;
constexpr std::size_t lanes = 8;
// Rows are repacked when fewer than this share of their columns are alive.
constexpr double sparsest = 0.7;

struct Nearest {
    double value;
    std::size_t slot;
};

// The data that a scan reads besides the row: one entry per slot.
struct Columns {
    const double* size;   // objects in the cluster
    const double* inner;  // ward: mean inner sum W / size
    const double* bias;   // 0, or infinity for a slot that is dead or is the row's own
};

// The dissimilarity of the row's cluster (size a, inner mean qa) and the column's (size b, inner mean qb).
// Symmetric to the bit in the two clusters: the chain relies on that.
template <Linkage linkage>
CONCLUST_INLINE double dissimilarity(double entry, double a, double qa, double b, double qb) {
    if constexpr (linkage == Linkage::average) {
        return entry / (a * b);
    } else if constexpr (linkage == Linkage::ward) {
        return 2.0 * (entry - (qa * b + qb * a)) / (a + b);
    } else {
        (void)a, (void)qa, (void)b, (void)qb;
        return entry;
    }
}

template <Linkage linkage>
CONCLUST_INLINE Nearest scan(const double* row, std::size_t width, double a, double qa,
                             Columns columns) {
    Nearest best{infinity, 0};
    double values[block];
    for (std::size_t begin = 0; begin < width; begin += block) {
        const std::size_t count = std::min(block, width - begin);
        const double* entry = row + begin;
        const double* size = columns.size + begin;
        const double* inner = columns.inner + begin;
        const double* bias = columns.bias + begin;
        for (std::size_t i = 0; i < count; ++i) {
            values[i] = dissimilarity<linkage>(entry[i], a, qa, size[i], inner[i]) + bias[i];
        }
        for (std::size_t i = count; i % lanes != 0; ++i) {
            values[i] = infinity;
        }
        double least[lanes];
        std::fill(least, least + lanes, infinity);
        for (std::size_t i = 0; i < count; i += lanes) {
            for (std::size_t l = 0; l < lanes; ++l) {
                least[l] = values[i + l] < least[l] ? values[i + l] : least[l];
            }
        }
        const double minimum = *std::min_element(least, least + lanes);
        if (minimum < best.value) {
            std::size_t i = 0;
            while (values[i] != minimum) {
                ++i;
            }
            best = {minimum, begin + i};
        }
    }
    return best;
}

CONCLUST_CLONES Nearest scan_plain(const double* row, std::size_t width, Columns columns) {
    return scan<Linkage::single>(row, width, 1.0, 0.0, columns);
}

CONCLUST_CLONES Nearest scan_average(const double* row, std::size_t width, double a, Columns columns) {
    return scan<Linkage::average>(row, width, a, 0.0, columns);
}

CONCLUST_CLONES Nearest scan_ward(const double* row, std::size_t width, double a, double qa,
                                  Columns columns) {
    return scan<Linkage::ward>(row, width, a, qa, columns);
}

CONCLUST_CLONES void add_row(double* kept, const double* absorbed, std::size_t width) {
    for (std::size_t i = 0; i < width; ++i) {
        kept[i] += absorbed[i];
    }
}

CONCLUST_CLONES void min_row(double* kept, const double* absorbed, std::size_t width) {
    for (std::size_t i = 0; i < width; ++i) {
        kept[i] = absorbed[i] < kept[i] ? absorbed[i] : kept[i];
    }
}

CONCLUST_CLONES void max_row(double* kept, const double* absorbed, std::size_t width) {
    for (std::size_t i = 0; i < width; ++i) {
        kept[i] = absorbed[i] > kept[i] ? absorbed[i] : kept[i];
    }
}

// A slot is a row and a column of the matrix. Slots keep the order of their lowest objects, because
// a merge keeps the lower slot and repacking keeps the order.
//
// A merge writes the new cluster's row and not its column, which would touch one cache line per
// cluster. A row is brought up to date when it is next needed: the clusters formed since then hold
// its missing entries in their own rows.
template <Linkage linkage>
class Chain {
  public:
    Chain(double* matrix, std::size_t n, const double* sizes)
        : matrix_(matrix),
          width_(n),
          alive_(n),
          size_(sizes, sizes + n),
          within_(n, 0.0),
          inner_(n, 0.0),
          bias_(n, 0.0),
          top_(n, 0.0),
          lowest_(n),
          born_(n, 0),
          fresh_(n, 0),
          place_(n, absent) {
        for (std::size_t i = 0; i < n; ++i) {
            lowest_[i] = static_cast<std::int64_t>(i);
        }
        chain_.reserve(n);
        recent_.reserve(n);
    }

    void run(std::int64_t* left, std::int64_t* right, double* heights) {
        const std::size_t n = width_;
        for (std::size_t merge = 0; merge + 1 < n; ++merge) {
            stop_if_interrupted(
                done_of_shrinking(static_cast<std::ptrdiff_t>(merge), static_cast<std::ptrdiff_t>(n)));
            const auto [a, b] = reciprocal_pair();
            const std::size_t kept = std::min(a, b);
            const std::size_t absorbed = std::max(a, b);
            left[merge] = lowest_[kept];
            right[merge] = lowest_[absorbed];
            heights[merge] = join(kept, absorbed);
            if (static_cast<double>(alive_) < sparsest * static_cast<double>(width_)) {
                repack();
            }
        }
    }

  private:
    using Slot = std::uint32_t;
    static constexpr std::uint32_t absent = 0xffffffffu;

    double* row(std::size_t slot) { return matrix_ + slot * width_; }

    // Copies into the row its entries with the clusters formed since it was last read.
    void refresh(std::size_t slot) {
        double* entries = row(slot);
        for (std::size_t r = recent_.size(); r-- > 0 && born_[recent_[r]] > fresh_[slot];) {
            const std::size_t other = recent_[r];
            entries[other] = row(other)[slot];
        }
        fresh_[slot] = births_;
    }

    double value(std::size_t from, std::size_t to) {
        return dissimilarity<linkage>(row(from)[to], size_[from], inner_[from], size_[to], inner_[to]);
    }

    Nearest nearest(std::size_t slot) {
        refresh(slot);
        bias_[slot] = infinity;
        const Columns columns{size_.data(), inner_.data(), bias_.data()};
        Nearest found;
        if constexpr (linkage == Linkage::average) {
            found = scan_average(row(slot), width_, size_[slot], columns);
        } else if constexpr (linkage == Linkage::ward) {
            found = scan_ward(row(slot), width_, size_[slot], inner_[slot], columns);
        } else {
            found = scan_plain(row(slot), width_, columns);
        }
        bias_[slot] = 0.0;
        return found;
    }

    struct Pair {
        std::size_t a, b;
    };

    void push(std::size_t slot) {
        place_[slot] = static_cast<std::uint32_t>(chain_.size());
        chain_.push_back(static_cast<Slot>(slot));
    }

    void pop() {
        place_[chain_.back()] = absent;
        chain_.pop_back();
    }

    // Follows nearest neighbours until two clusters are each other's, and takes them off the chain.
    Pair reciprocal_pair() {
        if (chain_.empty()) {
            push(0);  // the lowest object's cluster is always slot 0
        }
        for (;;) {
            const std::size_t last = chain_.back();
            const Nearest found = nearest(last);
            if (chain_.size() >= 2) {
                const std::size_t previous = chain_[chain_.size() - 2];
                if (found.slot == previous || value(last, previous) == found.value) {
                    refresh(previous);
                    pop();
                    pop();
                    return {previous, last};
                }
            }
            if (place_[found.slot] == absent) {
                push(found.slot);
            } else {
                // Only when rounding broke the linkage's reducibility between ties: any beginning
                // of the chain is a chain, so go back to that cluster and go on from there.
                while (chain_.back() != found.slot) {
                    pop();
                }
            }
        }
    }

    double join(std::size_t kept, std::size_t absorbed) {
        double height = value(kept, absorbed);
        if constexpr (linkage == Linkage::ward) {
            height = height > 0.0 ? std::sqrt(height) : 0.0;
        }
        height = std::max({height, top_[kept], top_[absorbed]});
        top_[kept] = height;

        double* entries = row(kept);
        if constexpr (linkage == Linkage::ward) {
            within_[kept] += within_[absorbed] + entries[absorbed];
            inner_[kept] = within_[kept] / (size_[kept] + size_[absorbed]);
        }
        size_[kept] += size_[absorbed];
        if constexpr (linkage == Linkage::single) {
            min_row(entries, row(absorbed), width_);
        } else if constexpr (linkage == Linkage::complete) {
            max_row(entries, row(absorbed), width_);
        } else {
            add_row(entries, row(absorbed), width_);
        }
        entries[kept] = 0.0;
        bias_[absorbed] = infinity;
        --alive_;

        forget(kept);
        forget(absorbed);
        recent_.push_back(static_cast<Slot>(kept));
        born_[kept] = fresh_[kept] = ++births_;
        return height;
    }

    void forget(std::size_t slot) {
        if (born_[slot] != 0) {
            // Sorted by birth: found by bisection, and mostly near the end.
            const auto at = std::lower_bound(
                recent_.begin(), recent_.end(), born_[slot],
                [this](Slot other, std::uint32_t birth) { return born_[other] < birth; });
            recent_.erase(at);
        }
    }

    // Drops dead rows and columns; rows move up, so this works in place.
    void repack() {
        std::vector<Slot> old;
        old.reserve(alive_);
        std::vector<Slot> moved(width_, absent);
        for (std::size_t slot = 0; slot < width_; ++slot) {
            if (bias_[slot] == 0.0) {
                moved[slot] = static_cast<Slot>(old.size());
                old.push_back(static_cast<Slot>(slot));
            }
        }
        double* to = matrix_;
        for (const Slot slot : old) {
            const double* from = row(slot);
            for (const Slot column : old) {
                *to++ = from[column];
            }
        }
        for (std::size_t slot = 0; slot < old.size(); ++slot) {
            const std::size_t from = old[slot];
            size_[slot] = size_[from];
            within_[slot] = within_[from];
            inner_[slot] = inner_[from];
            bias_[slot] = 0.0;
            top_[slot] = top_[from];
            lowest_[slot] = lowest_[from];
            born_[slot] = born_[from];
            fresh_[slot] = fresh_[from];
            place_[slot] = place_[from];
        }
        for (Slot& slot : chain_) {
            slot = moved[slot];
        }
        for (Slot& slot : recent_) {
            slot = moved[slot];
        }
        width_ = alive_;
    }

    double* matrix_;
    std::size_t width_;  // slots, and the distance of two rows
    std::size_t alive_;
    std::vector<double> size_;
    std::vector<double> within_;  // ward: the sum over the pairs inside the cluster, W
    std::vector<double> inner_;
    std::vector<double> bias_;
    std::vector<double> top_;           // height at which the cluster was formed
    std::vector<std::int64_t> lowest_;  // its lowest starting cluster
    std::vector<std::uint32_t> born_;   // the merge that formed it; 0: a starting cluster
    std::vector<std::uint32_t> fresh_;  // number of merges already applied to its row
    std::vector<std::uint32_t> place_;  // in the chain
    std::vector<Slot> chain_;
    std::vector<Slot> recent_;  // merged clusters that are alive, by birth
    std::uint32_t births_ = 0;
};

}  // namespace

template <Linkage linkage>
void agglomerate(std::span<double> matrix, std::span<const double> sizes, const MergesOut& merges) {
    Chain<linkage>(matrix.data(), sizes.size(), sizes.data())
        .run(merges.left.data(), merges.right.data(), merges.heights.data());
}

#define CONCLUST_INSTANTIATE(linkage) \
    template void agglomerate<linkage>(std::span<double>, std::span<const double>, const MergesOut&);

CONCLUST_INSTANTIATE(Linkage::single)
CONCLUST_INSTANTIATE(Linkage::average)
CONCLUST_INSTANTIATE(Linkage::complete)
CONCLUST_INSTANTIATE(Linkage::ward)

namespace {

template <class Count>
CONCLUST_INLINE void sum_row(const Count* counts, const double* table, double size, const double* sizes,
                             std::size_t n, double* out) {
    for (std::size_t j = 0; j < n; ++j) {
        out[j] = table[counts[j]] * size * sizes[j];
    }
}

CONCLUST_CLONES void row_of(const std::uint16_t* counts, const double* table, double size,
                            const double* sizes, std::size_t n, double* out) {
    sum_row(counts, table, size, sizes, n, out);
}

CONCLUST_CLONES void row_of(const std::uint32_t* counts, const double* table, double size,
                            const double* sizes, std::size_t n, double* out) {
    sum_row(counts, table, size, sizes, n, out);
}

}  // namespace

template <class Count>
void summed_dissimilarities(std::span<const Count> counts, std::span<const double> table,
                            std::span<const double> row_sizes, std::span<const double> sizes,
                            std::span<double> out) {
    const std::size_t n = sizes.size();
    for (std::size_t i = 0; i < row_sizes.size(); ++i) {
        row_of(counts.data() + i * n, table.data(), row_sizes[i], sizes.data(), n, out.data() + i * n);
    }
}

template void summed_dissimilarities<std::uint16_t>(std::span<const std::uint16_t>,
                                                    std::span<const double>, std::span<const double>,
                                                    std::span<const double>, std::span<double>);
template void summed_dissimilarities<std::uint32_t>(std::span<const std::uint32_t>,
                                                    std::span<const double>, std::span<const double>,
                                                    std::span<const double>, std::span<double>);

}  // namespace conclust
