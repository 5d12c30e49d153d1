"""Square matrices changed in place, against NumPy's copies."""

import numpy as np
import pytest

from conclust._arrays.symmetric import symmetrise, transpose


@pytest.mark.parametrize("n", [0, 1, 255, 256, 257, 700])
@pytest.mark.parametrize("order", ["C", "F"])
def test_matrices_changed_in_place_equal_copies(n, order):
    X = np.asarray(np.random.default_rng(n).random((n, n)), order=order)
    half, turned = X.copy(order), X.copy(order)
    symmetrise(half)
    transpose(turned)
    np.testing.assert_array_equal(half, 0.5 * (X + X.T))
    np.testing.assert_array_equal(turned, X.T)
