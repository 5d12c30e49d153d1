"""The numbers that the paper prints, from its Tables 2 and 3.

A. Lourenço, S. Rota Bulò, N. Rebagliati, A. Fred, M. Figueiredo and M. Pelillo, "Probabilistic evidence accumulation for
clustering ensembles", ICPRAM 2013. Selected run, average, standard deviation, largest and least value.
"""

from __future__ import annotations

__all__ = ["TEXT"]

Cell = tuple[str, str]
# Measure -> method -> (ensemble, texts) -> the five numbers. Which F1 it is, the paper does not say.
TEXT: dict[str, dict[str, dict[Cell, tuple[float, ...]]]] = {
    "CI": {
        "PEACE": {
            ("E1a", "miniN"): (0.425, 0.431, 0.028, 0.468, 0.385),
            ("E1a", "webkb"): (0.414, 0.423, 0.046, 0.492, 0.339),
            ("E1b", "miniN"): (0.242, 0.242, 0.001, 0.242, 0.241),
            ("E1b", "webkb"): (0.297, 0.369, 0.067, 0.419, 0.294),
        },
        "BE": {
            ("E1a", "miniN"): (0.433, 0.439, 0.02, 0.459, 0.418),
            ("E1a", "webkb"): (0.405, 0.396, 0.01, 0.406, 0.387),
            ("E1b", "miniN"): (0.356, 0.356, 0, 0.356, 0.356),
            ("E1b", "webkb"): (0.32, 0.32, 0, 0.32, 0.32),
        },
    },
    "F1": {
        "PEACE": {
            ("E1a", "miniN"): (0.551, 0.541, 0.021, 0.565, 0.494),
            ("E1a", "webkb"): (0.616, 0.618, 0.046, 0.678, 0.528),
            ("E1b", "miniN"): (0.853, 0.845, 0.015, 0.861, 0.822),
            ("E1b", "webkb"): (0.663, 0.698, 0.032, 0.723, 0.663),
        },
        "BE": {
            ("E1a", "miniN"): (0.559, 0.583, 0.009, 0.595, 0.559),
            ("E1a", "webkb"): (0.58, 0.636, 0.059, 0.693, 0.58),
            ("E1b", "miniN"): (0.769, 0.774, 0.006, 0.778, 0.769),
            ("E1b", "webkb"): (0.53, 0.532, 0.004, 0.539, 0.53),
        },
    },
}
