#!/bin/sh
# Tests what users install, the wheel, with the oldest versions of what it needs (constraints/oldest.txt), in
# an environment of their own. The kernels are those of `make setup`: they know none of these versions.
# Extra arguments go to pytest.
set -eu
python=${1:-python3}
bin=${2:-.venv/bin}
[ $# -gt 1 ] && shift 2
venv=.venv-oldest

if [ ! -f "$venv/.dependencies" ] || [ constraints/oldest.txt -nt "$venv/.dependencies" ]; then
    "$python" -m venv --clear "$venv"
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-compile --requirement constraints/oldest.txt
    touch "$venv/.dependencies"
fi
rm -rf build/oldest
"$bin/python" -m pip wheel --quiet --disable-pip-version-check --no-deps --no-build-isolation \
    --wheel-dir build/oldest .
"$venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps --force-reinstall \
    build/oldest/*.whl

# The battery runs one form of each class, and the laws that versions of others can break: what differs by version does
# not differ by parameters, and what follows from our own arithmetic does not differ at all.
CONCLUST_FORMS=first "$venv/bin/python" -m pytest -p no:cacheprovider --numprocesses=2 --dist=worksteal -m "not long" "$@" \
    -k "not textbook_blobs and (not test_battery or input or pickle or planted or warnings)" \
    tests/test_battery.py tests/ensemble/test_storage.py tests/ensemble/test_ensemble.py \
    tests/cli/test_cli.py tests/test_estimator_checks.py tests/plotting/test_plotting.py tests/consensus/test_pipeline.py \
    tests/report/test_page.py
