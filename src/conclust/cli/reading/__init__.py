"""Input files: sources of bytes, formats, columns and empty cells."""
