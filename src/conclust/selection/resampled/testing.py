"""The test of one cluster: log PAC of the points compared with references without clusters."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conclust._random import generator, spawn_sequences
from conclust._warnings import warn
from conclust.ensemble import Ensemble
from conclust.exceptions import SelectionWarning
from conclust.generation.crew import Crew
from conclust.selection.categories import permuting
from conclust.selection.judged.pairs import PairCounts, count_all
from conclust.selection.resampled.null import FIXING, NULLS, Verdict, fixed_test, sequential_test
from conclust.selection.resampled.reference_cache import ReferenceCache
from conclust.selection.resampled.resampling import Resamples
from conclust.selection.settings import Settings

__all__ = ["OneClusterTest", "log_pac"]

_LONG = 60.0  # expected seconds above which the time of the references is announced


def log_pac(counts: PairCounts, settings: Settings) -> float:
    """Return log PAC, counting half a pair if none is ambiguous."""
    return float(np.log(max(counts.pac(settings.window), 0.5 / counts.n_pairs)))


class OneClusterTest:
    """Draws references for one set of points, and ranks the points among them.

    Parameters
    ----------
    settings : Settings
        Settings for resampling each data set.
    points : ndarray of shape (n_samples, r)
        Principal scores.
    resamples : Resamples
        The draws, the same for the points and all references.
    seed : SeedSequence
        Seed of the references: one descends from it for each.
    cache : ReferenceCache or None
        Cache of finished references.
    report : callable
        Function that receives progress.
    widths : list of int, default=None
        Columns of each block of the points: of numbers, and of each column of categories. None: there are
        numbers only.
    """

    def __init__(
        self,
        settings: Settings,
        points: NDArray[np.float64],
        resamples: Resamples,
        *,
        seed: np.random.SeedSequence,
        cache: ReferenceCache | None,
        report: Callable[[str], None],
        widths: list[int] | None = None,
    ) -> None:
        assert settings.null is not None
        self._settings = settings
        self._points = points
        self._resamples = resamples
        self._draw = NULLS[settings.null]
        if widths is not None:
            self._draw = permuting(self._draw, widths)
        # One more than the maximum ever drawn, sequentially or not.
        self._seeds = spawn_sequences(seed, settings.n_references + FIXING)
        self._cache = cache
        self._report = report
        self._start = time.perf_counter()

    def logs(self, points: NDArray[np.float64], threads: int) -> NDArray[np.float64]:
        """Return log PAC of one data set for each K."""
        log_pacs = np.empty(len(self._settings.ks))
        for at, k in enumerate(self._settings.ks):
            labels = self._resamples.labels(points, k, threads=threads)
            log_pacs[at] = log_pac(count_all(Ensemble(labels), threads), self._settings)
        return log_pacs

    def verdict(self, *, sequential: bool) -> Verdict:
        """Rank the points among the references; sequential: stop once the decision is certain."""
        most = self._settings.n_references
        begin = time.process_time()
        real = self.logs(self._points, self._settings.threads)
        # CPU time, so that the warning does not depend on the load of the machine.
        seconds = (time.process_time() - begin) / self._settings.threads
        drawn = most + FIXING if sequential else most
        expected = seconds * drawn
        if expected > _LONG:
            way = "" if sequential else "; sequential=True needs fewer where there is one cluster"
            warn(
                f"{'Up to ' * sequential}{drawn} references will take about {expected / 60:.1f} minutes: "
                f"each is clustered as often as the points{way}.",
                SelectionWarning,
            )
        if not sequential:
            return fixed_test(real, self._references(0, most))
        return sequential_test(real, self._references, most, max(8, 2 * self._settings.threads))

    def _references(self, begin: int, end: int) -> NDArray[np.float64]:
        """Return log PAC of a range of references."""
        rows = np.empty((end - begin, len(self._settings.ks)))
        reported = 0
        # References run in parallel, but a user's clusterer keeps the threads for its members.
        side = self._settings.threads if self._settings.fast else 1
        with Crew(side, "threads", "choose") as crew:
            for done, (r, row) in enumerate(crew.run(self._one, ((r,) for r in range(begin, end)))):
                rows[r - begin] = row
                if 10 * (done + 1 - reported) >= end - begin or done + 1 == end - begin:
                    reported = done + 1
                    seconds = time.perf_counter() - self._start
                    self._report(f"{begin + reported} references, {seconds:.1f} s")
        return rows

    def _one(self, stopped: Any, r: int) -> tuple[int, NDArray[np.float64]]:
        stored = None if self._cache is None else self._cache.read(r)
        if stored is not None:
            return r, stored
        points = self._draw(self._points, generator(self._seeds[r]))
        row = self.logs(points, 1 if self._settings.fast else self._settings.threads)
        if self._cache is not None:
            self._cache.write(r, row)
        return r, row
