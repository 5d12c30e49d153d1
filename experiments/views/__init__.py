"""Members from several kinds of features."""
