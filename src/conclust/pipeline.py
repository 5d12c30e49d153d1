"""ConsensusClustering: generator and consensus as one clusterer of points."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClusterMixin, clone
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, validate_data

from conclust._random import RandomStateLike, seed_sequence, spawn_seeds
from conclust._validation import refuse
from conclust.consensus.probabilistic import PCC
from conclust.ensemble import Ensemble
from conclust.generation import EnsembleGenerator

__all__ = ["ConsensusClustering"]


def _consensus_has(name: str) -> Any:
    def check(self: ConsensusClustering) -> bool:
        consensus = getattr(self, "consensus_", self.consensus)
        return consensus is None or hasattr(consensus, name)

    return check


class ConsensusClustering(ClusterMixin, BaseEstimator):  # type: ignore[misc]
    """Cluster points by the consensus of many clusterings of them.

    Parameters
    ----------
    consensus : estimator, default=None
        Finds the consensus of a label matrix. None: :class:`conclust.PCC` with its defaults.
    generator : transformer, default=None
        Makes the label matrix from the points. None: :class:`conclust.EnsembleGenerator` with its
        defaults: 100 k-means partitions of random size.
    random_state : int, Generator, RandomState, SeedSequence or None, default=None
        If given, seeds both parts anew; None leaves their own ``random_state`` alone.

    Attributes
    ----------
    generator_ : transformer
        The fitted generator.
    consensus_ : estimator
        The fitted consensus; its further attributes (``objective_``, ...) are there.
    ensemble_ : Ensemble
        The partitions that were made.
    labels_ : ndarray of shape (n_samples,)
        The consensus partition.
    membership_ : ndarray of shape (n_samples, n_clusters)
        Probabilities, where the consensus is soft.
    n_clusters_ : int
        Clusters found.
    n_features_in_ : int
        Features seen in ``fit``.

    Raises
    ------
    ParameterError
        If a parameter of one of the parts is out of its range.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from conclust import PCC, ConsensusClustering, EnsembleGenerator
    >>> model = ConsensusClustering(PCC(3), EnsembleGenerator(n_partitions=30), random_state=0)
    >>> labels = model.fit_predict(load_iris().data)
    >>> model.n_clusters_
    3
    """

    def __init__(
        self,
        consensus: Any = None,
        generator: Any = None,
        *,
        random_state: RandomStateLike = None,
    ) -> None:
        self.consensus = consensus
        self.generator = generator
        self.random_state = random_state

    def fit(self, X: Any, y: None = None) -> Self:
        """Make the ensemble of the points and find its consensus.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The points.
        y : None
            Ignored; there for scikit-learn's pipelines.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        generator = self._part("generator", EnsembleGenerator, "fit_transform")
        consensus = self._part("consensus", PCC, "fit")
        if self.random_state is not None:
            seeds = spawn_seeds(seed_sequence(self.random_state, "ConsensusClustering"), 2, bits=32)
            for part, seed in zip((generator, consensus), seeds, strict=True):
                if "random_state" in part.get_params(deep=False):
                    part.set_params(random_state=seed)
        validate_data(self, X, skip_check_array=True)
        self.ensemble_ = Ensemble(generator.fit_transform(X))
        self.generator_ = generator
        self.consensus_ = consensus.fit(self.ensemble_)
        return self

    def _part(self, name: str, default: Any, method: str) -> Any:
        """Return a clone of a part, or the default one."""
        part = getattr(self, name)
        if part is None:
            return default()
        if not (hasattr(part, method) and hasattr(part, "get_params")):
            refuse(name, "ConsensusClustering", f"an estimator with {method}", part)
        return clone(part)

    @property
    def labels_(self) -> NDArray[np.int64]:
        """The consensus partition of the points of ``fit``."""
        check_is_fitted(self, "consensus_")
        labels: NDArray[np.int64] = self.consensus_.labels_
        return labels

    @property
    def n_clusters_(self) -> int:
        """Clusters found."""
        check_is_fitted(self, "consensus_")
        return int(self.consensus_.n_clusters_)

    @property
    def membership_(self) -> NDArray[np.float64]:
        """Probabilities over clusters, where the consensus is soft."""
        check_is_fitted(self, "consensus_")
        membership: NDArray[np.float64] = self.consensus_.membership_
        return membership

    def _label(self, X: Any) -> Any:
        # Checked here so that errors name this estimator; passed on as it came, with its names.
        validate_data(self, X, reset=False)
        return self.generator_.transform(X)

    @available_if(_consensus_has("predict"))  # type: ignore[untyped-decorator]
    def predict(self, X: Any) -> NDArray[np.int64]:
        """Clusters of new points: labelled by every member, then placed in the consensus.

        Parameters
        ----------
        X : array-like of shape (n_new, n_features)
            New points. The members must be able to label them (k-means can).

        Returns
        -------
        ndarray of shape (n_new,)
            Cluster of each point.
        """
        check_is_fitted(self, "consensus_")
        labels: NDArray[np.int64] = self.consensus_.predict(self._label(X))
        return labels

    @available_if(_consensus_has("predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Memberships of new points (see ``predict``).

        Parameters
        ----------
        X : array-like of shape (n_new, n_features)
            New points.

        Returns
        -------
        ndarray of shape (n_new, n_clusters)
            Rows sum to 1.
        """
        check_is_fitted(self, "consensus_")
        membership: NDArray[np.float64] = self.consensus_.predict_proba(self._label(X))
        return membership
