"""Steps with the CUDA engine: like those of the reference, as a graph, without waiting, in few launches."""

import math
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from tests.engine.cuda.engine_cases import BATCH, CASES, SIDE, draw, objective_of, trained
from tests.engine.cuda.run import rounded
from tests.helpers import distance, tiny_config
from tests.stand_in import DeviceArray
from tinyvit.data import make_policy, plan_batch
from tinyvit.engine import ReferenceEngine, Training
from tinyvit.engine.cuda import engine as engine_module
from tinyvit.engine.cuda.engine import CudaEngine
from tinyvit.engine.cuda.launch import Launch
from tinyvit.engine.cuda.plan.update import muon_fits
from tinyvit.model import Params, initialise
from tinyvit.optim import OPTIMIZERS, SGD, clip_norm, make_optimizer
from tinyvit.optim.muon import POLYNOMIAL, STEPS

BF16 = "bfloat16"
MIXES = {"mixup": 0.8, "cutmix": 1.0, "erase": 0.5}


@pytest.mark.parametrize(
    ("optimizer", "clip", "accumulate", "mixes"),
    [
        ("adamw", 0.5, 1, {}),
        ("adam", math.inf, 3, {}),
        ("sgd", 0.5, 2, {}),
        ("sgd", math.inf, 1, {}),
        ("sgd", 0.5, 1, MIXES),
        ("adamw", 0.5, 2, MIXES),
        ("sgd", 0.5, 3, {"cutmix": 1.0}),
        ("sgd", 0.5, 1, {"erase": 1.0}),
    ],
)
def test_several_steps_give_the_losses_norms_weights_and_state_of_the_reference(
    any_cuda, optimizer, clip, accumulate, mixes
):
    config = CASES["everything"]
    params = draw(config)[0]
    settings = {"optimizer": optimizer, "clip": clip, "accumulate": accumulate} | mixes
    right, weights, state = trained(ReferenceEngine, config, params.astype("float32"), np, **settings)
    found, ours, our_state = trained(CudaEngine, config, params.to(any_cuda.xp), any_cuda.xp, **settings)
    np.testing.assert_allclose(found, right, rtol=1e-4)
    # Adam takes steps of the usual size even where a gradient is only rounding, as that of the keys' bias
    counts = np.sqrt(state["v"]) > 1e-6 * np.sqrt(state["v"]).max() if "v" in state else np.s_[:]
    assert distance(ours[counts] - params.flat[counts], weights[counts] - params.flat[counts]) < 1e-3
    assert our_state.keys() == state.keys()
    for name in state:
        assert distance(our_state[name], state[name]) < 1e-4


@pytest.mark.parametrize(
    ("case", "settings"),
    [
        ("later", {}),
        ("DINOv3", {"accumulate": 2}),
        ("mean-colour", {"accumulate": 3}),
        ("mean-colour", {"size": (12, 12), "augment": "randaugment"}),
        ("mean-colour", {"scale": 0.3, "accumulate": 2}),  # array operations make the batches
        ("downsized", {"steps": 2}),
        ("pixels", MIXES),
    ],
)
def test_models_of_other_kinds_learn_as_in_the_reference(any_cuda, case, settings):
    config = CASES[case]
    params = draw(config)[0]
    settings = {"optimizer": "sgd", "clip": 0.5, "objective": objective_of(case)} | settings
    right, weights, _ = trained(ReferenceEngine, config, params.astype("float32"), np, **settings)
    found, ours, _ = trained(CudaEngine, config, params.to(any_cuda.xp), any_cuda.xp, **settings)
    np.testing.assert_allclose(found, right, rtol=1e-4)
    assert distance(ours - params.flat, weights - params.flat) < 1e-3


class Other(SGD):
    """An optimiser that differs from the one whose kernels it must not inherit."""

    def step(self, grads, lr, step):
        super().step(grads, -2 * lr, step)


@pytest.mark.parametrize(
    ("optimizer", "learning"),
    [
        ("sgd", {"freeze": "stem,blocks.0"}),
        ("sgd", {"layer_decay": 0.5}),
        ("sgd", {"lora": 2}),
        ("other", {}),
    ],
)
def test_an_optimiser_without_kernels_learns_as_in_the_reference(any_cuda, optimizer, learning, monkeypatch):
    monkeypatch.setitem(OPTIMIZERS, "other", lambda params, weight_decay: Other(params))
    config = CASES["everything"]
    params = draw(config)[0]
    settings = {"optimizer": optimizer, "clip": 0.5, "learning": learning}
    right, weights, _ = trained(ReferenceEngine, config, params.astype("float32"), np, **settings)
    found, ours, _ = trained(CudaEngine, config, params.to(any_cuda.xp), any_cuda.xp, **settings)
    np.testing.assert_allclose(found, right, rtol=1e-4)
    assert distance(ours - params.flat, weights - params.flat) < 1e-3
    np.testing.assert_array_equal(ours == params.flat, weights == params.flat)


