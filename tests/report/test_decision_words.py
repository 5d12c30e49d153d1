"""The first lines of a report in plain words."""

from types import SimpleNamespace

import numpy as np
import pytest

from conclust.report.words.decision import _in_plain_words


def reported(K, p=None, references=99, held=0, n_borders=0, of_result=False):
    """Return what the words are made from: a result of K clusters, and a selection with a p-value."""
    selection = SimpleNamespace(
        p_value=p,
        n_references=references,
        n_held=held,
        n_borders=n_borders,
        n_clusters=K,
        settings={"alpha": 0.05},
    )
    borders = SimpleNamespace(n_held=held, table={"holds": np.zeros(n_borders)})
    return SimpleNamespace(
        n_clusters=K,
        selection=None if p is None else selection,
        borders=borders if of_result else None,
    )


@pytest.mark.parametrize(
    ("result", "words"),
    [
        (reported(1), "One group: why."),
        (
            reported(1, 0.01),
            "One group: the data have structure, but no gap between groups is confirmed.",
        ),
        (reported(1, 0.4), "One group: nothing shows that these objects fall into several."),
        (
            reported(3),
            "3 groups: why. Whether there are groups at all was not tested.",
        ),
        (
            reported(3, 0.01),
            "3 groups. At most 1 of 100 sets of data without groups looks divided as clearly.",
        ),
        (
            reported(3, 0.0, references=39),
            "3 groups. At most 1 of 40 sets of data without groups looks divided as clearly.",
        ),
        (
            reported(4, 0.3),
            "4 groups, but 30% of sets of data without groups look divided as clearly.",
        ),
        (
            reported(3, 0.01, held=2, n_borders=2),
            "3 groups. At most 1 of 100 sets of data without groups looks divided as clearly. Of the gaps between "
            "neighbouring groups, both are confirmed.",
        ),
        (
            reported(4, 0.01, held=1, n_borders=3),
            "4 groups. At most 1 of 100 sets of data without groups looks divided as clearly. Of the gaps between "
            "neighbouring groups, 1 of 3 is confirmed.",
        ),
        (
            reported(2, held=0, n_borders=1, of_result=True),
            "2 groups: why. Whether there are groups at all was not tested. The gap between them "
            "is not confirmed.",
        ),
    ],
)
def test_the_decision_in_plain_words(result, words):
    assert _in_plain_words(result, result.selection is not None, ": why") == words
