#include "models/gibbs.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "base/clones.h"
#include "base/interrupt.h"
#include "base/random.h"
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
    double operator()(double x) const { return values_[static_cast<std::size_t>(x)]; }

  private:
    std::vector<double> values_;
};

// Sums by cluster. All clusters are side by side: the row of a label, or of a partition, has a place for
// every cluster.
class Clusters {
  public:
    Clusters(std::size_t n, std::size_t m, const std::int64_t* offsets, double b, std::size_t room)
        : offsets_(offsets),
          total_(static_cast<std::size_t>(offsets[m])),
          m_(m),
          size_logs_(n, 0.0),
          label_logs_(n, b),
          object_logs_(m) {
        for (std::size_t u = 0; u < m; ++u) {
            const std::int64_t width = offsets[u + 1] - offsets[u];
            const double prior = b * static_cast<double>(width);
            object_logs_[u] = &by_width_.try_emplace(width, n, prior).first->second;
        }
        grow(room);
    }
    Clusters(const Clusters&) = delete;

    std::size_t used() const { return used_; }
    bool empty(std::size_t k) const { return sizes_[k] == 0.0; }
    const double* log_sizes() const { return log_sizes_.data(); }
    const double* log_counts(std::size_t t) const { return log_counts_.data() + t * room_; }
    const double* log_present(std::size_t u) const { return log_present_.data() + u * room_; }

    // Makes room for a cluster of no object.
    void add() {
        if (used_ == room_) {
            grow(2 * room_);
        }
        ++used_;
    }

    // Puts an object into cluster k (sign 1) or takes it out (sign -1). In whole numbers, so that taking it
    // out undoes putting it in exactly.
    template <class Code>
    void change(std::size_t k, const Code* row, double sign) {
        sizes_[k] += sign;
        log_sizes_[k] = size_logs_(sizes_[k]);
        for (std::size_t u = 0; u < m_; ++u) {
            if (row[u] < first_reserved_code<Code>) {
                const std::size_t t = (static_cast<std::size_t>(offsets_[u]) + row[u]) * room_ + k;
                counts_[t] += sign;
                log_counts_[t] = label_logs_(counts_[t]);
                present_[u * room_ + k] += sign;
                log_present_[u * room_ + k] = (*object_logs_[u])(present_[u * room_ + k]);
            }
        }
    }

  private:
    void grow(std::size_t room) {
        widen(sizes_, 1, room, [](std::size_t) { return 0.0; });
        widen(log_sizes_, 1, room, [&](std::size_t) { return size_logs_(0.0); });
        widen(counts_, total_, room, [](std::size_t) { return 0.0; });
        widen(log_counts_, total_, room, [&](std::size_t) { return label_logs_(0.0); });
        widen(present_, m_, room, [](std::size_t) { return 0.0; });
        widen(log_present_, m_, room, [&](std::size_t u) { return (*object_logs_[u])(0.0); });
        room_ = room;
    }

    // Gives each of the rows more places; `fill` gives the value of a row's new places.
    template <class Fill>
    void widen(std::vector<double>& values, std::size_t rows, std::size_t room, Fill fill) const {
        std::vector<double> wide(rows * room);
        for (std::size_t r = 0; r < rows; ++r) {
            const auto from = values.begin() + static_cast<std::ptrdiff_t>(r * room_);
            const auto to = wide.begin() + static_cast<std::ptrdiff_t>(r * room);
            std::fill(std::copy(from, from + static_cast<std::ptrdiff_t>(room_), to),
                      to + static_cast<std::ptrdiff_t>(room), fill(r));
        }
        values.swap(wide);
    }