@pytest.mark.parametrize(("clip", "accumulate"), [(0.5, 1), (math.inf, 3)])
def test_steps_with_muon_give_the_losses_norms_and_weights_of_the_reference(any_cuda, clip, accumulate):
    config = CASES["everything"]
    params = draw(config)[0]
    settings = {"optimizer": "muon", "clip": clip, "accumulate": accumulate}
    right, weights, state = trained(ReferenceEngine, config, params.astype("float32"), np, **settings)
    found, ours, ours_state = trained(CudaEngine, config, params.to(any_cuda.xp), any_cuda.xp, **settings)
    np.testing.assert_allclose(found, right, rtol=1e-4)
    assert distance(ours_state["1.muon.m"], state["1.muon.m"]) < 1e-4
    moved, expected = (Params(flat - params.flat, params.rows) for flat in (ours, weights))
    for row in params.rows:
        if not row.name.endswith("qkv.bias"):  # that of the keys has no gradient but rounding
            assert distance(moved[row.name], expected[row.name]) < 1e-3, row.name


def in_bfloat16(matrices):
    """orthogonalise, every product rounded to bfloat16, in the order of torch.optim.Muon."""
    (a, b, c), x = POLYNOMIAL, rounded(matrices / np.linalg.norm(matrices, axis=(1, 2), keepdims=True), BF16)
    for _ in range(STEPS):
        gram = rounded(x @ x.swapaxes(1, 2), BF16)
        x = rounded(a * x + rounded(b * gram + c * (gram @ gram), BF16) @ x, BF16)
    return x


def test_in_bf16_muon_loses_no_more_than_rounding_costs(any_cuda, monkeypatch):
    """Small singular values are lost in the rounding of large ones: so the measure is PyTorch's order."""
    params = initialise(CASES["everything"], 1)
    rng, ours = np.random.default_rng(0), params.to(any_cuda.xp)
    images = any_cuda.xp.asarray(rng.integers(0, 256, (20, SIDE, SIDE, 3), dtype=np.uint8))
    labels = any_cuda.xp.asarray(rng.integers(0, 5, 20))
    ours["head.weight"] = any_cuda.xp.asarray(rng.normal(0, 0.3, ours["head.weight"].shape).astype("float32"))
    before = ours.to(np)
    training = Training(images, labels, make_optimizer("muon", ours, weight_decay=0.1), 0.5)
    engine = CudaEngine(CASES["everything"], ours, training=training, precision="bf16")
    engine.step(plan_batch(0, 1, np.arange(BATCH)), 0.01)

    grads, found = engine.grads.to(np), ours.to(np)
    clip_norm(grads, 0.5)
    right, like_it = before.to(np), before.to(np)
    make_optimizer("muon", right, weight_decay=0.1).step(grads, 0.01, 1)
    monkeypatch.setattr("tinyvit.optim.muon.orthogonalise", in_bfloat16)
    make_optimizer("muon", like_it, weight_decay=0.1).step(grads, 0.01, 1)
    for row in before.rows:
        exact = right[row.name] - before[row.name]
        lost = distance(like_it[row.name] - before[row.name], exact) if row.hidden else 0
        assert distance(found[row.name] - before[row.name], exact) < 1.5 * lost + 1e-3, row.name


def test_muon_is_carried_out_array_by_array_where_vectors_cannot_be_loaded(cuda):
    config = tiny_config(image_size=(2, 2), patch_size=1, width=6, heads=2, mlp_width=8)
    assert not muon_fits(config)
    params = initialise(config)
    settings = {"optimizer": "muon", "steps": 2}
    right, weights, _ = trained(ReferenceEngine, config, params.astype("float32"), np, **settings)
    found, ours, _ = trained(CudaEngine, config, params.to(cuda.xp), cuda.xp, **settings)
    np.testing.assert_allclose(found, right, rtol=1e-4)
    assert distance(ours, weights) < 1e-4


