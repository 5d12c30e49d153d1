"""How sure a consensus is, beside how sure it would be of nothing."""

from conclust.confidence.chance import ChanceConfidence, chance_confidence

__all__ = ["ChanceConfidence", "chance_confidence"]
