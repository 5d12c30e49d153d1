// Ctrl-C inside of a kernel. Python alone knows of it, and is asked at most ten times a second, by the
// thread that called the kernel. A loop that may take longer asks by one of the two below, every millisecond
// or so: asking costs as much as looking at a clock.
//
// What is thrown leaves a kernel's objects as they are in the middle of its work. Whoever catches it drops
// them.
#pragma once

#include <atomic>
#include <thread>

namespace conclust {

// Thrown where a kernel is to end. Python's error, KeyboardInterrupt as a rule, is set already.
struct Interrupted {};

// Asks Python, once it is set: whether a handler of a signal has raised an error.
extern bool (*ask_python)();

// Throws Interrupted if the user wants to stop. Not in a parallel loop.
void stop_if_interrupted();

// For a parallel loop, out of which nothing can be thrown: its threads leave out what is left.
class Interruption {
  public:
    // Whether to leave the rest out. Any thread may ask; the one that made this object asks Python.
    bool wanted();

    // After the loop: throws Interrupted if the rest was left out.
    void pass_on() const;

  private:
    std::thread::id owner_ = std::this_thread::get_id();
    std::atomic<bool> wanted_{false};
};

}  // namespace conclust
