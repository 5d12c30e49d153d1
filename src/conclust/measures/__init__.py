"""Measures of partitions: contingency tables, matching, comparison, agreement and losses (floor 2)."""
