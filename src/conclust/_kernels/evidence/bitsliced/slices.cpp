#include "evidence/bitsliced/slices.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <new>
#include <numeric>

#include "base/clones.h"

namespace conclust {

namespace {

constexpr std::size_t block_size = BitSlices::block_size;
constexpr std::size_t group_size = BitSlices::group_size;
constexpr std::align_val_t alignment{64};

// The content of a column: the number of clusters in its codes, and whether it has missing and noise.
struct Columns {
    std::vector<std::uint32_t> clusters;
    std::vector<std::uint8_t> missing;
    std::vector<std::uint8_t> noise;
};

template <class Code>
CONCLUST_INLINE void survey_rows(const Code* codes, std::size_t begin, std::size_t end, std::size_t m,
                                 Code* largest, std::uint8_t* missing, std::uint8_t* noise) {
    for (std::size_t i = begin; i < end; ++i) {
        const Code* row = codes + i * m;
        for (std::size_t u = 0; u < m; ++u) {
            const Code code = row[u];
            const Code bound = code < first_reserved_code<Code> ? static_cast<Code>(code + 1) : Code{0};
            largest[u] = std::max(largest[u], bound);
            missing[u] |= static_cast<std::uint8_t>(code == missing_code<Code>);
            noise[u] |= static_cast<std::uint8_t>(code == noise_code<Code>);
        }
    }
}

// The bytes of one block, group by group, from the codes of its (at most 64) objects.
template <class Code>
CONCLUST_INLINE void pack_block(const Code* codes, std::size_t rows, std::size_t m,
                                const std::vector<SliceGroup>& groups,
                                const std::vector<std::uint32_t>& order, std::uint8_t* out) {
    alignas(64) std::array<Code, block_size> column{};
    std::size_t position = 0;
    for (const SliceGroup& group : groups) {
        std::uint8_t* planes = out + group.first * block_size;
        std::uint8_t* labelled = group.labelled < 0 ? nullptr : out + group.labelled * block_size;
        std::uint8_t* present = group.present < 0 ? nullptr : out + group.present * block_size;
        if (labelled) {
            std::memset(labelled, static_cast<std::uint8_t>(0xffu << group.size), block_size);
        }
        if (present) {
            std::memset(present, static_cast<std::uint8_t>(0xffu << group.size), block_size);
        }
        for (std::uint32_t bit = 0; bit < group.size; ++bit, ++position) {
            const Code* source = codes + order[position];
            for (std::size_t k = 0; k < rows; ++k) {
                column[k] = source[k * m];
            }
            if (labelled) {
                for (std::size_t k = 0; k < block_size; ++k) {
                    const bool is = column[k] < first_reserved_code<Code>;
                    labelled[k] |= static_cast<std::uint8_t>(static_cast<unsigned>(is) << bit);
                }
            }
            if (present && present != labelled) {
                for (std::size_t k = 0; k < block_size; ++k) {
                    const bool is = column[k] != missing_code<Code>;
                    present[k] |= static_cast<std::uint8_t>(static_cast<unsigned>(is) << bit);
                }
            }
            for (std::uint32_t p = 0; p < group.planes; ++p) {
                std::uint8_t* plane = planes + p * block_size;
                for (std::size_t k = 0; k < block_size; ++k) {
                    plane[k] |= static_cast<std::uint8_t>(((column[k] >> p) & 1u) << bit);
                }
            }
        }
    }
}

// Plain functions, because templates are not cloned.
#define CONCLUST_INSTANTIATE(Code)                                                                    \
    CONCLUST_CLONES void survey(const Code* codes, std::size_t begin, std::size_t end, std::size_t m, \
                                Code* largest, std::uint8_t* missing, std::uint8_t* noise) {          \
        survey_rows(codes, begin, end, m, largest, missing, noise);                                   \
    }                                                                                                 \
    CONCLUST_CLONES void pack(const Code* codes, std::size_t rows, std::size_t m,                     \
                              const std::vector<SliceGroup>& groups,                                  \
                              const std::vector<std::uint32_t>& order, std::uint8_t* out) {           \
        pack_block(codes, rows, m, groups, order, out);                                               \
    }

CONCLUST_INSTANTIATE(std::uint8_t)
CONCLUST_INSTANTIATE(std::uint16_t)
CONCLUST_INSTANTIATE(std::uint32_t)
#undef CONCLUST_INSTANTIATE

template <class Code>
Columns survey_all(const Code* codes, std::size_t n, std::size_t m, [[maybe_unused]] int threads) {
    // A fixed number of stripes, merged afterwards: maxima and ORs do not depend on their order.
    const std::size_t stripes =
        std::min<std::size_t>(static_cast<std::size_t>(threads), (n + 4095) / 4096);
    std::vector<Code> largest(stripes * m, Code{0});
    std::vector<std::uint8_t> missing(stripes * m, 0);
    std::vector<std::uint8_t> noise(stripes * m, 0);
    const auto last = static_cast<std::ptrdiff_t>(stripes);
#pragma omp parallel for default(none) num_threads(threads) schedule(static) \
    shared(codes, n, m, stripes, last, largest, missing, noise)
    for (std::ptrdiff_t stripe = 0; stripe < last; ++stripe) {
        const auto s = static_cast<std::size_t>(stripe);
        survey(codes, n * s / stripes, n * (s + 1) / stripes, m, largest.data() + s * m,
               missing.data() + s * m, noise.data() + s * m);
    }
    Columns columns{std::vector<std::uint32_t>(m, 0), std::vector<std::uint8_t>(m, 0),
                    std::vector<std::uint8_t>(m, 0)};
    for (std::size_t s = 0; s < stripes; ++s) {
        for (std::size_t u = 0; u < m; ++u) {
            columns.clusters[u] = std::max<std::uint32_t>(columns.clusters[u], largest[s * m + u]);
            columns.missing[u] |= missing[s * m + u];
            columns.noise[u] |= noise[s * m + u];
        }
    }
    return columns;
}

std::uint32_t bits(std::uint32_t clusters) {
    return static_cast<std::uint32_t>(clusters < 2 ? 0 : std::bit_width(clusters - 1));
}

}  // namespace

void BitSlices::Free::operator()(std::uint8_t* bytes) const { ::operator delete[](bytes, alignment); }

BitSlices::BitSlices(const LabelView& labels, [[maybe_unused]] int threads)
    : n_(labels.n), blocks_((n_ + block_size - 1) / block_size), order_(labels.m) {
    const std::size_t n = n_;
    const std::size_t m = labels.m;
    // Packing a few million labels takes a millisecond: less than it takes to wake threads.
    threads = n * m < (std::size_t{1} << 23) ? 1 : threads;
    const Columns columns =
        with_codes(labels, [&](const auto* codes) { return survey_all(codes, n, m, threads); });

    // Columns are sorted by their number of bits, then by which further planes they need: few groups
    // then pay for those planes.
    std::iota(order_.begin(), order_.end(), 0u);
    const auto key = [&columns](std::uint32_t u) {
        return 4 * bits(columns.clusters[u]) + 2 * columns.missing[u] + columns.noise[u];
    };
    std::stable_sort(order_.begin(), order_.end(),
                     [&key](std::uint32_t a, std::uint32_t b) { return key(a) < key(b); });

    for (std::size_t begin = 0; begin < m; begin += group_size) {
        const std::size_t end = std::min(m, begin + group_size);
        SliceGroup group{static_cast<std::uint32_t>(end - begin), static_cast<std::uint32_t>(slices_), 0,
                         -1, -1};
        bool missing = false;
        bool noise = false;
        for (std::size_t k = begin; k < end; ++k) {
            group.planes = std::max(group.planes, bits(columns.clusters[order_[k]]));
            missing |= columns.missing[order_[k]] != 0;
            noise |= columns.noise[order_[k]] != 0;
        }
        slices_ += group.planes;
        if (missing || noise) {
            group.labelled = static_cast<std::int32_t>(slices_++);
        }
        if (missing) {
            group.present = noise ? static_cast<std::int32_t>(slices_++) : group.labelled;
        }
        complete_ &= !missing;
        labelled_ &= !(missing || noise);
        groups_.push_back(group);
    }

    const std::size_t size = std::max<std::size_t>(n_bytes(), 1);
    bytes_.reset(static_cast<std::uint8_t*>(::operator new[](size, alignment)));
    const auto last = static_cast<std::ptrdiff_t>(blocks_);
#pragma omp parallel for default(none) num_threads(threads) schedule(static) shared(labels, n, m, last)
    for (std::ptrdiff_t b = 0; b < last; ++b) {
        const std::size_t begin = static_cast<std::size_t>(b) * block_size;
        std::uint8_t* out = block(static_cast<std::size_t>(b));
        std::memset(out, 0, slices_ * block_size);
        with_codes(labels, [&](const auto* codes) {
            pack(codes + begin * m, std::min(begin + block_size, n) - begin, m, groups_, order_, out);
        });
    }
}

std::vector<Segment> segments(const BitSlices& slices, std::size_t most) {
    const std::size_t groups = slices.groups().size();
    std::vector<Segment> result;
    for (std::size_t begin = 0; begin < groups; begin += most) {
        result.push_back({begin, std::min(groups, begin + most)});
    }
    return result;
}

void spread_object(const BitSlices& slices, std::size_t i, std::uint32_t* to, std::size_t stride) {
    const std::uint8_t* from = slices.object(i);
    for (std::size_t s = 0; s < slices.n_slices(); ++s) {
        to[s * stride] = 0x01010101u * from[s * BitSlices::block_size];
    }
}

void weight_tables(const BitSlices& slices, std::span<const double> weights, Form form, double* tables) {
    const std::uint32_t* partition = slices.order().data();
    for (const SliceGroup& group : slices.groups()) {
        double halves[2][half_table_size];
        for (std::uint32_t half = 0; half < 2; ++half) {
            double* sums = halves[half];
            sums[0] = 0.0;
            for (std::uint32_t bit = 0; bit < 4; ++bit) {
                const std::size_t entries = std::size_t{1} << bit;
                const std::uint32_t b = 4 * half + bit;
                const double weight = b < group.size ? weights[partition[b]] : 0.0;
                for (std::size_t z = 0; z < entries; ++z) {
                    sums[entries + z] = sums[z];
                    sums[z] += weight;
                }
            }
        }
        if (table_size(form) == 2 * half_table_size) {
            std::copy_n(halves[0], half_table_size, tables);
            std::copy_n(halves[1], half_table_size, tables + half_table_size);
        } else {
            for (std::size_t z = 0; z < 256; ++z) {
                tables[z] = halves[0][z % 16] + halves[1][z / 16];
            }
        }
        partition += group.size;
        tables += table_size(form);
    }
}

std::vector<double> weight_tables(const BitSlices& slices, std::span<const double> weights, Form form) {
    std::vector<double> tables(table_size(form) * slices.groups().size());
    weight_tables(slices, weights, form, tables.data());
    return tables;
}

}  // namespace conclust
