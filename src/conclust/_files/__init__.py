"""Files in and out: whole or not at all, without formulas, with the versions that they depend on."""
