"""Methods that users write as subclasses of the base classes."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs

import conclust as cc
from conclust import report
from conclust.cli import main
from conclust.consensus.base import ConsensusClusterer, SoftConsensusClusterer
from conclust.consensus.method import Method
from conclust.exceptions import ParameterError

LABELS = np.random.default_rng(0).integers(0, 3, (20, 5))


def declared(n_clusters="emerges", membership=False):
    return Method(
        title="A method of a user",
        n_clusters=n_clusters,
        membership=membership,
        soft_members=False,
        cost="n",
        citation="Author 2027, Journal 1",
    )


class Own(ConsensusClusterer):
    """Return what it is given as the consensus."""

    method = declared()

    def __init__(self, result=None):
        self.result = result

    def _fit(self, ensemble, observed):
        return ensemble.labels[:, 0] if self.result is None else self.result


class OwnSoft(SoftConsensusClusterer):
    """Return what it is given as the membership."""

    method = declared(membership=True)

    def __init__(self, result=None):
        self.result = result

    def _fit_membership(self, ensemble, observed):
        return self.result


def test_a_method_needs_neither_missing_nor_verbose():
    assert Own().fit(LABELS).n_clusters_ == 3


@pytest.mark.parametrize(
    ("result", "form"),
    [
        (np.zeros((20, 1), dtype=int), r"an array of int64 of shape \(20, 1\)"),
        (np.where(np.arange(20) == 3, -2, 0), r"objects, from 0 on\. Got -2 for object 3"),
        (np.arange(19), r"an array of int64 of shape \(19,\)"),
        (np.full(20, np.nan), r"an array of float64 of shape \(20,\)"),
        (["a"] * 20, r"an array of <U1 of shape \(20,\)"),
        ({"a": 1}, "{'a': 1} of type dict"),
    ],
)
def test_labels_of_another_form_are_refused(result, form):
    with pytest.raises(
        ValueError, match=rf"^Own\._fit must return an int for each of the 20 .*{form}"
    ):
        Own(result).fit(LABELS)


def altered(value):
    rows = np.full((20, 2), 0.5)
    rows[3] = value
    return rows


@pytest.mark.parametrize(
    ("result", "form"),
    [
        (altered([2.0, 1.0]), "a row with sum 3 and minimum 1 for object 3"),
        (altered([-0.5, 1.5]), "a row with sum 1 and minimum -0.5 for object 3"),
        (altered([np.nan, 0.5]), "a row with sum nan and minimum nan for object 3"),
        (np.ones(20), r"an array of float64 of shape \(20,\)"),
        (np.full((19, 2), 0.5), r"an array of float64 of shape \(19, 2\)"),
        (np.ones((20, 0)), r"an array of float64 of shape \(20, 0\)"),
        (np.eye(20, 2, dtype=int), r"an array of int64 of shape \(20, 2\)"),
        (None, "None of type NoneType"),
    ],
)
def test_memberships_off_the_simplex_are_refused(result, form):
    with pytest.raises(ValueError, match=rf"^OwnSoft\._fit_membership must return .* Got {form}"):
        OwnSoft(result).fit(LABELS)


PLUGIN = """
from conclust.consensus.base import ConsensusClusterer
from conclust.consensus.method import Method

class FirstMember(ConsensusClusterer):
    method = Method(title="The first partition", n_clusters="emerges", cost="n", citation="Author 2027, Journal 1")

    def __init__(self, other: int = 1):
        self.other = other

    def _fit(self, ensemble, observed):
        return ensemble.labels[:, self.other]

class EAC(FirstMember):
    pass
"""


def test_other_packages_register_methods(tmp_path, monkeypatch, capsys):
    (tmp_path / "plugin_of_a_user.py").write_text(PLUGIN)
    (tmp_path / "plugin-1.dist-info").mkdir()
    lines = [f"{name} = plugin_of_a_user:{name}" for name in ("FirstMember", "EAC")]
    text = "\n".join(["[conclust.methods]", *lines])
    (tmp_path / "plugin-1.dist-info" / "entry_points.txt").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    own = {method.estimator: method.rank for method in cc.methods()}
    assert own["FirstMember"] == "plugin"
    assert own["EAC"] == "first"  # a plugin takes no name of conclust's
    assert list(own)[-1] == "FirstMember"
    np.savetxt(tmp_path / "labels.csv", LABELS, fmt="%d", delimiter=",")
    words = ["combine", str(tmp_path / "labels.csv"), "--method", "first-member", "-q"]
    assert main([*words, "--set", "other=2", "--out", str(tmp_path / "out.csv")]) == 0
    found = np.loadtxt(tmp_path / "out.csv", delimiter=",", skiprows=1, usecols=1)
    assert cc.metrics.adjusted_rand_index(found, LABELS[:, 2]) == 1
    for name in ([], ["FirstMember"]):
        assert main(["methods", *name]) == 0
        assert "FirstMember" in capsys.readouterr().out


def test_an_unknown_need_of_a_number_is_refused():
    with pytest.raises(
        ParameterError, match=r"'n_clusters' parameter of Method .* Is it 'exact'\?"
    ):
        declared(n_clusters="exactly")


def test_missing_declarations_of_a_class_are_named():
    class WithoutMethod(ConsensusClusterer):
        def _fit(self, ensemble, observed):
            return ensemble.labels[:, 0]

    with pytest.raises(AttributeError, match="class attribute 'method'"):
        WithoutMethod().fit(LABELS)

    class WithoutNumber(Own):
        method = declared(n_clusters="exact")

    with pytest.raises(AttributeError, match="requires a parameter 'n_clusters'"):
        WithoutNumber().fit(LABELS)
    with pytest.raises(AttributeError, match=r"has no attribute 'n_clusters'$"):
        _ = Own().n_clusters


def test_a_report_describes_and_cites_methods_of_users():
    X, _ = make_blobs(60, centers=3, random_state=0)

    class EAC(Own):
        """A method with the name of another one."""

    class MyPCC(cc.PCC):
        """A method of conclust under another name."""

    works = {EAC: "Author 2027, Journal 1", MyPCC: "Lourenço et al. 2015, Machine Learning 98"}
    for kind, work in works.items():
        generator = cc.EnsembleGenerator("kmeans", 5)
        model = cc.ConsensusClustering(kind(), generator, random_state=0).fit(X)
        sections = {s["id"]: s for s in report.account(model, pictures=False)["sections"]}
        text = sections["run"]["blocks"][0]["text"]
        assert "They were clustered 5 times by k-means" in text
        assert f"combined by {kind.__name__} ({work})" in text
        assert f"{work}. ({kind.__name__}.)" in sections["cite"]["blocks"][1]["items"]
        assert "given as labels" not in sections["why"]["blocks"][0]["text"]
