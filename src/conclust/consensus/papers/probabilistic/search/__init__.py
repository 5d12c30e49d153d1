"""Where the solvers start, and how their solutions are improved."""