@pytest.mark.parametrize("mixes", [{}, MIXES])
@pytest.mark.parametrize(
    ("image_size", "others"),
    [
        ((8, 8), {"size": (12, 12)}),
        ((8, 8), {"size": (12, 12), "augment": "randaugment"}),
        ((8, 8), {"augment": "randaugment"}),
        ((8, 4), {"augment": "autoaugment", "accumulate": 2}),
        ((4, 12), {"augment": "autoaugment", "accumulate": 3}),
        ((8, 8), {"scale": 0.3, "accumulate": 2}),
        ((8, 8), {"scale": 0.3, "jitter": 0.4, "size": (12, 12)}),
        ((8, 8), {"jitter": 0.4}),
    ],
)
def test_steps_on_images_of_another_size_than_the_models_and_on_augmented_ones(
    any_cuda, image_size, others, mixes
):
    config = replace(CASES["everything"], image_size=image_size)
    params = draw(config)[0]
    settings = {"optimizer": "sgd", "steps": 2} | others | mixes
    right, weights, _ = trained(ReferenceEngine, config, params.astype("float32"), np, **settings)
    found, ours, _ = trained(CudaEngine, config, params.to(any_cuda.xp), any_cuda.xp, **settings)
    np.testing.assert_allclose(found, right, rtol=1e-4)
    assert distance(ours, weights) < 1e-4


@pytest.mark.parametrize(("room", "by_kernels"), [(227 << 10, True), (4227, False)])
def test_images_are_augmented_by_a_kernel_if_a_block_has_room_for_them(cuda, monkeypatch, room, by_kernels):
    """Two images of 8 x 8 and tables are 4,228 bytes; without room, array operations make the batch."""
    monkeypatch.setattr(engine_module, "shared_limit", lambda xp: room)
    config, engines = CASES["mean"], []

    def make(*args, **keywords):
        engines.append(CudaEngine(*args, **keywords))
        engines[-1].compile()
        return engines[-1]

    params, settings = draw(config)[0], {"optimizer": "sgd", "steps": 3, "augment": "autoaugment"}
    right, weights, _ = trained(ReferenceEngine, config, params.astype("float32"), np, **settings)
    found, ours, _ = trained(make, config, params.to(cuda.xp), cuda.xp, **settings)
    np.testing.assert_allclose(found, right, rtol=1e-4)
    assert distance(ours, weights) < 1e-4
    files = [step.file for step in engines[0].latest.plan.steps if isinstance(step, Launch)]
    assert ("augment" in files) == by_kernels
    assert "workspace" in engines[0].summary(BATCH)


@pytest.mark.parametrize(
    ("crops", "by_kernels"),
    [({}, True), ({"jitter": 0.4}, True), ({"scale": 0.5}, False), ({"own": lambda x, rng: 255 - x}, False)],
)
def test_array_operations_make_the_batches_of_crops_that_are_resized_and_of_a_user_s_function(
    cuda, crops, by_kernels
):
    engines = []

    def make(*args, **keywords):
        engines.append(CudaEngine(*args, **keywords))
        engines[-1].compile()
        return engines[-1]

    config = CASES["mean"]
    trained(make, config, draw(config)[0].to(cuda.xp), cuda.xp, steps=1, **crops)
    assert ("images" in engines[0].latest.plan.arrays) == by_kernels
    assert ("pixels" in engines[0].latest.plan.arrays) == (not by_kernels)
    assert "workspace" in engines[0].summary(BATCH)


def test_the_kernel_that_augments_is_compiled_before_the_first_step(cuda, monkeypatch):
    config, files = CASES["mean"], []
    params = draw(config)[0].to(cuda.xp)
    images = cuda.xp.asarray(np.zeros((20, SIDE, SIDE, 3), np.uint8))
    labels = cuda.xp.asarray(np.zeros(20, int))
    training = Training(images, labels, make_optimizer("sgd", params), operations=True)
    engine = CudaEngine(config, params, training=training)
    engine.compile()
    monkeypatch.setattr(engine._kernels, "_compile_file", lambda file, names: files.append((file, names)))
    for policy in (make_policy("autoaugment"), make_policy("randaugment", rounds=5)):
        plan = plan_batch(0, 1, np.arange(BATCH), policy=policy, **MIXES)
        engine.step(plan, 1e-3)
    assert files == []


