"""U-SENC 2020: members by spectral clustering on landmarks."""
