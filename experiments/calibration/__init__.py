"""Whether the calibrated confidence is the share of pairs that hold in a fresh sample."""
