#include "evidence/partition_terms.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "base/interrupt.h"

namespace conclust {
namespace {

// Number of tables that are filled in turn, so that the next object does not wait for a cell that was just written.
constexpr std::size_t lanes = 4;

// Maximum number of cells of a stored table; cells of larger tables are sorted.
constexpr std::size_t most_cells = std::size_t{1} << 24;

struct Terms {
    double first = 0.0, second = 0.0, both = 0.0, n = 0.0;
};

class Table {
  public:
    Table(std::size_t n, const double* f) : n_(n), f_(f) {}

    template <class Label>
    Terms compare(const Label* p, std::size_t size_p, const Label* s, std::size_t size_s) {
        const std::size_t width = size_s + 2, cells = (size_p + 2) * width;
        rows_.assign(size_p + 2, 0);
        columns_.assign(width, 0);
        if (lanes * cells <= 2 * n_ + 4096) {
            return dense(p, size_p, s, size_s, cells);
        }
        return cells <= most_cells ? sparse(p, size_p, s, size_s, cells) : sorted(p, size_p, s, size_s);
    }

  private:
    template <class Label>
    Terms dense(const Label* p, std::size_t size_p, const Label* s, std::size_t size_s,
                std::size_t cells) {
        const std::size_t width = size_s + 2;
        counts_.assign(lanes * cells, 0);
        std::int32_t* const at = counts_.data();
        std::size_t i = 0;
        for (; i + lanes <= n_; i += lanes) {
            for (std::size_t lane = 0; lane < lanes; ++lane) {
                ++at[lane * cells + static_cast<std::size_t>(p[i + lane]) * width +
                     static_cast<std::size_t>(s[i + lane])];
            }
        }
        for (; i < n_; ++i) {
            ++at[static_cast<std::size_t>(p[i]) * width + static_cast<std::size_t>(s[i])];
        }
        Terms found;
        for (std::size_t k = 0; k < size_p + 2; ++k) {
            if (k == size_p) {
                continue;
            }
            for (std::size_t j = 0; j < width; ++j) {
                if (j == size_s) {
                    continue;
                }
                std::int32_t count = 0;
                for (std::size_t lane = 0; lane < lanes; ++lane) {
                    count += at[lane * cells + k * width + j];
                }
                add(found, count, k, j, k > size_p || j > size_s);
            }
        }
        return finished(found, size_p, size_s);
    }

    // Iterates over the objects twice instead of over a larger table.
    template <class Label>
    Terms sparse(const Label* p, std::size_t size_p, const Label* s, std::size_t size_s,
                 std::size_t cells) {
        const std::size_t width = size_s + 2;
        if (counts_.size() < cells) {
            counts_.resize(cells);
        }
        std::int32_t* const at = counts_.data();
        for (std::size_t i = 0; i < n_; ++i) {
            at[static_cast<std::size_t>(p[i]) * width + static_cast<std::size_t>(s[i])] = 0;
        }
        for (std::size_t i = 0; i < n_; ++i) {
            ++at[static_cast<std::size_t>(p[i]) * width + static_cast<std::size_t>(s[i])];
        }
        Terms found;
        for (std::size_t i = 0; i < n_; ++i) {
            const auto k = static_cast<std::size_t>(p[i]), j = static_cast<std::size_t>(s[i]);
            std::int32_t& count = at[k * width + j];
            if (k != size_p && j != size_s) {
                add(found, count, k, j, k > size_p || j > size_s);
            }
            count = 0;
        }
        return finished(found, size_p, size_s);
    }

