"""Imports of a first use: only what the fit needs, and not even NumPy for the list of methods."""

import json
import subprocess
import sys

import pytest

FIT = """
import numpy as np
import conclust
labels = np.random.default_rng(0).integers(0, 4, (60, 6))
conclust.{name}(n_clusters=3).fit(labels)
"""
POINTS = """
import numpy as np
from conclust import ConsensusClustering
ConsensusClustering(random_state=0).fit(np.random.default_rng(0).normal(size=(60, 3)))
"""
HEAVY = {
    "scipy.stats",
    "scipy.special",
    "scipy.optimize",
    "scipy.interpolate",
    "scipy.spatial",
    "scipy.fft",
    "pandas",
    "narwhals",
    "asyncio",
    "importlib.metadata",
    "numpy.f2py",
    "numpy.testing",
    "sklearn.cluster",
    "sklearn.metrics",
    "sklearn.preprocessing",
    "matplotlib",
    "polars",
    "dask",
}


def imported(program):
    """Return the modules that a fresh process has imported after a program."""
    listing = "import json, sys\nprint(json.dumps(sorted(sys.modules)))\n"
    done = subprocess.run(
        [sys.executable, "-c", program + listing], check=True, capture_output=True, text=True
    )
    return set(json.loads(done.stdout.splitlines()[-1]))


@pytest.mark.parametrize("name", ["AutoConsensus", "HBGF", "PCC", "EAC", "KCC"])
def test_a_first_consensus_imports_only_needed_modules(name):
    actual = imported(FIT.format(name=name))
    assert "sklearn.base" in actual
    assert not actual & HEAVY


def test_a_first_fit_of_points_imports_only_needed_modules():
    assert not imported(POINTS) & HEAVY


def test_the_measures_do_not_import_special_functions():
    actual = imported("import conclust.metrics\n")
    assert "conclust.measures.chance" in actual
    assert "scipy.special" not in actual


@pytest.mark.parametrize("words", [["--help"], ["methods"], ["methods", "PCC", "--json"]])
def test_lists_and_help_do_not_import_numpy(words):
    actual = imported(
        "from conclust.cli import main\n"
        f"try:\n    main({words!r})\nexcept SystemExit as ended:\n    assert not ended.code\nprint()\n"
    )
    assert "conclust.cli" in actual
    assert not actual & {"numpy", "sklearn", "scipy"}


def test_deferred_modules_are_complete_when_used():
    imported(
        FIT.format(name="HBGF")
        + """
import sys
import sklearn.utils.fixes as fixes
assert "pandas" not in sys.modules and "scipy.stats" not in sys.modules
assert fixes.pd.DataFrame({"a": [1]}).shape == (1, 1)  # scikit-learn's own name
import pandas as pd
assert fixes.pd.DataFrame is pd.DataFrame
assert fixes._mode(np.array([[1, 1, 2]]), axis=1).mode.tolist() == [[1]]  # of scipy.stats
import scipy.stats
assert scipy.stats.norm.cdf(0) == 0.5
est = conclust.PCC(3, random_state=0).fit(pd.DataFrame(labels).astype(str))
assert len(est.labels_) == 60
"""
    )


def test_deferred_modules_of_narwhals_special_functions_and_asyncio_are_complete():
    imported(
        FIT.format(name="HBGF")
        + """
import sys
import joblib.memory
from sklearn.utils import _array_api, validation
assert not {"narwhals", "scipy.special", "asyncio"} & set(sys.modules)
if hasattr(_array_api, "special"):  # not in older versions of scikit-learn
    assert _array_api.special.expit(0.0) == 0.5
    import scipy
    assert scipy.special is sys.modules["scipy.special"]
    assert scipy.special.expit is _array_api.special.expit
if hasattr(validation, "nw"):
    assert validation.nw.dependencies.is_into_dataframe(labels) is False
    import narwhals
    assert narwhals.stable.v2 is sys.modules["narwhals.stable.v2"]
    assert narwhals.stable.v2.DataFrame is validation.nw.DataFrame
if hasattr(_array_api, "xpx"):
    assert callable(_array_api.xpx.default_dtype)
    assert "sklearn.externals.array_api_extra" in sys.modules
import asyncio
assert joblib.memory.asyncio.iscoroutine is asyncio.iscoroutine
"""
    )


def test_deferred_modules_of_scipy_and_scikit_learn_are_complete():
    imported(
        FIT.format(name="HBGF")
        + """
import sys
from scipy._lib.array_api_compat import numpy as xp
assert not {"numpy.f2py", "numpy.testing"} & set(sys.modules)
assert not {"f2py", "testing"} & set(vars(np))
xp.testing.assert_allclose(1.0, 1.0)
import numpy.testing
assert np.testing is numpy.testing is sys.modules["numpy.testing"]
assert xp.testing.assert_allclose is np.testing.assert_allclose
assert callable(np.f2py.run_main) and np.f2py is sys.modules["numpy.f2py"]
"""
    )


def test_imported_modules_are_not_replaced():
    imported(
        "import pandas, scipy.stats\nstats, frame = scipy.stats, pandas.DataFrame\n"
        + FIT.format(name="HBGF")
        + "import sys\nassert sys.modules['scipy.stats'] is stats\nassert pandas.DataFrame is frame\n"
    )


def test_a_missing_pandas_stays_missing():
    """None in sys.modules makes the import fail, as if pandas were not installed."""
    imported(
        "import sys\nsys.modules['pandas'] = None\n"
        + FIT.format(name="HBGF")
        + "import sklearn.utils.fixes as fixes\nassert fixes.pd is None\n"
    )
