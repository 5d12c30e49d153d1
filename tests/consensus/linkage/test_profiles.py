"""Linkage on profiles, the rows of the co-association, against SciPy and a greedy twin."""

import warnings

import numpy as np
import pytest
from scipy.spatial.distance import pdist, squareform
from tests.cases import E1
from tests.naive import linkage as naive

from conclust import EAC, Ensemble
from conclust.exceptions import DenseLimitError, EvidenceWarning, ParameterError

KINDS = [(0.0, 0.0, False), (0.0, 0.0, True), (0.0, 0.2, False), (0.3, 0.0, True)]


def profiles(labels, weights):
    c, N = naive.evidence(labels, weights)
    S = np.divide(c, N, out=np.zeros_like(c), where=N > 0)
    np.fill_diagonal(S, 1.0)
    return S


@pytest.mark.parametrize("linkage", ["single", "average", "complete", "ward"])
@pytest.mark.parametrize(("missing", "noise", "weighted"), KINDS)
def test_the_tree_equals_that_of_the_rows(linkage, missing, noise, weighted):
    rng = np.random.default_rng(3)
    labels = naive.random_labels(rng, 36, 8, k=6, missing=missing, noise=noise)
    labels[10:14] = labels[20:24]
    weights = np.sqrt(np.arange(2.0, 10.0)) if weighted else None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EvidenceWarning)
        model = EAC(metric="profile", linkage=linkage).fit(Ensemble(labels, weights=weights))
    D = squareform(pdist(profiles(labels, weights)))
    naive.replay(model.linkage_matrix_, lambda A, B: naive.between(D, A, B, linkage), 1e-5)


def test_unsupported_input_is_refused():
    with pytest.raises(ParameterError, match="'metric' parameter of EAC must be one of"):
        EAC(2, metric="cosine").fit(E1)
    with pytest.raises(ParameterError, match=r"must be 'evidence'. Got 'profile'"):
        EAC(2, metric="profile", pairs=2).fit(E1)
    with pytest.raises(DenseLimitError, match=r"metric='profile' needs a matrix .* the 3 distinct"):
        EAC(2, metric="profile", linkage="single", max_dense=2).fit(E1)