    template <class Label>
    Terms sorted(const Label* p, std::size_t size_p, const Label* s, std::size_t size_s) {
        const std::uint64_t width = size_s + 2;
        cells_.clear();
        for (std::size_t i = 0; i < n_; ++i) {
            const auto k = static_cast<std::size_t>(p[i]), j = static_cast<std::size_t>(s[i]);
            if (k != size_p && j != size_s) {
                cells_.push_back(k * width + j);
            }
        }
        std::sort(cells_.begin(), cells_.end());
        Terms found;
        for (std::size_t begin = 0, end = 0; begin < cells_.size(); begin = end) {
            const std::uint64_t cell = cells_[begin];
            while (end < cells_.size() && cells_[end] == cell) {
                ++end;
            }
            const std::size_t k = cell / width, j = cell % width;
            add(found, static_cast<std::int32_t>(end - begin), k, j, k > size_p || j > size_s);
        }
        return finished(found, size_p, size_s);
    }

    // `alone`: the objects of the cell are noise in one of the two, and so clusters of one.
    void add(Terms& found, std::int32_t count, std::size_t k, std::size_t j, bool alone) {
        found.both += alone ? count * f_[1] : f_[count];
        rows_[k] += count;
        columns_[j] += count;
    }

    Terms finished(Terms found, std::size_t size_p, std::size_t size_s) const {
        std::int64_t n = 0;
        for (std::size_t k = 0; k < size_p; ++k) {
            found.first += f_[rows_[k]];
            n += rows_[k];
        }
        found.first += static_cast<double>(rows_[size_p + 1]) * f_[1];
        for (std::size_t j = 0; j < size_s; ++j) {
            found.second += f_[columns_[j]];
        }
        found.second += static_cast<double>(columns_[size_s + 1]) * f_[1];
        found.n = static_cast<double>(n + rows_[size_p + 1]);
        return found;
    }

    std::size_t n_;
    const double* f_;
    std::vector<std::int32_t> counts_;
    std::vector<std::uint64_t> cells_;
    std::vector<std::int64_t> rows_, columns_;
};

}  // namespace

template <class Label>
void partition_terms(const PartitionRows<Label>& first, const PartitionRows<Label>& second, bool squares,
                     bool symmetric, [[maybe_unused]] int threads, std::span<double> terms) {
    const std::size_t n = first.n, all = second.count();
    std::vector<double> f(n + 1, 0.0);
    for (std::size_t x = 1; x <= n; ++x) {
        const auto value = static_cast<double>(x);
        f[x] = squares ? value * value : value * std::log2(value);
    }
    const auto count = static_cast<std::ptrdiff_t>(all);
    Interruption interruption;
    // By partitions of `second`: a credible ball has one in `first`.
#pragma omp parallel num_threads(threads) default(none) \
    shared(first, second, n, f, count, all, symmetric, terms, interruption)
    {
        std::optional<Table> table;
        interruption.guard([&] { table.emplace(n, f.data()); });
#pragma omp for schedule(dynamic, 1)
        for (std::ptrdiff_t column = 0; column < count; ++column) {
            const auto s = static_cast<std::size_t>(column);
            const std::size_t end = symmetric ? s + 1 : first.count();
            interruption.guard([&] {
                for (std::size_t p = 0; p < end; ++p) {
                    if (interruption.wanted()) {
                        break;
                    }
                    const Terms found =
                        table->compare(first.row(p), static_cast<std::size_t>(first.sizes[p]),
                                       second.row(s), static_cast<std::size_t>(second.sizes[s]));
                    double* const here = terms.data() + 4 * (p * all + s);
                    here[0] = found.first;
                    here[1] = found.second;
                    here[2] = found.both;
                    here[3] = found.n;
                    if (symmetric) {
                        double* const there = terms.data() + 4 * (s * all + p);
                        there[0] = found.second;
                        there[1] = found.first;
                        there[2] = found.both;
                        there[3] = found.n;
                    }
                }
            });
        }
    }
    interruption.pass_on();
}

template void partition_terms(const PartitionRows<std::uint8_t>&, const PartitionRows<std::uint8_t>&,
                              bool, bool, int, std::span<double>);
template void partition_terms(const PartitionRows<std::int32_t>&, const PartitionRows<std::int32_t>&,
                              bool, bool, int, std::span<double>);

}  // namespace conclust
