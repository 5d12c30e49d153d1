#include "models/chains/gibbs.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <vector>

#include "base/clones.h"
#include "base/interrupt.h"
#include "base/random.h"
#include "base/wide.h"
#include "labels/codes.h"

namespace conclust {
namespace {

// log(x + shift) of whole numbers x up to a largest.
class Logs {
  public:
    Logs(std::size_t largest, double shift) : values_(largest + 1) {
        for (std::size_t x = 0; x <= largest; ++x) {
            values_[x] = std::log(static_cast<double>(x) + shift);
        }
    }
    double operator()(std::size_t x) const { return values_[x]; }

  private:
    std::vector<double> values_;
};

// A label that an object has.
struct Label {
    std::size_t t;  // among the clusters of all partitions
    std::size_t u;
    double weight;
};

// Sums by cluster. All clusters are side by side: the row of a label, or of a partition, has a place for
// every cluster. What is counted is whole, so that taking an object out undoes putting it in exactly.
class Clusters {
  public:
    Clusters(const LabelView& labels, double b)
        : total_(labels.n_clusters()),
          m_(labels.m),
          size_logs_(labels.n, 0.0),
          label_logs_(labels.n, b),
          object_logs_(labels.m) {
        for (std::size_t u = 0; u < m_; ++u) {
            const std::int64_t width = labels.offsets[u + 1] - labels.offsets[u];
            const double prior = b * static_cast<double>(width);
            object_logs_[u] = &by_width_.try_emplace(width, labels.n, prior).first->second;
        }
        clear(0);
    }
    Clusters(const Clusters&) = delete;

    std::size_t used() const { return used_; }
    std::size_t room() const { return room_; }
    std::size_t size(std::size_t k) const { return sizes_[k]; }
    const double* log_sizes() const { return log_sizes_.data(); }
    const double* log_counts() const { return log_counts_.data(); }
    const double* log_present() const { return log_present_.data(); }

    // Makes `used` clusters of no object, and forgets all others.
    void clear(std::size_t used) {
        used_ = used;
        room_ = 0;
        grow(used + 4);
    }

    // Makes room for another cluster of no object.
    void add() {
        if (used_ == room_) {
            grow(2 * room_);
        }
        ++used_;
    }

    // Puts an object into cluster k (sign 1) or takes it out (sign -1).
    void change(std::size_t k, std::span<const Label> row, std::ptrdiff_t sign) {
        const auto step = static_cast<std::size_t>(sign);  // modulo 2^64
        sizes_[k] += step;
        log_sizes_[k] = size_logs_(sizes_[k]);
        for (const Label& label : row) {
            const std::size_t t = label.t * room_ + k;
            const std::size_t u = label.u * room_ + k;
            counts_[t] += step;
            log_counts_[t] = label_logs_(counts_[t]);
            present_[u] += step;
            log_present_[u] = (*object_logs_[label.u])(present_[u]);
        }
    }

    // Puts an object into cluster k, but for the logarithms.
    void count(std::size_t k, std::span<const Label> row) {
        ++sizes_[k];
        for (const Label& label : row) {
            ++counts_[label.t * room_ + k];
            ++present_[label.u * room_ + k];
        }
    }

    void take_logs() {
        take_logs(sizes_, log_sizes_, 0, size_logs_);
        take_logs(counts_, log_counts_, 0, label_logs_);
        for (std::size_t u = 0; u < m_; ++u) {
            take_logs({present_.data() + u * room_, room_}, log_present_, u * room_, *object_logs_[u]);
        }
    }

    // The score of cluster k for an object that it holds, without that object.
    double score_without(std::size_t k, std::span<const Label> row) const {
        double score = size_logs_(sizes_[k] - 1);
        for (const Label& label : row) {
            const double count = label_logs_(counts_[label.t * room_ + k] - 1);
            const double present = (*object_logs_[label.u])(present_[label.u * room_ + k] - 1);
            score += label.weight * (count - present);
        }
        return score;
    }

  private:
    static void take_logs(std::span<const std::size_t> counts, std::vector<double>& values,
                          std::size_t first, const Logs& logs) {
        for (std::size_t at = 0; at < counts.size(); ++at) {
            values[first + at] = logs(counts[at]);
        }
    }

    void grow(std::size_t least) {
        const std::size_t room = (least + wide - 1) / wide * wide;
        widen(sizes_, 1, room, [](std::size_t) { return std::size_t{0}; });
        widen(log_sizes_, 1, room, [&](std::size_t) { return size_logs_(0); });
        widen(counts_, total_, room, [](std::size_t) { return std::size_t{0}; });
        widen(log_counts_, total_, room, [&](std::size_t) { return label_logs_(0); });
        widen(present_, m_, room, [](std::size_t) { return std::size_t{0}; });
        widen(log_present_, m_, room, [&](std::size_t u) { return (*object_logs_[u])(0); });
        room_ = room;
    }

