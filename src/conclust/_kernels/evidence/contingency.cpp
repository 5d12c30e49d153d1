#include "evidence/contingency.h"

#include <algorithm>
#include <vector>

#include "base/interrupt.h"
#include "evidence/bit_gram.h"

namespace conclust {

namespace {

// Size in bytes of the rows that a task counts into: they stay in the L2 cache.
constexpr std::size_t table_bytes = 512 * 1024;

// The mass of each object, or one.
struct One {
    using Count = std::uint32_t;
    using Entry = std::int64_t;
    Count operator[](std::size_t) const { return 1; }
};

struct Mass {
    using Count = double;
    using Entry = double;
    std::span<const double> mass;
    Count operator[](std::size_t i) const { return mass[i]; }
};

// Counts the rows of partitions [first, last) against the columns of partitions `first` and later.
// Each task owns its rows, so that no two threads write to the same place.
template <class Code, class Each>
void count_rows(const Code* codes, const LabelView& labels, const Each& each, std::size_t first,
                std::size_t last, std::vector<typename Each::Count>& table,
                std::vector<std::uint32_t>& columns, typename Each::Entry* gram) {
    const std::size_t m = labels.m;
    const std::int64_t* offsets = labels.offsets.data();
    const auto total = static_cast<std::size_t>(offsets[m]);
    const auto start = static_cast<std::size_t>(offsets[first]);
    const std::size_t width = total - start;
    const std::size_t height = static_cast<std::size_t>(offsets[last]) - start;
    table.assign(height * width, 0);
    columns.resize(m - first + 1);
    for (std::size_t i = 0; i < labels.n; ++i) {
        const Code* row = codes + i * m;
        // The columns of this object, and how many of them are among the rows of the task. Written
        // unconditionally and then kept or not, because missing labels are unpredictable for
        // branches.
        std::size_t size = 0;
        std::size_t rows = 0;
        for (std::size_t u = first; u < m; ++u) {
            columns[size] =
                static_cast<std::uint32_t>(static_cast<std::size_t>(offsets[u]) - start + row[u]);
            size += row[u] < first_reserved_code<Code>;
            rows = u + 1 == last ? size : rows;
        }
        for (std::size_t a = 0; a < rows; ++a) {
            auto* counts = table.data() + columns[a] * width;
            for (std::size_t b = a; b < size; ++b) {
                counts[columns[b]] += each[i];
            }
        }
    }
    for (std::size_t k = 0; k < height; ++k) {
        std::copy_n(table.data() + k * width, width, gram + (start + k) * total + start);
    }
}

template <class Each>
void gram_of(const LabelView& labels, const Each& each, std::span<typename Each::Entry> gram,
             [[maybe_unused]] int threads) {
    const std::size_t m = labels.m;
    const std::span<const std::int64_t> offsets = labels.offsets;
    const std::size_t total = labels.n_clusters();
    std::vector<std::size_t> edges{0};
    for (std::size_t u = 1; u <= m; ++u) {
        const auto height = static_cast<std::size_t>(offsets[u] - offsets[edges.back()]);
        if (u > edges.back() + 1 && height * total * sizeof(typename Each::Count) > table_bytes) {
            edges.push_back(u - 1);
        }
    }
    edges.push_back(m);
    const auto tasks = static_cast<std::ptrdiff_t>(edges.size() - 1);
    // No more threads than tasks: on a busy machine, waiting threads cost more than small work.
    [[maybe_unused]] const int team = static_cast<int>(std::min<std::ptrdiff_t>(threads, tasks));
    Interruption interruption;
#pragma omp parallel default(none) num_threads(team) \
    shared(labels, each, gram, edges, tasks, interruption)
    {
        std::vector<typename Each::Count> table;
        std::vector<std::uint32_t> columns;
#pragma omp for schedule(dynamic, 1)
        for (std::ptrdiff_t task = 0; task < tasks; ++task) {
            if (interruption.wanted(task, tasks)) {
                continue;
            }
            const auto t = static_cast<std::size_t>(task);
            with_codes(labels, [&](const auto* codes) {
                count_rows(codes, labels, each, edges[t], edges[t + 1], table, columns, gram.data());
            });
        }
    }
    interruption.pass_on();
}

// The lower triangle is a copy of the upper one.
template <class Entry>
void mirror(std::span<Entry> gram, std::size_t total) {
    for (std::size_t k = 0; k < total; ++k) {
        for (std::size_t l = k + 1; l < total; ++l) {
            gram[l * total + k] = gram[k * total + l];
        }
    }
}

}  // namespace

void contingency_gram(const LabelView& labels, std::span<std::int64_t> gram, int threads) {
    if (bits_count_faster(labels)) {
        bit_gram(labels, gram, threads);
    } else {
        gram_of(labels, One{}, gram, threads);
    }
    mirror(gram, labels.n_clusters());
}

void contingency_gram(const LabelView& labels, std::span<const double> mass, std::span<double> gram,
                      int threads) {
    gram_of(labels, Mass{mass}, gram, threads);
    mirror(gram, labels.n_clusters());
}

void sparse_gram(const SoftRows& rows, std::span<const double> root, std::span<double> gram) {
    std::size_t T = 0;
    while (T * T < gram.size()) {
        ++T;
    }
    std::fill(gram.begin(), gram.end(), 0.0);
    for (std::size_t i = 0; i < root.size(); ++i) {
        const auto begin = static_cast<std::size_t>(rows.starts[i]);
        const auto end = static_cast<std::size_t>(rows.starts[i + 1]);
        for (std::size_t a = begin; a < end; ++a) {
            const auto own = static_cast<std::size_t>(rows.columns[a]);
            const double value = root[i] * rows.values[a];
            for (std::size_t b = a; b < end; ++b) {
                const auto other = static_cast<std::size_t>(rows.columns[b]);
                gram[std::min(own, other) * T + std::max(own, other)] +=
                    value * (root[i] * rows.values[b]);
            }
        }
    }
    mirror(gram, T);
}

}  // namespace conclust
