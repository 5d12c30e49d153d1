"""The decision in one sentence: the number of clusters, with p and the number of references, or the reason for its absence."""

from __future__ import annotations

import math
from typing import Any

from conclust._validation import count
from conclust.results.result import Reported
from conclust.words.borders import at_level, finding, held_of
from conclust.words.names import shown_text
from conclust.words.reason import PYTHON, SHELL
from conclust.words.selection import LABELS_ONLY, NO_CONTRAST, drawn, reason_of

# Estimators that are fitted to a network or to embeddings.
_WITHOUT_LABELS = ("GraphConsensus", "TopicConsensus")
# Those that are fitted to points, which the account of a model does not have.
_OF_POINTS = ("ConsensusClustering", "TopicConsensus")


def by_borders_alone(selection: Any) -> bool:
    """Return whether there are several clusters by their borders, although one Gaussian is not rejected."""
    level = selection.settings.get("alpha", 1.0)
    return bool(selection.n_clusters > 1 and selection.p_value > level)


def references(selection: Any) -> str:
    """Return the references of the p-value in words: "99 rotations"."""
    return drawn(selection.n_references, selection.settings.get("null"))


def p_value_text(selection: Any) -> str:
    """Return "0.01"; a gap that no reference reached has "< 1 / (R + 1)", never 0."""
    p = selection.p_value
    return f"{p:.3g}" if p > 0 else f"< {1.0 / (selection.n_references + 1):.3g}"


def p_text(selection: Any) -> str:
    """Return "p = 0.01, 99 rotations"."""
    return f"p {'= ' * (selection.p_value > 0)}{p_value_text(selection)}, {references(selection)}"


def is_rejected(selection: Any) -> bool:
    """Return whether a test rejected that the points are one Gaussian."""
    return selection is not None and selection.p_value <= selection.settings.get("alpha", 0.05)


def border_words(reported: Reported) -> str:
    """Return the addition to the first line: "3 of 4 borders hold (p < .05, Holm)"; empty without tests."""
    tests = reported.borders
    if tests is None or reported.n_clusters == 1:
        return ""
    text = finding(tests.n_held(), tests.n_borders, tests.alpha)
    more = is_rejected(reported.selection) and tests.n_borders and not tests.n_held()
    return f"more structure than one Gaussian, {text}" if more else text


def decision_of(reported: Reported) -> dict[str, Any]:
    """Return the decision, as a sentence and as numbers.

    Parameters
    ----------
    reported : Reported
        Result to report.

    Returns
    -------
    dict
        The sentence and its parts; None for absent ones.
    """
    selection, K = reported.selection, reported.n_clusters
    tested = selection is not None and not math.isnan(selection.p_value)
    by, because, why_no_p = _reasons(reported, tested)
    head = f"{count(K, 'cluster')} in {count(reported.n_samples, 'object')}"
    sentence, plain = f"{head}{because}", _in_plain_words(reported, tested, because)
    borders, door = border_words(reported), SHELL if reported.record.command else PYTHON
    if borders and not (selection is not None and by_borders_alone(selection)):
        sentence = f"{sentence}; {borders}"
    elif why_no_p is not None:
        sentence = f"{sentence}; no p-value: {why_no_p}"
    doubts = []
    if selection is not None:
        found = count(selection.n_clusters, "cluster")
        other = f"Resampling shows {found}, but this result has {K}."
        doubts = list(selection.doubts) if selection.n_clusters == K else [other]
    doubts += [text for text in map(shown_text, reported.record.warnings) if text not in doubts]
    return {
        "head": head,
        "sentence": f"{sentence}.",
        "plain": plain,
        "next": reported.record.next
        or ("" if selection is None else reason_of(selection).next(door)),
        "by": by,
        "reason": None if selection is None else selection.reason,
        "clusters": K,
        "objects": reported.n_samples,
        "objects_in_no_cluster": int((reported.labels < 0).sum()),
        "asked_for": reported.record.asked_for,
        "p_value": selection.p_value if tested else None,
        "references": selection.n_references if tested else None,
        "null": selection.settings.get("null") if tested else None,
        "why_no_p": why_no_p,
        "borders": borders or None,
        "alternatives": [] if selection is None else list(selection.alternatives),
        "doubts": doubts,
    }


