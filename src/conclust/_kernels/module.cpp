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
    bind_labels(m);
    bind_kmeans(m);
    bind_evidence(m);
    bind_bitsliced(m);
    bind_nearest(m);
    bind_simplex(m);
    bind_pair_objective(m);
    bind_factored(m);
    bind_greedy(m);
    bind_pairwise(m);
    bind_landmark(m);
    bind_linkage(m);
    bind_row_linkage(m);
    bind_search(m);
    bind_models(m);
    bind_graph(m);
    bind_neighbours(m);
    bind_borders(m);
}
