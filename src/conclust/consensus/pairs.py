"""The only reader of `pairs`, the pairs of objects that a method uses: all, a sample, or given ones."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np

from conclust._progress import stage
from conclust._random import RandomStateLike
from conclust._types import Bools
from conclust._validation import refuse
from conclust.ensemble import Ensemble
from conclust.evidence import SparseEvidence, sample_pairs
from conclust.exceptions import EvidenceWarning, InputError, warn

# Warn if rounding up to whole partners makes the sample larger by this factor.
_TOO_MANY = 2.0


def check_pairs(pairs: Any, owner: str) -> None:
    """Refuse a `pairs` parameter of the wrong type or range."""
    if pairs is None or isinstance(pairs, SparseEvidence):
        return
    if isinstance(pairs, (float, np.floating)) and 0 < pairs <= 1:
        return
    if not isinstance(pairs, (int, np.integer)) or isinstance(pairs, bool) or pairs < 1:
        refuse(
            "pairs",
            owner,
            "an int in the range [1, inf), a float in the range (0, 1], a SparseEvidence or None",
            pairs,
        )


def read_pairs(
    pairs: Any,
    ensemble: Ensemble,
    observed: Bools,
    owner: str,
    *,
    random_state: RandomStateLike,
    n_jobs: int | None,
    apart: bool = False,
) -> SparseEvidence | None:
    """Return the evidence of the requested pairs; None stands for all.

    Parameters
    ----------
    pairs : int, float, SparseEvidence or None
        Partners that each object draws, a share of all pairs, or evidence on all objects that the user
        gave; checked by `check_pairs`.
    ensemble : Ensemble
        The observed objects.
    observed : ndarray of shape (n_given,), bool
        Mask of these objects among those that the user gave.
    owner : str
        The estimator, for messages.
    random_state, n_jobs
        For drawing.
    apart : bool, default=False
        Whether objects without any given pair are allowed.
    """
    if pairs is None:
        return None
    if isinstance(pairs, SparseEvidence):
        return _restricted(pairs, observed, owner, apart)
    n = ensemble.n_samples
    if isinstance(pairs, Integral):
        per_object = int(pairs)
    else:
        per_object = max(1, int(np.ceil(pairs * (n - 1) / 2)))
        if n > 1 and per_object > _TOO_MANY * pairs * (n - 1) / 2:
            warn(
                f"pairs={pairs:g} means {pairs * n * (n - 1) / 2:,.0f} pairs of {n:,} objects, and "
                f"each object needs one: {per_object * n:,} are drawn, pairs={per_object}, a share of "
                f"about {2 * per_object / (n - 1):.2g}.",
                EvidenceWarning,
            )
    stage("drawing pairs")
    return sample_pairs(ensemble, per_object, random_state=random_state, n_jobs=n_jobs)


def _restricted(pairs: SparseEvidence, observed: Bools, owner: str, apart: bool) -> SparseEvidence:
    """Return the user's evidence, given for all objects, for the observed ones."""
    n = len(observed)
    if pairs.n_samples != n:
        raise InputError(
            f"The 'pairs' of {owner} cover {pairs.n_samples} objects, but the labels have "
            f"{n}. Draw the pairs from the same ensemble."
        )
    degrees = np.diff(pairs.indptr)
    if degrees[~observed].any():
        raise InputError(
            f"The 'pairs' of {owner} hold evidence on objects that are missing in every partition. "
            "Draw the pairs from the same ensemble."
        )
    alone = observed & (degrees == 0)
    if alone.any() and not apart:
        raise InputError(
            f"The 'pairs' of {owner} leave {np.count_nonzero(alone)} objects without evidence (the "
            f"first is object {np.argmax(alone)}): every object must be in a pair."
        )
    return pairs if observed.all() else pairs.of_objects(observed)
