#include "base/interrupt.h"

#include <chrono>

#ifdef _OPENMP
#include <omp.h>
#endif

namespace conclust {
namespace {

// Also with one thread: an exception that leaves a parallel loop ends the process.
bool in_parallel_loop() {
#ifdef _OPENMP
    return omp_get_level() > 0;
#else
    return false;
#endif
}

using clock = std::chrono::steady_clock;

// When this thread polled Python.
thread_local clock::time_point asked{};

// Python must be polled again.
bool is_time() {
    constexpr std::chrono::milliseconds between{100};
    const clock::time_point now = clock::now();
    if (now - asked < between) {
        return false;
    }
    asked = now;
    return true;
}

bool interrupted(double done) { return ask_python != nullptr && is_time() && ask_python(done); }

}  // namespace

bool (*ask_python)(double done) = nullptr;

void stop_if_interrupted(double done) {
    if (!in_parallel_loop() && interrupted(done)) {
        throw Interrupted{};
    }
}

Interruption::Interruption() : outermost_(!in_parallel_loop()), owner_(&asked) {}

bool Interruption::wanted(double done) {
    if (outermost_ && owner_ == &asked && !wanted_.load(std::memory_order_relaxed) &&
        interrupted(done)) {
        wanted_.store(true, std::memory_order_relaxed);
    }
    return wanted_.load(std::memory_order_relaxed);
}

void Interruption::keep_exception() noexcept {
    if (!failed_.exchange(true, std::memory_order_relaxed)) {
        exception_ = std::current_exception();
    }
    wanted_.store(true, std::memory_order_relaxed);
}

void Interruption::pass_on() const {
    if (exception_) {
        std::rethrow_exception(exception_);
    }
    if (wanted_.load(std::memory_order_relaxed)) {
        throw Interrupted{};
    }
}

}  // namespace conclust
