# Everything starts here: each target sets up what it needs, from a fresh clone.
#   make demo      real data to a consensus, a table and a report; builds the kernels that these call
#   make test      the test suite, but for what takes long
#   make processes the tests that start processes: the shell, caches, signals, threads
#   make workshop  the tests of experiments/ and tools/: small versions of experiments, releases, the site, words
#   make long      the tests that look at much, files or single tests (marked `long`): pages of the docs, scikit-learn's checks, all partitions of seven objects, fuzz,
#                  degenerate partitions, the null of the number of clusters, pictures
#   make test-browser  the report in headless Chromium (Debian's chromium)
#   make cluster   labels and points in Zarr and Dask, on the workers of a Dask cluster
#   make anndata   columns of AnnData and MuData, through files and beside scanpy
#   make everything  all of these in one run
#   make lint      style, types; the build itself takes warnings of the C++ sources for errors
#   make stubs     types, and stubs beside the library that runs (mypy's stubtest)
#   make bench     the benchmarks, each beside its baseline
#   make peers     consensus of other packages, in an environment of its own, beside ours
#   make experiments   the papers' experiments, small versions (EXPERIMENT_ARGS= for whole ones)
#   make stale     committed results of experiments that use definitions which have changed since, by name
#   make docs      the site, build/docs/index.html: pages written from the code, examples, the reference
#   make oldest    the tests with the oldest versions of what conclust needs
#   make wheel     what is published, in dist/: sdist and wheel, checked and tried without a compiler
#   make conda     conda/recipe.yaml built from the sdist, and its tests, with a channel made here
#   make mutants   mutation testing of the Python sources of three floors (MUTANT_ARGS='--only similarity')
#   make coverage  branches of the Python code and lines of the C++ code that the tests run
#   make sanitize  the kernel tests under the address and undefined-behaviour sanitizers
#   make sanitize-threads  the same under the thread sanitizer (Clang)

PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
KERNEL_SOURCES := CMakeLists.txt $(shell find src -name '*.cpp' -o -name '*.h')
DATA   := $(abspath ../shared/data)

# The papers' data sets, where they lie beside the project.
ifneq ($(wildcard $(DATA)/manifest.json),)
export CONCLUST_DATA ?= $(DATA)
endif

EXPERIMENT_ARGS ?= --quick
# OFF for a compiler that warns of what others do not.
STRICT ?= ON

# What takes long is not in `make test`: what starts processes, and what looks at much.
PROCESSES := $(addprefix tests/,cli/test_cli_borders.py cli/test_cli_predict.py cli/test_customers_page.py cli/test_cli_streams.py cli/test_demo.py \
	consensus/test_scale.py ensemble/test_processes.py generation/test_generation_cache.py \
	selection/test_selection_interrupts.py test_first_use.py test_interrupts.py test_memory.py test_reproducibility.py)
LONG := $(addprefix tests/,blocks/test_blocks_battery.py consensus/papers/probabilistic/test_solvers_agree.py \
	confidence/test_posterior.py consensus/literature/test_eccms.py consensus/test_pipeline.py test_docs.py \
	ensemble/test_gram.py evidence/test_spanning_tree.py generation/test_generation.py \
	plotting/test_look.py plotting/test_pictures.py report/test_report_pictures.py \
	report/test_size.py selection/test_selection.py selection/test_selection_large.py \
	selection/test_selection_null.py topics/test_topics.py test_estimator_checks.py test_exhaustive.py test_damage.py test_fuzz.py test_fuzz_calls.py weighting/test_degenerate.py \
	weighting/test_suitability.py)

.PHONY: demo test processes workshop long everything test-browser cluster anndata lint style stubs bench peers experiments stale docs oldest wheel conda mutants coverage sanitize sanitize-threads setup check-tools clean FORCE
.DELETE_ON_ERROR:

# Without the tools of the tests.
demo: $(VENV)/.runs
	$(BIN)/conclust demo --out demo-report --force

# A worker that is done takes over tests of another.
PARALLEL := $(BIN)/python -m pytest --dist=worksteal
# Each has a target of its own.
APART := $(addprefix --ignore=,tests/browser tests/blocks/cluster tests/sc)

