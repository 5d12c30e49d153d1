"""Declares what each consensus method needs, accepts and returns, and lists the methods by these declarations."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from importlib.metadata import EntryPoint, entry_points
from inspect import signature
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

import conclust
from conclust._validation import check_option

# A fit checks the number first, so that it is an int wherever the method needs one.
if TYPE_CHECKING:
    from conclust._types import Bools
    from conclust.ensemble import Ensemble

    NumberOfClusters: TypeAlias = Any
else:
    NumberOfClusters: TypeAlias = int | None

NumberNeeded: TypeAlias = Literal["exact", "upper bound", "optional", "emerges"]

RANKS = ("first", "core", "papers", "literature", "plugin")
PLUGINS = "conclust.methods"
"""Group of entry points by which packages, and the methods of the literature here, are registered."""

# DOIs of cited works; of the others none is known with certainty.
_DOIS = {
    "Ayad and Kamel 2008, IEEE TPAMI 30": "10.1109/TPAMI.2007.1138",
    "Dahl, Johnson & Müller 2022, JCGS 31": "10.1080/10618600.2022.2069779",
    "Dimitriadou, Weingessel and Hornik 2002, IJPRAI 16": "10.1142/S0218001402002052",
    "Fern and Brodley 2004, ICML": "10.1145/1015330.1015414",
    "Fred and Jain 2005, IEEE TPAMI 27": "10.1109/TPAMI.2005.113",
    "Huang, Lai and Wang 2015, Neurocomputing 170": "10.1016/j.neucom.2014.05.094",
    "Huang, Lai and Wang 2016, IEEE TKDE 28": "10.1109/TKDE.2015.2503753",
    "Huang, Wang and Lai 2018, IEEE TCYB 48": "10.1109/TCYB.2017.2702343",
    "Huang, Wang, Lai and Kwoh 2022, IEEE TCYB 52": "10.1109/TCYB.2021.3049633",
    "Huang, Wang, Peng, Lai and Kwoh 2021, IEEE TSMC 51": "10.1109/TSMC.2018.2876202",
    "Huang, Wang, Wu, Lai and Kwoh 2020, IEEE TKDE 32": "10.1109/TKDE.2019.2903410",
    "Iam-On, Boongoen and Garrett 2010, Bioinformatics 26": "10.1093/bioinformatics/btq226",
    "Jia, Tao, Wang and Wang 2023, IEEE TNNLS": "10.1109/TNNLS.2023.3249207",
    "Li, Ding and Jordan 2007, ICDM": "10.1109/ICDM.2007.98",
    "Liu, Wu, Liu, Tao and Fu 2017, IEEE TKDE 29": "10.1109/TKDE.2017.2650229",
    "Lourenço et al. 2015, Machine Learning 98": "10.1007/s10994-013-5339-6",
    "Nepusz, Petróczi, Négyessy and Bazsó 2008, Physical Review E 77": "10.1103/PhysRevE.77.016107",
    "Punera and Ghosh 2008, Applied Artificial Intelligence 22": "10.1080/08839510802170546",
    "Strehl and Ghosh 2002, JMLR 3": "10.1162/153244303321897735",
    "Topchy, Jain and Punch 2003, ICDM": "10.1109/ICDM.2003.1250937",
    "Topchy, Jain and Punch 2004, SDM": "10.1137/1.9781611972740.35",
    "Vega-Pons, Correa-Morris and Ruiz-Shulcloper 2010, Pattern Recognition 43": "10.1016/j.patcog.2010.03.001",
    "Wade & Ghahramani 2018, Bayesian Analysis 13": "10.1214/17-BA1073",
    "Wang, Domeniconi and Laskey 2010, ECML PKDD": "10.1007/978-3-642-15939-8_28",
    "Wang, Shan and Banerjee 2011, Statistical Analysis and Data Mining 4": "10.1002/sam.10098",
    "Wu, Liu, Xiong, Cao and Chen 2015, IEEE TKDE 27": "10.1109/TKDE.2014.2316512",
    "Zhou, Du, Liu, Shen, Fan and Li 2021, IEEE TNNLS 32": "10.1109/TNNLS.2020.2984814",
    "Zhou, Zheng and Pan 2019, Neurocomputing 357": "10.1016/j.neucom.2019.04.078",
}


@dataclass(frozen=True, kw_only=True)
class Method:
    """The needs, inputs and results of a consensus method. Every estimator carries one as ``method``.

    Parameters
    ----------
    title : str
        Name of the method in the literature.
    n_clusters : {"exact", "upper bound", "optional", "emerges"}
        Whether the number of clusters must be known: exactly, as a bound, or not.
    fewer : bool, default=False
        Whether fewer than `n_clusters` clusters may be found, with a warning, where enough rows of labels differ.
    membership : bool, default=False
        Whether the result is probabilities over clusters, or labels only.
    missing : bool, default=True
        Whether objects that some partitions did not observe are accepted with the default parameters.
    weights : bool, default=True
        Whether the weights of the partitions count.
    soft_members : bool or "labels", default="labels"
        Whether partitions that are memberships are accepted. "labels": as their most probable clusters, for methods
        that compare objects.
    cost : str
        Time in n objects, N partitions, T clusters of all partitions, K clusters of the consensus.
    citation : str
        Authors, year and venue; several works are separated by "; ".
    missing_with : str, default=""
        Parameters with which missing labels are accepted, if that depends on parameters.
    blocks : str, default=""
        Module whose ``fit`` reads labels in blocks (:class:`conclust.blocks.LabelStore`), for more objects than fit into
        memory. "": the method needs all labels at once.
    estimator : str, default=""
        Name of the class; filled in, as `rank`, by :func:`conclust.methods`.
    use : str, default=""
        When to use it, if it is one of those to begin with.
    rank : {"first", "core", "papers", "literature", "plugin"} or "", default=""
        Whether it is one of those to begin with, another of the core, one of the papers that conclust implements or that
        they compare with, one that benchmark papers name, or one of another package (entry points, group ``conclust.methods``).
    """

    title: str
    n_clusters: NumberNeeded
    membership: bool = False
    missing: bool = True
    weights: bool = True
    soft_members: bool | Literal["labels"] = "labels"
    cost: str
    citation: str
    missing_with: str = ""
    blocks: str = ""
    fewer: bool = False
    estimator: str = ""
    use: str = ""
    rank: str = ""

    def __post_init__(self) -> None:
        check_option(self.n_clusters, "n_clusters", "Method", NumberNeeded)

    @property
    def dois(self) -> tuple[str, ...]:
        """DOIs of the works in `citation`, in their order, without those whose DOI is not known here."""
        return tuple(_DOIS[work] for work in self.citation.split("; ") if work in _DOIS)


class Task(NamedTuple):
    """An ensemble that was read: all objects, those that a partition observed, and their mask."""

    ensemble: Ensemble
    part: Ensemble
    observed: Bools


_TITLES = ("method", "rank", "clusters", "memberships", "missing", "weights", "description")


class _Methods(list[Method]):
    """Methods that are displayed as a table."""

    def __repr__(self) -> str:
        yes = {True: "yes", False: "no"}
        rows = [
            (
                m.estimator,
                m.rank,
                m.n_clusters,
                yes[m.membership],
                yes[m.missing],
                yes[m.weights],
                m.title,
            )
            for m in self
        ]
        widths = [max(len(row[k]) for row in (_TITLES, *rows)) for k in range(len(_TITLES))]
        lines = (
            "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip()
            for row in (_TITLES, *rows)
        )
        return "\n".join(lines)


def methods() -> list[Method]:
    """List the consensus methods with their requirements, inputs, results and costs.

    Returns
    -------
    list of Method
        One entry per estimator (``estimator``), displayed as a table: first those to begin with, with their ``use``, then the
        others of the core, of the papers, of the literature and of other packages (``rank``), in order of class names.

    Examples
    --------
    >>> import conclust
    >>> [m.estimator for m in conclust.methods() if m.n_clusters == "upper bound"]
    ['BaumEagon', 'PCC', 'PEACE', 'WeightedPCC']
    """
    found = filter(None, map(method_named, [*_own(), *registered()]))
    return _Methods(sorted(found, key=lambda one: (RANKS.index(one.rank), one.estimator)))


def _own() -> dict[str, str]:
    """Return the public names in `consensus`, but for the literature, by their lowercase letters."""
    home = conclust._HOMES
    own = (name for name in home if home[name].startswith("conclust.consensus."))
    return {name.lower(): name for name in own if not home[name].endswith(".literature")}


def registered() -> dict[str, EntryPoint]:
    """Return what packages register as methods, by names in lowercase letters; of equal names that of conclust."""
    found = sorted(entry_points(group=PLUGINS), key=lambda one: one.value.startswith("conclust."))
    return {one.name.lower(): one for one in found}


def class_of(name: str) -> Any:
    """Return the class of a method: "auto", or its name in any case, with or without hyphens; None if there is none."""
    plain = plain_name(name)
    if plain in (own := _own()):
        return getattr(conclust, own[plain])
    entry = registered().get(plain)
    return None if entry is None else entry.load()


def method_named(name: str) -> Method | None:
    """Return the method of a name that `class_of` finds; None if it names none."""
    kind = class_of(name)
    method = getattr(kind, "method", None)
    if not isinstance(method, Method):
        return None
    package, _, folder, *_ = f"{kind.__module__}...".split(".")
    rank = folder if folder in RANKS else "first" if method.use else "core"
    return replace(
        method, estimator=kind.__name__, rank=rank if package == "conclust" else "plugin"
    )


def make(name: str, running: Mapping[str, Any] | None = None, **parameters: Any) -> Any:
    """Return an unfitted method; of `running` (seed, threads, ...) it gets the parameters that it has."""
    kind = class_of(name)
    has = signature(kind).parameters
    return kind(**{k: v for k, v in (running or {}).items() if k in has}, **parameters)


def near_names(name: str) -> list[str]:
    """Return the methods that a misspelled name may mean: by name, or else by a word of the title."""
    plain = plain_name(name)
    by_name = {method.estimator.lower(): method for method in methods()}
    close = [by_name[other].estimator for other in get_close_matches(plain, by_name)]
    if close:
        return close
    near = [
        method.estimator
        for method in by_name.values()
        if plain in method.estimator.lower()
        or get_close_matches(plain.rstrip("s"), _words(method.title), 1, 0.8)
    ]
    return near[:4]


def advice_on(name: str) -> str:
    """Return the last sentence of an error about the name of a method that does not exist."""
    near = " or ".join(map(repr, near_names(name)))
    return f"{f'Is it {near}? ' if near else ''}conclust.methods() lists them all."


def _words(title: str) -> list[str]:
    return [word.rstrip("s") for word in re.findall(r"[a-z]{4,}", title.lower())]


def plain_name(name: str) -> str:
    """Return a name in lowercase letters without hyphens; "auto" is AutoConsensus."""
    plain = name.lower().replace("-", "").replace("_", "")
    return "autoconsensus" if plain == "auto" else plain


def names_of_those(kind: type) -> str:
    """Return the names of the public estimators of a kind, in words."""
    import conclust

    names = sorted(method.estimator for method in methods())
    names = [name for name in names if issubclass(getattr(conclust, name), kind)]
    return f"{', '.join(names[:-1])} and {names[-1]}"


def names_in_blocks() -> list[str]:
    """Return the names of the public estimators that read labels in blocks."""
    return sorted(method.estimator for method in methods() if method.blocks)
