"""Reads and writes files: atomically, without formulas, and with the versions that they depend on."""
