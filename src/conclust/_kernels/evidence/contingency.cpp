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

// Counts the rows of partitions [first, last) against the columns of all partitions.
template <class Code>
void count_whole_rows(const Code* codes, const LabelView& labels, std::size_t first, std::size_t last,
                      std::vector<std::uint32_t>& table, std::vector<std::uint32_t>& columns,
                      std::int64_t* rows) {
    const std::size_t m = labels.m;
    const std::int64_t* offsets = labels.offsets.data();
    const auto total = static_cast<std::size_t>(offsets[m]);
    const auto start = static_cast<std::size_t>(offsets[first]);
    table.assign((static_cast<std::size_t>(offsets[last]) - start) * total, 0);
    columns.resize(m + 1);
    for (std::size_t i = 0; i < labels.n; ++i) {
        const Code* row = codes + i * m;
        std::size_t size = 0;
        for (std::size_t u = 0; u < m; ++u) {
            columns[size] = static_cast<std::uint32_t>(static_cast<std::size_t>(offsets[u]) + row[u]);
            size += row[u] < first_reserved_code<Code>;
        }
        for (std::size_t u = first; u < last; ++u) {
            if (row[u] < first_reserved_code<Code>) {
                const std::size_t own = static_cast<std::size_t>(offsets[u]) - start + row[u];
                std::uint32_t* counts = table.data() + own * total;
                for (std::size_t b = 0; b < size; ++b) {
                    ++counts[columns[b]];
                }
            }
        }
    }
    std::copy(table.begin(), table.end(), rows);
}

// Consecutive partitions whose rows of counts fit into the L2 cache, at least one: the first of each run, and the end.
std::vector<std::size_t> runs_in_cache(const LabelView& labels, std::size_t first, std::size_t last,
                                       std::size_t count_bytes) {
    const std::span<const std::int64_t> offsets = labels.offsets;
    std::vector<std::size_t> edges{first};
    for (std::size_t u = first + 1; u <= last; ++u) {
        const auto height = static_cast<std::size_t>(offsets[u] - offsets[edges.back()]);
        if (u > edges.back() + 1 && height * labels.n_clusters() * count_bytes > table_bytes) {
            edges.push_back(u - 1);
        }
    }
    edges.push_back(last);
    return edges;
}

// Calls count(begin, end, table, columns) for runs of partitions [begin, end); every thread has its own table and columns.
template <class Count, class CountRun>
void count_runs(const LabelView& labels, std::size_t first, std::size_t last,
                [[maybe_unused]] int threads, const CountRun& count) {
    const std::vector<std::size_t> edges = runs_in_cache(labels, first, last, sizeof(Count));
    const auto tasks = static_cast<std::ptrdiff_t>(edges.size() - 1);
    // No more threads than tasks: on a busy machine, waiting threads cost more than small work.
    [[maybe_unused]] const int team = static_cast<int>(std::min<std::ptrdiff_t>(threads, tasks));
    Interruption interruption;
#pragma omp parallel default(none) num_threads(team) shared(edges, tasks, count, interruption)
    {
        std::vector<Count> table;
        std::vector<std::uint32_t> columns;
#pragma omp for schedule(dynamic, 1)
        for (std::ptrdiff_t task = 0; task < tasks; ++task) {
            if (interruption.wanted(task, tasks)) {
                continue;
            }
            const auto t = static_cast<std::size_t>(task);
            interruption.guard([&] { count(edges[t], edges[t + 1], table, columns); });
        }
    }
    interruption.pass_on();
}

