"""Settings for all tests."""

import gc
import os

# Set before the kernels load: parallel workers have fewer cores than threads, and spinning threads
# take a quarter of the time from the others.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

from conclust import _threads

# Tests ask for more threads than this machine has processors.
_threads._most = lambda: 16

# The collector walks through all that the tests and their libraries hold: at its usual thresholds a fifth of the time.
gc.set_threshold(20_000, 20, 20)


def pytest_collection_finish():
    """Leave the tests and their libraries, which stay to the end, out of the collector's walks."""
    gc.freeze()
