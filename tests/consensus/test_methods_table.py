"""The registry describes the estimators correctly, and docs/methods.md and 'conclust methods' agree with it."""

import inspect
import re

import pytest
from tests.registry import public_estimators
from tools import methods_table, public_names

import conclust
from conclust.cli import options
from conclust.consensus.base import SoftConsensusClusterer
from conclust.consensus.method import _DOIS, RANKS

METHODS = conclust.methods()


def test_every_estimator_is_listed_once_in_order():
    in_order = sorted(METHODS, key=lambda method: (RANKS.index(method.rank), method.estimator))
    assert list(METHODS) == in_order
    assert {method.estimator for method in METHODS} == set(public_estimators())
    assert [bool(method.use) for method in METHODS] == [
        method.rank == "first" for method in METHODS
    ]
    assert {"PCC", "FCAConsensus"} <= {m.estimator for m in METHODS if m.rank == "papers"}


def test_the_page_matches_the_methods():
    page = methods_table.PAGE.read_text(encoding="utf-8")
    assert page == methods_table.text(), "run: make docs"
    assert "docs/methods.md" in (methods_table.PAGE.parents[1] / "README.md").read_text("utf-8")


def test_the_help_describes_the_methods():
    assert methods_table.TABLE.read_text(encoding="utf-8") == methods_table.listed(), (
        "run: make docs"
    )


@pytest.mark.parametrize("path", public_names.STUBS, ids=lambda path: path.name)
def test_lists_of_names_match_the_families(path):
    assert path.read_text(encoding="utf-8") == public_names.STUBS[path](), "run: make docs"


def test_the_help_describes_the_kinds_of_members():
    assert options.KINDS.read_text(encoding="utf-8") == methods_table.kinds(), "run: make docs"


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.estimator)
def test_declared_properties_of_methods_are_true(method):
    estimator = getattr(conclust, method.estimator)
    assert method.membership == issubclass(estimator, SoftConsensusClusterer)
    number = inspect.signature(estimator).parameters.get("n_clusters")
    if method.n_clusters == "emerges":
        assert number is None
    else:
        assert number.default is None


def test_dois_belong_to_the_works_cited():
    assert all(re.fullmatch(r"10\.\d{4}/[\w./()-]+", doi) for one in METHODS for doi in one.dois)
    works = {work for one in METHODS for work in one.citation.split("; ")}
    assert set(_DOIS) <= works  # a citation that changes keeps its DOI
    assert len(set(_DOIS.values())) == len(_DOIS)
    by_name = {one.estimator: one.dois for one in METHODS}
    assert by_name["EAC"] == ("10.1109/TPAMI.2005.113",)
    assert by_name["AutoConsensus"] == ("10.1109/TPAMI.2005.113", "10.1109/TCYB.2017.2702343")
    assert by_name["AddRemAdd"] == ()
    # Years in DOIs of IEEE are those of acceptance: at most three years before the volume.
    for work, doi in _DOIS.items():
        year = re.search(r"\.(20\d\d)\.", doi)
        if year:
            assert 0 <= int(re.search(r"\b20\d\d\b", work)[0]) - int(year[1]) <= 3, work
