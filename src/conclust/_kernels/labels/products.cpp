#include "labels/products.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/clones.h"
#include "base/pack.h"

namespace conclust {
namespace {

// A row whose squares sum to less than this is the rounding error of one that is 0 on paper.
constexpr double shortest_square = 1e-24;

// Adds up `packs` packs of the rows of a table, of `stride` doubles each, that the codes name.
template <std::size_t packs, class Code>
CONCLUST_INLINE void add_rows(const Code* codes, const std::int64_t* offsets, std::size_t m,
                              const double* table, std::size_t stride, double* out) {
    Pack sums[packs];
    for (std::size_t p = 0; p < packs; ++p) {
        sums[p] = spread(0.0);
    }
    for (std::size_t u = 0; u < m; ++u) {
        if (codes[u] >= first_reserved_code<Code>) {
            continue;
        }
        const double* row = table + (static_cast<std::size_t>(offsets[u]) + codes[u]) * stride;
        for (std::size_t p = 0; p < packs; ++p) {
            sums[p] += load(row + p * pack_lanes);
        }
    }
    for (std::size_t p = 0; p < packs; ++p) {
        store(out + p * pack_lanes, sums[p]);
    }
}

template <class Code>
CONCLUST_INLINE void padded_row(const Code* codes, const std::int64_t* offsets, std::size_t m,
                                const double* table, std::size_t stride, double* out) {
    std::size_t j = 0;
    for (; j + 4 * pack_lanes <= stride; j += 4 * pack_lanes) {
        add_rows<4>(codes, offsets, m, table + j, stride, out + j);
    }
    switch ((stride - j) / pack_lanes) {
        case 3: add_rows<3>(codes, offsets, m, table + j, stride, out + j); break;
        case 2: add_rows<2>(codes, offsets, m, table + j, stride, out + j); break;
        case 1: add_rows<1>(codes, offsets, m, table + j, stride, out + j); break;
        default: break;
    }
}

// The row is padded with zeros.
CONCLUST_INLINE void to_unit_length(double* row, std::size_t stride) {
    Pack squares = spread(0.0);
    for (std::size_t j = 0; j < stride; j += pack_lanes) {
        squares += load(row + j) * load(row + j);
    }
    double lanes[pack_lanes];
    store(lanes, squares);
    const double square = (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]);
    const Pack scale = spread(square < shortest_square ? 0.0 : 1.0 / std::sqrt(square));
    for (std::size_t j = 0; j < stride; j += pack_lanes) {
        store(row + j, scale * load(row + j));
    }
}

template <class Code>
CONCLUST_INLINE void all_rows(const Code* codes, const std::int64_t* offsets, std::size_t m,
                              const double* table, std::size_t stride, bool unit, std::size_t d,
                              std::size_t count, double* padded, double* out) {
    for (std::size_t i = 0; i < count; ++i) {
        padded_row(codes + i * m, offsets, m, table, stride, padded);
        if (unit) {
            to_unit_length(padded, stride);
        }
        std::copy_n(padded, d, out + i * d);
    }
}

CONCLUST_CLONES void rows_of(const std::uint8_t* codes, const std::int64_t* offsets, std::size_t m,
                             const double* table, std::size_t stride, bool unit, std::size_t d,
                             std::size_t count, double* padded, double* out) {
    all_rows(codes, offsets, m, table, stride, unit, d, count, padded, out);
}

CONCLUST_CLONES void rows_of(const std::uint16_t* codes, const std::int64_t* offsets, std::size_t m,
                             const double* table, std::size_t stride, bool unit, std::size_t d,
                             std::size_t count, double* padded, double* out) {
    all_rows(codes, offsets, m, table, stride, unit, d, count, padded, out);
}

CONCLUST_CLONES void rows_of(const std::uint32_t* codes, const std::int64_t* offsets, std::size_t m,
                             const double* table, std::size_t stride, bool unit, std::size_t d,
                             std::size_t count, double* padded, double* out) {
    all_rows(codes, offsets, m, table, stride, unit, d, count, padded, out);
}

// Adds `packs` packs of an object's row, times the weights, to those of the clusters that the codes name.
template <std::size_t packs, class Code>
CONCLUST_INLINE void add_row(const Code* codes, const std::int64_t* offsets, std::size_t m,
                             const double* weights, const double* row, std::size_t stride,
                             double* sums) {
    Pack values[packs];
    for (std::size_t p = 0; p < packs; ++p) {
        values[p] = load(row + p * pack_lanes);
    }
    for (std::size_t u = 0; u < m; ++u) {
        if (codes[u] >= first_reserved_code<Code>) {
            continue;
        }
        const std::size_t cluster = static_cast<std::size_t>(offsets[u]) + codes[u];
        const Pack weight = spread(weights[cluster]);
        double* to = sums + cluster * stride;
        for (std::size_t p = 0; p < packs; ++p) {
            store(to + p * pack_lanes, load(to + p * pack_lanes) + weight * values[p]);
        }
    }
}

template <class Code>
CONCLUST_INLINE void all_sums(const Code* codes, const std::int64_t* offsets, std::size_t m,
                              std::size_t n, const double* weights, const double* rows, std::size_t d,
                              std::size_t stride, double* padded, double* sums) {
    for (std::size_t i = 0; i < n; ++i) {
        const Code* row = codes + i * m;
        std::copy_n(rows + i * d, d, padded);
        std::size_t j = 0;
        for (; j + 4 * pack_lanes <= stride; j += 4 * pack_lanes) {
            add_row<4>(row, offsets, m, weights, padded + j, stride, sums + j);
        }
        switch ((stride - j) / pack_lanes) {
            case 3: add_row<3>(row, offsets, m, weights, padded + j, stride, sums + j); break;
            case 2: add_row<2>(row, offsets, m, weights, padded + j, stride, sums + j); break;
            case 1: add_row<1>(row, offsets, m, weights, padded + j, stride, sums + j); break;
            default: break;
        }
    }
}

CONCLUST_CLONES void sums_of(const std::uint8_t* codes, const std::int64_t* offsets, std::size_t m,
                             std::size_t n, const double* weights, const double* rows, std::size_t d,
                             std::size_t stride, double* padded, double* sums) {
    all_sums(codes, offsets, m, n, weights, rows, d, stride, padded, sums);
}

CONCLUST_CLONES void sums_of(const std::uint16_t* codes, const std::int64_t* offsets, std::size_t m,
                             std::size_t n, const double* weights, const double* rows, std::size_t d,
                             std::size_t stride, double* padded, double* sums) {
    all_sums(codes, offsets, m, n, weights, rows, d, stride, padded, sums);
}

CONCLUST_CLONES void sums_of(const std::uint32_t* codes, const std::int64_t* offsets, std::size_t m,
                             std::size_t n, const double* weights, const double* rows, std::size_t d,
                             std::size_t stride, double* padded, double* sums) {
    all_sums(codes, offsets, m, n, weights, rows, d, stride, padded, sums);
}

}  // namespace

