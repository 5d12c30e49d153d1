"""How many objects a border needs: what `confidence.power` says, and what fresh samples need."""
