// Processes objects in slots: the objects of a slot in any order, by any number of threads, and
// none of the next slot before the slot is closed.
//
// A thread never waits for an idle one: threads that start late, or never, cause no delay. That
// matters if a slot is as short as a time slice on a busy machine.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <thread>

namespace conclust {

class Slots {
  public:
    // 1 <= size < 2^31 objects per slot; threads >= 1.
    Slots(std::size_t count, std::size_t size, std::size_t threads)
        : count_(count),
          size_(size),
          last_((count + size - 1) / size),
          part_(threads == 1 ? size : std::max<std::size_t>(1, size / (parts_per_thread * threads))) {}

    // The work of one thread, until everything is done. Calls work(begin, end) for objects of the open slot, and
    // close(begin, end) once, on any thread, when all objects of a slot are done.
    template <class Work, class Close>
    void help(const Work& work, const Close& close) {
        for (;;) {
            const std::uint64_t ticket = ticket_.fetch_add(part_, std::memory_order_acq_rel);
            const std::uint64_t slot = ticket >> 32;
            if (slot == last_) {
                return;
            }
            const std::size_t begin = static_cast<std::size_t>(slot) * size_;
            const std::size_t length = std::min(size_, count_ - begin);
            const std::size_t at = static_cast<std::size_t>(ticket & 0xffffffffu);
            if (at >= length) {
                wait_for_next(slot);
                continue;
            }
            const std::size_t some = std::min(part_, length - at);
            work(begin + at, begin + at + some);
            if (done_.fetch_add(some, std::memory_order_acq_rel) + some == length) {
                close(begin, begin + length);
                done_.store(0, std::memory_order_relaxed);
                ticket_.store((slot + 1) << 32, std::memory_order_release);
            }
        }
    }

  private:
    // Number of parts in which threads take their shares of a slot: a delayed thread leaves more to the others.
    static constexpr std::size_t parts_per_thread = 16;
    static constexpr int looks = 20000;

    std::size_t count_;
    std::size_t size_;
    std::uint64_t last_;
    std::size_t part_;
    std::atomic<std::uint64_t> ticket_{0};  // the open slot (high half) and its first free object
    std::atomic<std::size_t> done_{0};  // objects of the open slot

    // The wait lasts at most one part, unless the thread that holds it was preempted on a busy
    // machine: then a processor is yielded to it.
    void wait_for_next(std::uint64_t slot) const {
        for (int look = 0; ticket_.load(std::memory_order_acquire) >> 32 == slot; ++look) {
            if (look >= looks) {
                std::this_thread::sleep_for(std::chrono::microseconds(20));
            }
        }
    }
};

}  // namespace conclust
