"""Mimetic first values: their products, what attention does with them, and what stays as it was."""

import math

import numpy as np
import pytest

from tests.helpers import tiny_config
from tinyvit.model import attention_maps, initialise, preset
from tinyvit.model.initialise import signs
from tinyvit.ops import positions_sincos
from tinyvit.support.errors import UserError

# By seed 0: of the first block, numbers of Wq, Wk and Wv; of the second, numbers of Wo.
GOLDEN = [0.487852679, -0.035899677, 0.174665066, 0.216487999, -0.078412636, 0.079543152]
GOLDEN += [0.386835515, 0.304176206, 0.288811366]


def config(**changes):
    return tiny_config(**({"image_size": 16, "patch_size": 4, "width": 64, "heads": 4} | changes))


def mimetic(config, seed=1, dtype="float64"):
    return initialise(config, seed, dtype, "mimetic")


def heads_of(config, params, i):
    """Wq and Wk of each head of block i, (D, K) each."""
    q, k, _ = np.split(params[f"blocks.{i}.attn.qkv.weight"], 3, axis=1)
    return list(zip(np.split(q, config.heads, axis=1), np.split(k, config.heads, axis=1), strict=True))


def value_output(params, i):
    """Wv and Wo of block i, (D, D) each."""
    return np.split(params[f"blocks.{i}.attn.qkv.weight"], 3, axis=1)[2], params[
        f"blocks.{i}.attn.out.weight"
    ]


def correlation(a, b):
    return (a * b).sum() / np.linalg.norm(a) / np.linalg.norm(b)


def assert_noise_around_the_identity(product, noise, identity):
    """Normal of standard deviation noise / sqrt(D) around identity * I, to within five standard errors."""
    D = len(product)
    deviation = noise / math.sqrt(D)
    rest = product - identity * np.eye(D)
    assert abs(np.diagonal(rest).mean()) < 5 * deviation / math.sqrt(D)
    assert abs(rest.mean()) < 5 * deviation / D
    assert abs(rest.var() / deviation**2 - 1) < 5 * math.sqrt(2) / D
    assert 3 * deviation < np.abs(rest).max() < 6 * deviation


def test_values_and_output_multiply_to_noise_around_a_negative_identity():
    params = mimetic(config())
    for i in range(2):
        v, out = value_output(params, i)
        assert_noise_around_the_identity(v @ out, 0.4, -0.4)


def test_a_single_head_has_queries_and_keys_that_multiply_to_noise_around_the_identity():
    whole = config(heads=1)
    params = mimetic(whole)
    for i in range(2):
        ((q, k),) = heads_of(whole, params, i)
        assert_noise_around_the_identity(q @ k.T, 0.7, 0.7)


def test_queries_and_keys_of_each_head_come_as_near_to_that_as_their_width_allows():
    for i in range(2):
        for q, k in heads_of(config(), mimetic(config()), i):
            product = q @ k.T
            assert correlation(product, np.eye(64)) > 0.35
            largest = np.linalg.svd(product, compute_uv=False)
            assert largest[15] > 1 and largest[16] < 1e-10  # the 16 largest of 64
        for q, k in heads_of(config(), initialise(config(), 1), i):
            assert abs(correlation(q @ k.T, np.eye(64))) < 0.1


def test_both_factors_of_a_product_are_equally_large():
    params = mimetic(config())
    for q, k in heads_of(config(), params, 0):
        np.testing.assert_allclose(q.T @ q, k.T @ k, atol=1e-12)
    v, out = value_output(params, 0)
    np.testing.assert_allclose(v.T @ v, out @ out.T, atol=1e-12)


def test_no_two_heads_or_blocks_share_their_noise():
    params, I = mimetic(config()), np.eye(64)
    products = [q @ k.T for i in range(2) for q, k in heads_of(config(), params, i)]
    products += [v @ out for v, out in (value_output(params, i) for i in range(2))]
    noises = [product - np.trace(product) / 64 * I for product in products]
    for i, noise in enumerate(noises):
        assert all(abs(correlation(noise, other)) < 0.15 for other in noises[:i])


@pytest.mark.parametrize("changes", [{}, {"pre_logits": 7, "pool": "mean"}, {"position": "relative"}])
def test_everything_else_is_as_in_the_official_initialisation(changes):
    usual, ours = initialise(config(**changes), 1), initialise(config(**changes), 1, init="mimetic")
    differ = {name for name in usual if (usual[name] != ours[name]).any()}
    expected = {f"blocks.{i}.attn.{part}.weight" for i in range(2) for part in ("qkv", "out")}
    assert differ == expected | ({"position"} if "position" not in changes else set())


