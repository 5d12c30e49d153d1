"""How members label points: nearest centres, votes of neighbours, in one pass and in blocks."""