def _reasons(reported: Reported, tested: bool) -> tuple[str, str, str | None]:
    """Return the basis of the decision, the sentence between its head and its end, and the reason for a missing p-value."""
    selection, K, record = reported.selection, reported.n_clusters, reported.record
    agree = selection is not None and selection.n_clusters == K
    if tested and agree and K == 1:
        return "p-value", f": {selection.why}", None
    if agree and by_borders_alone(selection):
        return "borders", f": {selection.why}", None
    if tested and agree:
        settings = selection.settings
        null = "one cloud with one mode"
        if settings.get("null") != "unimodal":
            null = "one Gaussian cloud"
        if settings.get("n_categories"):
            null += " with independent categories"
        sentence = f": {null} is rejected ({p_text(selection)}){_of_borders(reported)}"
        return "p-value", sentence, None
    if selection is not None and agree:
        why = LABELS_ONLY
        if "n_features" in selection.settings:
            why = "no references without clusters were requested"
        if K == 1:
            return "criterion", f": {NO_CONTRAST}", why
        return "criterion", ", by the sharp score", why
    seen = record.number_by == "points" and record.why is not None
    if tested and not seen:
        sentence = f"against one cluster {p_text(selection)}"
        return "asked for", f", the number requested; {sentence}", None
    if record.asked_for is not None and record.method is not None:
        if record.method.n_clusters == "upper bound" and record.asked_for != K:
            how = f"out of at most {record.asked_for} allowed"
        else:
            how = "the number requested"
        why = "the number was given, not tested"
        return "asked for", f", {how}", why
    why = _why_no_test(reported)
    if record.method is None:
        return "given", ", as given", why
    if seen:
        return "borders", f": {record.why}", None if tested else why
    if record.supports or (K == 1 and record.method.estimator not in _WITHOUT_LABELS):
        how = "chosen by agreement between the clusterings"
        if K == 1 and record.method.estimator == "AutoConsensus":
            how = "because the clusterings do not support more"
        return "support", f", {how}", why
    return "method", f", as found by {record.method.estimator}", why


def _why_no_test(reported: Reported) -> str:
    """Return why there is no p-value, and what computes one."""
    record = reported.record
    made_by = record.settings.get("class")
    if made_by == "GraphConsensus":
        return "a network is not compared with networks without communities"
    of_labels = record.command != "cluster" and made_by not in _OF_POINTS
    if of_labels and reported.points is None:
        return LABELS_ONLY
    ask = "conclust.selection.choose"
    if record.command:
        ask = "-k auto"
    elif made_by == "ConsensusClustering":
        ask = 'n_clusters="auto"'
    return f"no test against a single cluster was run ({ask} runs it)"


def _in_plain_words(reported: Reported, tested: bool, because: str) -> str:
    """Return what is known about the number of clusters, for readers without statistics; `because`: the end of a sentence."""
    selection, K = reported.selection, reported.n_clusters
    groups = count(K, "group")
    if not tested:
        if K == 1:
            by_points = reported.record.number_by == "points"
            return f"One group{because}.{' Whether there is more than one was not tested.' * by_points}"
        not_tested = " Whether there are groups at all was not tested."
        line = f"{groups}{because}.{not_tested * (not _borders_held(reported)[0])}"
    else:
        p = max(selection.p_value, 1.0 / (selection.n_references + 1))
        rejected = p <= selection.settings.get("alpha", 0.05)
        if K == 1 and rejected:
            return "One group: the data have structure, but no gap between groups is confirmed."
        if K == 1:
            return "One group: nothing shows that these objects fall into several."
        if rejected:
            line = f"{groups}. At most 1 in {int(1.0 / p + 1e-9)} data sets without groups looks as clearly divided."
        else:
            line = f"{groups}, but {p:.0%} of data sets without groups look as clearly divided."
    held, borders = _borders_held(reported)
    if borders:
        if borders == 1:
            line += f" The gap between them is {'confirmed' if held else 'not confirmed'}."
        else:
            line += f" Of {borders} gaps between neighbouring groups, {held or 'none'} {'is' if held < 2 else 'are'} confirmed."
    return line


def _borders_held(reported: Reported) -> tuple[int, int]:
    """Return the number of borders that hold, and of those tested: of the result, or else of the selection."""
    if reported.borders is not None:
        return reported.borders.n_held(), reported.borders.n_borders
    selection = reported.selection
    if selection is None or not selection.n_borders or selection.n_clusters != reported.n_clusters:
        return 0, 0
    return selection.n_held, selection.n_borders


def _of_borders(reported: Reported) -> str:
    """Return the selection's statement on borders, if those of the result were not tested separately."""
    selection = reported.selection
    if reported.borders is not None or not selection.n_borders:
        return ""
    level = selection.settings.get("alpha", 0.05)
    if selection.n_held:
        return f"; {held_of(selection.n_held, selection.n_borders, level)}"
    return f", but no border holds {at_level(level)}"
