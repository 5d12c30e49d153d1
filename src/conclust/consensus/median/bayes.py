"""BayesEstimate: the partition with the least expected loss over draws of a partition."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field
from typing import Any, ClassVar

from numpy.typing import NDArray

from conclust._parameters import Parameters, Range
from conclust._random import RandomStateLike, seed_sequence
from conclust._threads import thread_count
from conclust._types import Bools
from conclust.consensus.base import ConsensusClusterer
from conclust.consensus.median.bayes_search import Wanted, least_expected_loss
from conclust.consensus.method import Method
from conclust.ensemble import Ensemble, Missing
from conclust.exceptions import OrientationWarning, warn
from conclust.measures.agreement import draws_are_rows
from conclust.measures.losses import Loss, check_loss


@dataclass(eq=False, repr=False)
class BayesEstimate(ConsensusClusterer):
    r"""Bayes estimate of a partition: minimum expected loss over draws, for instance from MCMC.

    Finds the partition c that minimises

    .. math::

        \sum_{\text{draws } s} \text{share}_s\, L(c, c_s)

    with c_s the partition of draw s: the point estimate of a posterior distribution whose draws are the
    partitions of the ensemble [1]_ [2]_. The number of clusters emerges.

    Parameters
    ----------
    loss : {"vi", "binder", "omari", "nvi", "id", "nid"}, default="vi"
        Loss of estimating a draw. With H the entropy in bits, c the estimate and s the draw:

        - "vi": variation of information, a H(c | s) + (2 - a) H(s | c);
        - "binder": pairs of objects, a for each that c wrongly separates and 2 - a for each that it
          wrongly puts together, times 2 / n^2;
        - "omari": 1 - adjusted Rand index, its mean over draws and not an approximation from pairs;
        - "nvi": variation of information over the joint entropy H(c, s);
        - "id": information distance, max(H(c), H(s)) - I(c, s), with I the mutual information;
        - "nid": information distance over max(H(c), H(s)).

        "binder" tends to give many small clusters, "vi" fewer; both have fast single moves.
    split_cost : float, default=1.0
        For "vi" and "binder": the cost a, in (0, 2), of separating objects that belong together; that of
        putting together objects that do not is 2 - a. Below 1 gives more clusters, above 1 fewer. It is
        the argument ``a`` of R's salso.
    max_clusters : int or None, default=None
        Maximum number of clusters of the estimate. None: any.
    n_init : int, default=16
        Number of starts: of every four, one is a draw, one a cut of the average-linkage tree, and two are empty
        partitions to which objects are added in random order.
    n_rebuilds : int, default=30
        Maximum number of rounds in which clusters are destroyed and built again; two to six rounds in turn that
        change nothing end it. At least 0; fewer where objects times draws times clusters are above 3 million.
    max_iter : int, default=100
        Maximum number of passes over the objects in one descent.
    missing : {"unobserved", "noise"}, default="unobserved"
        Meaning of -1 in label arrays given to ``fit``; see :class:`conclust.Ensemble`.
    random_state : int, Generator, SeedSequence or RandomState, default=None
        Source of the order in which objects are visited.
    n_jobs : int, default=None
        Threads; None: as many as there are processors (or ``OMP_NUM_THREADS``). The result does not depend
        on it.
    verbose : int, default=0
        1: print progress and the estimated time left to standard error.

    Attributes
    ----------
    labels_ : ndarray of int64 of shape (n_samples,)
        Clusters, consecutive from 0 by first appearance; -1: missing in every partition.
    n_clusters_ : int
        Number of clusters.
    expected_loss_ : float
        The expected loss of the estimate, see :func:`conclust.metrics.expected_loss`.
    objective_ : float
        The same.
    best_draw_ : int
        Draw with the minimum expected loss. If comparing all pairs of draws takes more than 2.5e9 labels, it is the
        best of an evenly spaced part.
    best_draw_loss_ : float
        Its expected loss, as an estimate in which objects that it did not observe are clusters of their own. The
        gain of the search is ``best_draw_loss_ - expected_loss_``.
    n_iter_ : int
        Number of passes over the objects from the best start.
    converged_ : bool
        Whether no move of an object and no merge was left that would lower the loss.
    n_features_in_ : int
        Number of partitions.

    Raises
    ------
    ParameterError
        If a parameter is out of its range, or `split_cost` is given with a loss that does not have it.
    InputError
        If the labels are malformed.
    UnsupportedEnsembleError
        If the partitions are soft.

    Warns
    -----
    ConvergenceWarning
        If `max_iter` ended the search.

    See Also
    --------
    conclust.Ensemble.from_draws : reads draws that are rows.
    conclust.confidence.credible_ball : the spread of the posterior around the estimate.
    conclust.confidence.modes : several estimates, where the draws disagree in more than one way.

    Notes
    -----
    The search visits objects in random order and moves each to the existing or new cluster with the lowest loss;
    merges clusters; destroys clusters, one or two at a time, and reassigns their objects; splits clusters in two;
    and, with few labels, reassigns the objects of some clusters at random. It works on counts
    per cluster and draw: a visit costs O(N K). Losses other than "vi" and "binder" are compared by their slopes
    first (with 250 objects or more), and exactly at the end. Objects with the same labels in all draws move
    together, and
    equal draws count as one with a weight. With more than 4 million distinct labels (objects times draws) the
    starts are compared on a part of the objects.

    A draw counts by its weight times the number of objects that it observed (for "binder" the pairs); others are
    ignored. Noise objects are clusters of one object. The problem is NP-hard: the search ends
    at a partition that none of its moves improves.

    References
    ----------
    .. [1] S. Wade, Z. Ghahramani: Bayesian cluster analysis: point estimation and credible balls.
       Bayesian Analysis 13, 2018.
    .. [2] D. B. Dahl, D. J. Johnson, P. Müller: Search algorithms and loss functions for Bayesian clustering.
       Journal of Computational and Graphical Statistics 31, 2022.

    Examples
    --------
    >>> from conclust import BayesEstimate, Ensemble
    >>> draws = Ensemble.from_draws([[0, 0, 1, 1, 1], [0, 0, 1, 1, 2], [0, 1, 2, 2, 2]])
    >>> model = BayesEstimate(random_state=0).fit(draws)
    >>> model.labels_, round(model.expected_loss_, 3)
    (array([0, 0, 1, 1, 1]), 0.317)
    """

    expected_loss_: float = field(init=False)
    best_draw_: int = field(init=False)
    best_draw_loss_: float = field(init=False)

    method = Method(
        title="Bayes estimate of a partition (SALSO)",
        n_clusters="emerges",
        soft_members=False,
        cost="n N K per pass",
        citation="Wade & Ghahramani 2018, Bayesian Analysis 13; Dahl, Johnson & Müller 2022, JCGS 31",
    )
    parameters: ClassVar[Parameters] = {
        "split_cost": Range(above=0, below=2),
        "n_rebuilds": Range(at_least=0),
    }

    _: KW_ONLY
    loss: Loss = "vi"
    split_cost: float = 1.0
    max_clusters: int | None = None
    n_init: int = 16
    n_rebuilds: int = 30
    max_iter: int = 100
    missing: Missing = "unobserved"
    random_state: RandomStateLike = None
    n_jobs: int | None = None
    verbose: int = 0

    def _check_parameters(self, ensemble: Ensemble) -> None:
        check_loss(self.loss, self.split_cost, "BayesEstimate")
        if draws_are_rows(ensemble):
            warn(
                f"The labels are read as {ensemble.n_samples} objects in {ensemble.n_partitions} draws, but their rows agree as "
                "partitions of the columns, and their columns do not as partitions of the rows. If each row is a draw, use "
                "Ensemble.from_draws(labels).",
                OrientationWarning,
            )

    def _fit(self, ensemble: Ensemble, observed: Bools) -> NDArray[Any]:
        labels, best, drawn = least_expected_loss(
            ensemble,
            Wanted(
                self.loss,
                float(self.split_cost),
                None if self.max_clusters is None else min(self.max_clusters, ensemble.n_samples),
                self.n_init,
                int(self.n_rebuilds),
                self.max_iter,
            ),
            seed_sequence(self.random_state, "BayesEstimate"),
            thread_count(self.n_jobs, "BayesEstimate"),
        )
        self.expected_loss_ = best.loss
        self.best_draw_, self.best_draw_loss_ = drawn.index, drawn.loss
        self._keep_end(best.loss, best.n_iter, best.converged)
        return labels
