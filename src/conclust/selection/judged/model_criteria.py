"""Criteria that need further fits: the BIC of a mixture, the clusters that PCC keeps, the eigengap."""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from conclust._random import spawn_sequences
from conclust.consensus.mixture import MixtureModel
from conclust.consensus.probabilistic import PCC
from conclust.ensemble import Ensemble
from conclust.spectra.bipartite import edges_of
from conclust.spectra.transfer_cut import transfer_cut

_LEAST = 0.01  # minimum share of the objects in a cluster that counts as kept by PCC


def costly_criteria(
    ensemble: Ensemble, k: int, seed: np.random.SeedSequence, n_jobs: int
) -> dict[str, float]:
    """Return `bic`, `pcc_clusters` and `eigengap` of the resamples of one K.

    The Bayesian information criterion of a mixture of K components on the labels; how many clusters
    hold a hundredth of the objects when PCC is allowed twice K; the gap after the K-th eigenvalue of the
    graph of objects and clusters.
    """
    first, second = spawn_sequences(seed, 2)
    n = ensemble.n_samples
    with warnings.catch_warnings():
        # Warnings about ensembles that suit another method better.
        warnings.simplefilter("ignore", UserWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)
        bic = MixtureModel(k, random_state=first).fit(ensemble).bic_
        most = min(n, max(10, 2 * k))
        pcc = PCC(most, divergence="l2", random_state=second, n_jobs=n_jobs).fit(ensemble)
    mass = np.nansum(pcc.membership_, axis=0)
    values = np.zeros(k + 1)
    spectrum = transfer_cut(edges_of(ensemble), k + 1).values ** 2
    values[: len(spectrum)] = spectrum[: k + 1]
    return {
        "bic": float(bic),
        "pcc_clusters": float(np.count_nonzero(mass >= _LEAST * n)),
        "eigengap": float(values[k - 1] - values[k]),
    }
