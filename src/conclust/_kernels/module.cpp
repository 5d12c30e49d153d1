#include "base/bindings.h"

NB_MODULE(_core, m) {
    m.doc() = "conclust's C++ kernels. Import them through conclust._kernels only.";
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
