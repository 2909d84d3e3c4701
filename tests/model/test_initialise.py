import math

import numpy as np
import pytest

from tests.helpers import tiny_config
from tinyvit.model import initialise

CONFIG = tiny_config(image_size=64, width=96, mlp_width=384, pre_logits=128)
WIDE = tiny_config(image_size=16, patch_size=16, width=96, pre_logits=512)
FIRST_CUT = math.sqrt(1 - 4 * math.exp(-2) / math.sqrt(2 * math.pi) / math.erf(math.sqrt(2)))


@pytest.fixture(scope="module")
def params():
    return initialise(CONFIG, seed=1)


def assert_spread(values, variance):
    """Mean 0 and this variance, to within five standard errors of a normal distribution's."""
    n = values.size
    assert abs(values.mean()) < 5 * math.sqrt(variance / n)
    assert abs(values.var() / variance - 1) < 5 * math.sqrt(2 / n)


def assert_xavier(matrix):
    limit = math.sqrt(6 / sum(matrix.shape))
    assert_spread(matrix, 2 / sum(matrix.shape))
    assert 0.99 * limit < np.abs(matrix).max() <= limit * (1 + 1e-6)


@pytest.mark.parametrize("part", ["q", "k", "v"])
def test_q_k_and_v_are_each_xavier_uniform_as_their_own_square_matrix(params, part):
    for i in range(2):
        matrix = params[f"blocks.{i}.attn.qkv.weight"]
        assert_xavier(np.split(matrix, 3, axis=1)["qkv".index(part)])


@pytest.mark.parametrize("name", ["attn.out.weight", "mlp.fc1.weight", "mlp.fc2.weight"])
def test_the_other_matrices_of_a_block_are_xavier_uniform(params, name):
    for i in range(2):
        assert_xavier(params[f"blocks.{i}.{name}"])


@pytest.mark.parametrize("name", ["patch.weight", "pre_logits.weight"])
def test_patch_embedding_and_pre_logits_are_lecun_normal_cut_at_two_standard_deviations(name):
    matrix = initialise(WIDE, seed=1)[name]
    assert_spread(matrix, 1 / len(matrix))
    cut = 2 / FIRST_CUT / math.sqrt(len(matrix))
    assert 0.98 * cut < np.abs(matrix).max() <= cut * (1 + 1e-6)


def test_the_position_embedding_is_normal_with_standard_deviation_a_fiftieth(params):
    assert_spread(params["position"], 0.02**2)
    assert np.abs(params["position"]).max() > 3 * 0.02


@pytest.mark.parametrize("name", ["mlp.fc1.bias", "mlp.fc2.bias"])
def test_biases_of_the_mlp_are_tiny_but_not_zero(params, name):
    values = params["blocks.0." + name]
    assert_spread(values.astype("float64"), 1e-12)
    assert (values != 0).all()


def test_everything_else_is_zero_and_the_gains_are_one(params):
    gains = [name for name in params if name.endswith(("norm1.weight", "norm2.weight", "norm.weight"))]
    assert len(gains) == 2 * CONFIG.layers + 1
    assert all((params[name] == 1).all() for name in gains)
    zero = [name for name in params if not params[name].any()]
    expected = {"patch.bias", "class_token", "pre_logits.bias", "head.weight", "head.bias", "norm.bias"}
    for i in range(CONFIG.layers):
        expected |= {f"blocks.{i}.{n}.bias" for n in ("norm1", "norm2", "attn.qkv", "attn.out")}
    assert set(zero) == expected


def test_no_two_matrices_are_drawn_alike(params):
    a, b = (params[f"blocks.{i}.attn.qkv.weight"] for i in range(2))
    q, k, v = np.split(a, 3, axis=1)
    assert not any(np.array_equal(x, y) for x, y in ((a, b), (q, k), (q, v), (k, v)))


def test_the_same_seed_gives_the_same_parameters_and_another_seed_others():
    first, again, other = (initialise(tiny_config(), seed).flat for seed in (3, 3, 4))
    np.testing.assert_array_equal(first, again)
    assert (first != other).mean() > 0.5
    np.testing.assert_array_equal(initialise(tiny_config()).flat, initialise(tiny_config(), 0).flat)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_both_dtypes_hold_the_same_draws(dtype):
    params = initialise(tiny_config(), 3, dtype)
    assert params.flat.dtype == dtype
    np.testing.assert_array_equal(params.flat.astype("float32"), initialise(tiny_config(), 3).flat)
