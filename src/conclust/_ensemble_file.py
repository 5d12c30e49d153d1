"""The file format of an Ensemble: one NPZ with its JSON header inside, never a pickle."""