void indicator_rows(const LabelView& labels, std::span<const double> table, std::size_t first, bool unit,
                    std::size_t d, std::span<double> out) {
    if (d == 0) {
        return;
    }
    const std::size_t stride = (d + pack_lanes - 1) / pack_lanes * pack_lanes;
    const std::size_t total = labels.n_clusters();
    std::vector<double> padded(total * stride, 0.0);
    for (std::size_t k = 0; k < total; ++k) {
        std::copy_n(table.data() + k * d, d, padded.data() + k * stride);
    }
    std::vector<double> row(stride);
    with_codes(labels, [&](const auto* codes) {
        rows_of(codes + first * labels.m, labels.offsets.data(), labels.m, padded.data(), stride, unit,
                d, out.size() / d, row.data(), out.data());
    });
}

void cluster_row_sums(const LabelView& labels, std::span<const double> weights,
                      std::span<const double> rows, std::size_t d, std::span<double> sums) {
    if (d == 0) {
        return;
    }
    const std::size_t stride = (d + pack_lanes - 1) / pack_lanes * pack_lanes;
    const std::size_t total = labels.n_clusters();
    std::vector<double> padded(stride, 0.0), wide(total * stride, 0.0);
    with_codes(labels, [&](const auto* codes) {
        sums_of(codes, labels.offsets.data(), labels.m, labels.n, weights.data(), rows.data(), d, stride,
                padded.data(), wide.data());
    });
    for (std::size_t k = 0; k < total; ++k) {
        std::copy_n(wide.data() + k * stride, d, sums.data() + k * d);
    }
}

void cluster_sums(const LabelView& labels, std::span<const double> values,
                  std::span<const std::int64_t> parts, std::size_t k, std::span<double> sums) {
    std::fill(sums.begin(), sums.end(), 0.0);
    with_codes(labels, [&]<class Code>(const Code* codes) {
        for (std::size_t i = 0; i < labels.n; ++i) {
            const Code* row = codes + i * labels.m;
            const double value = values.empty() ? 1.0 : values[i];
            const std::size_t part = parts.empty() ? 0 : static_cast<std::size_t>(parts[i]);
            for (std::size_t u = 0; u < labels.m; ++u) {
                if (row[u] < first_reserved_code<Code>) {
                    sums[(labels.first_cluster(u) + row[u]) * k + part] += value;
                }
            }
        }
    });
}

}  // namespace conclust
