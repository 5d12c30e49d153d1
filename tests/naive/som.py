"""The batch self-organising map from its definition, point by point and code by code."""

import numpy as np


def codes_of(points, codes, side, deviations):
    """Return the codes after a round for each deviation."""
    codes = codes.copy()
    for deviation in deviations:
        winners = [((codes - x) ** 2).sum(axis=1).argmin() for x in points]
        moved = []
        for c in range(len(codes)):
            here = np.array(divmod(c, side))
            near = [((here - divmod(w, side)) ** 2).sum() / (2 * deviation**2) for w in winners]
            moved.append(np.average(points, axis=0, weights=np.exp(-np.array(near))))
        codes = np.array(moved)
    return codes
