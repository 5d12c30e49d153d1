#include "evidence/nearest.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <optional>
#include <type_traits>

#include "base/clones.h"
#include "base/interrupt.h"
#include "evidence/pairs.h"

namespace conclust {

namespace {

// Objects of one task.
constexpr std::size_t task_size = 256;
constexpr double grid = 1099511627776.0;  // 2^40
// More than the rounding of a sum of weights.
constexpr double slack = 16.0 / grid;

// The objects of every cluster, one cluster after the other.
struct Members {
    std::vector<std::int64_t> starts;  // T + 1
    std::vector<std::int32_t> objects;

    explicit Members(const LabelView& labels) : starts(labels.n_clusters() + 1, 0) {
        with_codes(labels, [&](const auto* codes) {
            using Code = std::remove_const_t<std::remove_pointer_t<decltype(codes)>>;
            const auto each = [&](auto&& take) {
                for (std::size_t i = 0; i < labels.n; ++i)
                    for (std::size_t u = 0; u < labels.m; ++u) {
                        const Code code = codes[i * labels.m + u];
                        if (code < first_reserved_code<Code>) take(i, labels.first_cluster(u) + code);
                    }
            };
            each([&](std::size_t, std::size_t t) { ++starts[t + 1]; });
            for (std::size_t t = 0; t + 1 < starts.size(); ++t) starts[t + 1] += starts[t];
            objects.resize(static_cast<std::size_t>(starts.back()));
            std::vector<std::int64_t> next(starts.begin(), starts.end() - 1);
            each([&](std::size_t i, std::size_t t) {
                objects[static_cast<std::size_t>(next[t]++)] = static_cast<std::int32_t>(i);
            });
        });
    }

    std::span<const std::int32_t> of(std::size_t t) const {
        const auto begin = static_cast<std::size_t>(starts[t]);
        return {objects.data() + begin, static_cast<std::size_t>(starts[t + 1]) - begin};
    }
};

// Weight of the partitions that observed each object.
std::vector<double> observed_weight(const LabelView& labels) {
    std::vector<double> observed(labels.n, 0.0);
    with_codes(labels, [&](const auto* codes) {
        using Code = std::remove_const_t<std::remove_pointer_t<decltype(codes)>>;
        for (std::size_t i = 0; i < labels.n; ++i)
            for (std::size_t u = 0; u < labels.m; ++u)
                if (codes[i * labels.m + u] != missing_code<Code>) observed[i] += labels.weight(u);
    });
    return observed;
}

constexpr std::size_t line = 64;
// Pairs between the prefetch of a row and its use.
constexpr std::size_t ahead = 8;

// How many codes of the row at `own` others have too. Rows are `stride` bytes long, whole lines, and equal in
// what follows the codes.
template <class Code>
CONCLUST_INLINE void count_equal(const std::uint8_t* rows, std::size_t stride, std::size_t own,
                                 const std::int32_t* others, std::size_t count, std::uint32_t* equal) {
    constexpr std::size_t L = line / sizeof(Code);
    const auto row = [&](std::size_t i) { return reinterpret_cast<const Code*>(rows + i * stride); };
    const Code* a = row(own);
    for (std::size_t e = 0; e < count; ++e) {
#if defined(__GNUC__)
        __builtin_prefetch(row(static_cast<std::size_t>(others[std::min(e + ahead, count - 1)])));
#endif
        const Code* b = row(static_cast<std::size_t>(others[e]));
        Code lanes[L] = {};
        for (std::size_t u = 0; u < stride / sizeof(Code); u += L)
            for (std::size_t k = 0; k < L; ++k)
                lanes[k] = static_cast<Code>(lanes[k] + static_cast<Code>(a[u + k] == b[u + k]));
        std::uint32_t sum = 0;
        for (std::size_t k = 0; k < L; ++k) sum += lanes[k];
        equal[e] = sum;
    }
}

// Plain functions, because templates are not cloned.
#define CONCLUST_INSTANTIATE(bits)                                                        \
    CONCLUST_CLONES void count_equal_##bits(const std::uint8_t* rows, std::size_t stride, \
                                            std::size_t own, const std::int32_t* others,  \
                                            std::size_t count, std::uint32_t* equal) {    \
        count_equal<std::uint##bits##_t>(rows, stride, own, others, count, equal);        \
    }

CONCLUST_INSTANTIATE(8)
CONCLUST_INSTANTIATE(16)
CONCLUST_INSTANTIATE(32)
#undef CONCLUST_INSTANTIATE

// The codes of complete labels in whole lines of the cache: one comparison of registers for up to 64 labels.
class PaddedRows {
  public:
    explicit PaddedRows(const LabelView& labels) {
        with_codes(labels, [&](const auto* codes) {
            using Code = std::remove_const_t<std::remove_pointer_t<decltype(codes)>>;
            const std::size_t bytes = labels.m * sizeof(Code);
            stride_ = (bytes + line - 1) / line * line;
            padding_ = (stride_ - bytes) / sizeof(Code);
            count_ = sizeof(Code) == 1   ? count_equal_8
                     : sizeof(Code) == 2 ? count_equal_16
                                         : count_equal_32;
            rows_.resize(labels.n * stride_ + line, 0);
            for (std::size_t i = 0; i < labels.n; ++i)
                std::memcpy(rows_.data() + shift() + i * stride_, codes + i * labels.m, bytes);
        });
    }

