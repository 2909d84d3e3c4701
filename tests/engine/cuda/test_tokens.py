"""The tokens of the stem and their gradients: the kernels against the operations of tinyvit.ops."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.engine.cuda.cases import instances, normal, storage, widths
from tests.engine.cuda.run import assert_agrees, run
from tests.helpers import seeds
from tinyvit import ops
from tinyvit.engine.cuda.calls.noise import Mask, noise_keys
from tinyvit.engine.cuda.calls.stem import add_tokens, add_tokens_backward, token_jobs, token_partials
from tinyvit.engine.cuda.launch import Buffer

KERNELS = instances("add_tokens", "add_tokens_backward")
STEP = (7, 3, 40)  # seed, step, first image of this part of the batch

cases = st.fixed_dictionaries(
    {
        "images": st.integers(1, 6),
        "patches": st.integers(1, 5),
        "width": widths(40),
        "has_token": st.booleans(),
        "has_position": st.booleans(),
        "rate": st.sampled_from([0.0, 0.3]),
        "dtype": storage(),
        "seed": seeds(),
    }
)


def mask_of(rate, tokens):
    return Mask(rate, 0, 0.0, 0, tokens, Buffer("keys", (2, 2), "uint32")) if rate else None


def stem(product, bias, token, position, rate):
    """The tokens by the operations of the reference, in float64, and what their backward passes need."""
    x = product + bias
    if token is not None:
        x, _ = ops.class_token(x, token)
    if position is not None:
        x, _ = ops.position_embedding(x, position)
    return ops.dropout(x, rate, ops.Noise(*STEP))


@settings(max_examples=40)
@given(case=cases)
def test_tokens_are_those_of_the_reference(case):
    rng = np.random.default_rng(case["seed"])
    B, T, D, dtype = case["images"], case["patches"], case["width"], case["dtype"]
    N = T + case["has_token"]
    product, bias = normal(rng, dtype, B, T, D), normal(rng, "float32", D)
    token = normal(rng, "float32", D) if case["has_token"] else None
    position = normal(rng, "float32", N, D) if case["has_position"] else None

    launch = add_tokens(
        Buffer("product", (B * T, D), dtype),
        Buffer("bias", (D,)),
        Buffer("token", (D,)) if case["has_token"] else None,
        Buffer("position", (N, D)) if case["has_position"] else None,
        mask_of(case["rate"], N),
        Buffer("x", (B, N, D), dtype),
    )
    given = {"product": product, "bias": bias, "token": token, "position": position}
    given["keys"] = noise_keys(*STEP, 1)
    expected, _ = stem(product.astype(np.float64), bias, token, position, case["rate"])
    assert_agrees(run(launch, given, KERNELS)["x"], expected, dtype, scale=1)


@settings(max_examples=40)
@given(case=cases, images=st.sampled_from([1, 3, 33, 70]))
def test_gradients_are_those_of_the_reference(case, images):
    rng = np.random.default_rng(case["seed"])
    B, T, D, dtype = images, case["patches"], case["width"], case["dtype"]
    N, has_token = T + case["has_token"], case["has_token"]
    dx = normal(rng, dtype, B, N, D)
    partials = Buffer("partials", (token_partials(B), N * D))
    launch = add_tokens_backward(
        Buffer("dx", dx.shape, dtype),
        mask_of(case["rate"], N),
        Buffer("dproduct", (B * T, D), dtype),
        partials,
    )
    results = run(launch, {"dx": dx, "keys": noise_keys(*STEP, 1)}, KERNELS)

    exact = dx.astype(np.float64)
    _, kept = stem(np.zeros((B, N, D)), np.zeros(D), None, None, case["rate"])
    dz = ops.dropout_backward(exact, kept)
    _, dposition = ops.position_embedding_backward(dz, None)
    dpatches, dtoken = ops.class_token_backward(dz, None) if has_token else (dz, None)
    assert_agrees(results["dproduct"], dpatches.reshape(B * T, D), dtype)

    starts = {
        "bias": 0,
        "token": D if has_token else None,
        "position": 2 * D if case["has_position"] else None,
    }
    grads = np.zeros(2 * D + N * D)
    flat = results["partials"].ravel()
    for start, rows, columns, target, stride in token_jobs(partials, D, *starts.values()):
        places = start + stride * np.arange(rows)[:, None] + np.arange(columns)
        grads[target : target + columns] += flat[places].sum(axis=0)
    assert_agrees(grads[:D], dpatches.sum(axis=(0, 1)), scale=B)
    if has_token:
        assert_agrees(grads[D : 2 * D], dtoken, scale=B)
    if case["has_position"]:
        assert_agrees(grads[2 * D :].reshape(N, D), dposition, scale=B)
