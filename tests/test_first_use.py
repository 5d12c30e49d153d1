"""Imports of a first use: other packages stay as they are, and not even NumPy is imported for the list of methods."""

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
OPTIONAL = {"matplotlib", "polars", "dask", "anndata", "networkx"}
# Every module is the one that its finder would import, and every package has its modules as attributes.
ALL_REAL = """
import sys
from importlib.machinery import PathFinder
from importlib.util import find_spec
from types import ModuleType
for name, module in sorted(sys.modules.items()):
    if name in before or name in ("__mp_main__", "typing.io", "typing.re"):  # names of __main__ and classes of typing
        continue
    assert isinstance(module, ModuleType) and type(module).__module__ != "conclust", name
    parent, _, attribute = name.rpartition(".")
    if module.__spec__ is None:  # such as the types that Cython's modules share: no file has this name
        path = getattr(sys.modules[parent], "__path__", []) if parent else None
        assert PathFinder.find_spec(name, path) is None, name
        continue
    assert find_spec(module.__spec__.name) is not None, name
    value = getattr(sys.modules.get(parent), attribute, module)
    assert not isinstance(value, ModuleType) or value.__spec__ is not None, name
"""
MISSING = """
import sys
class Missing:
    def find_spec(self, name, *_):
        if name.partition(".")[0] in ("pandas", "bz2", "lzma"):
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Missing())
"""
BEFORE = "import sys\nbefore = set(sys.modules)\n"
# At each import of a module of conclust, the importing thread waits for another one that imports another package. Imports that really
# overlap may fail without conclust, as Python hands out modules that are not complete, and pandas is then broken for good.
MEANWHILE = """
import importlib, threading
from importlib.util import find_spec
names = 2 * [
    ("pandas", "DataFrame"), ("scipy.stats", "norm"), ("scipy.special", "expit"), ("asyncio", "run"),
    ("numpy.testing", "assert_allclose"), ("numpy.f2py", "run_main"), ("narwhals", "from_native"),
    ("narwhals.stable.v2", "from_native"), ("joblib", "Memory"), ("scipy.optimize", "minimize"),
]
found = {}
def look(name, attribute):
    assert find_spec(name.partition(".")[0]) is not None
    module = importlib.import_module(name)
    getattr(module, attribute)
    assert find_spec(name).name == module.__spec__.name == name
    found.setdefault(name, []).append(id(module))
def meanwhile(event, arguments):
    if event == "import" and arguments[0].startswith("conclust.") and names:
        thread = threading.Thread(target=look, args=names.pop(0))
        thread.start()
        thread.join()
sys.addaudithook(meanwhile)
"""
ALL_FOUND = """
assert not names and len(found) == 10
assert found == {name: 2 * [id(sys.modules[name])] for name in found}
"""


def imported(program):
    """Return the modules that a fresh process has imported after a program."""
    listing = "import json, sys\nprint(json.dumps(sorted(sys.modules)))\n"
    done = subprocess.run(
        [sys.executable, "-c", program + listing], check=False, capture_output=True, text=True
    )
    assert not done.returncode, done.stderr
    return set(json.loads(done.stdout.splitlines()[-1]))


def test_threads_that_import_other_packages_during_a_first_fit_get_them_and_all_modules_are_real():
    imported(BEFORE + MEANWHILE + POINTS + ALL_FOUND + ALL_REAL)


def test_a_module_that_another_thread_is_about_to_set_in_its_package_is_waited_for(tmp_path):
    """Python calls a module complete before its package has it as an attribute; here a slow package widens this gap."""
    (tmp_path / "slow").mkdir()
    (tmp_path / "slow/part.py").touch()
    (tmp_path / "slow/__init__.py").write_text("""
import sys, threading, time, types
setting = threading.Event()
class Slow(types.ModuleType):
    def __setattr__(self, name, value):
        if name == "part":
            setting.set()
            time.sleep(0.05)
        super().__setattr__(name, value)
sys.modules[__name__].__class__ = Slow
""")
    imported(f"""
import sys, threading
sys.path.insert(0, {str(tmp_path)!r})
import slow
threading.Thread(target=__import__, args=("slow.part",)).start()
slow.setting.wait()
from conclust._lazy import resolve
assert resolve("slow", "part") is sys.modules["slow.part"]
""")


def test_a_first_fit_imports_no_clusterers_and_no_optional_packages():
    names = ["AutoConsensus", "HBGF", "LWGP", "PCC", "KCC", "CumulativeVoting"]
    names += ["EAC(linkage='single').set_params", "PCC(divergence='l2').set_params"]
    actual = imported("".join(FIT.format(name=name) for name in names) + POINTS)
    assert "sklearn.base" in actual
    assert not actual & (OPTIONAL | {"sklearn.cluster"})
    assert not [name for name in actual if name.startswith("conclust.blocks")]


def test_measures_and_consensus_clustering_do_not_import_scikit_learn():
    actual = imported("import conclust.metrics\n")
    assert "conclust.measures.comparison" in actual
    actual |= imported("from conclust.selection import consensus_clustering\n")
    assert not {"sklearn", "scipy.special"} & actual


@pytest.mark.parametrize("words", [["--help"], ["methods"], ["methods", "PCC"]])
def test_lists_and_help_do_not_import_numpy(words):
    actual = imported(
        "from conclust.cli import main\n"
        f"try:\n    main({words!r})\nexcept SystemExit as ended:\n    assert not ended.code\nprint()\n"
    )
    assert "conclust.cli" in actual
    assert not actual & {"numpy", "sklearn", "scipy"}


def test_a_python_without_pandas_and_compressions_fits_combines_and_draws(tmp_path):
    """Pyplot is not needed either."""
    table = tmp_path / "a.csv"
    table.write_text("a,b\n0,0\n0,1\n1,1\n1,1\n")
    words = ["combine", str(table), "-k", "2", "-q", "--out", str(tmp_path / "out")]
    actual = imported(
        MISSING
        + FIT.format(name="HBGF")
        + f"from conclust.cli import main\nassert main({words!r}) == 0\n"
        + "assert 'matplotlib' not in sys.modules\n"
        + "from conclust.plotting import coassociation_heatmap\ncoassociation_heatmap(np.eye(2))\n"
    )
    assert "matplotlib.figure" in actual
    assert "matplotlib.pyplot" not in actual
