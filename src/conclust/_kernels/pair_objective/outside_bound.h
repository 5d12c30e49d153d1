// A Python function as a divergence, for the bindings of the solvers that take one.
#pragma once

#include "base/bindings.h"
#include "pair_objective/outside.h"

// Calls a Python function (what, p, q, out) with views of the kernel's numbers.
inline void call_outside(void* context, int what, const double* p, const double* q, double* out,
                         std::size_t count) {
    using In = nb::ndarray<nb::numpy, const double, nb::ndim<1>>;
    using Out = nb::ndarray<nb::numpy, double, nb::ndim<1>>;
    with_gil([&] {
        const nb::handle function(static_cast<PyObject*>(context));
        const nb::object owner = nb::none();  // the views are only used during the call
        function(what, In(p, {count}, owner), In(q, {count}, owner), Out(out, {count}, owner));
    });
}

// None: no custom divergence. The function must outlive the result.
inline conclust::OutsideDivergence outside_of(const nb::object& function) {
    conclust::OutsideDivergence outside;
    if (!function.is_none()) {
        outside.call = &call_outside;
        outside.context = function.ptr();
    }
    return outside;
}
