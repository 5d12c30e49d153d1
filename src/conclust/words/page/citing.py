"""What to cite, and a sentence for a methods section."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from conclust._validation import count
from conclust.generation.kinds.registry import KINDS
from conclust.results.record import IMPUTED, Filling
from conclust.results.result import Reported
from conclust.words.names import shown
from conclust.words.page.decision import p_text
from conclust.words.selection import numbers_tried

_MONTI = (
    "S. Monti, P. Tamayo, J. Mesirov, T. Golub: Consensus clustering. Machine Learning 52, 2003. "
    "(Consensus of resamples; item and cluster consensus.)"
)
_PAC = "Y. Șenbabaoğlu, G. Michailidis, J. Z. Li. Scientific Reports 4:6207, 2014. (PAC.)"
_RCSI = "C. R. John et al.: M3C. Scientific Reports 10:1816, 2020. (RCSI.)"
_ROTATION = "Ø. Langsrud: Rotation tests. Statistics and Computing 15:53, 2005. (The null.)"
_SHARP = "B. Bodinier et al. Bioinformatics 39:btad635, 2023. (The sharp score.)"
_DIP = "J. A. Hartigan, P. M. Hartigan: The dip test of unimodality. Annals of Statistics 13, 1985. (Gaps.)"
_HENNIG = (
    "C. Hennig: Cluster-wise assessment of cluster stability. Computational Statistics & Data Analysis 52, "
    "2007. (Recovery of clusters.)"
)
_CIRCULAR = (
    "L. L. Gao, J. Bien, D. Witten: Selective inference for hierarchical clustering. JASA 119, 2024. (Why "
    "features have no p-values here.)"
)


def cited(reported: Reported) -> list[str]:
    """Return the works that the result rests on, the software first.

    Parameters
    ----------
    reported : Reported
        Result to report.

    Returns
    -------
    list of str
        References.
    """
    record, selection = reported.record, reported.selection
    version = record.versions.get("conclust", "")
    references = [
        f"The conclust developers: conclust, version {shown(version)} (see CITATION.cff)."
    ]
    if record.method is not None:
        references.append(f"{record.method.citation}. ({record.method.estimator}.)")
    if selection is not None:
        references += [_MONTI, _PAC]
        if not math.isnan(selection.p_value):
            references.append(_RCSI)
        if selection.settings.get("null") == "rotation":
            references.append(_ROTATION)
        references.append(_SHARP)
    elif reported.n_clusters > 1:
        references.append(_MONTI)
    if reported.n_clusters > 1:
        references.append(_HENNIG)
    if reported.gaps is not None:
        references.append(_DIP)
    if reported.features is not None:
        references.append(_CIRCULAR)
    return references


def methods_text(reported: Reported) -> str:
    """Return sentences for the methods section of a paper.

    Parameters
    ----------
    reported : Reported
        Result to report.

    Returns
    -------
    str
        The sentences.
    """
    parts = [_data(reported)]
    if reported.record.method is not None:
        parts.append(_combined(reported))
    if reported.selection is not None:
        parts.append(_chosen(reported.selection))
    version = reported.record.versions.get("conclust")
    parts.append(f"Computed with conclust {shown(version)}." if version else "")
    return " ".join(part for part in parts if part)


def _data(reported: Reported) -> str:
    record = reported.record
    what = f"{count(reported.n_samples, 'object')}"
    if record.features:
        what += f" with {count(record.features, 'feature')}"
    if record.categories:
        what += f" and {count(len(record.categories), 'column')} of categories ({listed(record.categories)})"
    where = f" of {shown(record.source.file)}" if record.source.file else ""
    text = f"{what[0].upper()}{what[1:]}{where}."
    filling = record.filling
    if filling is not None:
        was = "was" if filling.cells == 1 else "were"
        text += f" {count(filling.cells, 'empty cell')} {was} {filled(filling)} ({filled_cells(filling)})."
    return text


def listed(names: Sequence[str], most: int = 12) -> str:
    """Return names as a list; if there are many, the first ones and the number of the others."""
    first_names = ", ".join(map(shown, names[:most]))
    return first_names + (f" and {len(names) - most:,} more" if len(names) > most else "")


def filled(filling: Filling) -> str:
    """Return "filled by the mean of the column"."""
    return f"filled by the {IMPUTED[filling.how]} of the column"


def filled_cells(filling: Filling) -> str:
    """Return the columns with filled cells, and their numbers."""
    return listed([f"{name} {number:,}" for name, number in filling.columns])


def _combined(reported: Reported) -> str:
    record, judged = reported.record, reported.judged
    assert record.method is not None
    m = 0 if judged is None else judged.members.n_partitions - len(record.categories)
    made = ""
    generator = _generator(record.settings)
    if generator is not None:
        made = f"They were clustered {m:,} times by {_described(generator)}; "
        start = "the clusterings were"
        if record.categories:
            made = made.replace("They were clustered", "Their features were clustered", 1)
            start = "these clusterings and the columns of categories"
            if record.category_weight is not None:
                start += f", each of which counts for {record.category_weight:g} clusterings,"
            start += " were"
    else:
        start = f"{count(m, 'clustering')} of them were"
    number = ""
    if record.asked_for is not None:
        bound = record.method.n_clusters == "upper bound"
        number = f" into {'at most ' if bound else ''}{count(record.asked_for, 'cluster')}"
    text = f"{start} combined{number} by {record.method.estimator} ({record.method.citation})."
    return made + text if made else text[0].upper() + text[1:]


def _generator(settings: dict[str, Any]) -> dict[str, Any] | None:
    for name in ("generator_", "generator"):
        value = settings.get(name)
        if isinstance(value, dict):
            return value
    return None


def _described(generator: dict[str, Any]) -> str:
    kinds = generator.get("method")
    starts = "random starts" if generator.get("init") == "random" else "k-means++ starts"
    words = {
        **{name: kind.cited.format(starts=starts) for name, kind in KINDS.items()},
        "mixed": "linkages, k-means and spectral clustering",
        "auto": "communities of neighbour graphs (Leiden), spectral clustering on landmarks and density, with many "
        "numbers of clusters (k-means for fewer than 50 objects)",
    }
    listed = kinds if isinstance(kinds, list) else [kinds]
    members = " and ".join(
        dict.fromkeys(words.get(str(k), "a clusterer of the user") for k in listed)
    )
    more = [
        f"{100 * share:g} % of the {what} each"
        for name, what in (("sample_fraction", "objects"), ("feature_fraction", "features"))
        if isinstance(share := generator.get(name), float) and share < 1
    ]
    if isinstance(fit_on := generator.get("fit_on"), int):
        more.append(f"each fitted on {fit_on:,} objects at most")
    scale = {"minmax": "columns scaled to [0, 1]", "standard": "columns standardised"}
    more += [scale[str(generator.get("scale"))]] if str(generator.get("scale")) in scale else []
    return members + (f" ({', '.join(more)})" if more else "")


def _chosen(selection: Any) -> str:
    settings, ks = selection.settings, selection.k
    tried = numbers_tried([int(k) for k in ks])
    if settings.get("n_resamples") is None:
        return f"Numbers of clusters {tried} were compared by the stability of the clusterings at hand."
    clusterer = settings.get("clusterer")
    how = "k-means" if clusterer == "kmeans" else shown(clusterer)
    text = (
        f"The number of clusters was chosen among {tried} by resampling: for each K, "
        f"{settings['n_resamples']} draws of {100 * settings['sample_fraction']:g} % of the objects were "
        f"clustered by {how}"
    )
    scale = {"standard": "columns standardised", "minmax": "columns scaled to [0, 1]"}
    if settings.get("scale") in scale:
        text += f", {scale[settings['scale']]}"
    if settings.get("reduced"):
        text += f", after reduction to {settings['n_components']} principal components"
    if math.isnan(selection.p_value):
        return f"{text}; the largest sharp score decides."
    kind = {
        "rotation": "random rotations of the points, which keep their covariance and have no clusters",
        "gaussian": "Gaussian references of M3C",
        "unimodal": "references with one mode",
    }.get(str(settings.get("null")), "references without clusters")
    if settings.get("n_categories"):
        kind += ", with the categories of each column permuted,"
    text += (
        f". That there is one cluster was tested by comparison with {kind} ({p_text(selection)})"
    )
    some, every = settings.get("n_tested"), settings.get("n_samples")
    if isinstance(some, int) and isinstance(every, int) and 0 < some < every:
        text += f", on {some:,} objects drawn at random"
    return f"{text}; among several, the largest relative stability (RCSI) decides."