    const std::int64_t* offsets_;
    std::size_t total_;
    std::size_t m_;
    std::size_t used_ = 0;
    std::size_t room_ = 0;
    Logs size_logs_;
    Logs label_logs_;                        // log(count + b)
    std::map<std::int64_t, Logs> by_width_;  // log(count + b K_u), for each K_u
    std::vector<const Logs*> object_logs_;   // m
    std::vector<double> sizes_;              // room
    std::vector<double> log_sizes_;
    std::vector<double> counts_;             // T x room
    std::vector<double> log_counts_;
    std::vector<double> present_;            // m x room
    std::vector<double> log_present_;
};

CONCLUST_CLONES void add_scores(const double* counts, const double* present, double weight,
                                std::size_t n, double* scores) {
    for (std::size_t k = 0; k < n; ++k) {
        scores[k] += weight * (counts[k] - present[k]);
    }
}

template <class Code>
std::int64_t sweep(const Code* codes, const LabelView& view, double b, double concentration,
                   std::uint64_t seed, std::int64_t* labels) {
    const std::size_t n = view.n;
    const std::size_t m = view.m;
    const std::int64_t* offsets = view.offsets.data();
    const double* weights = view.weights.data();
    const std::int64_t last = n ? *std::max_element(labels, labels + n) : -1;
    Clusters clusters(n, m, offsets, b, static_cast<std::size_t>(last + 1) + 4);
    std::vector<double> unseen(m);  // log K_u
    for (std::size_t u = 0; u < m; ++u) {
        unseen[u] = std::log(static_cast<double>(offsets[u + 1] - offsets[u]));
    }
    for (std::size_t i = 0; i < n; ++i) {
        while (labels[i] >= static_cast<std::int64_t>(clusters.used())) {
            clusters.add();
        }
        if (labels[i] >= 0) {
            clusters.change(static_cast<std::size_t>(labels[i]), codes + i * m, 1.0);
        }
    }
    std::vector<std::size_t> free;  // empty slots
    std::vector<double> score;
    for (std::size_t i = 0; i < n; ++i) {
        if (i % 256 == 0) {
            stop_if_interrupted();
        }
        const Code* row = codes + i * m;
        if (labels[i] >= 0) {
            const auto own = static_cast<std::size_t>(labels[i]);
            clusters.change(own, row, -1.0);
            if (clusters.empty(own)) {
                free.push_back(own);
            }
        }
        const std::size_t used = clusters.used();
        score.assign(clusters.log_sizes(), clusters.log_sizes() + used);  // of no object: -inf
        double fresh = std::log(concentration);
        for (std::size_t u = 0; u < m; ++u) {
            if (row[u] < first_reserved_code<Code>) {
                const std::size_t t = static_cast<std::size_t>(offsets[u]) + row[u];
                add_scores(clusters.log_counts(t), clusters.log_present(u), weights[u], used,
                           score.data());
                fresh -= weights[u] * unseen[u];
            }
        }
        score.push_back(fresh);
        const double top = *std::max_element(score.begin(), score.end());
        for (double& value : score) {
            value = std::exp(value - top);
        }
        std::size_t drawn = drawn_class(score.data(), score.size(), random_bits(seed, i, 0));
        if (drawn == used) {
            if (free.empty()) {
                clusters.add();
            } else {
                drawn = free.back();
                free.pop_back();
            }
        }
        clusters.change(drawn, row, 1.0);
        labels[i] = static_cast<std::int64_t>(drawn);
    }
    std::vector<std::int64_t> number(clusters.used(), -1);
    std::int64_t used = 0;
    for (std::size_t i = 0; i < n; ++i) {
        std::int64_t& name = number[static_cast<std::size_t>(labels[i])];
        if (name < 0) {
            name = used++;
        }
        labels[i] = name;
    }
    return used;
}

}  // namespace

std::int64_t gibbs_sweep(const LabelView& labels, double b, double concentration, std::uint64_t seed,
                         std::span<std::int64_t> clusters) {
    return with_codes(labels, [&](const auto* codes) {
        return sweep(codes, labels, b, concentration, seed, clusters.data());
    });
}

}  // namespace conclust
