"""What the project's files are made and checked with."""
