// Ctrl-C inside of a kernel. Only Python detects it, and is polled at most ten times a second, by
// the thread that called the kernel. A loop that may take longer polls through one of the two
// functions below, about every millisecond, which costs as much as reading a clock. The poll passes
// on the share of the kernel's work that is done, if known, for progress messages.
//
// The exception leaves a kernel's objects in an intermediate state. The caller that catches it
// discards them.
#pragma once

#include <atomic>
#include <cstddef>
#include <exception>

namespace conclust {

// Thrown to end a kernel. Python's error, usually KeyboardInterrupt, is already set.
struct Interrupted {};

// Means that the share of the work done is unknown.
inline constexpr double unknown_share = -1.0;

// Polls Python, once it is set: returns whether a signal handler has raised an error.
extern bool (*ask_python)(double done);

// The share of the work done after some of a number of rounds whose cost decreases linearly.
inline double done_of_shrinking(std::ptrdiff_t done, std::ptrdiff_t all) {
    const double left = static_cast<double>(all - done) / static_cast<double>(all);
    return 1.0 - left * left;
}

// Throws Interrupted if the user wants to stop. In a parallel loop, which must not throw, it does nothing.
void stop_if_interrupted(double done = unknown_share);

// For a parallel loop: its threads skip the remaining work after Ctrl-C, or after an exception in one of
// them, which would end the process if it left the loop. One that is made in another parallel loop leaves
// the polling to the outer loop.
class Interruption {
  public:
    Interruption();

    // Whether to skip the rest. Any thread may call it; the thread that made this object polls Python.
    bool wanted(double done = unknown_share);

    // The same in a loop whose rounds are distributed in order, given the number of rounds done and the total.
    bool wanted(std::ptrdiff_t done, std::ptrdiff_t all) {
        return wanted(static_cast<double>(done) / static_cast<double>(all));
    }

    // Does work that may throw, usually because it allocates memory. All work of a loop that allocates belongs
    // in here, also the scratch of a thread: after an exception `wanted` is true for this thread at once.
    template <class Work>
    void guard(const Work& work) noexcept {
        try {
            work();
        } catch (...) {
            keep_exception();
        }
    }

    // After the loop: throws the first exception of the threads, or Interrupted if the user stopped the loop.
    void pass_on() const;

  private:
    void keep_exception() noexcept;

    bool outermost_;
    // The address of a variable of its thread: <thread> is a tenth of the compiler's work.
    const void* owner_;
    std::atomic<bool> wanted_{false};
    std::atomic<bool> failed_{false};
    std::exception_ptr exception_;  // read after the loop only
};

}  // namespace conclust
