"""Muon: what is orthogonalised and what is not, its state, and the same steps as PyTorch's."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.helpers import distance, dtypes, seeds, small_models, tiny_config
from tinyvit.engine import CpuEngine, ReferenceEngine, Training
from tinyvit.engine.blas import one_blas_thread
from tinyvit.gradcheck import random_params
from tinyvit.model import Params, ParamSpec, layout, preset
from tinyvit.optim import AdamW, Muon
from tinyvit.optim.muon import orthogonalise

LRS = [0.02, 0.05, 0.01]
CONFIG = tiny_config()
RESNET = {"resnet_width": 6, "resnet_groups": 3}
sides = st.integers(1, 24)


def matrices(seed, *shape, dtype="float64"):
    """Random matrices with singular values from large to small."""
    rng = np.random.default_rng(seed)
    spread = np.geomspace(1, 0.05, shape[-1])
    return (rng.standard_normal(shape) * spread).astype(dtype)


def draw(config, seed=1):
    """Random parameters in float64, and the gradients of as many steps as there are learning rates."""
    rng = np.random.default_rng(seed)
    params = random_params(config, rng, "float64")
    return params, [random_params(config, rng, "float64") for _ in LRS]


def run(optimizer, steps):
    for step, (grads, lr) in enumerate(zip(steps, LRS, strict=True), start=1):
        optimizer.step(grads, lr, step)


# The direction.


@settings(max_examples=40)
@given(seed=seeds(), n=st.integers(1, 3), a=sides, b=sides)
def test_singular_values_come_close_to_one_and_the_vectors_stay(seed, n, a, b):
    """The sum that the iteration is for: U p(S) V^T, with p applied five times to S / |S|."""
    x = matrices(seed, n, a, b)
    u, s, v = np.linalg.svd(x, full_matrices=False)
    s = s / np.sqrt((s * s).sum(-1, keepdims=True))
    seen = s > 0.002
    for _ in range(5):
        s = 3.4445 * s - 4.7750 * s**3 + 2.0315 * s**5
    np.testing.assert_allclose(orthogonalise(x), (u * s[:, None]) @ v, atol=1e-9)
    found = np.linalg.svd(orthogonalise(x), compute_uv=False)
    assert found.max() < 1.21
    assert np.sort(found)[..., -seen.sum(-1).min() :].min() > 0.67


@settings(max_examples=20)
@given(seed=seeds(), a=sides, b=sides, dtype=dtypes(), scale=st.sampled_from([1e-4, 1.0, 1e4]))
def test_length_and_transposition_do_not_matter_and_the_dtype_stays(seed, a, b, dtype, scale):
    x = matrices(seed, 2, a, b, dtype=dtype)
    found, exact = orthogonalise(x), 1e-3 if dtype == "float32" else 1e-9
    assert found.dtype == dtype
    np.testing.assert_allclose(orthogonalise(x * x.dtype.type(scale)), found, atol=exact)
    np.testing.assert_allclose(orthogonalise(x.swapaxes(1, 2)), found.swapaxes(1, 2), atol=exact)


def test_zeros_stay_zeros_and_missing_directions_stay_missing():
    assert not orthogonalise(np.zeros((2, 3, 5))).any()
    x = matrices(1, 1, 20, 2) @ matrices(2, 1, 2, 30)
    values = np.linalg.svd(orthogonalise(x)[0], compute_uv=False)
    assert values[:2].min() > 0.67 and values[2:].max() < 1e-9


# The update.


def direction(gradients, momentum=0.95):
    """Equations 1 and 2 by hand, for the last of these gradients."""
    m = 0.0
    for g in gradients:
        m = momentum * m + (1 - momentum) * g
    return momentum * m + (1 - momentum) * g


def test_hidden_matrices_follow_the_formula_q_k_and_v_apart_and_adamw_does_the_rest():
    (params, steps), (twin, _) = draw(CONFIG), draw(CONFIG)
    expected = {name: params[name].copy() for name in params}
    rows = {row.name: row for row in params.rows}
    for t, lr in enumerate(LRS, start=1):
        for name in filter(lambda name: rows[name].hidden, params):
            u, parts = direction([grads[name] for grads in steps[:t]]), 3 if "qkv" in name else 1
            moved = np.concatenate([orthogonalise(x[None])[0] for x in np.split(u, parts, axis=1)], axis=1)
            length = 0.2 * math.sqrt(max(u.shape[0], u.shape[1] // parts))
            expected[name] = (1 - lr * 0.3) * expected[name] - lr * length * moved
    run(Muon(params, weight_decay=0.3), steps)
    run(AdamW(twin, weight_decay=0.3), steps)
    hidden = [name for name in params if rows[name].hidden]
    assert len(hidden) == 4 * CONFIG.layers
    for name in params:
        target = expected[name] if name in hidden else twin[name]
        np.testing.assert_allclose(params[name], target, rtol=1e-9, atol=1e-12, err_msg=name)


def test_an_update_is_about_as_large_as_one_of_adamw():
    (params, steps), before = draw(CONFIG), draw(CONFIG)[0]
    Muon(params).step(steps[0], 0.01, 1)
    for name in ("blocks.0.attn.out.weight", "blocks.1.mlp.fc1.weight", "blocks.1.mlp.fc2.weight"):
        root_mean_square = math.sqrt(((params[name] - before[name]) ** 2).mean())
        assert 0.7 * 0.2 < root_mean_square / 0.01 < 1.2 * 0.2


@settings(max_examples=10)
@given(config=small_models(), seed=seeds())
def test_one_matrix_does_not_move_another(config, seed):
    """Whatever the model, a gradient of one matrix alone changes no other."""
    params, (grads, *_) = draw(config, seed)
    before, only = params.flat.copy(), f"blocks.{config.layers - 1}.mlp.fc1.weight"
    single = grads.zeros_like()
    single[only] = grads[only]
    Muon(params).step(single, 0.1, 1)
    twin = Params(before, params.rows)
    assert [name for name in params if (params[name] != twin[name]).any()] == [only]


@pytest.mark.parametrize(
    "config",
    [
        CONFIG,
        tiny_config(image_size=16, patch_size=1, resnet=(1, 1), **RESNET),
        preset("resnet-nano", 16, 4, resnet=(1, 1), width=48, **RESNET),
    ],
    ids=["ViT", "hybrid", "ResNet"],
)
def test_kernels_embeddings_heads_and_vectors_are_left_to_adamw(config):
    (params, steps), (twin, _) = draw(config), draw(config)
    run(Muon(params, weight_decay=0.1), steps)
    run(AdamW(twin, weight_decay=0.1), steps)
    for row in params.rows:
        is_matrix = row.name.startswith("blocks.") and row.decays
        assert np.array_equal(params[row.name], twin[row.name]) != is_matrix, row.name


def test_a_single_matrix_is_one_whatever_its_table_says():
    params = Params(matrices(1, 6, 4).reshape(-1), (ParamSpec("w", (6, 4), decays=True, hidden=True),))
    grads = Params(matrices(2, 6, 4).reshape(-1), params.rows)
    before = params["w"].copy()
    Muon(params).step(grads, 1.0, 1)
    expected = 0.2 * math.sqrt(6) * orthogonalise(grads["w"][None])[0]
    np.testing.assert_allclose(before - params["w"], expected, atol=1e-9)


def test_the_state_is_one_number_for_a_hidden_matrix_and_two_for_all_else_and_gives_the_same_bits():
    (whole, steps), (cut, _) = draw(CONFIG), draw(CONFIG)
    run(Muon(whole, weight_decay=0.1), steps)
    first, second = Muon(cut, weight_decay=0.1), Muon(cut, weight_decay=0.1)
    first.step(steps[0], LRS[0], 1)
    for name, array in first.state.items():
        second.state[name][...] = array
    for step in (2, 3):
        second.step(steps[step - 1], LRS[step - 1], step)
    assert whole.flat.tobytes() == cut.flat.tobytes()
    hidden = sum(math.prod(row.shape) for row in layout(CONFIG) if row.hidden)
    assert sum(array.size for array in first.state.values()) == 2 * cut.count - hidden
    assert list(first.state) == ["0.adamw.m", "0.adamw.v", "1.muon.m", "2.adamw.m", "2.adamw.v"]


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_threads_share_the_work_and_change_no_bit(threads, monkeypatch):
    monkeypatch.setattr("tinyvit.optim.muon._PIECE_BYTES", 1)  # a piece for each matrix
    config, results = replace(CONFIG, layers=3), []
    for make in (ReferenceEngine, CpuEngine):
        params, steps = draw(config)
        optimizer = Muon(params)
        images, labels = np.zeros((1, 8, 8, 3), np.uint8), np.zeros(1, np.int64)
        more = {"threads": threads} if make is CpuEngine else {}
        make(config, params, training=Training(images, labels, optimizer), **more)
        with one_blas_thread():  # MKL, unlike OpenBLAS, gives other bits for another number
            run(optimizer, steps)
        results.append(params.flat)
    assert results[0].tobytes() == results[1].tobytes()


# Beside PyTorch.


@pytest.mark.parametrize("shape", [(16, 16), (12, 40), (40, 12)])
@pytest.mark.parametrize("in_float64", [True, False])
def test_the_steps_are_those_of_pytorch(shape, in_float64, monkeypatch):
    """With its iteration in float64, to rounding; and as it is, in bfloat16, to what that can tell."""
    torch = pytest.importorskip("torch")
    if not hasattr(torch.optim, "Muon"):
        pytest.skip("this PyTorch has no Muon")
    if in_float64:
        monkeypatch.setattr(torch.Tensor, "bfloat16", lambda self: self.clone())
    params = Params(matrices(1, *shape).reshape(-1), (ParamSpec("w", shape, decays=True, hidden=True),))
    before = params.flat.copy()
    steps = [Params(matrices(seed, *shape).reshape(-1), params.rows) for seed in (2, 3, 4)]
    weight = torch.nn.Parameter(torch.tensor(params["w"]))
    theirs = torch.optim.Muon([weight], weight_decay=0.1, adjust_lr_fn="match_rms_adamw")
    for grads, lr in zip(steps, LRS, strict=True):
        theirs.param_groups[0]["lr"] = lr
        weight.grad = torch.tensor(grads["w"])
        theirs.step()
    run(Muon(params, weight_decay=0.1), steps)
    moved = weight.detach().numpy() - before.reshape(shape)
    assert distance(params["w"] - before.reshape(shape), moved) < (1e-10 if in_float64 else 0.02)
