"""NonparametricBayesianEnsemble: the number of clusters is inferred by Gibbs sampling."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from conclust._kernels import GibbsChain, squared_tables
from conclust._parameters import Parameters, Range
from conclust._progress import stage, tracked
from conclust._random import RandomStateLike, generator
from conclust._types import Bools, Floats, Ints
from conclust._validation import refuse
from conclust.consensus.base import ConsensusClusterer, spread
from conclust.consensus.method import Method
from conclust.consensus.mixture.bayesian import BayesianEnsemble
from conclust.consensus.mixture.chain import UnboundedChain, drawn_columns
from conclust.ensemble import DistinctRows, Ensemble, Missing
from conclust.ensemble.labels import canonical_labels, one_hot_rows
from conclust.evidence import coassociation

_BEGIN = 50  # sweeps of the simpler chain before the mixed one
_ROWS = 256  # rows of a matrix of all pairs that are divided at once


@dataclass(eq=False, repr=False)
class NonparametricBayesianEnsemble(ConsensusClusterer):
    """Nonparametric Bayesian cluster ensembles: the number of clusters is inferred.

    A Dirichlet-process mixture of label vectors: objects of a cluster draw their labels in each
    partition from a distribution of that cluster and partition, and there is no bound on how many
    clusters there are. Partitions of the objects are drawn from the posterior by collapsed Gibbs
    sampling, with all distributions integrated out [1]_. The consensus is the drawn partition that is
    closest to the co-association of all draws [2]_. With ``mixed=True``, as in the paper, an object has a distribution
    over the clusters, and draws a cluster from it in each partition (a hierarchical Dirichlet process).

    Parameters
    ----------
    concentration : float, default=None
        Concentration of the Dirichlet process, above 0: the larger, the more clusters are expected before
        labels are seen. None: learnt, with a Gamma(1, 1) prior.
    smoothing : float, default=0.5
        Parameter of the symmetric Dirichlet prior of the label distributions, above 0.
    mixed : bool, default=False
        Whether an object may follow different clusters in different partitions. ``draws_`` then has a cluster for each object,
        drawn from its distribution, and the consensus uses its most probable cluster in each draw.
    n_burn_in : int, default=200
        Sweeps over all objects before partitions are kept, at least 0.
    n_draws : int, default=300
        Number of partitions kept, one per sweep.
    missing : {"unobserved", "noise"}, default="unobserved"
        Meaning of -1 in label arrays given to ``fit``; see :class:`conclust.Ensemble`.
    random_state : int, Generator, SeedSequence or RandomState, default=None
        Source of all random choices.
    verbose : int, default=0
        1: print progress and the estimated time left to standard error.

    Attributes
    ----------
    labels_ : ndarray of int64 of shape (n_samples,)
        Clusters, consecutive from 0 by first appearance; -1: missing in every partition.
    n_clusters_ : int
        Number of clusters.
    draws_ : ndarray of int32 of shape (n_samples, n_draws)
        The partitions kept; -1: missing in every partition.
        :func:`conclust.posterior_coclustering` computes co-clustering from them.
    n_clusters_draws_ : ndarray of int64 of shape (n_draws,)
        Number of clusters of each draw.
    concentrations_ : ndarray of shape (n_draws,)
        Concentration in each draw.
    objective_ : float
        Sum over pairs of (1[together] - share of draws that have the pair together)^2, the minimum over all draws.
    n_iter_ : int
        Sweeps: ``n_burn_in + n_draws``.
    n_features_in_ : int
        Number of partitions.

    Raises
    ------
    ParameterError
        If a parameter is out of its range.
    InputError
        If the labels are malformed.
    UnsupportedEnsembleError
        In ``fit``, if the partitions are soft.

    Notes
    -----
    By default an object belongs to one cluster, the simpler form of the paper's model. With ``mixed=True`` its
    distribution over clusters is drawn from a Dirichlet process around that of all objects, whose weights are broken
    sticks, GEM(concentration); the process of the objects has a concentration of its own, with a Gamma(concentration, 1)
    prior. Its chain begins at a partition drawn from the simpler form, and draws every label again in every sweep:
    2,000 objects in 20 partitions took 50 times as long.

    A sweep costs at most O(n_samples n_partitions n_clusters), even if objects have the same labels, because each is drawn
    separately. An object that hardly leaves its cluster is visited in O(1) until another object moves. The chain runs on one
    thread; 500 sweeps over 100,000 objects in
    20 partitions, a fifth of the labels random, took 0.7 s.
    ``draws_`` takes 4 n_samples n_draws bytes.

    A partition that did not observe an object carries no information about it. Neither does noise, a label that no
    other object has. The weight of a partition is an exponent of its probabilities. Weights are scaled so that their sum
    is the effective number of partitions, (sum w)^2 / sum w^2.

    References
    ----------
    .. [1] P. Wang, C. Domeniconi, K. B. Laskey: Nonparametric Bayesian clustering ensembles. ECML
       PKDD 2010. The concentration is drawn as by M. D. Escobar and M. West, JASA 90, 1995.
    .. [2] D. B. Dahl: Model-based clustering for expression data via a Dirichlet process mixture
       model. In: Bayesian Inference for Gene Expression and Proteomics, Cambridge 2006.

    Examples
    --------
    >>> import numpy as np
    >>> from conclust import NonparametricBayesianEnsemble
    >>> ensemble = np.repeat([[0, 0, 0, 0], [1, 1, 1, -1], [2, 2, 2, 1]], 5, axis=0)
    >>> model = NonparametricBayesianEnsemble(random_state=0).fit(ensemble)
    >>> model.n_clusters_
    3
    """

    method = Method(
        title="Nonparametric Bayesian cluster ensembles (Gibbs)",
        n_clusters="emerges",
        soft_members=False,
        cost="n N K per sweep",
        citation="Wang, Domeniconi and Laskey 2010, ECML PKDD",
    )
    parameters: ClassVar[Parameters] = {
        "concentration": Range(above=0),
        "smoothing": Range(above=0),
        "n_burn_in": Range(at_least=0),
    }

    draws_: NDArray[np.int32] = field(init=False)

    _: KW_ONLY
    concentration: float | None = None
    smoothing: float = 0.5
    mixed: bool = False
    n_burn_in: int = 200
    n_draws: int = 300
    missing: Missing = "unobserved"
    random_state: RandomStateLike = None
    verbose: int = 0

    def _finish(self, observed: Bools) -> None:
        self.draws_ = spread(self.draws_, observed, -1)

    def _fit(self, ensemble: Ensemble, observed: Bools) -> Ints:
        rng = generator(self.random_state, "NonparametricBayesianEnsemble")
        n = ensemble.n_samples
        ensemble = ensemble.reweighted(ensemble.relative_weights)
        view = ensemble.label_view.reweighted(ensemble.partition_weights)
        concentration = 1.0 if self.concentration is None else float(self.concentration)
        self.n_iter_ = self.n_burn_in + self.n_draws
        self.draws_ = np.empty((n, self.n_draws), dtype=np.int32)
        # Of each draw the most probable clusters, whose consensus is less noisy than that of clusters drawn.
        partitions = np.empty_like(self.draws_) if self.mixed else self.draws_
        self.n_clusters_draws_ = np.empty(self.n_draws, dtype=np.int64)
        self.concentrations_ = np.empty(self.n_draws)
        labels = np.empty(n, dtype=np.int64)
        chain = GibbsChain(view, float(self.smoothing))
        mixed: UnboundedChain | None = None
        for sweep in tracked(range(-_BEGIN if self.mixed else 0, self.n_iter_), "sweeps"):
            if self.mixed and sweep == 0:
                mixed = UnboundedChain(ensemble, float(self.smoothing), concentration, labels)
            if mixed is None:
                k = chain.sweep(concentration, int(rng.integers(2**63)), labels)
                if self.concentration is None:
                    concentration = _drawn_concentration(concentration, n, k, rng)
            else:
                mixed.sweep(rng)
                if self.concentration is None:
                    concentration = mixed.draw_concentration(rng)
                theta = mixed.theta()
                labels, k = theta.argmax(axis=1), len(mixed.alpha)
            n_kept = sweep - self.n_burn_in
            if n_kept >= 0:
                partitions[:, n_kept] = labels
                if mixed is not None:
                    self.draws_[:, n_kept] = drawn_columns(theta, rng)
                self.n_clusters_draws_[n_kept] = k
                self.concentrations_[n_kept] = concentration
        stage("the draw nearest to their mean")
        losses = _least_squares(partitions)
        best = int(losses.argmin())
        self.objective_ = float(losses[best])
        return np.asarray(canonical_labels(partitions[:, best].astype(np.int64)))


def _drawn_concentration(
    concentration: float, n: int, n_clusters: int, rng: np.random.Generator
) -> float:
    """Draw the concentration given the number of clusters, under a Gamma(1, 1) prior."""
    rate = 1.0 - math.log(rng.beta(concentration + 1.0, n))
    odds = n_clusters / (n * rate)
    shape = n_clusters + (rng.random() < odds / (1.0 + odds))
    # After a draw of 0, no new cluster could ever appear.
    return max(float(rng.gamma(shape, 1.0 / rate)), 1e-10)


def _least_squares(draws: NDArray[np.int32]) -> Floats:
    """Return for each draw, without missing labels, the squared distance over pairs to the mean of all of them."""
    S = draws.shape[1]
    if len(draws) == 1:  # there are no pairs
        return np.zeros(S)
    rows = Ensemble(draws).distinct_rows()
    # Sums over ordered pairs of objects, each with itself included; all are whole numbers.
    u, most = len(rows), int(rows.ensemble.cluster_counts.max())
    if u < max(S / most, S / 4):
        own, shared = _together(rows)
    else:
        both = np.empty((S, S))
        squared_tables(rows.ensemble.label_view, rows.counts, both)
        own, shared = np.diagonal(both), both.sum(axis=1)
    losses: Floats = own - 2.0 * (shared / S) + shared.sum() / S**2
    return losses / 2.0


def _together(rows: DistinctRows) -> tuple[Floats, Floats]:
    """Return for each draw its pairs, and the sum over all draws of the pairs that both have.

    Less memory than all pairs of draws, if there are fewer distinct rows.
    """
    draws, counts = rows.ensemble, rows.counts.astype(np.float64)
    labels = draws.labels
    pairs = coassociation(draws, max_dense=None) * np.outer(counts, counts)
    own, shared = np.empty(draws.n_partitions), np.empty(draws.n_partitions)
    for s, k in enumerate(draws.cluster_counts):
        columns = one_hot_rows(labels[:, s], int(k))
        own[s] = ((counts @ columns) ** 2).sum()
        shared[s] = ((pairs @ columns) * columns).sum()
    return own, shared


def posterior_coclustering(
    model: NonparametricBayesianEnsemble | BayesianEnsemble, *, max_dense: int | None = 20_000
) -> Floats:
    """Return the posterior probability that two objects are in one cluster.

    Parameters
    ----------
    model : NonparametricBayesianEnsemble or BayesianEnsemble
        Fitted, the latter with ``solver="gibbs"``: how probable it is that a further partition would have
        both follow one cluster.
    max_dense : int, default=20000
        Maximum number of objects, above which the matrix is refused. None: no limit.

    Returns
    -------
    ndarray of shape (n_samples, n_samples)
        Share of the draws that put both into one cluster; 1 on the diagonal. NaN in the rows and
        columns of objects that are missing in every partition.

    Raises
    ------
    ParameterError
        If `model` is not a model, or has no draws.
    DenseLimitError
        If there are more than `max_dense` objects. ``model.draws_`` is a label matrix that all
        estimators and functions of conclust take.
    NotFittedError
        If the model is not fitted.

    Examples
    --------
    >>> import numpy as np
    >>> from conclust import NonparametricBayesianEnsemble, posterior_coclustering
    >>> ensemble = np.repeat([[0, 0, 0, 0], [1, 1, 1, -1], [2, 2, 2, 1]], 5, axis=0)
    >>> model = NonparametricBayesianEnsemble(random_state=0).fit(ensemble)
    >>> posterior_coclustering(model).shape
    (15, 15)
    """
    expected = "a NonparametricBayesianEnsemble or a BayesianEnsemble with solver='gibbs'"
    estimator: Any = model
    if not isinstance(estimator, NonparametricBayesianEnsemble | BayesianEnsemble):
        advice = "For other draws, use coassociation(Ensemble.from_draws(draws)) / n_draws."
        refuse("model", "posterior_coclustering", expected, estimator, advice)
    check_is_fitted(model)
    if not hasattr(model, "draws_"):
        refuse("model", "posterior_coclustering", expected, model)
    counts = coassociation(Ensemble(model.draws_), max_dense=max_dense)
    shares = np.empty(counts.shape)
    # In blocks, because Ctrl-C has no effect while NumPy divides.
    for begin in range(0, len(shares), _ROWS):
        rows = slice(begin, begin + _ROWS)
        np.divide(counts[rows], float(model.draws_.shape[1]), out=shares[rows])
    unobserved = model.labels_ < 0
    shares[unobserved] = np.nan
    shares[:, unobserved] = np.nan
    return shares
