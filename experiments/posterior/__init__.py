"""Bayes estimates of a partition beside everything else that could be one."""