def test_the_seed_decides_and_both_dtypes_hold_the_same_values():
    one, again, other = (mimetic(config(), seed).flat for seed in (3, 3, 4))
    np.testing.assert_array_equal(one, again)
    assert (one != other).mean() > 0.5
    np.testing.assert_array_equal(one.astype("float32"), mimetic(config(), 3, "float32").flat)


def test_the_values_of_a_seed_are_these_on_every_machine():
    params = mimetic(tiny_config(), 0)
    found = (
        params["blocks.0.attn.qkv.weight"][0, [0, 4, 12, 16, 24, 35]],
        params["blocks.1.attn.out.weight"][:3, 0],
    )
    np.testing.assert_allclose(np.concatenate(found), GOLDEN, atol=1e-8)


def test_the_signs_that_a_decomposition_happens_to_return_do_not_matter(monkeypatch):
    expected, svd, rng = mimetic(config()).flat, np.linalg.svd, np.random.default_rng(0)

    def otherwise(matrix):
        U, S, Vt = svd(matrix)
        flip = rng.choice([-1, 1], len(S))
        return U * flip, S, flip[:, None] * Vt

    monkeypatch.setattr(np.linalg, "svd", otherwise)
    np.testing.assert_array_equal(mimetic(config()).flat, expected)


def test_a_vector_and_its_negative_have_opposite_signs_even_if_it_is_odd():
    odd = np.array([[1.0, 2, 3], [2, -1, 0], [-2, 1, 0], [-1, -2, -3]])
    assert set(signs(odd)) <= {-1, 1}
    np.testing.assert_array_equal(signs(-odd), -signs(odd))


@pytest.mark.parametrize("at", ["stem", "shared", "blocks"])
@pytest.mark.parametrize("pool", ["token", "mean"])
def test_learned_positions_start_as_sines_and_cosines(at, pool):
    table = positions_sincos((4, 4), 64)
    where = {"blocks": ["blocks.0.position", "blocks.1.position"]}.get(at, ["position"])
    for kind in ("1d", "2d"):
        changed = config(position=kind, position_at=at, pool=pool)
        usual, params = initialise(changed, 1, "float64"), mimetic(changed)
        for part in where:
            if kind == "1d":
                np.testing.assert_array_equal(params[part][-16:], table)
                np.testing.assert_array_equal(params[part][:-16], usual[part][:-16])  # of the class token
            else:
                e = table.reshape(4, 4, 64)  # sines and cosines of columns, then those of rows
                np.testing.assert_allclose(params[f"{part}.rows"], e[:, 0, 32:], atol=1e-15)
                np.testing.assert_allclose(params[f"{part}.columns"], e[0, :, :32], atol=1e-15)


@pytest.mark.parametrize("kind", ["1d", "2d", "sincos"])
def test_a_patch_first_looks_around_itself_in_every_head(kind):
    model = config(image_size=32, position=kind, layers=1, predicts="patches")
    grey = np.zeros((1, 32, 32, 3))
    r, c = np.divmod(np.arange(64), 8)
    distance = np.hypot(r[:, None] - r, c[:, None] - c)
    for init, near in (("official", False), ("mimetic", True)):
        maps = attention_maps(model, initialise(model, 1, "float64", init), grey)
        A = next(maps)[0, :, 1:, 1:]  # (H, T, T), without the class token
        mean = (A * distance).sum(axis=2).mean(axis=1) / A.sum(axis=2).mean(axis=1)
        assert (mean < 0.85 * distance.mean()).all() == near


def test_hybrids_and_models_without_positions_have_mimetic_attention_too():
    for changed in (preset("R5+nano/4", 32, 3, layers=1), config(position="none")):
        v, out = value_output(mimetic(changed), 0)
        assert_noise_around_the_identity(v @ out, 0.4, -0.4)


def test_what_has_no_mimetic_first_values_says_so():
    with pytest.raises(UserError, match="those of attention, which a ResNet does not have"):
        mimetic(preset("resnet-nano", 32, 3))
    for kind in ("1d", "2d"):
        with pytest.raises(UserError, match=r"4 must divide the width, 18: choose another width"):
            mimetic(tiny_config(width=18, position=kind))
    mimetic(tiny_config(width=18, position="none"))
    with pytest.raises(UserError, match="init is 'random', expected one of official, mimetic"):
        initialise(config(), init="random")
