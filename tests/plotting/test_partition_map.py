"""Names of partitions along the axes of their map."""

import io

import numpy as np
import pandas as pd
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

import conclust.plotting as P
from conclust.exceptions import InputError
from conclust.plotting.members import partition_map_of


def test_the_map_names_its_partitions():
    z = np.repeat([0, 1], 20)
    frame = pd.DataFrame({"k-means": z, "a$x^2": np.arange(40) % 2, "Ward": z})
    order = partition_map_of(frame).order
    for names, expected in (
        (None, list(frame.columns)),
        (["one", "two", "three"], ["one", "two", "three"]),
    ):
        ax = P.partition_map(frame, names=names)
        for labels in (ax.get_xticklabels(), ax.get_yticklabels()):
            assert [label.get_text() for label in labels] == [expected[u] for u in order]
    numbers = [label.get_text() for label in P.partition_map(frame.to_numpy()).get_yticklabels()]
    assert numbers == [str(u) for u in order]
    for wrong in (["one"], "abc"):
        with pytest.raises(InputError, match="'names' of partition_map"):
            P.partition_map(frame, names=wrong)


def test_long_names_of_many_partitions_do_not_overlap():
    labels = np.random.default_rng(0).integers(0, 3, (50, 24))
    ax = P.partition_map(labels, names=[f"agglomeration number {u}" for u in range(24)])
    ax.figure.savefig(io.BytesIO(), format="png")
    renderer = FigureCanvasAgg(ax.figure).get_renderer()
    for axis, ticks in enumerate((ax.get_xticklabels(), ax.get_yticklabels())):
        boxes = [tick.get_window_extent(renderer).get_points()[:, axis] for tick in ticks]
        ends = np.array(sorted(boxes, key=min))
        assert (ends[1:, 0] >= ends[:-1, 1] - 1).all()
