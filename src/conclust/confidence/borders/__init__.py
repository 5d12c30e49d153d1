"""Is there a border between two clusters? A p-value that is valid whatever made the clusters."""

from conclust.confidence.borders.result import BorderTests
from conclust.confidence.borders.testing import border_tests

__all__ = ["BorderTests", "border_tests"]
