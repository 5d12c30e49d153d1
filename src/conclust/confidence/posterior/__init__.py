"""Summaries of posterior draws, or of any ensemble, beyond one estimate: a ball, a core, several modes."""

from conclust.confidence.posterior.ball import (
    BallBound,
    CorePartition,
    CredibleBall,
    core_partition,
    credible_ball,
)
from conclust.confidence.posterior.modes import Modes, modes

__all__ = [
    "BallBound",
    "CorePartition",
    "CredibleBall",
    "Modes",
    "core_partition",
    "credible_ball",
    "modes",
]
