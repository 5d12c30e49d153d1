"""Growth in the benchmarks: exponents read from costs, and seconds compared with them."""

import pytest
from benchmarks.cliffs import documented_power, faults


@pytest.mark.parametrize(
    ("cost", "power"),
    [
        ("n N K a pass", 1),
        ("n N K_ref + n K_ref^2", 1),
        ("n N^2, then T^2 K a sweep", 1),
        ("n T^2 + n^2 T", 2),
        ("m^2 N for m <= n distinct rows of labels", 2),
        ("n^2 N + n N^2 + T N + n^2 c, c objects that trusted pairs connect", 3),
        ("n^3", 3),
    ],
)
def test_the_exponent_of_a_cost_comes_from_its_highest_product(cost, power):
    assert documented_power(cost) == power


def test_growth_is_compared_with_the_documented_exponent():
    linear = {512: 0.2, 1024: 0.4, 2048: 0.8}
    square = {512: 0.2, 1024: 0.8, 2048: 3.2}
    assert not faults(linear, 1)
    assert not faults(square, 2)
    assert len(faults(square, 1)) == 2


def test_a_method_that_is_much_faster_on_more_objects_is_flagged():
    (fault,) = faults({512: 1.0, 1024: 0.3}, 1)
    assert "cliff" in fault


def test_short_fits_are_not_judged():
    assert not faults({512: 0.001, 1024: 0.09}, 1)