template <class Each>
void gram_of(const LabelView& labels, const Each& each, std::span<typename Each::Entry> gram,
             int threads) {
    count_runs<typename Each::Count>(
        labels, 0, labels.m, threads,
        [&](std::size_t begin, std::size_t end, auto& table, auto& columns) {
        with_codes(labels, [&](const auto* codes) {
            count_rows(codes, labels, each, begin, end, table, columns, gram.data());
        });
    });
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

// Maximum number of cells of a table that is counted whole.
constexpr std::size_t whole_cells = 4096;

// Contingency tables of one partition with others, for their sums of squares.
template <class Code>
class Squares {
  public:
    Squares(std::span<const Code> rows, std::size_t height, std::span<const std::uint32_t> counts)
        : rows_(rows), height_(height), counts_(counts) {}

    std::uint64_t with(std::span<const Code> columns, std::size_t width) {
        const std::size_t cells = height_ * width;
        return cells <= whole_cells && cells <= 4 * rows_.size() ? whole(columns, width)
                                                                 : by_rows(columns, width);
    }

  private:
    std::uint64_t whole(std::span<const Code> columns, std::size_t width) {
        const std::size_t cells = height_ * width;
        // Adjacent objects often share a cell: two tables avoid waiting for the previous write.
        table_.assign(2 * cells, 0);
        std::uint32_t* odd = table_.data() + cells;
        std::size_t i = 0;
        for (; i + 1 < rows_.size(); i += 2) {
            table_[rows_[i] * width + columns[i]] += counts_[i];
            odd[rows_[i + 1] * width + columns[i + 1]] += counts_[i + 1];
        }
        if (i < rows_.size()) {
            table_[rows_[i] * width + columns[i]] += counts_[i];
        }
        std::uint64_t sum = 0;
        for (std::size_t c = 0; c < cells; ++c) {
            const std::uint64_t both = std::uint64_t{table_[c]} + odd[c];
            sum += both * both;
        }
        return sum;
    }

    // One row of the table after another, which is then emptied where it was filled.
    std::uint64_t by_rows(std::span<const Code> columns, std::size_t width) {
        if (order_.empty()) {
            sort();
        }
        table_.assign(width, 0);
        std::uint64_t sum = 0;
        for (std::size_t k = 0; k < height_; ++k) {
            for (std::size_t r = starts_[k]; r < starts_[k + 1]; ++r) {
                const std::uint64_t count = counts_[order_[r]];
                std::uint32_t& cell = table_[columns[order_[r]]];
                sum += count * (2 * std::uint64_t{cell} + count);
                cell += static_cast<std::uint32_t>(count);
            }
            for (std::size_t r = starts_[k]; r < starts_[k + 1]; ++r) {
                table_[columns[order_[r]]] = 0;
            }
        }
        return sum;
    }

    void sort() {
        starts_.assign(height_ + 1, 0);
        for (const Code row : rows_) {
            ++starts_[std::size_t{row} + 1];
        }
        for (std::size_t k = 0; k < height_; ++k) {
            starts_[k + 1] += starts_[k];
        }
        order_.resize(rows_.size());
        std::vector<std::size_t> next(starts_.begin(), starts_.end() - 1);
        for (std::size_t i = 0; i < rows_.size(); ++i) {
            order_[next[rows_[i]]++] = static_cast<std::uint32_t>(i);
        }
    }

    std::span<const Code> rows_;
    std::size_t height_;
    std::span<const std::uint32_t> counts_;
    std::vector<std::uint32_t> table_;
    std::vector<std::size_t> starts_;  // of the rows of the table in `order_`
    std::vector<std::uint32_t> order_;
};

template <class Code>
void square_tables(const Code* codes, const LabelView& labels, std::span<const std::uint32_t> counts,
                   std::span<double> sums) {
    const std::size_t n = labels.n;
    const std::size_t m = labels.m;
    std::vector<Code> columns(n * m);
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t u = 0; u < m; ++u) {
            columns[u * n + i] = codes[i * m + u];
        }
    }
    const auto column = [&](std::size_t u) { return std::span<const Code>(columns).subspan(u * n, n); };
    const auto width = [&](std::size_t u) {
        return labels.first_cluster(u + 1) - labels.first_cluster(u);
    };
    for (std::size_t u = 0; u < m; ++u) {
        Squares<Code> squares(column(u), width(u), counts);
        for (std::size_t v = u; v < m; ++v) {
            stop_if_interrupted();
            sums[u * m + v] = static_cast<double>(squares.with(column(v), width(v)));
            sums[v * m + u] = sums[u * m + v];
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

void contingency_rows(const LabelView& labels, std::size_t first, std::size_t last,
                      std::span<std::int64_t> rows, int threads) {
    const std::size_t start = labels.first_cluster(first);
    count_runs<std::uint32_t>(labels, first, last, threads,
                              [&](std::size_t begin, std::size_t end, auto& table, auto& columns) {
        const std::size_t above = labels.first_cluster(begin) - start;
        with_codes(labels, [&](const auto* codes) {
            count_whole_rows(codes, labels, begin, end, table, columns,
                             rows.data() + above * labels.n_clusters());
        });
    });
}

void contingency_gram(const LabelView& labels, std::span<const double> mass, std::span<double> gram,
                      int threads) {
    gram_of(labels, Mass{mass}, gram, threads);
    mirror(gram, labels.n_clusters());
}

void squared_tables(const LabelView& labels, std::span<const std::int64_t> counts,
                    std::span<double> sums) {
    std::vector<std::uint32_t> short_counts(counts.size());
    std::transform(counts.begin(), counts.end(), short_counts.begin(),
                   [](std::int64_t count) { return static_cast<std::uint32_t>(count); });
    with_codes(labels, [&](const auto* codes) { square_tables(codes, labels, short_counts, sums); });
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
