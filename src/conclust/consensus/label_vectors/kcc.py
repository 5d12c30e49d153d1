"""KCC: the partition with maximum utility, for utilities that k-means can maximise."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import ClassVar, Literal, TypeAlias

import numpy as np

from conclust._parameters import Parameters, Range
from conclust._types import Floats
from conclust.consensus.label_rows import SMALL, Centroids, RowLoss
from conclust.consensus.label_vectors.estimator import LabelVectorKMeans
from conclust.consensus.method import Method
from conclust.ensemble.derived import Derived

Utility: TypeAlias = Literal["U_c", "U_H", "U_cos", "U_Lp"]
# Above this exponent, powers of counts overflow.
_MOST = 16.0


@dataclass(eq=False, repr=False)
class KCC(LabelVectorKMeans):
    r"""K-means-based consensus clustering: the partition with maximum utility.

    The utility of a consensus for a partition of the ensemble is how much the clusters of the consensus tell about its labels
    [1]_. With P the shares of the labels among all objects, m_r their
    shares in cluster r of the consensus and p_r the share of the objects in cluster r:

    .. math::

        U = \sum_r p_r\, \phi(m_r) - \phi(P)

    KCC maximises the weighted sum of U over the partitions. That is k-means on the rows of the
    indicator matrix with the divergence that belongs to phi.

    Parameters
    ----------
    n_clusters : int, default=None
        Clusters of the consensus. Fewer are found only if fewer objects differ.
        Required: ``fit`` refuses None.
    n_init : int, default=10
        Maximum number of starts (k-means++ on squared distances). All are run up to 600 distinct rows of labels, or 60 per
        cluster if that is more. With more rows they are compared on half of that number of objects (more if labels are
        missing, at most 5,000), drawn at random, until three of them have reached the lowest loss, and the best is
        continued with all rows. If the starts do not agree, all of them are continued first, with up to 5,000 objects,
        until two have reached the lowest loss.
    max_iter : int, default=100
        Maximum number of passes over all objects.
    tol : float, default=1e-6
        Stop when a pass lowers the loss that k-means minimises by at most this share of it.
    missing : {"unobserved", "noise"}, default="unobserved"
        Meaning of -1 in label arrays given to ``fit``; see :class:`conclust.Ensemble`.
    random_state : int, Generator, SeedSequence or RandomState, default=None
        Source of all random choices.
    n_jobs : int, default=None
        Threads; starts run in parallel. None: ``OMP_NUM_THREADS`` or all processors. The result
        does not depend on it.
    verbose : int, default=0
        1: print progress and the estimated time left to standard error.
    utility : {"U_c", "U_H", "U_cos", "U_Lp"}, default="U_H"
        phi. "U_c": the squared length of the shares (category utility, half the objective of
        :class:`conclust.QMI`). "U_H": their negative entropy in bits (mutual information, as in
        :class:`conclust.InformationTheoreticKMeans`). "U_cos": their length. "U_Lp": their `p`-norm.
    p : float, default=5
        Exponent of "U_Lp": above 1, at most 16. The paper has 5 and 8; 2 is "U_cos".
    normalized : bool, default=False
        Whether the utility of a partition is divided by the abs(phi(P)) of its own labels: then
        partitions with many clusters count less with "U_H" and more with the others.

    Attributes
    ----------
    labels_ : ndarray of int64 of shape (n_samples,)
        Clusters, consecutive from 0 by first appearance; -1: missing in every partition.
    n_clusters_ : int
        Number of clusters.
    objective_ : float
        Sum over partitions of weight x share of the objects observed x U; larger is better.
    n_iter_ : int
        Passes over all objects, of the start that was kept.
    converged_ : bool
        Whether `tol` ended the passes, not `max_iter`.
    n_features_in_ : int
        Number of partitions.

    Raises
    ------
    ParameterError
        If a parameter is out of its range.
    InputError
        If the labels are malformed.

    See Also
    --------
    SEC : the same search for the normalised cut of the co-association.

    Notes
    -----
    Single objects move (Hartigan) with the shares moving along, rather than all at once: the
    objective never falls, the local optima are better, and no cluster is left empty. The published
    Lloyd iterations start "U_H" at one-hot shares, where every other label costs 52 bits.
    Time is O(n_samples n_partitions n_clusters) per pass; nothing of n x n is formed.

    A partition that did not observe an object is dropped from its divergence, and shares are taken of
    the observed objects [1]_, section 4.3. Noise is a label that no other object has. Soft partitions
    are rows of probabilities in place of 0 and 1. A partition with one cluster has no entropy to
    divide by, and no utility: `normalized` leaves it as it is.

    KCC needs partitions with about the wanted number of clusters; for much finer ones, methods that use the
    co-association (:class:`conclust.LWEA`, :class:`conclust.LWGP`) do better.

    References
    ----------
    .. [1] J. Wu, H. Liu, H. Xiong, J. Cao and J. Chen, "K-means-based consensus clustering: a
       unified view", IEEE Transactions on Knowledge and Data Engineering 27(1), 2015.

    Examples
    --------
    >>> import numpy as np
    >>> from conclust import KCC
    >>> ensemble = np.array([[0, 0, 0], [0, 0, 0], [1, 1, 0], [1, 1, 1]])
    >>> model = KCC(2, random_state=0).fit(ensemble)
    >>> model.labels_, round(model.objective_, 6)  # bits
    (array([0, 0, 1, 1]), 2.311278)
    >>> round(KCC(2, utility="U_cos", random_state=0).fit(ensemble).objective_, 6)
    0.64877
    >>> model.predict([[1, 1, 0], [0, 0, -1]])
    array([1, 0])
    """

    _races = True
    method = Method(
        title="K-means-based consensus clustering",
        n_clusters="exact",
        cost="n N K per pass",
        citation="Wu, Liu, Xiong, Cao and Chen 2015, IEEE TKDE 27",
        blocks="conclust.blocks.methods.label_vectors",
        use="you want k-means on the labels, with a utility of your choice",
    )
    parameters: ClassVar[Parameters] = {"p": Range(above=1, at_most=_MOST)}

    _: KW_ONLY
    utility: Utility = "U_H"
    p: float = 5.0
    normalized: bool = False

    def _loss(self) -> RowLoss:
        if self.utility == "U_c":
            return RowLoss("quadratic")
        if self.utility == "U_H":
            return RowLoss("entropic")
        return RowLoss("norm", 2.0 if self.utility == "U_cos" else float(self.p))

    def _counting_as(self, ensemble: Derived) -> Floats | None:
        if not self.normalized:
            return None
        whole = Centroids.of_sums(
            ensemble.cluster_sizes[:, None],
            ensemble.observed_counts[:, None],
            ensemble.noise_counts[:, None].astype(np.float64),
            ensemble.offsets,
        )
        norms = np.abs(self._phi(whole))[:, 0]
        return np.asarray(ensemble.partition_weights / np.where(norms > 0, norms, 1.0))

    def _phi(self, centroids: Centroids) -> Floats:
        """Return phi of each block (N, K)."""
        if self.utility == "U_H":
            return centroids.sums_of(lambda m: m * np.log2(np.where(m > 0, m, 1.0)))
        if self.utility == "U_c":
            return centroids.lengths
        power = self._loss().power
        return np.asarray(centroids.sums_of(lambda m: m**power) ** (1.0 / power))

    def _value(self, ensemble: Derived, centroids: Centroids, loss: float) -> float:
        phi = self._phi(centroids)
        utility = (centroids.shares * phi).sum(axis=1) - self._phi(centroids.of_all())[:, 0]
        observed = ensemble.observed_counts / ensemble.n_samples
        return float(ensemble.partition_weights @ (observed * utility))

    def _costs(self, ensemble: Derived, centroids: Centroids) -> tuple[Floats, Floats]:
        phi = self._phi(centroids)
        block = np.zeros_like(phi)
        if self.utility == "U_c":
            cost, block = -2.0 * centroids.means, phi
        elif self.utility == "U_H":
            cost = -np.log2(centroids.means + SMALL)
        else:
            cost = -(centroids.relative(phi) ** (self._loss().power - 1.0))
        return (
            cost * ensemble.column_weights[:, None],
            block * ensemble.partition_weights[:, None],
        )
