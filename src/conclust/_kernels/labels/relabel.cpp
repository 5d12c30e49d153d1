#include "labels/relabel.h"

#include <algorithm>

#include "base/clones.h"
#include "base/interrupt.h"

namespace conclust {
namespace {

// Of many clusters, each label is a miss of the cache.
constexpr std::size_t rows_per_poll = 1024;

}  // namespace

Relabeller::Relabeller(std::size_t n_partitions, std::int64_t missing, std::int64_t noise)
    : missing_(missing), noise_(noise), lowest_(std::min(missing, noise)) {
    tables_.assign(n_partitions, begin());
}

Relabeller::Table Relabeller::begin() const {
    Table table;
    table.direct.assign(static_cast<std::size_t>(-lowest_), unseen);
    table.direct[static_cast<std::size_t>(missing_ - lowest_)] = missing_code<std::uint32_t>;
    table.direct[static_cast<std::size_t>(noise_ - lowest_)] = noise_code<std::uint32_t>;
    return table;
}

CONCLUST_INLINE std::uint32_t Relabeller::find(const Table& table, std::int64_t label) const {
    const auto at = static_cast<std::uint64_t>(label) - static_cast<std::uint64_t>(lowest_);
    if (at < table.direct.size()) {
        return table.direct[at];
    }
    if (table.hashed.empty()) {
        return unseen;
    }
    const auto found = table.hashed.find(label);
    return found == table.hashed.end() ? unseen : found->second;
}

void Relabeller::add(Table& table, std::int64_t label) const {
    const auto code = static_cast<std::uint32_t>(table.values.size());
    table.values.push_back(label);
    if (label >= 0 && label < direct_limit) {
        const auto at = static_cast<std::size_t>(label - lowest_);
        if (at >= table.direct.size()) {  // a label that it has room for is in it
            const auto most = static_cast<std::size_t>(direct_limit - lowest_);
            table.direct.resize(std::min(most, std::max(at + 1, 2 * table.direct.size())), unseen);
        }
        table.direct[at] = code;
    } else {
        table.hashed.emplace(label, code);
    }
}

template <class Label>
std::ptrdiff_t Relabeller::observe(std::span<const Label> block) {
    const std::size_t m = tables_.size();
    const std::size_t rows = block.size() / m;
    for (std::size_t i = 0; i < rows; ++i) {
        if (i % rows_per_poll == 0) {
            stop_if_interrupted();
        }
        const Label* row = block.data() + i * m;
        for (std::size_t u = 0; u < m; ++u) {
            const auto label = static_cast<std::int64_t>(row[u]);
            if (find(tables_[u], label) != unseen) {
                continue;
            }
            if (label < 0) {
                return static_cast<std::ptrdiff_t>(i * m + u);
            }
            add(tables_[u], label);
        }
    }
    return -1;
}

template <class Label, class Code>
std::size_t Relabeller::encode(std::span<const Label> block, std::span<Code> out) const {
    const std::size_t m = tables_.size();
    const std::size_t rows = block.size() / m;
    std::size_t strangers = 0;
    for (std::size_t i = 0; i < rows; ++i) {
        if (i % rows_per_poll == 0) {
            stop_if_interrupted();
        }
        const Label* row = block.data() + i * m;
        Code* codes = out.data() + i * m;
        for (std::size_t u = 0; u < m; ++u) {
            const std::uint32_t code = find(tables_[u], static_cast<std::int64_t>(row[u]));
            const bool stranger = code == unseen;
            codes[u] = stranger ? noise_code<Code> : static_cast<Code>(code);
            strangers += stranger;
        }
    }
    return strangers;
}

void Relabeller::restore(std::size_t partition, std::span<const std::int64_t> values) {
    tables_[partition] = begin();
    for (const std::int64_t value : values) {
        add(tables_[partition], value);
    }
}

namespace {

template <bool Signed>
CONCLUST_INLINE bool continues(const std::uint8_t* block, std::size_t rows, std::size_t n_partitions,
                               std::uint8_t* met) {
    constexpr std::uint8_t largest = Signed ? 127 : first_reserved_code<std::uint8_t> - 1;
    for (std::size_t i = 0; i < rows; ++i) {
        const std::uint8_t* row = block + i * n_partitions;
        std::uint8_t broken = 0;
        for (std::size_t u = 0; u < n_partitions; ++u) {
            const bool cluster = !Signed || row[u] < first_reserved_code<std::uint8_t>;
            const std::uint8_t limit = std::min(met[u], largest);
            broken |= static_cast<std::uint8_t>(cluster & (row[u] > limit));
            met[u] = std::max(met[u], static_cast<std::uint8_t>(cluster ? row[u] + 1 : 0));
        }
        if (broken) {
            return false;
        }
    }
    return true;
}

CONCLUST_CLONES
bool continues_signed(const std::uint8_t* block, std::size_t rows, std::size_t n_partitions,
                      std::uint8_t* met) {
    return continues<true>(block, rows, n_partitions, met);
}

CONCLUST_CLONES
bool continues_unsigned(const std::uint8_t* block, std::size_t rows, std::size_t n_partitions,
                        std::uint8_t* met) {
    return continues<false>(block, rows, n_partitions, met);
}

}  // namespace

bool continues_canonical(std::span<const std::uint8_t> block, bool is_signed,
                         std::span<std::uint8_t> met) {
    const std::size_t m = met.size();
    const std::size_t rows = block.size() / m;
    return is_signed ? continues_signed(block.data(), rows, m, met.data())
                     : continues_unsigned(block.data(), rows, m, met.data());
}

#define CONCLUST_INSTANTIATE(Label)                                                                  \
    template std::ptrdiff_t Relabeller::observe(std::span<const Label>);                             \
    template std::size_t Relabeller::encode(std::span<const Label>, std::span<std::uint8_t>) const;  \
    template std::size_t Relabeller::encode(std::span<const Label>, std::span<std::uint16_t>) const; \
    template std::size_t Relabeller::encode(std::span<const Label>, std::span<std::uint32_t>) const;

CONCLUST_INSTANTIATE(std::int64_t)
CONCLUST_INSTANTIATE(std::int32_t)
CONCLUST_INSTANTIATE(std::int8_t)
CONCLUST_INSTANTIATE(std::uint8_t)

}  // namespace conclust
