import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tinyvit.ops import erf

GRID = np.concatenate([np.linspace(-7, 7, 20_001), [0.0, 1e-300, -1e-9, 1e-4, 50, -1e30]])


@pytest.mark.parametrize("dtype, largest_error", [("float64", 1e-15), ("float32", 4e-7)])
def test_erf_is_that_of_the_standard_library_to_nearly_the_last_digit(dtype, largest_error):
    x = GRID.astype(dtype)
    expected = np.array([math.erf(number) for number in x.tolist()])
    assert np.abs(erf(x) - expected).max() < largest_error
    assert erf(x).dtype == dtype


@given(numbers=st.lists(st.floats(-1e300, 1e300), min_size=1, max_size=20))
def test_erf_is_odd_and_stays_between_minus_one_and_one(numbers):
    x = np.array(numbers)
    np.testing.assert_array_equal(erf(-x), -erf(x))
    assert (np.abs(erf(x)) <= 1).all()
