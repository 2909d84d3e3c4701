"""The tokens of the stem and their gradients: the kernels against the operations of tinyvit.ops."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.engine.cuda.cases import instances, normal, storage, widths
from tests.engine.cuda.run import assert_agrees, run
from tests.helpers import seeds
from tinyvit import ops
from tinyvit.engine.cuda.calls.noise import Mask, noise_keys
from tinyvit.engine.cuda.calls.stem import (
    add_tokens,
    add_tokens_backward,
    token_jobs,
    token_partials,
)
from tinyvit.engine.cuda.launch import Buffer

KERNELS = (
    *instances("add_tokens"),
    *(
        name.replace(">", f", {hides}>")
        for name in instances("add_tokens_backward")
        for hides in ("true", "false")
    ),
)
STEP = (7, 3, 40)  # seed, step, first image of this part of the batch

cases = st.fixed_dictionaries(
    {
        "images": st.integers(1, 6),
        "grid": st.tuples(st.integers(1, 3), st.integers(1, 3)),
        "width": widths(40),
        "before": st.integers(0, 3),
        "position": st.sampled_from(["none", "all", "patches", "2d"]),
        "rate": st.sampled_from([0.0, 0.3]),
        "dtype": storage(),
        "seed": seeds(),
    }
)


def mask_of(rate, tokens):
    return Mask(rate, 0, 0.0, 0, tokens, Buffer("keys", (2, 2), "uint32")) if rate else None


def dropped(x, rate):
    """The tokens after dropout, as the reference has it, and what its backward pass needs."""
    return ops.dropout(x, rate, ops.Noise(*STEP))


@settings(max_examples=60)
@given(case=cases, is_corrupted=st.booleans())
def test_tokens_are_those_of_the_reference(case, is_corrupted):
    rng = np.random.default_rng(case["seed"])
    B, (gh, gw), D, before, dtype = (case[n] for n in ("images", "grid", "width", "before", "dtype"))
    if case["position"] == "2d":
        D = 2 * D
    T, kind = gh * gw, case["position"]
    N, placed = T + before, before if kind == "all" else 0
    shapes = {"table": (placed + T, D)} if kind in ("all", "patches") else {}
    if kind == "2d":
        shapes = {"table": (gh, D // 2), "columns": (gw, D // 2)}
    shapes |= {"bias": (D,), "mask_token": (D,)} | ({"others": (before, D)} if before else {})
    given = {name: normal(rng, "float32", *shape) for name, shape in shapes.items()}
    given["product"], given["source"] = normal(rng, dtype, B, T, D), rng.integers(-1, T, (B, T))
    given["keys"] = noise_keys(*STEP, 1)
    buffers = {name: Buffer(name, shape) for name, shape in shapes.items()}
    launch = add_tokens(
        Buffer("product", (B * T, D), dtype),
        buffers["bias"],
        buffers.get("others"),
        tuple(buffers[name] for name in ("table", "columns") if name in buffers),
        placed,
        Buffer("source", (B, T), "int32") if is_corrupted else None,
        buffers["mask_token"] if is_corrupted else None,
        mask_of(case["rate"], N),
        Buffer("x", (B, N, D), dtype),
    )
    x = given["product"].astype(np.float64) + given["bias"]
    if is_corrupted:
        x, _ = ops.corrupt(x, given["mask_token"], given["source"])
    if before:
        x, _ = ops.register_tokens(x, given["others"])
    if kind == "2d":
        x[:, before:] += ops.positions_2d(given["table"], given["columns"])[0]
    elif kind != "none":
        x[:, before - placed :] += given["table"]
    expected, _ = dropped(x, case["rate"])
    kernels = {*KERNELS, launch.function}
    assert_agrees(run(launch, given, tuple(sorted(kernels)))["x"], expected, dtype, scale=1)


@settings(max_examples=40)
@given(case=cases, images=st.sampled_from([1, 3, 33, 70]), is_corrupted=st.booleans())
def test_gradients_are_those_of_the_reference(case, images, is_corrupted):
    rng = np.random.default_rng(case["seed"])
    B, (gh, gw), D, before, dtype = images, case["grid"], case["width"], case["before"], case["dtype"]
    T = gh * gw
    N, placed = T + before, before if case["position"] == "all" else 0
    dx, source = normal(rng, dtype, B, N, D), rng.integers(-1, T, (B, T))
    partials = Buffer("partials", (token_partials(B), (N + T * is_corrupted) * D))
    launch = add_tokens_backward(
        Buffer("dx", dx.shape, dtype),
        mask_of(case["rate"], N),
        Buffer("source", (B, T), "int32") if is_corrupted else None,
        Buffer("dpatches", (B * T, D), dtype),
        partials,
    )
    results = run(launch, {"dx": dx, "source": source, "keys": noise_keys(*STEP, 1)}, KERNELS)

    _, kept = dropped(np.zeros((B, N, D)), case["rate"])
    dz = ops.dropout_backward(dx.astype(np.float64), kept)
    dpatches, dothers = ops.register_tokens_backward(dz, before)
    assert_agrees(results["dpatches"], dpatches.reshape(B * T, D), dtype)

    rows = {"patch.bias": 0, "others": 1, "position": 1 + before}
    expected = [dpatches.sum(axis=(0, 1))[None], dothers, dz.sum(axis=0)[before - placed :]]
    if is_corrupted:
        dshown, dmask = ops.corrupt_backward(dpatches, source)
        rows["mask_token"], expected[0] = 1 + N + placed, dshown.sum(axis=(0, 1))[None]
        expected.append(dmask[None])
    grads, flat = np.zeros((2 + N + placed, D)), results["partials"].ravel()
    starts = {name: D * row for name, row in rows.items() if before or name != "others"}
    for start, count, columns, target, stride in token_jobs(partials, D, T, placed, starts):
        places = start + stride * np.arange(count)[:, None] + np.arange(columns)
        grads.reshape(-1)[target : target + columns] += flat[places].sum(axis=0)
    expected = np.concatenate(expected)
    assert_agrees(grads[: len(expected)], expected, scale=B)
