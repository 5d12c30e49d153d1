"""Products with the indicator, which is not made, beside those with the sparse matrix."""

import numpy as np
import pytest
from tests.cases import labels_of_codes, random_codes

from conclust import Ensemble
from conclust.spectra.gram import IndicatorProducts


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.uint32])
@pytest.mark.parametrize("width", [1, 3, 4, 10, 33])
@pytest.mark.parametrize(("missing", "noise"), [(0.0, 0.0), (0.3, 0.2)])
def test_products_have_the_bits_of_those_with_the_sparse_matrix(dtype, width, missing, noise):
    rng = np.random.default_rng(width)
    sizes = {np.uint8: [3, 4, 2], np.uint16: [3, 400, 2], np.uint32: [3, 70_000, 2]}[dtype]
    codes = random_codes(rng, 300, sizes, dtype, missing, noise)
    ensemble = Ensemble(labels_of_codes(codes))
    T = int(ensemble.offsets[-1])
    rows, table, weights = rng.normal(size=(300, width)), rng.normal(size=(T, width)), rng.random(T)
    B = ensemble.indicator
    products = IndicatorProducts.of(ensemble, weights)
    np.testing.assert_array_equal(products.times(table), B @ table)
    np.testing.assert_array_equal(products.sums(rows), (B * weights).T.tocsr() @ rows)
    np.testing.assert_array_equal(products.sums(np.asfortranarray(rows)), products.sums(rows))
    np.testing.assert_array_equal(IndicatorProducts.of(ensemble).sums(rows), B.T @ rows)


def test_products_of_soft_partitions_use_their_probabilities():
    rng = np.random.default_rng(0)
    ensemble = Ensemble.from_memberships([rng.dirichlet(np.ones(k), 40) for k in (3, 2)])
    B = ensemble.indicator.toarray()
    rows, table, weights = rng.normal(size=(40, 2)), rng.normal(size=(5, 2)), rng.random(5)
    products = IndicatorProducts.of(ensemble, weights)
    np.testing.assert_allclose(products.times(table), B @ table)
    np.testing.assert_allclose(products.sums(rows), weights[:, None] * (B.T @ rows))
