#include "evidence/nearest/nearest.h"

#include <algorithm>
#include <atomic>
#include <optional>

#include "base/interrupt.h"
#include "evidence/nearest/comparing.h"
#include "evidence/nearest/counting.h"
#include "evidence/nearest/searched.h"

namespace conclust {

namespace {

// Objects of one task.
constexpr std::size_t task_size = 256;
// Inverse share of objects that may be compared before counting with all objects is cheaper.
constexpr std::size_t compared = 10;
constexpr std::size_t tried = 64;

// Whether counting with all objects is cheaper than comparing, estimated on some objects far apart.
bool counting_is_cheaper(const Searched& searched, std::size_t k) {
    const std::size_t n = searched.labels.n;
    if (!searched.padded || searched.labels.m > 255 || n < 4 * tried) return false;
    Search<std::uint32_t> search(searched, k);
    std::vector<std::int32_t> found;
    std::size_t total = 0;
    for (std::size_t t = 0; t < tried; ++t) {
        search.row(t * (n / tried), found);
        total += search.looked_at();
    }
    return total > tried * (n / compared);
}

}  // namespace

NearestPairs::NearestPairs(const LabelView& labels, std::size_t k, std::size_t first, std::size_t last,
                           std::size_t most, [[maybe_unused]] int threads)
    : indptr_(last - first + 1, 0), parts_((last - first + task_size - 1) / task_size) {
    const Searched searched(labels);
    const auto tasks = static_cast<std::ptrdiff_t>(parts_.size());
    Interruption interruption;
    std::atomic<std::size_t> total = 0;
    const auto each = [&](std::ptrdiff_t task, auto&& rows) {
        if (interruption.wanted(task, tasks) || total > most) {
            return;
        }
        const std::size_t begin = first + static_cast<std::size_t>(task) * task_size;
        interruption.guard([&] {
            std::vector<std::int32_t>& found = parts_[static_cast<std::size_t>(task)];
            rows(begin, std::min(begin + task_size, last), found);
            total += found.size();
        });
    };
    const auto work = [&](auto& search, std::ptrdiff_t task) {
        each(task, [&](std::size_t begin, std::size_t end, std::vector<std::int32_t>& found) {
            for (std::size_t i = begin; i < end; ++i) {
                indptr_[i - first + 1] = static_cast<std::int64_t>(search->row(i, found));
            }
        });
    };
    if (counting_is_cheaper(searched, k)) {
        const BitSlices slices(labels, threads);
        const Form form = find_form("auto");
#pragma omp parallel default(none) num_threads(threads) \
    shared(slices, k, form, tasks, each, first, interruption)
        {
            std::optional<Counting> counting;
            interruption.guard([&] { counting.emplace(slices, k, form); });
#pragma omp for schedule(dynamic, 1)
            for (std::ptrdiff_t task = 0; task < tasks; ++task)
                each(task, [&](std::size_t begin, std::size_t end, std::vector<std::int32_t>& found) {
                    counting->rows(begin, end, found, indptr_.data() + (begin - first) + 1);
                });
        }
    } else {
#pragma omp parallel default(none) num_threads(threads) shared(searched, k, tasks, work, interruption)
        {
            if (searched.labels.weights.empty()) {
                std::optional<Search<std::uint32_t>> search;
                interruption.guard([&] { search.emplace(searched, k); });
#pragma omp for schedule(dynamic, 1)
                for (std::ptrdiff_t task = 0; task < tasks; ++task) work(search, task);
            } else {
                std::optional<Search<double>> search;
                interruption.guard([&] { search.emplace(searched, k); });
#pragma omp for schedule(dynamic, 1)
                for (std::ptrdiff_t task = 0; task < tasks; ++task) work(search, task);
            }
        }
    }
    interruption.pass_on();
    exceeded_ = total > most;
    for (std::size_t i = 0; i < last - first; ++i) indptr_[i + 1] += indptr_[i];
}

void NearestPairs::read(std::span<std::int64_t> indptr, std::span<std::int32_t> indices) const {
    std::copy(indptr_.begin(), indptr_.end(), indptr.begin());
    auto to = indices.begin();
    for (const auto& part : parts_) {
        stop_if_interrupted();
        to = std::copy(part.begin(), part.end(), to);
    }
}

}  // namespace conclust
