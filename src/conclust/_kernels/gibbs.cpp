#include "gibbs.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "codes.h"
#include "random.h"

namespace conclust {
namespace {

struct Cluster {
    double size = 0.0;
    std::vector<double> counts;       // T
    std::vector<double> present;      // m
    std::vector<double> log_counts;   // T: log(counts + b)
    std::vector<double> log_present;  // m: log(present + b K_u)
};

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

}  // namespace

template <class Code>
std::int64_t gibbs_sweep(const Code* codes, std::size_t n, std::size_t m, const std::int64_t* offsets,
                         const double* weights, double b, double concentration, std::uint64_t seed,
                         std::int64_t* labels) {
    const auto total = static_cast<std::size_t>(offsets[m]);
    // Counts are whole numbers: all logarithms are read from tables.
    const Logs label_logs(n, b);
    std::map<std::int64_t, Logs> by_width;
    std::vector<const Logs*> object_logs(m);
    std::vector<double> unseen(m);  // log K_u
    for (std::size_t u = 0; u < m; ++u) {
        const std::int64_t width = offsets[u + 1] - offsets[u];
        const auto real = static_cast<double>(width);
        object_logs[u] = &by_width.try_emplace(width, n, b * real).first->second;
        unseen[u] = std::log(real);
    }
    const auto empty = [&] {
        Cluster cluster;
        cluster.counts.assign(total, 0.0);
        cluster.present.assign(m, 0.0);
        cluster.log_counts.assign(total, label_logs(0.0));
        for (const Logs* logs : object_logs) {
            cluster.log_present.push_back((*logs)(0.0));
        }
        return cluster;
    };
    // Counts by whole numbers, so that taking out what was put in leaves nothing behind.
    const auto change = [&](Cluster& cluster, const Code* row, double sign) {
        cluster.size += sign;
        for (std::size_t u = 0; u < m; ++u) {
            if (row[u] < first_reserved_code<Code>) {
                const std::size_t t = static_cast<std::size_t>(offsets[u]) + row[u];
                cluster.counts[t] += sign;
                cluster.present[u] += sign;
                cluster.log_counts[t] = label_logs(cluster.counts[t]);
                cluster.log_present[u] = (*object_logs[u])(cluster.present[u]);
            }
        }
    };
    std::vector<Cluster> clusters;
    for (std::size_t i = 0; i < n; ++i) {
        while (labels[i] >= static_cast<std::int64_t>(clusters.size())) {
            clusters.push_back(empty());
        }
        if (labels[i] >= 0) {
            change(clusters[static_cast<std::size_t>(labels[i])], codes + i * m, 1.0);
        }
    }
    std::vector<std::size_t> free;  // emptied places
    std::vector<double> score;
    for (std::size_t i = 0; i < n; ++i) {
        const Code* row = codes + i * m;
        if (labels[i] >= 0) {
            Cluster& own = clusters[static_cast<std::size_t>(labels[i])];
            change(own, row, -1.0);
            if (own.size == 0.0) {
                free.push_back(static_cast<std::size_t>(labels[i]));
            }
        }
        score.assign(clusters.size() + 1, 0.0);
        for (std::size_t k = 0; k < clusters.size(); ++k) {
            const Cluster& cluster = clusters[k];
            double sum = std::log(cluster.size);  // of no object: never chosen
            for (std::size_t u = 0; u < m; ++u) {
                if (row[u] < first_reserved_code<Code>) {
                    const std::size_t t = static_cast<std::size_t>(offsets[u]) + row[u];
                    sum += weights[u] * (cluster.log_counts[t] - cluster.log_present[u]);
                }
            }
            score[k] = sum;
        }
        double fresh = std::log(concentration);
        for (std::size_t u = 0; u < m; ++u) {
            fresh -= row[u] < first_reserved_code<Code> ? weights[u] * unseen[u] : 0.0;
        }
        score.back() = fresh;
        const double top = *std::max_element(score.begin(), score.end());
        double mass = 0.0;
        for (double& value : score) {
            value = std::exp(value - top);
            mass += value;
        }
        double left = mass * static_cast<double>(random_bits(seed, i, 0) >> 11) * 0x1p-53;
        std::size_t drawn = score.size() - 1;
        for (std::size_t k = 0; k < score.size(); ++k) {
            if (score[k] > 0.0) {
                drawn = k;
                left -= score[k];
                if (left < 0.0) {
                    break;
                }
            }
        }
        if (drawn == clusters.size()) {
            if (free.empty()) {
                clusters.push_back(empty());
            } else {
                drawn = free.back();
                free.pop_back();
            }
        }
        change(clusters[drawn], row, 1.0);
        labels[i] = static_cast<std::int64_t>(drawn);
    }
    std::vector<std::int64_t> number(clusters.size(), -1);
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

#define CONCLUST_INSTANTIATE(Code)                                                                  \
    template std::int64_t gibbs_sweep(const Code*, std::size_t, std::size_t, const std::int64_t*,   \
                                      const double*, double, double, std::uint64_t, std::int64_t*);

CONCLUST_INSTANTIATE(std::uint8_t)
CONCLUST_INSTANTIATE(std::uint16_t)
CONCLUST_INSTANTIATE(std::uint32_t)

}  // namespace conclust
