"""What measures of confidence show, in sentences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from conclust._types import Floats
from conclust._validation import count
from conclust.words.names import named

if TYPE_CHECKING:
    from conclust.confidence.borders.power import BorderPower
    from conclust.confidence.partitions import ClusterSplits
    from conclust.confidence.posterior.modes import Modes
    from conclust.selection.runs import RunChoice

_NUMBERS = ["none", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]


def _in_words(number: int) -> str:
    return _NUMBERS[number] if number < len(_NUMBERS) else str(number)


def kept_sentence(kept: Floats, names: Sequence[Any] | None = None) -> str:
    """Return what the probabilities say of pairs: for objects such as most of them, and for the least certain one, by its name."""
    held = np.flatnonzero(~np.isnan(kept))
    least, usual = int(held[np.argmin(kept[held])]), float(np.median(kept[held]))
    n_others = int(np.count_nonzero(kept[held] < usual - 0.05))
    most = f"{len(held) - n_others:,} of the {len(held):,}" if n_others else f"All {len(held):,}"
    more = usual < 0.95 and bool((kept[held] > usual + 0.05).any())
    share = f"{'at least ' * more}{_of_ten(usual)}"
    text = f"{most} objects would keep {share} of their pairs, together or apart, in a fresh sample"
    if n_others:
        text += f"; object {named(least, names)}, the least certain one, would keep {_of_ten(kept[least])}"
    chance = " (5 in 10 is expected by chance)" if kept[least] < 0.75 else ""
    return f"{text}{chance}."


def _of_ten(share: float) -> str:
    """Return a share in words."""
    tenths = round(10 * share)
    return "nearly all" if tenths == 10 else f"{tenths} in 10"


def of_power(power: BorderPower) -> str:
    """Return what the border that needs most objects needs."""
    if not len(power.needed):
        return "One cluster: there is no border to test."
    a, b, needed, _ = (column[0] for column in power.table.values())
    border = f"The border between clusters {a} and {b}"
    if np.isinf(needed):
        one = "the points along it look like one cluster, so more objects are not expected to help"
        return f"{border} does not show: {one} (you have {count(power.n_samples, 'object')})."
    about = f"{float(f'{needed:.2g}'):,.0f}"
    if needed > 4 * power.n_samples:
        return f"{border} needs many more objects than the {power.n_samples:,} you have, perhaps {about}."
    rough = ", give or take a factor of two" if needed > power.n_samples else ""
    return f"{border} would hold in 80 % of samples of about {about} objects{rough} (you have {power.n_samples:,})."


def of_modes(modes: Modes, needed: int) -> str:
    """Return how many ways the clusterings disagree in, or that they are too few for a test."""
    n, n_modes = len(modes.assignments), modes.n_modes
    few = f"{n} are too few for a test of more than one answer, which needs {needed}."
    if n_modes == 1:
        if n >= needed:
            return "The clusterings vary around one answer."
        differ = modes.distances.any()
        return f"The clusterings differ, and {few}" if differ else f"The {n} clusterings are equal."
    *each, last = [f"{100 * share:.0f} %" for share in modes.shares]
    text = f"The clusterings disagree in {_in_words(n_modes)} ways, {', '.join(each)} and {last}"
    return f"{text}; {few}" if n < needed else f"{text}."


def of_splits(splits: ClusterSplits, names: list[str] | None, what: str) -> list[str]:
    """Return a sentence for each cluster that most partitions split."""
    most = (splits.n_parts > 1) & (2 * splits.n_partitions > splits.n_observing)
    return [
        f"cluster {k if names is None else names[k]} is split in {_in_words(int(splits.n_parts[k]))} by "
        f"{splits.n_partitions[k]} of {splits.n_observing[k]} {what}"
        for k in np.flatnonzero(most)
    ]


def of_runs(choice: RunChoice) -> str:
    """Return which of several runs to keep."""
    names, plateau = choice.names, choice.plateau
    stretch = f"on the plateau from {names[plateau[0]]} to {names[plateau[-1]]}, keep {names[choice.plateau_run]}"
    return (
        f"of {len(names)} runs ({choice.groups.max() + 1} different), {names[choice.run]} is nearest to the consensus; "
        f"{stretch if len(plateau) > 1 else 'there is no plateau'}"
    )
