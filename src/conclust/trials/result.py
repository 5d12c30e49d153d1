"""The result of a comparison: one row per method, as a table, a frame and arrays."""

from __future__ import annotations

import html
import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from conclust._types import Ints
from conclust._validation import pandas_for
from conclust.exceptions import InputError

TRUTH_SCORES = ("ari", "nmi", "h")
SCORES = ("anmi", "certainty")

_TITLES = {"ari": "ARI", "nmi": "NMI", "h": "H", "anmi": "ANMI", "certainty": "certainty"}
_LONGEST = 60  # maximum number of characters of a status in the table


@dataclass(frozen=True)
class Trial:
    """One method on one ensemble.

    Attributes
    ----------
    method : str
        Name of the row.
    n_clusters : int or None
        Number of clusters found; None without a result.
    scores : dict of str to float
        Empty where there is no result. With a truth: "ari" (adjusted Rand index), "nmi" (normalized mutual
        information, over the geometric mean of the entropies), "h" (consistency index). Always: "anmi", the mean NMI
        with the members; "certainty", the mean share of an object's own cluster in the company that it keeps
        (:func:`conclust.confidence.confidences` of the labels).
    cpu_seconds : float
        CPU time of the fit, all threads together.
    status : str
        "ok", "warned: ...", "refused: ..." or "failed: ...". Warnings that all methods give are not in it: they are about
        the ensemble, and `compare` gives them once.
    labels : ndarray of int64 of shape (n_samples,) or None
        The clusters, consecutive from 0 by first appearance; -1: in none.
    model : object or None
        The fitted estimator.
    """

    method: str
    n_clusters: int | None
    scores: dict[str, float]
    cpu_seconds: float
    status: str
    labels: Ints | None = field(repr=False, default=None)
    model: Any = field(repr=False, default=None)

    @property
    def has_result(self) -> bool:
        """Whether the method found a consensus."""
        return self.labels is not None


@dataclass(frozen=True, repr=False)
class Comparison:
    """Several methods on one ensemble, as :func:`conclust.compare` returns them.

    Iterates over its trials; indexed by the name of a method, or by position.

    Attributes
    ----------
    trials : tuple of Trial
        In the order in which the methods were given.
    score_names : tuple of str
        The scores that trials have: "ari", "nmi" and "h" where the truth was given, "anmi" and "certainty".
    n_clusters_told : int or None
        The number of clusters given to methods that need one: given, or found by AutoConsensus; None:
        no method needed it.
    told_by_auto : bool
        Whether AutoConsensus found it, as no number was given. The table then ends with a sentence that says so.
    """

    trials: tuple[Trial, ...]
    score_names: tuple[str, ...]
    n_clusters_told: int | None
    told_by_auto: bool = False

    def __iter__(self) -> Iterator[Trial]:
        return iter(self.trials)

    def __len__(self) -> int:
        return len(self.trials)

    def __getitem__(self, key: str | int) -> Trial:
        if isinstance(key, str):
            for trial in self.trials:
                if trial.method == key:
                    return trial
            names = ", ".join(trial.method for trial in self.trials)
            raise KeyError(f"There is no method {key!r} in this comparison. There are: {names}.")
        return self.trials[key]

    @property
    def labels(self) -> dict[str, Ints]:
        """The labels of each method that found a consensus."""
        return {one.method: one.labels for one in self.trials if one.labels is not None}

    def ranked(self, score: str | None = None) -> list[Trial]:
        """Return the trials with a result, best first; ties keep their order.

        Parameters
        ----------
        score : str, default=None
            One of `score_names`. None: the first.

        Returns
        -------
        list of Trial
            Those without a score come last.

        Raises
        ------
        InputError
            If there is no such score.
        """
        name = self.score_names[0] if score is None else score
        if name not in self.score_names:
            raise InputError(
                f"This comparison has the scores {', '.join(self.score_names)}. Got {name!r} instead."
            )

        def key(trial: Trial) -> float:
            value = trial.scores[name]
            return math.inf if math.isnan(value) else -value

        return sorted((trial for trial in self.trials if trial.has_result), key=key)

    def columns(self) -> dict[str, list[Any]]:
        """Return the table as columns: method, n_clusters, the scores, cpu_seconds, status."""
        missing = float("nan")
        return {
            "method": [trial.method for trial in self.trials],
            "n_clusters": [trial.n_clusters for trial in self.trials],
            **{
                name: [trial.scores.get(name, missing) for trial in self.trials]
                for name in self.score_names
            },
            "cpu_seconds": [trial.cpu_seconds for trial in self.trials],
            "status": [trial.status for trial in self.trials],
        }

    def to_frame(self) -> Any:
        """Return the table as a pandas DataFrame.

        Returns
        -------
        pandas.DataFrame
            A row for each method; the columns are those of `columns`. Without a result n_clusters is NA, scores
            are NaN.

        Raises
        ------
        MissingExtraError
            If pandas is not installed.
        """
        pd = pandas_for("Comparison.to_frame")
        columns: dict[str, Any] = dict(self.columns())
        columns["n_clusters"] = pd.array(columns["n_clusters"], dtype="Int64")
        return pd.DataFrame(columns)

    def __repr__(self) -> str:
        head, rows = self._cells()
        widths = [max(len(row[k]) for row in (head, *rows)) for k in range(len(head))]
        last = len(head) - 1
        lines = []
        for row in (head, *rows):
            cells = [row[0].ljust(widths[0])]
            cells += [row[k].rjust(widths[k]) for k in range(1, last)]
            lines.append("  ".join([*cells, row[last]]).rstrip())
        return "\n".join([*lines, *self._notes()])

    def _repr_html_(self) -> str:
        head, rows = self._cells()

        def line(cells: list[str], tag: str) -> str:
            return "<tr>" + "".join(f"<{tag}>{html.escape(c)}</{tag}>" for c in cells) + "</tr>"

        body = "".join(line(row, "td") for row in rows)
        notes = "".join(f"<p>{html.escape(note)}</p>" for note in self._notes())
        return f"<table><thead>{line(head, 'th')}</thead><tbody>{body}</tbody></table>{notes}"

    def _notes(self) -> list[str]:
        """Return sentences below the table."""
        if not self.told_by_auto:
            return []
        return [
            f"Methods that need the number of clusters were given {self.n_clusters_told}, which AutoConsensus finds."
        ]

    def _cells(self) -> tuple[list[str], list[list[str]]]:
        """Return the table as text: its head and its rows."""
        head = ["method", "clusters", *(_TITLES[name] for name in self.score_names)]
        rows = []
        for trial in self.trials:
            number = "" if trial.n_clusters is None else str(trial.n_clusters)
            scores = [trial.scores.get(name) for name in self.score_names]
            status = trial.status
            if len(status) > _LONGEST:
                status = f"{status[: _LONGEST - 3]}..."
            texts = ["" if value is None else f"{value:.3f}" for value in scores]
            rows.append([trial.method, number, *texts, f"{trial.cpu_seconds:.2f}", status])
        return [*head, "CPU s", "status"], rows
