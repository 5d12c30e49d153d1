"""Where the solvers start, and how what they find is bettered."""
