import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.helpers import dtypes, seeds
from tinyvit.model import Params, specs_from_shapes
from tinyvit.optim import DECAYS, clip_norm, learning_rate

ROWS = specs_from_shapes({"a.weight": (2, 3), "a.bias": (3,)})


def draw(seed, norm, dtype="float64"):
    """Random gradients with this joint norm."""
    flat = np.random.default_rng(seed).standard_normal(9)
    return Params((flat * norm / np.linalg.norm(flat)).astype(dtype), ROWS)


@given(seed=seeds(), dtype=dtypes(), norm=st.floats(1.01, 1e6), limit=st.sampled_from([0.1, 1.0]))
def test_a_large_gradient_is_shortened_to_the_limit_and_keeps_its_direction(seed, dtype, norm, limit):
    grads = draw(seed, norm, dtype)
    direction = grads.flat / np.linalg.norm(grads.flat)
    returned = clip_norm(grads, limit)
    assert math.isclose(returned, norm, rel_tol=1e-5)
    assert math.isclose(np.linalg.norm(grads.flat), limit, rel_tol=1e-5)
    np.testing.assert_allclose(grads.flat, limit * direction, rtol=2e-5)
    assert grads.flat.dtype == dtype


@given(seed=seeds(), dtype=dtypes(), norm=st.floats(0, 0.99))
def test_a_small_gradient_is_unchanged(seed, dtype, norm):
    grads = draw(seed, norm, dtype)
    before = grads.flat.copy()
    assert math.isclose(clip_norm(grads, 1.0), norm, rel_tol=1e-5, abs_tol=1e-12)
    np.testing.assert_array_equal(grads.flat, before)


@pytest.mark.parametrize(("norm", "passes"), [(30.0, 2), (0.5, 1)])
def test_a_long_gradient_is_clipped_in_pieces_that_someone_else_may_carry_out(norm, passes):
    rows = specs_from_shapes({"a.weight": (300, 1000), "a.bias": (7,)})
    flat = np.random.default_rng(1).standard_normal(300_007)
    flat *= norm / np.linalg.norm(flat)
    grads, carried_out = Params(flat.copy(), rows), []

    def last_first(work, pieces):
        carried_out.append(pieces)
        return [work(piece) for piece in reversed(pieces)]

    assert math.isclose(clip_norm(grads, 3.0, parallel_map=last_first), norm, rel_tol=1e-12)
    np.testing.assert_allclose(grads.flat, flat * min(1, 3 / norm), rtol=1e-6)
    assert len(carried_out) == passes and all(len(pieces) > 2 for pieces in carried_out)


LAST = {"cosine": 3 * (1 - math.cos(math.pi / 90)) / 2, "linear": 3 / 90, "constant": 3.0}


@pytest.mark.parametrize("decay", DECAYS)
def test_the_rate_rises_to_its_peak_and_ends_one_step_before_the_decay_does(decay):
    rate = [learning_rate(step, 100, 3.0, 10, decay) for step in range(1, 101)]
    np.testing.assert_allclose(rate[:10], np.linspace(0.3, 3.0, 10))
    assert rate[9] == rate[10] == max(rate) == 3  # the warm-up's last step and the decay's first
    assert all(a >= b for a, b in pairwise(rate[9:]))
    assert math.isclose(rate[-1], LAST[decay], rel_tol=1e-9)


@pytest.mark.parametrize("decay", DECAYS)
@given(total=st.integers(1, 300), warmup=st.integers(0, 300))
def test_every_update_moves_the_weights_the_first_and_the_last_too(decay, total, warmup):
    assert all(learning_rate(step, total, 1.0, warmup, decay) > 0 for step in range(1, total + 1))


@pytest.mark.parametrize("decay, middle, quarter", [("cosine", 1.5, 2.5606602), ("linear", 1.5, 2.25)])
def test_halfway_down_the_rate_is_half_and_the_cosine_starts_slowly(decay, middle, quarter):
    """Of 80 steps of decay, 40 or 20 lie behind when step 61 or 41 begins."""
    assert math.isclose(learning_rate(61, 100, 3.0, 20, decay), middle)
    assert math.isclose(learning_rate(41, 100, 3.0, 20, decay), quarter, rel_tol=1e-7)


def test_cosine_is_the_default():
    assert learning_rate(40, 100, 3.0, 20) == learning_rate(40, 100, 3.0, 20, "cosine")


@pytest.mark.parametrize("decay", DECAYS)
@given(total=st.integers(1, 300), warmup=st.integers(0, 300))
def test_the_rate_never_jumps_and_stays_between_zero_and_its_peak(decay, total, warmup):
    rate = [learning_rate(step, total, 1.0, warmup, decay) for step in range(1, total + 1)]
    assert all(0 <= r <= 1 for r in rate)
    largest_step = max(1 / max(warmup, 1), math.pi / 2 / max(total - warmup, 1)) + 1e-12
    assert all(abs(a - b) <= largest_step for a, b in pairwise(rate))


@pytest.mark.parametrize("decay", DECAYS)
def test_without_warm_up_training_starts_near_the_peak(decay):
    assert 0.98 < learning_rate(1, 100, 1.0, 0, decay) <= 1
    assert learning_rate(1, 1, 1.0, 1, decay) == 1
