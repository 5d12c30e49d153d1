#include "base/bindings.h"
#include "base/interrupt.h"

namespace {

bool python_raises() {
    const nb::gil_scoped_acquire held;
    return PyErr_CheckSignals() != 0;
}

// The error has been set where Python was asked.
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
    bind_labels(m);
    bind_kmeans(m);
    bind_evidence(m);
    bind_bitsliced(m);
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
}
