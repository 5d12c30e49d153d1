"""The kinds of members, a file each."""
