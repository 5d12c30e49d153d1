"""Reads users' arrays: containers, points, and the scale of numbers."""
