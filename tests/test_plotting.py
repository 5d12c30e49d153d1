import subprocess
import sys

import numpy as np
import pytest
from matplotlib.figure import Figure

from conclust import Ensemble, plotting
from conclust.exceptions import InputError, MissingExtraError, ParameterError
from conclust.plotting import coassociation_heatmap, membership_heatmap


def picture(ax):
    return ax.images[0].get_array()


def shuffled_blocks(seed=0, sizes=(5, 9, 6)):
    """Two partitions that agree on blocks, objects in random order."""
    rng = np.random.default_rng(seed)
    z = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    return z, Ensemble(np.column_stack([z, z]))


def test_vat_order_puts_clusters_side_by_side():
    _, ensemble = shuffled_blocks()
    shares = picture(coassociation_heatmap(ensemble))
    assert set(np.unique(shares)) == {0.0, 1.0}
    edges = np.flatnonzero(np.diff(shares[0])).size  # 1..1 0..0: one step from the first block
    assert edges == 1
    borders = np.count_nonzero(np.diag(shares, 1) == 0)
    assert borders == 2  # three blocks along the diagonal


def test_given_order_shows_the_shares_themselves():
    L = np.array([[0, 0, 1], [0, 1, -1], [1, 1, 1], [-1, -1, 0]])
    shares = picture(coassociation_heatmap(Ensemble(L), order=None))
    np.testing.assert_allclose(shares[0, :3], [1, 1 / 2, 1 / 3])
    assert shares.mask[1, 3]  # never in one partition together
    assert not shares.mask[0, 3]


def test_matrix_and_ensemble_give_the_same_picture():
    _, ensemble = shuffled_blocks()
    B = ensemble.indicator.toarray()
    by_matrix = coassociation_heatmap(B @ B.T / 2)
    np.testing.assert_allclose(picture(by_matrix), picture(coassociation_heatmap(ensemble)))


def test_many_objects_are_averaged_in_blocks():
    n = 20
    shares = np.add.outer(np.arange(n), np.arange(n)) / (2 * n)
    ax = coassociation_heatmap(shares, order=None, max_pixels=5)
    expected = shares.reshape(5, 4, 5, 4).mean(axis=(1, 3))
    np.testing.assert_allclose(picture(ax), expected)
    assert ax.get_xlim() == (0, n)
    assert ax.get_title() == "Co-association of 20 objects"


def test_averages_leave_out_pairs_without_evidence():
    shares = np.array([[1, np.nan, 0, 0], [np.nan, 1, 0, 0.5], [0, 0, 1, 1], [0, 0.5, 1, 1]])
    ax = coassociation_heatmap(shares, order=None, max_pixels=2)
    np.testing.assert_allclose(picture(ax), [[1, 0.125], [0.125, 1]])
    assert coassociation_heatmap(shares).get_legend() is not None
    assert coassociation_heatmap(np.eye(3)).get_legend() is None


def test_very_many_objects_are_drawn_from(monkeypatch):
    monkeypatch.setattr(plotting, "_MAX_OBJECTS", 30)
    rng = np.random.default_rng(0)
    ensemble = Ensemble(rng.integers(0, 3, size=(1000, 5)))
    first = coassociation_heatmap(ensemble)
    assert first.get_title() == "Co-association of 30 objects drawn from 1,000"
    assert picture(first).shape == (30, 30)
    np.testing.assert_array_equal(picture(first), picture(coassociation_heatmap(ensemble)))
    other = coassociation_heatmap(ensemble, random_state=1)
    assert (picture(first) != picture(other)).any()
    B = ensemble.indicator.toarray()
    by_matrix = coassociation_heatmap(B @ B.T / 5)
    np.testing.assert_allclose(picture(by_matrix), picture(first))


def test_membership_is_sorted_by_cluster_the_surest_first():
    Y = np.array([[0.2, 0.8], [0.6, 0.4], [0.1, 0.9], [1.0, 0.0]])
    np.testing.assert_allclose(picture(membership_heatmap(Y)), Y[[3, 1, 2, 0]])
    np.testing.assert_allclose(picture(membership_heatmap(Y, order=None)), Y)
    order = [2, 3, 0, 1]
    np.testing.assert_allclose(picture(membership_heatmap(Y, order=order)), Y[order])


def test_membership_of_many_objects_is_averaged():
    Y = np.repeat([[1.0, 0.0], [0.5, 0.5], [0.0, 1.0]], 4, axis=0)
    ax = membership_heatmap(Y, max_pixels=3, order=None)
    np.testing.assert_allclose(picture(ax), Y[::4])
    assert ax.get_ylim() == (12, 0)


@pytest.mark.parametrize("k", [1, 2, 40])
def test_any_number_of_clusters(k):
    ax = membership_heatmap(np.full((5, k), 1 / k))
    ax.figure.canvas.draw()
    assert ax.get_xlabel() == "cluster"


def test_pictures_are_labelled_and_can_be_saved(tmp_path):
    _, ensemble = shuffled_blocks()
    for ax in (coassociation_heatmap(ensemble), membership_heatmap(np.eye(4))):
        assert ax.get_xlabel()
        assert ax.get_ylabel()
        assert ax.get_title()
        (bar,) = (other for other in ax.figure.axes if other is not ax)
        assert bar.get_ylabel()
        ax.figure.savefig(tmp_path / "a.png")
        assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")


def test_drawing_into_given_axes():
    figure = Figure()
    ax = figure.add_subplot()
    assert membership_heatmap(np.eye(2), ax=ax) is ax
    assert coassociation_heatmap(np.eye(2), ax=figure.add_subplot()).figure is figure


@pytest.mark.parametrize(
    ("call", "error", "sentence"),
    [
        (lambda: coassociation_heatmap(np.zeros((2, 3))), InputError, "square matrix"),
        (lambda: coassociation_heatmap(np.zeros((0, 0))), InputError, "square matrix"),
        (lambda: coassociation_heatmap(np.full((2, 2), 3)), InputError, "from 3 to 3"),
        (lambda: coassociation_heatmap([[1, 0.5], [0.1, 1]]), InputError, "symmetric"),
        (lambda: coassociation_heatmap([["a"]]), InputError, "array of <U1"),
        (lambda: coassociation_heatmap(np.eye(2), order="x"), ParameterError, "'order'"),
        (lambda: coassociation_heatmap(np.eye(2), max_pixels=0), ParameterError, "'max_pixels'"),
        (lambda: membership_heatmap([[0.5, 0.1]]), InputError, "probabilities"),
        (lambda: membership_heatmap(np.eye(2), order="x"), ParameterError, "'order'"),
        (lambda: membership_heatmap(np.eye(2), order=[0, 0]), InputError, "each of the 2 objects"),
        (lambda: membership_heatmap(np.eye(2), order=[0.0, 1.0]), InputError, "'order'"),
        (lambda: membership_heatmap(np.eye(2), max_pixels=1.5), ParameterError, "'max_pixels'"),
    ],
)
def test_bad_input(call, error, sentence):
    with pytest.raises(error) as caught:
        call()
    assert sentence in str(caught.value)


def test_absent_matplotlib_gives_the_pip_command(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'conclust\[plot\]'"):
        membership_heatmap(np.eye(2))


def test_pyplot_is_not_touched():
    code = (
        "import sys, numpy as np; from conclust.plotting import membership_heatmap\n"
        "assert 'matplotlib' not in sys.modules\n"
        "membership_heatmap(np.eye(2))\n"
        "assert 'matplotlib.pyplot' not in sys.modules"
    )
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True)
