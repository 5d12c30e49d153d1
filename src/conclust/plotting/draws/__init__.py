"""Pictures of draws of a partition: the estimate among them, its ball, its loss by the number of clusters."""

from conclust.plotting.draws.pictures import (
    LossCurve,
    ball_columns,
    expected_loss_curve,
    expected_loss_of,
    similarity_blocks,
)

__all__ = [
    "LossCurve",
    "ball_columns",
    "expected_loss_curve",
    "expected_loss_of",
    "similarity_blocks",
]
