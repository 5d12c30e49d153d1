"""The evidence for a number of clusters, in one line."""

from __future__ import annotations


def held_of(n_held: int, n_borders: int, alpha: float) -> str:
    """Return "3 of 4 borders hold (p < .05, Holm)"."""
    verb = "border holds" if n_borders == 1 else "borders hold"
    return f"{n_held} of {n_borders} {verb} {at_level(alpha)}"


def at_level(alpha: float) -> str:
    """Return "(p < .05, Holm)"."""
    return f"(p < {alpha:g}, Holm)".replace("< 0.", "< .")


def headline(
    n_clusters: int, n_held: int, n_borders: int, alpha: float, *, more_than_gaussian: bool = False
) -> str:
    """Return a line on what the borders between clusters show about their number.

    Parameters
    ----------
    n_clusters : int
        Number of clusters.
    n_held : int
        Number of borders that hold.
    n_borders : int
        Number of borders tested.
    alpha : float
        Level of the adjusted p-values.
    more_than_gaussian : bool, default=False
        Whether a test rejected that the points are one Gaussian.

    Returns
    -------
    str
        "4 clusters; 3 of 4 borders hold (p < .05, Holm)", or why they are one.
    """
    if not n_borders:
        return "1 cluster: there is no border to test"
    if n_held:
        return f"{n_clusters} clusters; {held_of(n_held, n_borders, alpha)}"
    finding = "more structure than one Gaussian" if more_than_gaussian else f"{n_clusters} clusters"
    return f"{finding}, but no border holds {at_level(alpha)}: treat it as one cluster"
