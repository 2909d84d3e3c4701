import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.helpers import dtypes, seeds
from tinyvit.model import Params, specs_from_shapes
from tinyvit.optim import Average, averaged

ROWS = specs_from_shapes({"a.weight": (2, 3), "a.bias": (3,)})


@given(seed=seeds(), dtype=dtypes(), decay=st.sampled_from([0.1, 0.5, 0.999]), steps=st.integers(1, 12))
def test_it_is_the_weighted_mean_of_the_formula(seed, dtype, decay, steps):
    """Written as one sum: the weights after update t count (1 - d_t) times all later d."""
    path = np.random.default_rng(seed).standard_normal((steps + 1, 9)).astype(dtype)
    params = Params(path[0].copy(), ROWS)
    average = Average(params, decay)
    for t in range(1, steps + 1):
        params.flat[...] = path[t]
        average.update(t)
    d = np.array([0.0, *(min(decay, (1 + t) / (10 + t)) for t in range(1, steps + 1))])
    shares = [(1 - d[t]) * d[t + 1 :].prod() for t in range(steps + 1)]
    np.testing.assert_allclose(average.flat, shares @ path, rtol=1e-4, atol=1e-5)
    assert sum(shares) == pytest.approx(1)
    assert average.flat.dtype == dtype
    assert (params.flat == path[steps]).all()


@given(seed=seeds(), dtype=dtypes(), decay=st.sampled_from([0.1, 0.5, 0.999]))
def test_what_does_not_learn_is_its_own_average_to_the_last_bit(seed, dtype, decay):
    params = Params(np.random.default_rng(seed).standard_normal(9).astype(dtype), ROWS)
    average = Average(params, decay)
    for t in range(1, 50):
        params["a.bias"][...] += 1
        average.update(t)
    np.testing.assert_array_equal(average.flat[:6], params.flat[:6])


def test_the_parameters_are_their_average_within_and_themselves_afterwards_even_after_an_error():
    params = Params(np.arange(9.0), ROWS)
    average = Average(params, 0.9)
    params.flat[...] = 7
    with pytest.raises(KeyboardInterrupt), averaged(average):
        np.testing.assert_array_equal(params["a.bias"], [6, 7, 8])
        raise KeyboardInterrupt
    assert (params.flat == 7).all() and (average.flat == np.arange(9)).all()
    with averaged(None):
        assert (params.flat == 7).all()


def test_on_the_gpu_it_is_that_of_numpy(gpu):
    results = []
    for xp in (np, gpu.xp):
        params = Params(np.arange(9, dtype=np.float32), ROWS).to(xp)
        average = Average(params, 0.9)
        for t in (1, 2):
            params.flat[...] = xp.asarray(np.arange(9, dtype=np.float32) ** t)
            average.update(t)
        with averaged(average):
            results.append(params.to(np).flat)
    np.testing.assert_allclose(*results, rtol=1e-6)
