// The GIL in threads that Python ends. While the process exits, CPython up to 3.13 ends a daemon thread when it takes the
// GIL, by pthread_exit. With glibc this unwinds the stack like an exception, and the process would abort at the first
// function that must not throw. Such a thread sleeps until the process has ended instead, as from Python 3.14 on.
#pragma once

#include <nanobind/nanobind.h>

#include <chrono>
#include <thread>

#ifdef __GLIBC__
#include <cxxabi.h>
#endif

namespace conclust {

// Calls work, which takes the GIL. Returns its result, or never.
template <class Work>
auto sleep_if_ended(const Work& work) {
#ifdef __GLIBC__
    try {
        return work();
    } catch (const abi::__forced_unwind&) {
        for (;;) {
            std::this_thread::sleep_for(std::chrono::hours(1));
        }
    }
#else
    return work();
#endif
}

}  // namespace conclust

// Releases the GIL for the life of this object.
class WithoutGil {
  public:
    WithoutGil() : state_(PyEval_SaveThread()) {}
    ~WithoutGil() {
        conclust::sleep_if_ended([this] { PyEval_RestoreThread(state_); });
    }
    WithoutGil(const WithoutGil&) = delete;
    WithoutGil& operator=(const WithoutGil&) = delete;

  private:
    PyThreadState* state_;
};

// Calls work with the GIL. Returns its result; a Python error passes.
template <class Work>
auto with_gil(const Work& work) {
    struct Held {
        PyGILState_STATE state = PyGILState_Ensure();
        ~Held() { PyGILState_Release(state); }
    };
    return conclust::sleep_if_ended([&] {
        const Held held;
        // An ended thread does not hold the GIL, and must not release it.
        return conclust::sleep_if_ended(work);
    });
}
