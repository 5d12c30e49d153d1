"""The same seed gives the same bits, in fresh processes and with any thread settings."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
from tests.registry import FORMS
from threadpoolctl import threadpool_info, threadpool_limits

from conclust._threads import one_library_thread

ROOT = Path(__file__).resolve().parent.parent

PROGRAM = """
import hashlib, sys
import numpy as np
from conclust import EAC, PCC, ConsensusClustering, Ensemble, EnsembleGenerator, coassociation
from conclust.evidence import sample_pairs

digest = hashlib.sha256()
def add(*arrays):
    for array in arrays:
        digest.update(np.ascontiguousarray(array).tobytes())

rng = np.random.default_rng(0)
X = np.concatenate([rng.normal(c, 1, (200, 3)) for c in (0, 3, 6)])
labels = EnsembleGenerator(
    "kmeans", n_partitions=12, sample_fraction=0.7, feature_fraction=0.7, scale="minmax", random_state=1
).fit_transform(X)
mixed = EnsembleGenerator("mixed", n_clusters=[3, 5], random_state=1).fit_transform(X)
spectral = EnsembleGenerator(["spectral", "graph", "density"], 6, random_state=1).fit_transform(X)
ensemble = Ensemble(labels, weights=rng.random(12))
add(labels, mixed, spectral, coassociation(ensemble), coassociation(labels))
pairs = sample_pairs(ensemble, 10, random_state=2)
add(pairs.indptr, pairs.indices, pairs.counts)
for linkage in ("single", "average", "complete", "ward"):
    add(EAC(linkage=linkage).fit(ensemble).linkage_matrix_)
model = PCC(4, random_state=3).fit(ensemble)
add(model.membership_, model.objective_, model.predict_proba(labels))
# Large enough for rounds of simultaneous blocks.
truth = rng.integers(0, 4, 20_000)
many = np.column_stack([np.where(rng.random(20_000) < .3, rng.integers(0, 4, 20_000), truth) for _ in range(9)])
many[rng.random(many.shape) < 0.1] = -1
large = PCC(4, random_state=3).fit(many)
add(large.membership_, large.objective_)
print(digest.hexdigest())
"""

EVERY_FORM = """
import hashlib, warnings
import numpy as np
from tests.registry import FORMS, make

warnings.simplefilter("ignore")
# Labels whose best consensus few starts find: of clear ones every seed gives the same.
rng = np.random.default_rng(0)
truth = rng.integers(0, 5, 120)
labels = np.where(rng.random((120, 8)) < 0.75, rng.integers(0, 5, (120, 8)), truth[:, None])
for form in sorted(FORMS):
    digest = hashlib.sha256()
    for name, value in sorted(vars(make(form, 5).fit(labels)).items()):
        if name.endswith("_") and isinstance(value, float | np.ndarray):
            digest.update(np.ascontiguousarray(value).tobytes())
    print(form, digest.hexdigest())
"""

ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
SEVERAL_THREADS = {"OMP_NUM_THREADS": "4", "OPENBLAS_NUM_THREADS": "4", "OMP_DYNAMIC": "true"}
# Users can check this themselves with CONCLUST_KERNELS=portable.
PORTABLE = {**ONE_THREAD, "CONCLUST_KERNELS": "portable"}


def printed(program, setting):
    run = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, **setting, "PYTHONWARNINGS": "ignore", "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    return run.stdout.strip()


def test_bits_do_not_depend_on_threads_or_on_the_form_of_the_kernels():
    one, other = (
        printed(PROGRAM + EVERY_FORM, setting).splitlines()
        for setting in (ONE_THREAD, PORTABLE | SEVERAL_THREADS)
    )
    assert len(one) == 1 + len(FORMS)
    assert other == one


def test_kernels_have_the_form_of_the_environment_variable():
    forms = "from conclust._kernels import bitslice_forms as forms; print(*forms())"
    assert printed(forms, PORTABLE) == "portable"
    assert printed(forms, ONE_THREAD).endswith("portable")


def test_libraries_use_one_thread_and_are_restored():
    def threads():
        return {library["num_threads"] for library in threadpool_info()}

    with threadpool_limits(2):
        for _ in range(2):
            with one_library_thread():
                assert threads() == {1}
                np.eye(3) @ np.eye(3)
            assert threads() == {2}
