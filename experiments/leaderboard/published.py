"""What others print of these pools.

Huang, Wang and Lai, Locally weighted ensemble clustering, IEEE Transactions on Cybernetics 48(5), 2018,
Tables V and VII, criterion "true-k": 100 draws of 10 of the 100 partitions. Their program divides the mutual
information by the larger entropy ("max"), though the paper prints the square root of the product. Cells
that repeat those of another pool by an error of printing are left out (None): of SEC and KCC on mfeat the
NMI, of WEAC, WCT and EAC on mnist the ARI.
"""

from __future__ import annotations

__all__ = ["ARI_TRUE_K", "ENTRY_OF", "NMI_MAX_TRUE_K"]

_Means = dict[str, tuple[float | None, ...]]

# Printed name -> our entry.
ENTRY_OF = {
    "LWEA": "LWEA",
    "LWGP": "LWGP",
    "SEC": "SEC",
    "KCC": "KCC",
    "EAC": "EAC",
    "HBGF": "HBGF",
    "MCLA": "MCLA",
    "HGPA": "HGPA",
    "CSPA": "CSPA",
    "GP-MGLA": "GPMGLA",
    "WEAC": "WEAC",
    "WCT": "LCE (cts, hierarchical)",
}

# In the order of POOLS: steel_plates, mfeat, caltech20, covertype, mnist, texture, optdigits, isolet,
# pendigits, usps.
NMI_MAX_TRUE_K: _Means = {
    "LWEA": (0.151, 0.659, 0.452, 0.231, 0.646, 0.778, 0.829, 0.745, 0.769, 0.633),
    "LWGP": (0.152, 0.682, 0.430, 0.200, 0.635, 0.743, 0.816, 0.743, 0.774, 0.614),
    "SEC": (0.073, None, 0.377, 0.148, 0.423, 0.533, 0.604, 0.651, 0.552, 0.372),
    "KCC": (0.079, None, 0.379, 0.157, 0.480, 0.569, 0.667, 0.669, 0.598, 0.450),
    "EAC": (0.114, 0.597, 0.434, 0.203, 0.592, 0.695, 0.781, 0.730, 0.697, 0.555),
    "HBGF": (0.129, 0.636, 0.416, 0.188, 0.607, 0.706, 0.810, 0.742, 0.730, 0.581),
    "MCLA": (0.095, 0.627, 0.339, 0.218, 0.554, 0.687, 0.775, 0.665, 0.678, 0.531),
    "HGPA": (0.093, 0.479, 0.316, 0.118, 0.296, 0.346, 0.409, 0.486, 0.308, 0.120),
    "CSPA": (0.072, 0.617, 0.349, 0.207, 0.521, 0.655, 0.738, 0.629, 0.659, 0.501),
    "GP-MGLA": (0.137, 0.638, 0.415, 0.190, 0.616, 0.717, 0.813, 0.740, 0.735, 0.597),
    "WEAC": (0.124, 0.609, 0.435, 0.206, 0.615, 0.713, 0.801, 0.734, 0.716, 0.583),
    "WCT": (0.131, 0.614, 0.447, 0.211, 0.613, 0.722, 0.798, 0.719, 0.706, 0.579),
}
ARI_TRUE_K: _Means = {
    "LWEA": (0.084, 0.525, 0.352, 0.129, 0.550, 0.689, 0.782, 0.555, 0.675, 0.512),
    "LWGP": (0.083, 0.562, 0.267, 0.117, 0.512, 0.620, 0.763, 0.518, 0.675, 0.461),
    "SEC": (0.033, 0.361, 0.221, 0.078, 0.263, 0.343, 0.427, 0.390, 0.373, 0.191),
    "KCC": (0.041, 0.402, 0.225, 0.084, 0.333, 0.401, 0.525, 0.420, 0.438, 0.278),
    "EAC": (0.058, 0.455, 0.308, 0.122, None, 0.567, 0.698, 0.516, 0.566, 0.396),
    "HBGF": (0.064, 0.505, 0.235, 0.097, 0.479, 0.572, 0.751, 0.511, 0.621, 0.425),
    "MCLA": (0.061, 0.508, 0.161, 0.119, 0.428, 0.577, 0.706, 0.478, 0.551, 0.378),
    "HGPA": (0.064, 0.315, 0.148, 0.062, 0.185, 0.206, 0.281, 0.365, 0.197, 0.058),
    "CSPA": (0.042, 0.507, 0.170, 0.118, 0.411, 0.561, 0.675, 0.482, 0.551, 0.359),
    "GP-MGLA": (0.069, 0.513, 0.238, 0.099, 0.511, 0.585, 0.760, 0.507, 0.628, 0.449),
    "WEAC": (0.062, 0.467, 0.302, 0.120, None, 0.590, 0.731, 0.518, 0.593, 0.433),
    "WCT": (0.065, 0.475, 0.334, 0.127, None, 0.601, 0.729, 0.511, 0.579, 0.434),
}
