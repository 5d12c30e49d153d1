#!/bin/sh
# Makes what is published, in dist/: the sdist, and of the sdist the wheel. The wheel is checked, given the
# libraries that it needs, and tried in fresh environments that have no compiler: of the Python that built it,
# and of each one named after it (the stable ABI serves later Pythons).
set -eu
python=${1:-python3}
[ $# -gt 0 ] && shift
root=$(pwd)
venv=.venv-wheel
work=build/release
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct 2>/dev/null || echo 1767225600)
export SOURCE_DATE_EPOCH

# Of another Python than before: made anew.
tag=$("$python" -c 'import sys; print(sys.implementation.cache_tag)')
if [ ! -f "$venv/.$tag" ] || [ constraints/wheel.txt -nt "$venv/.$tag" ] || [ constraints/build.txt -nt "$venv/.$tag" ]; then
    "$python" -m venv --clear "$venv"
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check \
        --requirement constraints/build.txt --requirement constraints/wheel.txt
    touch "$venv/.$tag"
fi

rm -rf "$work"
mkdir -p "$work/source" "$work/raw" dist
"$venv/bin/python" -c "import sys; from scikit_build_core.build import build_sdist; build_sdist(sys.argv[1])" \
    "$root/$work" >/dev/null
sdist=$(echo "$work"/conclust-*.tar.gz)
tar -xzf "$sdist" -C "$work/source"
"$venv/bin/python" -m pip wheel --quiet --disable-pip-version-check --no-deps --no-build-isolation \
    --wheel-dir "$work/raw" "$work"/source/conclust-*
wheel=$(echo "$work"/raw/conclust-*.whl)

# On Linux the wheel gets the libraries that not every distribution has, and the tag of the oldest that runs it.
if [ "$(uname)" = Linux ]; then
    PATH="$root/$venv/bin:$PATH" "$venv/bin/python" -m auditwheel repair --wheel-dir "$work/repaired" "$wheel"
    wheel=$(echo "$work"/repaired/conclust-*.whl)
fi
"$venv/bin/python" -m tools.check_dist "$sdist" "$wheel"
cp "$sdist" "$wheel" dist/

for user in "$python" "$@"; do
    try=$work/try-$("$user" -c 'import sys; print(sys.implementation.cache_tag)')
    "$user" -m venv "$try"
    (
        # Only what the environment has: no compiler, no cmake, and the source is not beside it.
        PATH="$root/$try/bin"
        export PATH
        python -m pip install --quiet --disable-pip-version-check --only-binary :all: \
            --constraint constraints/run.txt "$wheel"
        cd "$try"
        python -I "$root/tools/try_wheel.py" --bare
    )
done
ls -l "dist/$(basename "$sdist")" "dist/$(basename "$wheel")"
