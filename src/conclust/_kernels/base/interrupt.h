// Ctrl-C inside of a kernel. Python alone knows of it, and is asked at most ten times a second, by the
// thread that called the kernel. A loop that may take longer asks by one of the two below, every millisecond
// or so: asking costs as much as looking at a clock. With the question goes how much of the kernel's work
// is done, where it is known, for the lines of progress.
//
// What is thrown leaves a kernel's objects as they are in the middle of its work. Whoever catches it drops
// them.
#pragma once

#include <atomic>
#include <cstddef>
#include <thread>

namespace conclust {

// Thrown where a kernel is to end. Python's error, KeyboardInterrupt as a rule, is set already.
struct Interrupted {};

// Instead of a share of the work that is done.
inline constexpr double unknown_share = -1.0;

// Asks Python, once it is set: whether a handler of a signal has raised an error.
extern bool (*ask_python)(double done);

// The share of the work that is done after some of so many rounds, of which each takes less by as much as the
// one before.
inline double done_of_shrinking(std::ptrdiff_t done, std::ptrdiff_t all) {
    const double left = static_cast<double>(all - done) / static_cast<double>(all);
    return 1.0 - left * left;
}

// Throws Interrupted if the user wants to stop. Not in a parallel loop.
void stop_if_interrupted(double done = unknown_share);

// For a parallel loop, out of which nothing can be thrown: its threads leave out what is left.
class Interruption {
  public:
    // Whether to leave the rest out. Any thread may ask; the one that made this object asks Python.
    bool wanted(double done = unknown_share);

    // The same in a loop whose rounds are dealt out in their order: this many of so many are done.
    bool wanted(std::ptrdiff_t done, std::ptrdiff_t all) {
        return wanted(static_cast<double>(done) / static_cast<double>(all));
    }

    // After the loop: throws Interrupted if the rest was left out.
    void pass_on() const;

  private:
    std::thread::id owner_ = std::this_thread::get_id();
    std::atomic<bool> wanted_{false};
};

}  // namespace conclust
