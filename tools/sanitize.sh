#!/bin/sh
# Builds the kernels with sanitizers in an environment of their own, and runs the tests that reach every kernel:
#   sanitize.sh PYTHON address,undefined|thread [ARGUMENTS OF PYTEST]
# "thread" needs clang++ with its OpenMP and libarcher, which tells the sanitizer how threads of OpenMP wait for each
# other: GCC's OpenMP does not, and every parallel loop would be a race. Debian: clang-19 libomp-19-dev.
set -eu
python=$1
kind=$2
shift 2
venv=.venv-sanitize
with_polars="tests/ensemble/test_ensemble.py tests/test_fuzz.py"
if [ "$kind" = thread ]; then
    CXX=${CXX:-clang++-19}
    export CXX
    with_polars=  # the allocator of Polars ends the process under the thread sanitizer, where it is imported
fi

if [ ! -f "$venv/.dependencies" ]; then
    "$python" -m venv "$venv"
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check \
        --requirement constraints/build.txt --requirement constraints/run.txt --requirement constraints/dev.txt
    touch "$venv/.dependencies"
fi
"$venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation \
    --force-reinstall --config-settings=build-dir="build/sanitize-$kind" \
    --config-settings=cmake.define.CONCLUST_SANITIZE="$kind" .

# The interpreter is not instrumented, so the run-time library must be loaded before it; its own
# allocations at exit are no leaks of ours.
if [ "$kind" = thread ]; then
    loaded=$("$CXX" -print-file-name=libclang_rt.tsan-x86_64.so)
    OMP_TOOL_LIBRARIES=$("$CXX" -print-file-name=libarcher.so)
    export OMP_TOOL_LIBRARIES
else
    loaded="$("${CXX:-g++}" -print-file-name=libasan.so) $("${CXX:-g++}" -print-file-name=libubsan.so)"
fi
LD_PRELOAD=$loaded \
ASAN_OPTIONS=detect_leaks=0:abort_on_error=1:allocator_may_return_null=1 \
UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1 \
TSAN_OPTIONS=ignore_noninstrumented_modules=1:halt_on_error=1 \
OMP_NUM_THREADS=2 \
    "$venv/bin/python" -m pytest -p no:cacheprovider --numprocesses=2 "$@" \
    tests/evidence/test_coassociation.py tests/ensemble/test_clusterwise.py \
    tests/ensemble/test_contingency_gram.py tests/evidence/test_pairs.py tests/evidence/test_nearest.py \
    tests/consensus/literature/test_trajectories.py \
    tests/evidence/test_spanning_tree.py tests/consensus/linkage/test_linkage.py \
    tests/consensus/linkage/test_linkage_pairs.py tests/consensus/linkage/test_dendrogram.py \
    tests/consensus/linkage/test_clusterwise.py \
    tests/consensus/papers/probabilistic/test_pcc.py tests/consensus/papers/probabilistic/test_multistart.py \
    tests/consensus/papers/probabilistic/test_pairwise.py tests/consensus/papers/probabilistic/test_greedy.py \
    tests/consensus/papers/probabilistic/test_landmark.py tests/consensus/papers/probabilistic/test_weighted.py \
    tests/consensus/papers/test_fca_consensus.py tests/consensus/graph/test_graph.py \
    tests/consensus/label_vectors/test_kmeans_consensus.py tests/consensus/mixture/test_mixture.py \
    tests/consensus/median/test_median.py tests/consensus/median/test_kernel_weighted.py \
    tests/consensus/mixture/test_nonparametric.py tests/consensus/mixture/test_mixed_gibbs.py \
    tests/consensus/papers/matrix/test_matrix_models.py \
    tests/ensemble/test_simplex.py \
    tests/confidence/test_confidence_gaps.py tests/generation/test_kmeans_runs.py \
    tests/generation/test_labelling.py \
    tests/selection/test_selection_criteria.py \
    tests/ensemble/test_label_view.py tests/borders/test_valleys.py \
    tests/neighbours/test_search.py tests/consensus/label_vectors/test_utilities.py $with_polars