test: setup
	$(PARALLEL) --numprocesses=2 -m "not long" $(addprefix --ignore=,$(PROCESSES) $(LONG)) $(APART) $(PYTEST_ARGS)

# Three at a time: these tests wait for each other's processes.
processes: setup
	$(PARALLEL) --numprocesses=3 $(PYTEST_ARGS) $(PROCESSES)

workshop: setup
	$(PARALLEL) --numprocesses=2 $(PYTEST_ARGS) experiments/tests tools/tests

long: setup
	$(PARALLEL) --numprocesses=2 $(PYTEST_ARGS) $(LONG)
	$(PARALLEL) --numprocesses=2 -m long $(PYTEST_ARGS) $(filter-out $(PROCESSES) $(LONG),$(shell grep -rl --include='test_*.py' 'mark\.long' tests))

everything: setup
	$(PARALLEL) --numprocesses=3 $(APART) $(PYTEST_ARGS) tests experiments/tests tools/tests

test-browser: setup
	@sh tools/check_browser.sh
	$(BIN)/python -m pytest $(PYTEST_ARGS) tests/browser

cluster: $(VENV)/.cluster
	$(BIN)/python -m pytest $(PYTEST_ARGS) tests/blocks/cluster tests/generation/test_chunks.py

# Beside the tools of `make setup`: without them everything else is as before.
$(VENV)/.cluster: $(VENV)/.built constraints/cluster.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --requirement constraints/cluster.txt
	touch $@

anndata: $(VENV)-anndata/.installed
	$(VENV)-anndata/bin/python -m pytest $(PYTEST_ARGS) tests/sc

# An environment of its own, on top of the other: anndata may need an older pandas.
$(VENV)-anndata/.installed: constraints/anndata.txt | $(VENV)/.built
	$(PYTHON) -m venv --clear $(VENV)-anndata
	$(VENV)-anndata/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --no-compile \
	    --requirement constraints/anndata.txt
	$(VENV)-anndata/bin/python tools/on_top_of.py $(BIN)/python
	touch $@

lint: style
	$(BIN)/mypy

style: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	@$(BIN)/clang-format --dry-run -Werror $(filter %.h %.cpp,$(KERNEL_SOURCES))

stubs: setup
	$(BIN)/python -m tools.check_stubs

bench: setup
	$(BIN)/python -m benchmarks

peers: $(VENV)-peers/.installed
	$(VENV)-peers/bin/python -m benchmarks.peers
	$(VENV)-peers/bin/python -m benchmarks.leiden

$(VENV)-peers/.installed: constraints/peers.txt | $(VENV)/.built
	$(PYTHON) -m venv --clear $(VENV)-peers
	$(VENV)-peers/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --no-compile \
	    --requirement constraints/peers.txt
	$(VENV)-peers/bin/python tools/on_top_of.py $(BIN)/python
	touch $@

experiments: setup
	$(BIN)/python -m experiments --list
	$(BIN)/python -m experiments $(EXPERIMENT_ARGS)

stale: setup
	$(BIN)/python -m experiments.stale

docs: $(VENV)/.docs
	$(BIN)/python -m tools.public_names
	$(BIN)/python -m tools.methods_table
	$(BIN)/python -m tools.site_pages
	$(BIN)/python -m tools.site_pictures
	$(BIN)/python -m tools.site_report
	rm -rf build/docs build/docs-read
	$(BIN)/python -m sphinx -W --keep-going -n -q -j 2 -d build/docs-read docs build/docs
	$(BIN)/python -m tools.check_site build/docs

# Beside the tools of `make setup`: nothing else needs them.
$(VENV)/.docs: $(VENV)/.built constraints/docs.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile --requirement constraints/docs.txt
	touch $@

oldest: setup
	sh tools/oldest.sh "$(PYTHON)" "$(BIN)" $(PYTEST_ARGS)

# Its own environment, so that PYTHON may be another one than that of .venv. TRY_WITH=: other Pythons that the
# wheel is tried with.
wheel: check-tools
	sh tools/wheel.sh "$(PYTHON)" $(TRY_WITH)

# Its own environment: the builder of packages, and what the recipe requires.
conda: check-tools
	sh tools/conda.sh "$(PYTHON)"

