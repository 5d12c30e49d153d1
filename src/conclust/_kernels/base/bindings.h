// The one door between Python and the kernels: a bind_* function per folder, called by module.cpp.
//
// Python guarantees each kernel's preconditions (type, contiguity, range). A binding converts
// pointers and sizes, releases the GIL, calls the kernel, and does nothing else.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <chrono>
#include <cstdint>
#include <span>
#include <thread>

#ifdef __GLIBC__
#include <cxxabi.h>
#endif

namespace nb = nanobind;

// The GIL in threads that Python ends. While the process exits, CPython up to 3.13 ends a daemon thread when it takes the
// GIL, by pthread_exit. With glibc this unwinds the stack like an exception, and the process would abort at the first
// function that must not throw. Such a thread sleeps until the process has ended instead, as from Python 3.14 on.
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

template <class T>
using Vector = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <class T>
using Matrix = nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// The content of an array; empty for None.
template <class T, class... Form>
std::span<T> span_of(const nb::ndarray<T, Form...>& array) {
    return array.is_valid() ? std::span<T>(array.data(), array.size()) : std::span<T>();
}

// Counts, or sums of weights: unsigned integers of 1, 2 or 4 bytes, or doubles.
using AnyCounts = nb::ndarray<nb::c_contig, nb::device::cpu, nb::ro>;

void bind_labels(nb::module_& m);
void bind_kmeans(nb::module_& m);
void bind_evidence(nb::module_& m);
void bind_bitsliced(nb::module_& m);
void bind_nearest(nb::module_& m);
void bind_simplex(nb::module_& m);
void bind_pair_objective(nb::module_& m);
void bind_factored(nb::module_& m);
void bind_greedy(nb::module_& m);
void bind_pairwise(nb::module_& m);
void bind_landmark(nb::module_& m);
void bind_linkage(nb::module_& m);
void bind_row_linkage(nb::module_& m);
void bind_search(nb::module_& m);
void bind_models(nb::module_& m);
void bind_graph(nb::module_& m);
void bind_neighbours(nb::module_& m);
void bind_borders(nb::module_& m);
