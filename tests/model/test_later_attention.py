"""Attention with stages in it (model.later.assemble), held against naive loops; and the MLP's branch."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.helpers import seeds
from tests.ops.test_attention import attention_naively, draw, sizes
from tests.ops.test_linear_and_mlp import gelu_by_hand
from tinyvit import ops
from tinyvit.model import Params, ViTConfig, layout, specs_from_shapes
from tinyvit.model.later import PARTS
from tinyvit.model.later.assemble import Step, attention_stage, block_of
from tinyvit.model.later.part import Place
from tinyvit.ops import Noise


def attention(inputs, heads, queries=None, noise=None, more=None, **fields):
    """y (B, Q, D) of attention with the parts that the fields ask for; the probabilities; and a backward.

    The backward pass takes dy and returns dx, and the gradients of the matrix and bias of q, k and v.
    """
    x, weight, bias, out_weight, out_bias = inputs
    config = ViTConfig((1, 1), 1, x.shape[2], 1, heads, 1, 1, **fields)
    lists = []
    for kind in ("heads", "scores", "probabilities"):
        lists.append([])
        for part in PARTS:
            if kind in part.stages and part.is_in(config):
                lists[-1] = part.stages[kind](config, Place(kind, 0), lists[-1], Step(noise))
    arrays = {"a.qkv.weight": weight, "a.qkv.bias": bias, **(more or {})}
    params = Params.zeros(specs_from_shapes({n: a.shape for n, a in arrays.items()}), x.dtype)
    for name, array in arrays.items():
        params[name] = array
    stage = attention_stage(config, "a", queries, *lists)
    o, cache = stage.forward(params, x)

    def backward(dy):
        grads = params.zeros_like()
        dx = stage.backward(dy @ out_weight.T, cache, grads)
        return dx, *grads.group("a.qkv")

    return o @ out_weight + out_bias, ops.attention_probabilities(cache), backward


@settings(max_examples=25)
@given(seed=seeds(), data=st.data(), **sizes)
def test_relative_positions_join_the_scores_before_the_softmax(seed, data, B, N, H, K):
    inputs, Q = draw(seed, B, N, H, K), data.draw(st.integers(1, N))
    relative = np.random.default_rng(seed).standard_normal((2 * N - 1, K))
    more = {"blocks.0.position": relative}
    y, A, _ = attention(inputs, H, Q, more=more, position="relative")
    expected, probabilities = attention_naively(*inputs, heads=H, relative=relative)
    np.testing.assert_allclose(y, expected[:, :Q], rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose(A, probabilities[:, :, :Q], rtol=1e-10, atol=1e-13)


def test_dropout_acts_on_the_probabilities_and_leaves_the_reported_ones_alone():
    inputs, rate = draw(1), 0.4
    mask = (Noise(3, 4).uniform((2, 3, 5, 5), np) >= rate) / (1 - rate)
    expected, probabilities = attention_naively(*inputs, heads=3, mask=mask)
    y, A, _ = attention(inputs, 3, noise=Noise(3, 4), attention_dropout=rate)
    np.testing.assert_allclose(y, expected, rtol=1e-6)
    np.testing.assert_allclose(A, probabilities, rtol=1e-10)
    without, *_ = attention(inputs, 3, attention_dropout=rate)
    np.testing.assert_allclose(without, attention_naively(*inputs, heads=3)[0], rtol=1e-10)


def test_queries_and_keys_are_normalised_with_the_epsilon_that_is_given():
    inputs, heads, K = draw(0), 3, 4
    rng = np.random.default_rng(1)
    norms = [(rng.normal(1, 0.3, K), rng.normal(size=K)) for _ in "qk"]
    more = {
        f"blocks.0.{x}_norm.{name}": array
        for x, norm in zip("qk", norms, strict=True)
        for name, array in zip(("weight", "bias"), norm, strict=True)
    }
    _, A, _ = attention(inputs, heads, more=more, qk_norm=True, eps=0.5)
    qkv = (inputs[0] @ inputs[1] + inputs[2]).reshape(*inputs[0].shape[:2], 3, heads, K)
    q, k = (ops.layer_norm(qkv[:, :, i].swapaxes(1, 2), *norms[i], 0.5)[0] for i in (0, 1))
    expected, _ = ops.softmax(q @ k.swapaxes(2, 3) / math.sqrt(K))
    np.testing.assert_allclose(A, expected)


@settings(max_examples=20)
@given(seed=seeds(), data=st.data(), **sizes)
def test_few_queries_give_the_first_rows_of_all(seed, data, B, N, H, K):
    inputs, Q = draw(seed, B, N, H, K), data.draw(st.integers(1, N))
    y, _, backward = attention(inputs, H)
    few, _, few_backward = attention(inputs, H, Q)
    np.testing.assert_allclose(few, y[:, :Q], rtol=1e-11, atol=1e-12)
    dy = np.random.default_rng(seed).standard_normal(y.shape)
    dy[:, Q:] = 0
    for a, b in zip(few_backward(dy[:, :Q]), backward(dy), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-11)


@pytest.mark.parametrize("form", ["tanh", "exact"])
@pytest.mark.parametrize("norm", [False, True])
def test_the_mlp_drops_then_normalises_between_its_two_layers(form, norm):
    """A block whose attention and other dropout do nothing, as the output matrix and the noise say."""
    rng, rate = np.random.default_rng(1), 0.4
    config = ViTConfig((1, 2), 1, 4, 7, 2, 2, 1, pool="mean", dropout=rate, gelu=form, mlp_norm=norm, eps=0.1)
    params = Params.zeros(layout(config), "float64")
    params.flat[...] = rng.standard_normal(params.count)
    params["blocks.0.attn.out.weight"][...] = 0
    params["blocks.0.attn.out.bias"][...] = 0
    x = rng.standard_normal((2, 2, 4))
    y, _ = block_of(config, 0, Step(Noise(1, 2))).forward(params, x)
    noise = Noise(1, 2)
    noise.uniform((2, 2, 4), np)  # for the attention branch
    within, after = noise.uniform((2, 2, 7), np) < rate, noise.uniform((2, 2, 4), np) < rate
    w1, b1, w2, b2 = params.group("blocks.0.mlp")
    n, _ = ops.layer_norm(x, *params.group("blocks.0.norm2"), 0.1)
    for b, t in np.ndindex(2, 2):
        h = n[b, t] @ w1 + b1
        g = [0 if d else gelu_by_hand(u, form) / (1 - rate) for u, d in zip(h, within[b, t], strict=True)]
        if norm:
            g, _ = ops.layer_norm(np.array(g), *params.group("blocks.0.mlp_norm"), 0.1)
        expected = x[b, t] + np.where(after[b, t], 0, (g @ w2 + b2) / (1 - rate))
        np.testing.assert_allclose(y[b, t], expected, rtol=1e-6)
