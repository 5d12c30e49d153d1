#include "evidence/nearest/symmetric_pattern.h"

#include <algorithm>

#include "base/interrupt.h"

namespace conclust {

namespace {

// Rows between two polls.
constexpr std::size_t rows_at_once = 64;

}  // namespace

SymmetricPattern::SymmetricPattern(std::span<const std::int64_t> indptr,
                                   std::span<const std::int32_t> indices, [[maybe_unused]] int threads)
    : chosen_at_(indptr),
      chosen_(indices),
      choosers_at_(indptr.size(), 0),
      choosers_(indices.size()),
      indptr_(indptr.size(), 0) {
    transpose();
    const auto last = static_cast<std::ptrdiff_t>(indptr_.size()) - 1;
    Interruption interruption;
#pragma omp parallel for default(none) num_threads(threads) schedule(static) shared(last, interruption)
    for (std::ptrdiff_t i = 0; i < last; ++i) {
        if (interruption.wanted()) {
            continue;
        }
        std::int64_t size = 0;
        merge(static_cast<std::size_t>(i), [&size](std::int32_t) { ++size; });
        indptr_[static_cast<std::size_t>(i) + 1] = size;
    }
    interruption.pass_on();
    for (std::size_t i = 1; i < indptr_.size(); ++i) {
        indptr_[i] += indptr_[i - 1];
    }
}

// A counting sort. Objects come in increasing order, so the rows of choosers are sorted.
void SymmetricPattern::transpose() {
    const std::size_t n = indptr_.size() - 1;
    const auto each = [&](auto&& take) {
        for (std::size_t i = 0; i < n; ++i) {
            if (i % rows_at_once == 0) {
                stop_if_interrupted();
            }
            for (std::int64_t e = chosen_at_[i]; e < chosen_at_[i + 1]; ++e) {
                take(i, static_cast<std::size_t>(chosen_[static_cast<std::size_t>(e)]));
            }
        }
    };
    each([&](std::size_t, std::size_t j) { ++choosers_at_[j + 1]; });
    for (std::size_t i = 0; i < n; ++i) {
        choosers_at_[i + 1] += choosers_at_[i];
    }
    std::vector<std::int64_t> next(choosers_at_.begin(), choosers_at_.end() - 1);
    each([&](std::size_t i, std::size_t j) {
        choosers_[static_cast<std::size_t>(next[j]++)] = static_cast<std::int32_t>(i);
    });
}

// The union of the two sorted lists of object i.
template <class Take>
void SymmetricPattern::merge(std::size_t i, Take take) const {
    const std::int32_t* a = chosen_.data() + chosen_at_[i];
    const std::int32_t* a_end = chosen_.data() + chosen_at_[i + 1];
    const std::int32_t* b = choosers_.data() + choosers_at_[i];
    const std::int32_t* b_end = choosers_.data() + choosers_at_[i + 1];
    while (a < a_end && b < b_end) {
        const std::int32_t least = std::min(*a, *b);
        a += *a == least;
        b += *b == least;
        take(least);
    }
    std::for_each(a, a_end, take);
    std::for_each(b, b_end, take);
}

void SymmetricPattern::read(std::span<std::int64_t> indptr, std::span<std::int32_t> indices,
                            [[maybe_unused]] int threads) const {
    std::copy(indptr_.begin(), indptr_.end(), indptr.begin());
    const auto last = static_cast<std::ptrdiff_t>(indptr_.size()) - 1;
    Interruption interruption;
#pragma omp parallel for default(none) num_threads(threads) schedule(static) \
    shared(indices, last, interruption)
    for (std::ptrdiff_t i = 0; i < last; ++i) {
        if (interruption.wanted()) {
            continue;
        }
        std::int32_t* to = indices.data() + indptr_[static_cast<std::size_t>(i)];
        merge(static_cast<std::size_t>(i), [&to](std::int32_t object) { *to++ = object; });
    }
    interruption.pass_on();
}

}  // namespace conclust
