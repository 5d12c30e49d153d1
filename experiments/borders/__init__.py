"""Whether a p-value for a border between clusters is what it says."""
