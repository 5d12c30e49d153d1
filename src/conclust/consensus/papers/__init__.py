"""Methods of the papers that conclust implements, and models of the matrix of pairs that these compare with. The core does not import this folder."""
