"""Makes the table, the decision and the Selection from the measurements at each K."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from conclust._types import Floats, Ints
from conclust._validation import count
from conclust.ensemble import Ensemble
from conclust.exceptions import SelectionWarning, warn
from conclust.selection.decision import decide, more_than_gaussian, relative_stability
from conclust.selection.judged.criteria import jackknife
from conclust.selection.judged.measuring import Measured
from conclust.selection.resampled.null import Verdict
from conclust.selection.resampled.testing import by_silhouette
from conclust.selection.second import Second
from conclust.selection.selection import Selection


def assemble(
    measured: dict[int, Measured],
    ensembles: dict[int, Ensemble],
    settings: dict[str, Any],
    *,
    verdict: Verdict | None,
    why_no_p: str,
    nested: bool = True,
    second_test: Callable[[Ints, bool], Second] | None = None,
) -> Selection:
    """Make the table, decide, and warn about doubts.

    Parameters
    ----------
    measured : dict of Measured
        The criteria of each K.
    ensembles : dict of Ensemble
        The resamples of each K.
    settings : dict
        Settings requested.
    verdict : Verdict or None
        Result of the test, or None if it was not run.
    why_no_p : str
        Reason where there is none.
    nested : bool, default=True
        Whether each K has resamples of its own.
    second_test : callable, default=None
        Tests the labels of the best number, given whether one Gaussian was rejected.
    """
    ks = sorted(measured)
    table: dict[str, Floats] = {}
    for name in measured[ks[0]].values:
        table[name] = np.array([measured[k].values[name] for k in ks])
        if name in measured[ks[0]].errors:
            table[f"{name}_se"] = np.array([measured[k].errors[name] for k in ks])
    left_out = [measured[k].areas for k in ks]
    if len({len(areas) for areas in left_out}) > 1:  # fewer resamples than groups at one K
        left_out = []
    table["delta"], table["delta_se"] = _delta(table["area"], np.array(left_out))
    p_value, n_references = float("nan"), 0
    null = np.empty((0, len(ks)))
    if verdict is not None:
        real = verdict.real
        p_value, n_references = verdict.p_value, verdict.n_references
        null = np.exp(verdict.logs)
        table["log_pac_null_mean"] = verdict.logs.mean(axis=0)
        table["log_pac_null_sd"] = verdict.logs.std(axis=0, ddof=1)
        table["rcsi"], table["rcsi_se"] = relative_stability(real, verdict.logs)
        below = (verdict.logs <= real + 1e-12).sum(axis=0)
        table["p_value_k"] = (below + 1.0) / (len(verdict.logs) + 1.0)
    decision = decide(
        ks,
        table,
        p_value=p_value,
        n_references=n_references,
        alpha=settings.get("alpha", 0.05),
        null=settings.get("null"),
        why_no_p=why_no_p,
        nested=nested,
        n_categories=settings.get("n_categories", 0),
        few=verdict is not None and by_silhouette(settings["n_tested"]),
    )
    n_clusters, alternatives = decision.n_clusters, decision.alternatives
    doubts, why = decision.doubts, decision.why
    second = Second()
    if second_test is not None and n_clusters == 1 and decision.best > 1:
        despite = second_test(measured[decision.best].labels, False)
        if despite.all_hold:
            n_clusters, second = decision.best, despite
            why = f"{despite.words}, although {why}"
    elif second_test is not None and n_clusters > 1:
        second = second_test(measured[n_clusters].labels, True)
        if second.one_cluster:
            rejection = more_than_gaussian(p_value, n_references, settings.get("null"))
            why = f"{rejection}, {second.against}"
            n_clusters, alternatives, doubts = 1, (), ()
        else:
            doubts = (*second.doubts, *doubts)
            if second.words:
                why = f"{why}; {second.words}"
    if doubts:
        warn(" ".join(doubts), SelectionWarning)
    return Selection(
        n_clusters=n_clusters,
        p_value=p_value,
        n_references=n_references,
        reason=f"{count(n_clusters, 'cluster')}: {why}.",
        why=why,
        alternatives=alternatives,
        doubts=doubts,
        k=np.array(ks),
        table=table,
        null=null,
        labels={k: measured[k].labels for k in ks},
        ensembles=ensembles,
        trees={k: measured[k].tree for k in ks},
        leaves={k: measured[k].rows for k in ks},
        pairs={k: measured[k].counts for k in ks},
        settings=settings,
        borders=second.borders,
        p_value_clouds=second.p_value,
    )


def _delta(areas: Floats, left_out: Floats) -> tuple[Floats, Floats]:
    """Return the relative growth of the area with K, never negative, and its standard error.

    For the smallest K tried it is the area itself, as in Monti et al. for K = 2.
    """

    def growth(values: Floats) -> Floats:
        highest = np.maximum.accumulate(values, axis=0)
        grown = highest.astype(np.float64).copy()
        before = highest[:-1]
        grown[1:] = np.where(
            before > 0, (highest[1:] - before) / np.where(before > 0, before, 1.0), 0.0
        )
        return grown

    if not left_out.size:
        return growth(areas), np.full(len(areas), np.nan)
    return growth(areas), np.array([jackknife(row) for row in growth(left_out)])
