"""Every public function with random arguments: a result, or an error of conclust.

CONCLUST_CALLS=20000 sets the number of cases, CONCLUST_CALLS_SEED=1 their seed.
"""

import os

from tests.fuzz_calls import callables, run

CASES = int(os.environ.get("CONCLUST_CALLS", "250"))
SEED = int(os.environ.get("CONCLUST_CALLS_SEED", "2"))


def test_random_calls_give_a_result_or_an_error():
    seen, faults = run(CASES, SEED)
    assert faults == []
    # Both happen: the arguments are neither all valid nor all invalid.
    assert min(seen["answered"], seen["refused"]) > CASES // 10


def test_every_public_function_is_called():
    functions = callables()
    assert len(functions) > 130
    for name in ("conclust.PCC", "metrics.anmi", "plotting.flow_diagram", "selection.choose_from"):
        assert name in functions
