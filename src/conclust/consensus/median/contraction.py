"""Objects that must be together as one unit of the local search, and units that must be apart."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import scipy.sparse as sp

from conclust._types import Floats
from conclust.consensus.constraints import Constraints
from conclust.consensus.median.search import Evidence
from conclust.ensemble import DistinctRows
from conclust.ensemble.labels import canonical_labels


def alone(units: DistinctRows, constraints: Constraints) -> DistinctRows:
    """Return the units with each constrained object in a unit of its own."""
    touched = np.zeros(len(units), dtype=np.bool_)
    touched[units.inverse[constraints.touched]] = True
    return units.apart(touched)


def contracted(
    units: DistinctRows, evidence: Evidence, constraints: Constraints
) -> tuple[DistinctRows, Evidence]:
    """Merge the objects of each group into one unit.

    Its row is the mean of theirs. The similarities within it are summed from that row, an object with itself left
    out, as if all rows were equal; a column of its own makes up for the difference. All objectives are those of the
    objects, to rounding.

    Parameters
    ----------
    units : DistinctRows
        Those of :func:`alone`.
    evidence : Evidence
        Evidence of these units.
    constraints : Constraints
        Constraints on the objects.

    Returns
    -------
    DistinctRows, Evidence
        Rows and evidence of the units that remain.
    """
    named = constraints.groups[units.first]
    group = canonical_labels(named)
    m, count = len(units), int(group.max()) + 1
    _, first = np.unique(group, return_index=True)
    joined = sp.csr_array((evidence.mass, (group, np.arange(m))), shape=(count, m))
    mass: Floats = np.asarray(joined.sum(axis=1)).ravel()
    rows = sp.csr_array(sp.diags_array(1.0 / mass) @ (joined @ evidence.rows))
    weights = evidence.weights
    several = np.flatnonzero(np.bincount(group) > 1)
    if len(several):
        self_pairs = joined @ (evidence.rows.multiply(evidence.rows) @ weights)
        mean = mass * (rows.multiply(rows) @ weights)
        least = (mean - self_pairs)[several] / (mass * (mass - 1.0))[several]
        columns = sp.csr_array(
            (np.ones(len(several)), (several, np.arange(len(several)))), shape=(count, len(several))
        )
        rows = sp.csr_array(sp.hstack([rows, columns]))
        weights = np.concatenate([weights, least])
    place = np.full(constraints.n_groups, -1, dtype=np.int64)
    place[named] = group
    inverse = group[units.inverse]
    merged = replace(
        units,
        first=units.first[first],
        inverse=inverse,
        counts=np.bincount(inverse, minlength=count),
    )
    return merged, Evidence(rows, weights, mass, place[constraints.apart])
