"""Queries and keys that turn, and their gradients that turn back: the kernel against tinyvit.ops."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.engine.cuda.cases import C_TYPES, LONGEST, normal, storage
from tests.engine.cuda.run import assert_agrees, run
from tests.helpers import seeds
from tinyvit import ops
from tinyvit.engine.cuda.calls.attention import rotary_partials, rotate
from tinyvit.engine.cuda.launch import Buffer

KERNELS = tuple(
    f"rotate<{C_TYPES[dtype]}, {V}, {pairs}>"
    for dtype, longest in LONGEST.items()
    for V in (2, longest)
    for pairs in ("true", "false")
)


@settings(max_examples=60)
@given(
    images=st.integers(1, 4),
    patches=st.integers(1, 6),
    before=st.integers(0, 2),
    heads=st.integers(1, 3),
    head_width=st.sampled_from([4, 12, 16, 32, 64]),
    pairs=st.booleans(),
    dtype=storage(),
    seed=seeds(),
)
def test_queries_and_keys_turn_and_turn_back(images, patches, before, heads, head_width, pairs, dtype, seed):
    rng = np.random.default_rng(seed)
    B, N, H, K = images, before + patches, heads, head_width
    D, shape = H * K, (B, N, 3 * H * K)
    qkv, dqkv, bias = normal(rng, dtype, *shape), normal(rng, dtype, *shape), normal(rng, "float32", 3 * D)
    angles = rng.normal(size=(patches, K // 2))
    tables = {"cos": np.cos(angles).astype(np.float32), "sin": np.sin(angles).astype(np.float32)}
    names = Buffer("cos", (patches, K // 2)), Buffer("sin", (patches, K // 2))
    turn = ops.Turn(*(table.astype(np.float64) for table in tables.values()), pairs)

    def heads_of(x):
        return x.reshape(B, N, 3, H, K).transpose(2, 0, 3, 1, 4).astype(np.float64)

    launch = rotate(Buffer("qkv", shape, dtype), names, Buffer("bias", bias.shape), H, pairs)
    found = heads_of(run(launch, {"qkv": qkv, "bias": bias} | tables, KERNELS)["qkv"])
    q, k, v = heads_of(qkv + bias)
    for ours, expected in zip(found, (ops.rotary(q, turn)[0], ops.rotary(k, turn)[0], v), strict=True):
        assert_agrees(ours, expected, dtype)

    partials = Buffer("partials", (rotary_partials(B * N), 2 * D))
    launch = rotate(Buffer("dqkv", shape, dtype), names, partials, H, pairs)
    found = run(launch, {"dqkv": dqkv} | tables, KERNELS)
    dq, dk, dv = heads_of(dqkv)
    back = [ops.rotary_backward(each, (each, turn))[0] for each in (dq, dk)]
    for ours, expected in zip(heads_of(found["dqkv"]), (*back, dv), strict=True):
        assert_agrees(ours, expected, dtype)
    sums = np.stack(back).sum(axis=(1, 3)).reshape(2 * D)
    assert_agrees(found["partials"].sum(axis=0), sums, scale=B * N)
