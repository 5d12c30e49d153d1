"""What is done to points by the million, tried where the classes are known."""