    // Gives each of the rows more places; `fill` gives the value of a row's new places.
    template <class Value, class Fill>
    void widen(std::vector<Value>& values, std::size_t rows, std::size_t room, Fill fill) const {
        std::vector<Value> wider(rows * room);
        for (std::size_t r = 0; r < rows; ++r) {
            const auto from = values.begin() + static_cast<std::ptrdiff_t>(r * room_);
            const auto to = wider.begin() + static_cast<std::ptrdiff_t>(r * room);
            std::fill(std::copy(from, from + static_cast<std::ptrdiff_t>(room_), to),
                      to + static_cast<std::ptrdiff_t>(room), fill(r));
        }
        values.swap(wider);
    }

    std::size_t total_;
    std::size_t m_;
    std::size_t used_ = 0;
    std::size_t room_ = 0;
    Logs size_logs_;
    Logs label_logs_;                        // log(count + b)
    std::map<std::int64_t, Logs> by_width_;  // log(count + b K_u), for each K_u
    std::vector<const Logs*> object_logs_;   // m
    std::vector<std::size_t> sizes_;         // room
    std::vector<double> log_sizes_;
    std::vector<std::size_t> counts_;        // T x room
    std::vector<double> log_counts_;
    std::vector<std::size_t> present_;       // m x room
    std::vector<double> log_present_;
};

// The log odds of clusters up to `last`, rounded up to whole vectors.
CONCLUST_CLONES void find_scores(const Clusters& clusters, const Label* row, std::size_t labels,
                                 std::size_t last, double* scores) {
    const std::size_t room = clusters.room();
    for (std::size_t k = 0; k < last; k += wide) {
        Wide sum;
        load(clusters.log_sizes() + k, sum);  // of no object: -inf
        const double* counts = clusters.log_counts() + k;
        const double* present = clusters.log_present() + k;
        for (std::size_t l = 0; l < labels; ++l) {
            Wide part, without, weight;
            load(counts + row[l].t * room, part);
            load(present + row[l].u * room, without);
            spread(row[l].weight, weight);
            part -= without;
            part *= weight;
            sum += part;
        }
        store(scores + k, sum);
    }
}

// The bits as drawn_class reads them: a number in [0, 1).
double fraction(std::uint64_t bits) { return static_cast<double>(bits >> 11) * 0x1p-53; }

// A margin such that drawn_class returns the class of the highest score for every fraction of bits that is farther
// than it from 0 and 1: the odds of the others sum to less than half of it. The rest is for rounding errors.
double margin_of(double highest, double second, std::size_t classes) {
    return 2.0 * static_cast<double>(classes) * std::exp(second - highest) + 1e-9;
}

bool within(double fraction, double margin) { return fraction > margin && fraction < 1.0 - margin; }

// What was found when an object stayed in its cluster.
struct Stay {
    std::size_t version = 0;  // of the clusters
    double margin = 0.0;
    double most = 0.0;  // the log concentration up to which the margin suffices
};

}  // namespace

class GibbsChain::State {
  public:
    State(const LabelView& labels, double b)
        : view_(labels),
          clusters_(labels, b),
          slots_(labels.n, none),
          stays_(labels.n),
          unseen_(labels.m),
          row_(labels.m) {
        for (std::size_t u = 0; u < labels.m; ++u) {
            unseen_[u] = std::log(static_cast<double>(labels.offsets[u + 1] - labels.offsets[u]));
        }
    }

    const LabelView& labels() const { return view_; }

    template <class Code>
    std::int64_t sweep(const Code* codes, double concentration, std::uint64_t seed,
                       std::span<std::int64_t> clusters) {
        const double log_concentration = std::log(concentration);
        for (std::size_t i = 0; i < view_.n; ++i) {
            if (i % 256 == 0) {
                stop_if_interrupted();
            }
            const std::uint64_t bits = random_bits(seed, i, 0);
            // If nothing has changed, the odds are those of the last visit, but for a new cluster's.
            const Stay& stay = stays_[i];
            const bool stays = stay.version == version_ && log_concentration < stay.most;
            if (!stays || !within(fraction(bits), stay.margin)) {
                visit(codes, i, log_concentration, bits);
            }
        }
        return number(codes, clusters);
    }

  private:
    static constexpr std::size_t none = std::numeric_limits<std::size_t>::max();

