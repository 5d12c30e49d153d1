// The one door between Python and the kernels: a bind_* function per folder, called by module.cpp, which CMake gives their list.
//
// Python guarantees each kernel's preconditions (type, contiguity, range). A binding converts
// pointers and sizes, releases the GIL, calls the kernel, and does nothing else.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include <chrono>
#include <cstdint>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include "base/forms.h"

#ifdef __GLIBC__
#include <cxxabi.h>
#endif

namespace nb = nanobind;
using namespace nb::literals;

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

// For functions that run without the GIL.
inline constexpr nb::call_guard<WithoutGil> without_gil;

// A constructor's argument of this number lives as long as the object, which is number 1.
template <std::size_t argument>
inline constexpr nb::keep_alive<1, argument> kept;

// An array of two dimensions, where its shape is needed: a span is of an array of any shape.
template <class T>
struct Matrix {
    std::span<T> content;
    std::size_t rows = 0, columns = 0;

    operator std::span<T>() const { return content; }
};

namespace nanobind::detail {

// An array as it is, never converted; empty for None, where None is allowed.
template <class View, class Array>
struct array_caster {
    NB_TYPE_CASTER(View, make_caster<Array>::Name)

    bool from_python(handle source, std::uint32_t flags, cleanup_list* cleanup) noexcept {
        if (!array.from_python(source, flags & ~cast_flags::convert, cleanup)) {
            return false;
        }
        if (array.value.is_valid()) {
            take(value, array.value);
        }
        return true;
    }

    template <class T>
    static void take(std::span<T>& view, const Array& from) {
        view = {from.data(), from.size()};
    }
    template <class T>
    static void take(Matrix<T>& view, const Array& from) {
        view = {{from.data(), from.size()}, from.shape(0), from.shape(1)};
    }

    make_caster<Array> array;
};

template <class T>
struct type_caster<std::span<T>> : array_caster<std::span<T>, ndarray<T, c_contig, device::cpu>> {};

template <class T>
struct type_caster<Matrix<T>> : array_caster<Matrix<T>, ndarray<T, ndim<2>, c_contig, device::cpu>> {};

// A kernel's form, by its name.
template <>
struct type_caster<conclust::Form> {
    NB_TYPE_CASTER(conclust::Form, const_name("str"))

    bool from_python(handle source, std::uint32_t flags, cleanup_list* cleanup) noexcept {
        make_caster<std::string> name;
        if (!name.from_python(source, flags, cleanup)) {
            return false;
        }
        value = conclust::find_form(name.value);
        return true;
    }

    static handle from_cpp(conclust::Form form, rv_policy policy, cleanup_list* cleanup) noexcept {
        return make_caster<char>::from_cpp(conclust::form_name(form), policy, cleanup);
    }
};

}  // namespace nanobind::detail

// The content of a kernel's vector as an array that owns it.
template <class T>
nb::ndarray<nb::numpy, T, nb::ndim<1>> array_of(std::vector<T>&& values) {
    auto* moved = new std::vector<T>(std::move(values));
    const nb::capsule owner(moved, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    return {moved->data(), {moved->size()}, owner};
}
