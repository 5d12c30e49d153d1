#!/bin/sh
# Runs the tests on kernels that gcov counts, in an environment of their own, and reports the branches of the
# Python code and the lines of the C++ code that ran (tools/coverage.py). Extra arguments go to pytest.
set -eu
python=${1:-python3}
[ $# -gt 0 ] && shift
venv=.venv-coverage

if [ ! -f "$venv/.dependencies" ]; then
    "$python" -m venv "$venv"
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check \
        --requirement constraints/build.txt --requirement constraints/run.txt --requirement constraints/dev.txt \
        --requirement constraints/coverage.txt
    touch "$venv/.dependencies"
fi
find build/coverage -name '*.gcda' -delete 2>/dev/null || true
"$venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation \
    --force-reinstall --config-settings=build-dir=build/coverage \
    --config-settings=cmake.define.CONCLUST_COVERAGE=ON .

# The report is written if a test fails, too; the target fails then all the same. One thread: threads wait for
# each other's counters.
failed=0
CONCLUST_FORMS=first OMP_NUM_THREADS=${OMP_NUM_THREADS:-1}
export CONCLUST_FORMS OMP_NUM_THREADS
"$venv/bin/python" -m pytest -p no:cacheprovider --numprocesses=2 \
    --cov=conclust --cov-branch --cov-report= --timeout=1200 "$@" || failed=$?
"$venv/bin/python" -m tools.coverage build/coverage
exit "$failed"