    // Only so many lines can be counted in one byte a lane.
    static bool fits(const LabelView& labels) { return labels.m <= 255 * line / 4; }

    void compare(std::size_t i, std::span<const std::int32_t> others,
                 std::span<std::uint32_t> equal) const {
        count_(rows_.data() + shift(), stride_, i, others.data(), others.size(), equal.data());
        for (std::uint32_t& one : equal) one -= static_cast<std::uint32_t>(padding_);
    }

  private:
    std::size_t shift() const { return -reinterpret_cast<std::uintptr_t>(rows_.data()) % line; }

    std::vector<std::uint8_t> rows_;
    std::size_t stride_ = 0, padding_ = 0;
    void (*count_)(const std::uint8_t*, std::size_t, std::size_t, const std::int32_t*, std::size_t,
                   std::uint32_t*) = nullptr;
};

struct Ensemble {
    const LabelView& labels;
    Members members;
    std::optional<PaddedRows> padded;  // where the number of equal codes says all
    std::vector<double> observed;
    double total = 0.0;  // weight of all partitions
    double least = 0.0;  // smallest of `observed`

    explicit Ensemble(const LabelView& given)
        : labels(given), members(given), observed(observed_weight(given)) {
        for (std::size_t u = 0; u < given.m; ++u) total += given.weight(u);
        least = *std::min_element(observed.begin(), observed.end());
        if (given.complete && given.weights.empty() && PaddedRows::fits(given)) padded.emplace(given);
    }
};

// What one thread works with.
template <class Sum>
class Search {
  public:
    Search(const Ensemble& ensemble, std::size_t k)
        : e_(ensemble), k_(k), seen_(ensemble.labels.n, -1) {}

    // Appends the row of object i; returns its length.
    std::size_t row(std::size_t i, std::vector<std::int32_t>& found) {
        start(i);
        for (const std::size_t u : order_) {
            if (best_.size() == k_ && bound(i) < best_.front() - slack) break;
            look_through(i, u);
            left_ -= e_.labels.weight(u);
        }
        const double least = best_.size() == k_ ? best_.front() : 0.0;
        const std::size_t before = found.size();
        for (std::size_t e = 0; e < others_.size(); ++e)
            if (similarities_[e] >= least && similarities_[e] > 0.0) found.push_back(others_[e]);
        std::sort(found.begin() + static_cast<std::ptrdiff_t>(before), found.end());
        return found.size() - before;
    }

  private:
    void start(std::size_t i) {
        others_.clear();
        similarities_.clear();
        best_.clear();
        order_.clear();
        clusters_.assign(e_.labels.m, 0);
        left_ = 0.0;
        seen_[i] = static_cast<std::int32_t>(i);
        with_codes(e_.labels, [&](const auto* codes) {
            using Code = std::remove_const_t<std::remove_pointer_t<decltype(codes)>>;
            for (std::size_t u = 0; u < e_.labels.m; ++u) {
                const Code code = codes[i * e_.labels.m + u];
                if (code >= first_reserved_code<Code> || e_.labels.weight(u) <= 0.0) continue;
                clusters_[u] = e_.labels.first_cluster(u) + code;
                order_.push_back(u);
                left_ += e_.labels.weight(u);
            }
        });
        std::stable_sort(order_.begin(), order_.end(), [&](std::size_t u, std::size_t v) {
            return e_.members.of(clusters_[u]).size() < e_.members.of(clusters_[v]).size();
        });
    }