def test_plans_with_more_operations_or_images_than_before_find_room(any_cuda):
    config = CASES["mean"]
    params = draw(config)[0]
    engines = []
    for xp, kind in ((np, ReferenceEngine), (any_cuda.xp, CudaEngine)):
        ours = params.astype("float32").to(xp)
        rng = np.random.default_rng(0)
        images = xp.asarray(rng.integers(0, 256, (20, SIDE, SIDE, 3), dtype=np.uint8))
        labels = xp.asarray(rng.integers(0, config.classes, 20))
        training = Training(images, labels, make_optimizer("sgd", ours), operations=True)
        engines.append(kind(config, ours, training=training))
    for step, (count, rounds) in enumerate([(3, 1), (3, 4), (7, 0), (7, 2), (3, 4), (5, 6)], 1):
        policy = make_policy("randaugment", rounds) if rounds else make_policy()
        plan = plan_batch(0, step, np.arange(count), policy=policy, mixup=0.5)
        right, found = ([float(number) for number in engine.step(plan, 1e-3)] for engine in engines)
        np.testing.assert_allclose(found, right, rtol=1e-4)


@pytest.mark.parametrize("accumulate", [1, 2])
def test_replayed_graphs_give_the_bits_of_plain_launches(cuda, accumulate):
    config, results = CASES["everything"], []
    for graphs in (True, False):
        before = cuda.xp.queue.count
        make = partial(CudaEngine, precision="bf16", graphs=graphs)
        results.append(trained(make, config, draw(config)[0].to(cuda.xp), cuda.xp, accumulate=accumulate))
        results[-1] += (cuda.xp.queue.count - before,)
    (found, weights, state, few), (plain, plain_weights, plain_state, many) = results
    assert found.tobytes() == plain.tobytes() and weights.tobytes() == plain_weights.tobytes()
    assert all(state[name].tobytes() == plain_state[name].tobytes() for name in state)
    assert few == many // 4 + 3 * accumulate  # the first step launch by launch, then a graph for each part


def test_the_environment_switches_graphs_off(cuda, monkeypatch):
    monkeypatch.setenv("TINYVIT_CUDA_GRAPHS", "0")
    config = CASES["mean"]
    params, images, *_ = draw(config)
    engine, x = CudaEngine(config, params.to(cuda.xp)), cuda.xp.asarray(images)
    counts = []
    for _ in range(3):
        before = cuda.xp.queue.count
        engine.logits(x)
        counts.append(cuda.xp.queue.count - before)
    assert counts[0] == counts[1] == counts[2] > 10


@pytest.mark.parametrize(
    ("case", "optimizer", "augment"),
    [
        ("everything", "adamw", "none"),
        ("everything", "muon", "none"),
        ("everything", "adamw", "autoaugment"),
        ("mean-colour", "adamw", "none"),
    ],
)
def test_a_step_neither_waits_nor_sends_more_than_one_small_copy(cuda, monkeypatch, case, optimizer, augment):
    config, copies = CASES[case], []
    params = draw(config)[0].to(cuda.xp)
    rng = np.random.default_rng(0)
    images = cuda.xp.asarray(rng.integers(0, 256, (20, SIDE, SIDE, 3), dtype=np.uint8))
    labels = cuda.xp.asarray(rng.integers(0, 5, 20))
    stepper, policy = make_optimizer(optimizer, params), make_policy(augment)
    training = Training(images, labels, stepper, 1.0, operations=augment != "none")
    engine = CudaEngine(config, params, objective_of(case), training, "bf16")
    plans = [
        plan_batch(0, step, np.arange(BATCH), policy=policy, **(MIXES if step % 2 else {}))
        for step in range(1, 43)
    ]
    for plan in plans[:2]:
        engine.step(plan, 1e-3)  # plans, compiles and uploads what stays

    copy = DeviceArray.set
    monkeypatch.setattr(DeviceArray, "set", lambda *args: copies.append(args[1].nbytes) or copy(*args))
    monkeypatch.setattr(cuda.xp, "asarray", None)
    monkeypatch.setattr(cuda.xp, "array", None)
    before = DeviceArray.waits
    results = [engine.step(plan, 1e-3) for plan in plans[2:]]  # more than the places that the host writes to
    assert DeviceArray.waits == before
    assert len(copies) == len(results) and max(copies) < 2000
    losses = [float(loss) for loss, _ in results]
    assert len(set(losses)) == len(results)  # each has its own, whenever it is read


def test_a_step_takes_a_fraction_of_the_launches_of_the_plain_path(cuda):
    """Counted for a model of twelve layers, without a graph."""
    config = tiny_config(width=24, mlp_width=40, layers=12)
    launches = {}
    for make in (ReferenceEngine, CudaEngine):
        params = draw(config)[0].to(cuda.xp)
        before = DeviceArray.launches, cuda.xp.queue.count
        trained(make, config, params, cuda.xp, steps=1)
        launches[make] = DeviceArray.launches - before[0] + cuda.xp.queue.count - before[1]
    assert launches[CudaEngine] < 300 < 1000 < launches[ReferenceEngine]
