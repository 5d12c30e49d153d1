"""The method without required parameters: the ensemble determines the number of clusters and the tree."""
