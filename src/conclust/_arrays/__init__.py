"""What users give as arrays: containers, points, and the scale of numbers."""