# Its own environment, as for the sanitizers; the C++ code is compiled with few optimisations, so that lines stay lines.
# Tests that read sources, or that start processes, in which nothing is counted, are left out, and of what is a law of
# all methods one form of each class is tried: 90 % is required of what remains.
UNCOUNTED := $(addprefix tests/,consensus/test_scale.py ensemble/test_processes.py \
	selection/test_selection_interrupts.py test_architecture.py \
	test_first_use.py test_interrupts.py test_kernels.py test_readme.py test_reproducibility.py test_security.py)
# Of the tests that take long, those that alone run some of the code.
COUNTED := $(addprefix tests/,confidence/test_posterior.py consensus/literature/test_eccms.py consensus/test_pipeline.py \
	evidence/test_spanning_tree.py plotting/test_look.py plotting/test_pictures.py report/test_report_pictures.py \
	topics/test_topics.py)
coverage: check-tools
	sh tools/coverage.sh "$(PYTHON)" $(addprefix --ignore=,$(filter-out $(COUNTED),$(LONG)) $(UNCOUNTED)) $(APART) $(PYTEST_ARGS)

# Its own environment: the instrumented kernels must never be mistaken for the real ones.
sanitize: check-tools
	sh tools/sanitize.sh "$(PYTHON)" address,undefined

# Clang and its OpenMP: see the script.
sanitize-threads: check-tools
	sh tools/sanitize.sh "$(PYTHON)" thread

# By hand: some ten seconds a mutant.
mutants: setup
	$(BIN)/python -m tools.mutants $(MUTANT_ARGS)

setup: $(VENV)/.built

# Names what is missing, with the command that installs it, before anything is downloaded.
check-tools:
	@PYTHON="$(PYTHON)" sh tools/check_tools.sh

PIP = $(BIN)/python -m pip install --quiet --disable-pip-version-check

# What builds the kernels.
$(VENV)/.tools: pyproject.toml constraints/build.txt | check-tools
	$(PYTHON) -m venv $(VENV)
	$(PIP) --requirement constraints/build.txt
	touch $@

# What conclust needs. Python compiles a module when it is first imported: a demo imports a third of them.
$(VENV)/.needs: constraints/run.txt $(VENV)/.tools
	$(PIP) --no-compile --requirement constraints/run.txt
	touch $@

# The list of modules: an editable install does not see that one has moved.
$(VENV)/.modules: $(VENV)/.tools FORCE
	@find src -name '*.py' | sort | cmp -s - $@ || find src -name '*.py' | sort > $@

# .first: what the demo calls, in half of the time.
$(VENV)/.kernels $(VENV)/.first: $(VENV)/.tools $(VENV)/.modules $(KERNEL_SOURCES)
	$(PIP) --no-deps --no-build-isolation --config-settings=cmake.define.CONCLUST_FIRST=$(if $(findstring first,$@),ON,OFF) \
	    --config-settings=cmake.define.CONCLUST_STRICT=$(STRICT) --config-settings=cmake.define.CONCLUST_NATIVE=ON \
	    --editable .
	touch $@

$(VENV)/.compiled: $(VENV)/.modules | $(VENV)/.needs
	@$(BIN)/python -m compileall -q src
	@touch $@

# The compiler beside pip, which uses one core and needs no compiler.
$(VENV)/.runs: $(VENV)/.tools $(VENV)/.modules constraints/run.txt $(KERNEL_SOURCES)
	+@$(MAKE) --no-print-directory --jobs=2 $(VENV)/.$(if $(wildcard $(VENV)/.kernels),kernels,first) $(VENV)/.compiled
	touch $@

$(VENV)/.develops: constraints/dev.txt $(VENV)/.needs
	$(PIP) --requirement constraints/run.txt --requirement constraints/dev.txt
	touch $@

$(VENV)/.built: $(VENV)/.tools $(VENV)/.modules constraints/run.txt constraints/dev.txt $(KERNEL_SOURCES)
	+@$(MAKE) --no-print-directory --jobs=2 $(VENV)/.kernels $(VENV)/.compiled $(VENV)/.develops
	touch $(VENV)/.runs $@

clean:
	rm -rf $(VENV) $(VENV)-anndata $(VENV)-peers .venv-conda .venv-coverage .venv-oldest .venv-sanitize .venv-wheel build dist demo-report
