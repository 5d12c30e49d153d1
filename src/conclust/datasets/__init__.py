"""Data sets of scikit-learn by name, generators of synthetic ones, and ensembles drawn from known models."""

from __future__ import annotations

from typing import Any

import numpy as np

from conclust._random import RandomStateLike
from conclust._validation import refuse
from conclust.datasets.dataset import Dataset
from conclust.datasets.ensembles import planted_ensemble, random_ensemble
from conclust.datasets.generators import (
    GENERATORS,
    cigars,
    gaussian_mixture,
    half_rings,
    image_1,
    image_c,
    rings,
    spirals,
)

__all__ = [
    "Dataset",
    "cigars",
    "gaussian_mixture",
    "half_rings",
    "image_1",
    "image_c",
    "load",
    "planted_ensemble",
    "random_ensemble",
    "rings",
    "spirals",
]


BUNDLED = {
    "breast_cancer": "Wisconsin diagnostic breast cancer (569 x 30, 2 classes), with scikit-learn",
    "digits": "handwritten digits of 8 x 8 pixels (1797 x 64, 10 classes), with scikit-learn",
    "iris": "Fisher's iris flowers (150 x 4, 3 classes), with scikit-learn",
    "wine": "chemical analyses of wines (178 x 13, 3 classes), with scikit-learn",
}


def load(name: str, *, random_state: RandomStateLike = 0) -> Dataset:
    """Load a data set by name.

    Parameters
    ----------
    name : str
        A set that comes with scikit-learn (iris, wine, digits, breast_cancer), or a generator of this module (rings,
        half_rings, spirals, cigars, gaussian_mixture, image_1, image_c), with its default parameters.
    random_state : int, Generator, SeedSequence or RandomState, default=0
        Seed of generated sets; ignored for the others.

    Returns
    -------
    Dataset
        Raw values: nothing is scaled. Classes are numbered in order of their names.

    Raises
    ------
    ParameterError
        If the name is unknown.

    Examples
    --------
    >>> from conclust import datasets
    >>> iris = datasets.load("iris")
    >>> iris
    Dataset('iris', X of 150 x 4, 3 classes)
    >>> iris.target_names
    ('setosa', 'versicolor', 'virginica')
    """
    known = [*BUNDLED, *GENERATORS]
    if not isinstance(name, str) or name not in known:
        refuse("name", "load", f"one of {', '.join(known)}", name)
    if name in GENERATORS:
        return GENERATORS[name](random_state=random_state)
    # Imported here, because the generators do not need scikit-learn, whose data sets import many modules.
    from sklearn import datasets

    bunch: Any = getattr(datasets, f"load_{name}")()
    return Dataset(
        name=name,
        X=np.asarray(bunch.data, dtype=np.float64),
        y=np.asarray(bunch.target, dtype=np.int64),
        feature_names=tuple(str(feature) for feature in bunch.feature_names),
        target_names=tuple(str(target) for target in bunch.target_names),
        source=BUNDLED[name],
    )


def __dir__() -> list[str]:
    return __all__
