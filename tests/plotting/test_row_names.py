"""Pictures of labels compare the names of rows with those of the other frame."""

import pandas as pd
import pytest

from conclust import plotting as P
from conclust.exceptions import InputError
from conclust.plotting.flows import tracks_of
from conclust.plotting.maps import embedding_of


@pytest.mark.parametrize(
    "draw",
    [
        lambda X, labels: P.coassociation_heatmap(labels.sort_index().to_frame(), labels=labels),
        lambda X, labels: P.coassociation_heatmap(
            labels.sort_index().to_frame(), labels={"a": labels}
        ),
        lambda X, labels: P.membership_bars(X, labels=labels),
        lambda X, labels: embedding_of(X, labels),
        lambda X, labels: embedding_of(X, labels.to_numpy(), confidence=0.0 * labels),
        lambda X, labels: tracks_of({2: labels.sort_index(), 3: labels}),
    ],
)
def test_labels_with_the_row_names_in_another_order_are_not_drawn(draw):
    names = list("abcdef")
    X = pd.DataFrame([[0.9, 0.1]] * 3 + [[0.2, 0.8]] * 3, index=names)
    labels = pd.Series([1, 1, 1, 0, 0, 0], index=names[::-1])
    with pytest.raises(InputError, match="in another order"):
        draw(X, labels)
    draw(X, labels[::-1])
