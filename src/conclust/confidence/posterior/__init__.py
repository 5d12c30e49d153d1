"""Summaries of posterior draws, or of any ensemble, beyond one estimate: a ball, a core, several modes."""