    // The labels of an object.
    template <class Code>
    std::span<const Label> read(const Code* row) {
        std::size_t size = 0;
        for (std::size_t u = 0; u < view_.m; ++u) {
            // Written first and then kept or not: missing labels are unpredictable for branches.
            row_[size] = {view_.first_cluster(u) + row[u], u, view_.weights[u]};
            size += row[u] < first_reserved_code<Code>;
        }
        return {row_.data(), size};
    }

    template <class Code>
    void visit(const Code* codes, std::size_t i, double log_concentration, std::uint64_t bits) {
        const std::span<const Label> row = read(codes + i * view_.m);
        const std::size_t own = slots_[i];
        const std::size_t used = clusters_.used();
        scores_.resize(clusters_.room() + 1);
        find_scores(clusters_, row.data(), row.size(), used, scores_.data());
        double fresh = log_concentration;
        for (const Label& label : row) {
            fresh -= label.weight * unseen_[label.u];
        }
        if (own != none) {
            scores_[own] = clusters_.score_without(own, row);
        }
        scores_[used] = fresh;
        std::size_t drawn = 0;
        double second = -std::numeric_limits<double>::infinity();
        for (std::size_t k = 1; k <= used; ++k) {
            const bool higher = scores_[k] > scores_[drawn];
            second = std::max(second, scores_[higher ? drawn : k]);
            drawn = higher ? k : drawn;
        }
        // So that the margin holds for other concentrations too.
        constexpr double allowance = 2.0;
        const double highest = scores_[drawn];
        const double margin = margin_of(highest, std::max(second, fresh + allowance), used + 1);
        if (drawn == own) {
            stays_[i] = {version_, margin, log_concentration + allowance};
        }
        if (!within(fraction(bits), margin)) {
            for (std::size_t k = 0; k <= used; ++k) {
                scores_[k] = std::exp(scores_[k] - highest);
            }
            drawn = drawn_class(scores_.data(), used + 1, bits);
        }
        if (drawn == own) {
            return;
        }
        move(i, row, drawn);
    }

    // Moves an object into another cluster; `to` is the number of slots in use for a new one.
    void move(std::size_t i, std::span<const Label> row, std::size_t to) {
        const std::size_t own = slots_[i];
        if (own != none) {
            if (clusters_.size(own) == 1) {
                if (to == clusters_.used()) {
                    return;  // from a cluster of its own into the slot that this leaves empty
                }
                free_.push_back(own);
            }
            clusters_.change(own, row, -1);
        }
        if (to == clusters_.used()) {
            if (free_.empty()) {
                clusters_.add();
            } else {
                to = free_.back();
                free_.pop_back();
            }
        }
        clusters_.change(to, row, 1);
        slots_[i] = to;
        moved_ = true;
        ++version_;
    }

    // Numbers the clusters by first appearance.
    template <class Code>
    std::int64_t number(const Code* codes, std::span<std::int64_t> clusters) {
        if (moved_) {
            names_.assign(clusters_.used(), none);
            std::size_t known = 0;
            bool renamed = false;
            for (std::size_t& slot : slots_) {
                std::size_t& name = names_[slot];
                if (name == none) {
                    name = known++;
                }
                renamed |= name != slot;
                slot = name;
            }
            if (renamed || known < clusters_.used()) {
                count(codes, known);
            }
            moved_ = false;
        }
        std::copy(slots_.begin(), slots_.end(), clusters.begin());
        return static_cast<std::int64_t>(clusters_.used());
    }

    template <class Code>
    void count(const Code* codes, std::size_t known) {
        clusters_.clear(known);
        for (std::size_t i = 0; i < view_.n; ++i) {
            clusters_.count(slots_[i], read(codes + i * view_.m));
        }
        clusters_.take_logs();
        free_.clear();
        ++version_;
    }

    LabelView view_;
    Clusters clusters_;
    std::vector<std::size_t> slots_;  // n: the cluster of each object
    std::vector<Stay> stays_;         // n
    std::vector<double> unseen_;      // m: log K_u
    std::vector<Label> row_;          // m
    std::vector<double> scores_;
    std::vector<std::size_t> free_;  // empty slots
    std::vector<std::size_t> names_;
    std::size_t version_ = 1;  // of the clusters: rises with each change
    bool moved_ = false;
};

GibbsChain::GibbsChain(const LabelView& labels, double b) : state_(new State(labels, b)) {}
GibbsChain::~GibbsChain() = default;

std::int64_t GibbsChain::sweep(double concentration, std::uint64_t seed,
                               std::span<std::int64_t> clusters) {
    return with_codes(state_->labels(), [&](const auto* codes) {
        return state_->sweep(codes, concentration, seed, clusters);
    });
}

}  // namespace conclust
