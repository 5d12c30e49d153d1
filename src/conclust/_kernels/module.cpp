#include "base/bindings.h"
#include "base/interrupt.h"

namespace {

// Receives the share of a kernel's work that is done, below 0 if unknown; kept alive until the process ends.
PyObject* listener = nullptr;

// An error in the listener ends the kernel like Ctrl-C.
bool python_raises(double done) {
    return with_gil([done] {
        if (PyErr_CheckSignals() != 0) {
            return true;
        }
        if (listener == nullptr) {
            return false;
        }
        PyObject* answer = PyObject_CallFunction(listener, "d", done);
        Py_XDECREF(answer);
        return answer == nullptr;
    });
}

// The error was set when Python was polled.
void pass_interrupt_on(const std::exception_ptr& thrown, void*) {
    try {
        std::rethrow_exception(thrown);
    } catch (const conclust::Interrupted&) {
    }
}

}  // namespace

NB_MODULE(_core, m) {
    m.doc() = "conclust's C++ kernels. Import them through conclust._kernels only.";
    conclust::ask_python = python_raises;
    nb::register_exception_translator(pass_interrupt_on);
    m.def("listen_to_kernels", [](nb::object given) { listener = given.release().ptr(); });
    m.def("report_leaks", [](bool wanted) { nb::set_leak_warnings(wanted); });
    // What CMake defines: whether all folders are built, and their functions.
    m.attr("whole") = bool{CONCLUST_WHOLE};
    for (const auto bind : {CONCLUST_FOLDERS}) {
        bind(m);
    }
}
