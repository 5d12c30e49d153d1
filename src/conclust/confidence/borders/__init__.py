"""Is there a border between two clusters? A p-value that is valid whatever made the clusters."""