    // The largest p of an object that is in none of the clusters gone through.
    double bound(std::size_t i) const {
        const double left = std::max(left_, 0.0);
        const double both = std::max(left, e_.observed[i] + e_.least - e_.total);
        return both > 0.0 ? left / both : 0.0;
    }

    void look_through(std::size_t i, std::size_t u) {
        const std::size_t before = others_.size();
        const auto mark = static_cast<std::int32_t>(i);
        for (const std::int32_t j : e_.members.of(clusters_[u])) {
            std::int32_t& seen = seen_[static_cast<std::size_t>(j)];
            if (seen == mark) continue;
            seen = mark;
            others_.push_back(j);
        }
        const std::size_t count = others_.size() - before;
        compare(i, std::span(others_).subspan(before));
        for (std::size_t e = 0; e < count; ++e) {
            const double p = similarity(e);
            similarities_.push_back(p);
            if (best_.size() < k_) {
                best_.push_back(p);
                std::push_heap(best_.begin(), best_.end(), std::greater<>());
            } else if (p > best_.front()) {
                std::pop_heap(best_.begin(), best_.end(), std::greater<>());
                best_.back() = p;
                std::push_heap(best_.begin(), best_.end(), std::greater<>());
            }
        }
    }

    void compare(std::size_t i, std::span<const std::int32_t> others) {
        shared_.resize(others.size());
        if constexpr (std::is_integral_v<Sum>)
            if (e_.padded) {
                both_.assign(others.size(), static_cast<Sum>(e_.labels.m));
                e_.padded->compare(i, others, shared_);
                return;
            }
        both_.resize(others.size());
        own_.assign(others.size(), static_cast<std::int32_t>(i));
        few_pair_counts<std::int32_t, Sum>(e_.labels, own_, others, shared_, both_);
    }

    double similarity(std::size_t e) const {
        const double p = static_cast<double>(shared_[e]) / static_cast<double>(both_[e]);
        return std::is_floating_point_v<Sum> ? std::nearbyint(p * grid) / grid : p;
    }

    const Ensemble& e_;
    std::size_t k_;
    std::vector<std::int32_t> seen_;  // for whom each object was looked at last
    std::vector<std::size_t> order_, clusters_;
    std::vector<std::int32_t> own_, others_;
    std::vector<Sum> shared_, both_;
    std::vector<double> similarities_;
    std::vector<double> best_;  // a heap, the smallest in front
    double left_ = 0.0;  // weight of the clusters not gone through
};

}  // namespace

NearestPairs::NearestPairs(const LabelView& labels, std::size_t k, [[maybe_unused]] int threads)
    : indptr_(labels.n + 1, 0), parts_((labels.n + task_size - 1) / task_size) {
    const Ensemble ensemble(labels);
    const auto tasks = static_cast<std::ptrdiff_t>(parts_.size());
    Interruption interruption;
    const auto work = [&](auto& search, std::ptrdiff_t task) {
        if (interruption.wanted(task, tasks)) {
            return;
        }
        const std::size_t begin = static_cast<std::size_t>(task) * task_size;
        const std::size_t end = std::min(begin + task_size, labels.n);
        for (std::size_t i = begin; i < end; ++i) {
            const std::size_t length = search.row(i, parts_[static_cast<std::size_t>(task)]);
            indptr_[i + 1] = static_cast<std::int64_t>(length);
        }
    };
#pragma omp parallel default(none) num_threads(threads) shared(ensemble, k, tasks, work)
    {
        if (ensemble.labels.weights.empty()) {
            Search<std::uint32_t> search(ensemble, k);
#pragma omp for schedule(dynamic, 1)
            for (std::ptrdiff_t task = 0; task < tasks; ++task) work(search, task);
        } else {
            Search<double> search(ensemble, k);
#pragma omp for schedule(dynamic, 1)
            for (std::ptrdiff_t task = 0; task < tasks; ++task) work(search, task);
        }
    }
    interruption.pass_on();
    for (std::size_t i = 0; i < labels.n; ++i) indptr_[i + 1] += indptr_[i];
}

void NearestPairs::read(std::span<std::int64_t> indptr, std::span<std::int32_t> indices) const {
    std::copy(indptr_.begin(), indptr_.end(), indptr.begin());
    auto to = indices.begin();
    for (const auto& part : parts_) to = std::copy(part.begin(), part.end(), to);
}

}  // namespace conclust
