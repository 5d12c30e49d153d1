"""A run of noise alone does not make CSPA and HGPA cut what all other partitions agree on."""

import numpy as np
import pytest

from conclust import CSPA, HGPA


@pytest.mark.parametrize("method", [CSPA, HGPA])
@pytest.mark.parametrize("sizes", [(12, 7, 11), (13, 8, 8), (5, 7, 13)])
@pytest.mark.parametrize("holes", [False, True])
def test_a_run_of_noise_alone_does_not_change_the_cut(method, sizes, holes):
    truth = np.repeat([0, 1, 2], sizes)
    labels = np.tile(truth[:, None], 15)
    noise = np.full((len(truth), 1), -2)
    if holes:
        noise[::3] = -1
    model = method(3, random_state=0)
    for X in (np.hstack([labels, noise]), np.hstack([noise, labels, noise])):
        np.testing.assert_array_equal(model.fit(X).labels_, truth)


@pytest.mark.parametrize("method", [CSPA, HGPA])
def test_ensembles_of_noise_alone_are_accepted(method):
    labels = np.full((6, 2), -2)
    assert method(3, random_state=0).fit(labels).n_clusters_ <= 6
    # Objects that only the run of noise observed stay apart from each other.
    labels = np.array([[0, -2], [0, -2], [1, -2], [1, -2], [-1, -2], [-1, -2]])
    assert len(method(4, random_state=0).fit(labels).labels_) == 6
