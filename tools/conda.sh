#!/bin/sh
# Builds conda/recipe.yaml from the sdist of this tree, and tests the package, without a channel of packages
# (tools/conda_package.py). The environment holds the builder, and what the recipe requires as wheels.
set -eu
python=${1:-python3}
venv=.venv-conda

if [ ! -f "$venv/.dependencies" ] || [ constraints/conda.txt -nt "$venv/.dependencies" ]; then
    "$python" -m venv --clear "$venv"
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check \
        --requirement constraints/build.txt --requirement constraints/run.txt --requirement constraints/conda.txt
    touch "$venv/.dependencies"
fi
mkdir -p dist
"$venv/bin/python" -c "import sys; from scikit_build_core.build import build_sdist; build_sdist(sys.argv[1])" dist >/dev/null
"$venv/bin/python" -m tools.conda_package build/conda
