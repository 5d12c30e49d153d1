"""Data sets by name, generators of synthetic ones, and ensembles drawn from known models.

Nothing is ever downloaded. Published sets are read from the folder that the environment variable
``CONCLUST_DATA`` names.
"""

from __future__ import annotations

from difflib import get_close_matches
from typing import Any

import numpy as np

from conclust._random import RandomStateLike
from conclust._validation import refuse
from conclust.datasets import folder
from conclust.datasets.dataset import Dataset
from conclust.datasets.folder import PUBLISHED
from conclust.datasets.generators import (
    GENERATORS,
    cigars,
    gaussian_mixture,
    half_rings,
    planted_ensemble,
    rings,
    spirals,
)

__all__ = [
    "Dataset",
    "available",
    "cigars",
    "gaussian_mixture",
    "half_rings",
    "load",
    "names",
    "planted_ensemble",
    "rings",
    "spirals",
]


_BUNDLED = {
    "breast_cancer": "Wisconsin diagnostic breast cancer (569 x 30, 2 classes), with scikit-learn",
    "digits": "handwritten digits of 8 x 8 pixels (1797 x 64, 10 classes), with scikit-learn",
    "iris": "Fisher's iris flowers (150 x 4, 3 classes), with scikit-learn",
    "wine": "chemical analyses of wines (178 x 13, 3 classes), with scikit-learn",
}


def names() -> list[str]:
    """List the names of all known sets, whether or not they are on this machine.

    Returns
    -------
    list of str
        In alphabetical order.

    Examples
    --------
    >>> from conclust import datasets
    >>> datasets.names()[:4]
    ['breast_cancer', 'breast_cancer_683', 'breast_cancer_699', 'cigar']
    """
    return sorted([*_BUNDLED, *GENERATORS, *PUBLISHED])


def available() -> list[str]:
    """List the names of the sets that can be loaded now, on this machine.

    Returns
    -------
    list of str
        The sets that come with scikit-learn, the generated sets, and the sets with a file in the
        folder that CONCLUST_DATA names.

    Raises
    ------
    FileFormatError
        If the folder's manifest.json is damaged.

    Examples
    --------
    >>> from conclust import datasets
    >>> {"iris", "rings", "spirals"} <= set(datasets.available())
    True
    """
    loadable = [name for name in PUBLISHED if folder.is_there(name)]
    return sorted([*_BUNDLED, *GENERATORS, *loadable])


def load(name: str, *, random_state: RandomStateLike = 0) -> Dataset:
    """Load a data set by name.

    Three kinds of sets have names: those that come with scikit-learn (iris, wine, digits, breast_cancer), the generated
    ones (rings, half_rings, spirals, cigars, gaussian_mixture, with their default parameters), and published sets, which are read from the folder that the
    environment variable CONCLUST_DATA names. In that folder a ``manifest.json``, a list of records with ``name``,
    ``file`` and ``sha256``, vouches for every file.

    Parameters
    ----------
    name : str
        One of `names`.
    random_state : int, Generator, SeedSequence or RandomState, default=0
        Seed of generated sets; ignored for the others.

    Returns
    -------
    Dataset
        Raw values: nothing is scaled, missing values are NaN. Words in a column (the three of
        kdd99_10percent) are coded as whole numbers, 0 on, in alphabetical order. Classes are
        numbered in order of their names.

    Raises
    ------
    ParameterError
        If the name is unknown; the message suggests close ones.
    DatasetNotFoundError
        If the set is published but not on this machine; says where it is published and which
        folder to put it in.
    FileFormatError
        If a file is damaged, or not the one that the manifest describes.

    Examples
    --------
    >>> from conclust import datasets
    >>> iris = datasets.load("iris")
    >>> iris
    Dataset('iris', X of 150 x 4, 3 classes)
    >>> iris.target_names
    ('setosa', 'versicolor', 'virginica')
    """
    if not isinstance(name, str) or name not in names():
        close = get_close_matches(name, names(), n=3) if isinstance(name, str) else []
        hint = f", such as {' or '.join(map(repr, close))}" if close else ""
        refuse("name", "load", f"one of the data sets that datasets.names() lists{hint}", name)
    if name in GENERATORS:
        return GENERATORS[name](random_state=random_state)
    return _bundled(name) if name in _BUNDLED else folder.read(name)


def _bundled(name: str) -> Dataset:
    # Imported here, because the generators do not need scikit-learn, whose data sets import many modules.
    from sklearn import datasets

    bunch: Any = getattr(datasets, f"load_{name}")()
    return Dataset(
        name=name,
        X=np.asarray(bunch.data, dtype=np.float64),
        y=np.asarray(bunch.target, dtype=np.int64),
        feature_names=tuple(str(feature) for feature in bunch.feature_names),
        target_names=tuple(str(target) for target in bunch.target_names),
        source=_BUNDLED[name],
    )


def __dir__() -> list[str]:
    return __all__
