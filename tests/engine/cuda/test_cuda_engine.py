"""Whole steps of the CUDA engine, on kernels that run on the CPU, against the reference engine."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.engine.cuda.engine_cases import CASES, draw, objective_of, worst_gradient
from tests.engine.cuda.run import rounded
from tests.helpers import any_models, distance, learnable, seeds
from tinyvit.backend import array_module, to_numpy
from tinyvit.engine import ReferenceEngine
from tinyvit.engine.cuda import engine as engine_module
from tinyvit.engine.cuda.engine import CudaEngine
from tinyvit.engine.cuda.support import unsupported
from tinyvit.model import initialise
from tinyvit.objectives import loss_and_grads, masked_patches
from tinyvit.ops import Noise, draw_corruption

TOLERANCE = {"fp32": 1e-4, "tf32": 1e-2, "bf16": 2e-2}
precisions = pytest.mark.parametrize("precision", ["fp32", "bf16"])
cases = pytest.mark.parametrize("case", CASES)


def models():
    """Models with every option, of two widths: another one would have to be compiled."""
    rates = st.sampled_from([0.0, 0.3])
    return st.builds(
        lambda case, has_tanh, **options: replace(
            CASES[case], pre_logits=has_tanh * CASES[case].pre_logits, position_at=None, **options
        ),
        case=st.sampled_from(["everything", "odd", "later", "mean-colour"]),
        layers=st.integers(1, 3),
        image_size=st.sampled_from([(8, 8), (8, 4), (4, 12)]),
        pool=st.sampled_from(["token", "mean"]),
        has_tanh=st.booleans(),
        gelu=st.sampled_from(["tanh", "exact"]),
        dropout=rates,
        attention_dropout=rates,
        drop_path=rates,
        position=st.sampled_from(["1d", "none"]),
    )


def draw_for(precision, config):
    """As draw, but for bf16 more images, and numbers that bfloat16 has, so that only the arithmetic differs.

    The weights are then those of a new model, not wild ones, and all images are of one class: gradients of
    rows with opposite signs would cancel, which the errors of their rounding do not. So are all patches.
    """
    if precision != "bf16":
        return draw(config)
    wild, images, labels, soft = draw(config, 40)
    params = initialise(config, 1)
    params["head.weight"] = 0.3 * wild["head.weight"]
    params.flat[...] = rounded(params.flat, "bfloat16")
    soft[:] = 0.1 * soft + 0.9 * soft[0]
    if config.predicts_patches:
        images = 0.1 + 0.05 * np.tanh(images)  # in which all patches have one colour
    return params, rounded(images, "bfloat16"), np.ones_like(labels), soft


@pytest.mark.parametrize("long", [False, True], ids=["scores kept", "no room for scores"])
@precisions
@cases
def test_loss_and_every_gradient_are_those_of_the_reference(any_cuda, monkeypatch, case, precision, long):
    if long:
        monkeypatch.setattr(engine_module, "shared_limit", lambda xp: 0)
    config, asarray = CASES[case], any_cuda.xp.asarray
    params, images, labels, soft = draw_for(precision, config)
    objective = objective_of(case, smoothing=0.1)
    for targets in (labels, soft.astype("float32")):
        reference = ReferenceEngine(config, params.astype("float64"), objective)
        right = reference.loss_and_grads(images.astype("float64"), targets, Noise(1, 2, 5), 0.3)
        engine = CudaEngine(config, params.to(any_cuda.xp), objective, precision=precision)
        loss = engine.loss_and_grads(asarray(images), asarray(targets), Noise(1, 2, 5), 0.3)
        assert loss.shape == () and loss.dtype == "float32"
        assert abs(float(loss) - right) < TOLERANCE[precision] * right
        worst, name = worst_gradient(engine.grads.to(np), reference.grads)
        assert worst < TOLERANCE[precision], name


@precisions
@cases
def test_logits_and_features_are_those_of_the_reference(any_cuda, case, precision):
    config = CASES[case]
    params, images, *_ = draw_for(precision, config)
    reference = ReferenceEngine(config, params)
    engine = CudaEngine(config, params.to(any_cuda.xp), precision=precision)
    x = any_cuda.xp.asarray(images)
    for _ in range(3):  # launch by launch, captured, replayed
        assert distance(to_numpy(engine.logits(x)), reference.logits(images)) < TOLERANCE[precision]
        assert distance(to_numpy(engine.features(x)), reference.features(images)) < TOLERANCE[precision]
    assert engine.features(x).dtype == "float32"
    if config.predicts_patches:
        given = [draw_corruption(Noise(1, 0), len(x), config.patches, 0.5, xp) for xp in (any_cuda.xp, np)]
        found, expected = engine.logits(x, given[0]), reference.logits(images, given[1])
        assert found.shape == (len(x), 2, config.classes)
        assert distance(to_numpy(found), expected) < TOLERANCE[precision]


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    config=st.one_of(models(), any_models(head_widths=(8,))),
    count=st.integers(1, 7),
    smoothing=st.sampled_from([0.0, 0.1]),
    noisy=st.booleans(),
    first=st.integers(0, 50),
    seed=seeds(),
)
def test_whole_steps_of_random_models_are_those_of_the_reference(
    cuda, config, count, smoothing, noisy, first, seed
):
    if unsupported(config):
        return
    config, objective = learnable(config, smoothing)
    params, images, labels, _ = draw(config, count, seed)
    noise = Noise(seed, 3, first) if noisy or config.predicts_patches else None
    exact, reference = (
        ReferenceEngine(config, params.astype(dtype), objective) for dtype in ("float64", "float32")
    )
    right = exact.loss_and_grads(images.astype("float64"), labels, noise, 0.7)
    reference.loss_and_grads(images, labels, noise, 0.7)
    engine = CudaEngine(config, params.to(cuda.xp), objective)
    loss = engine.loss_and_grads(cuda.xp.asarray(images), cuda.xp.asarray(labels), noise, 0.7)
    assert abs(float(loss) - right) < 1e-4 * right
    # an unlucky draw can lose more than that to rounding: then as much as the reference in float32 does
    tolerance = 1e-4 + 4 * worst_gradient(reference.grads.astype("float64"), exact.grads)[0]
    worst, name = worst_gradient(engine.grads.to(np), exact.grads)
    assert worst < tolerance, name
    for kind in ("logits", "features"):
        right, rounded = (getattr(each, kind)(images) for each in (exact, reference))
        found = to_numpy(getattr(engine, kind)(cuda.xp.asarray(images)))
        assert distance(found, right) < 1e-4 + 4 * distance(rounded, right)


def rounded_steps(engine, names):
    """Carry out the latest plan in fp32 again, rounding what it writes to arrays of these names."""
    engine.grads.flat.fill(0)
    for step, call in engine.latest.calls():
        call()
        for buffer in step.writes:
            if buffer.name in names:
                array = engine.latest.array(buffer)
                array[...] = array_module(array).asarray(rounded(array.get(), "bfloat16"))


@settings(max_examples=10, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(config=models(), smoothing=st.sampled_from([0.0, 0.1]), noisy=st.booleans(), seed=seeds())
def test_in_bf16_random_models_lose_no_more_than_rounding_of_activations_costs(
    cuda, config, smoothing, noisy, seed
):
    """Gradients may cancel, and their rounding errors do not: so the measure is the same plan in fp32, with
    every activation rounded to bfloat16 as soon as it is written. Inside the kernel of attention, q, k, v and
    the probabilities are rounded as well: hence three times that. (Of 400 random models, the worst came to
    83 % of what is allowed; the ten here are always the same, since a rare one may pass it.)
    """
    params, images, labels, _ = draw(config, 7, seed)
    params.flat[...], images = rounded(params.flat, "bfloat16"), rounded(images, "bfloat16")
    noise, objective = Noise(seed, 3) if noisy else None, partial(loss_and_grads, smoothing=smoothing)
    if config.predicts_patches:
        noise, objective = Noise(seed, 3), masked_patches.loss_and_grads
    exact = ReferenceEngine(config, params.astype("float64"), objective)
    right = exact.loss_and_grads(images.astype("float64"), labels, noise)
    ours, like_it = (
        CudaEngine(config, params.to(cuda.xp), objective, precision=precision)
        for precision in ("bf16", "fp32")
    )
    loss, _ = (
        engine.loss_and_grads(cuda.xp.asarray(images), cuda.xp.asarray(labels), noise)
        for engine in (ours, like_it)
    )
    half = {
        buffer.name
        for step in ours.latest.plan.steps
        for buffer in (*step.reads, *step.writes)
        if buffer.dtype == "bfloat16"
    }
    rounded_steps(like_it, half)
    assert abs(float(loss) - right) < TOLERANCE["bf16"] * right
    of_rounding = distance(like_it.grads.flat.get(), exact.grads.flat)
    assert distance(ours.grads.flat.get(), exact.grads.flat) < TOLERANCE["bf16"] + 3 * of_rounding


def test_gradients_are_added_to_what_is_there_or_replace_it(any_cuda):
    config = CASES["everything"]
    params, images, labels, _ = draw(config)
    engine = CudaEngine(config, params.to(any_cuda.xp))
    x, targets = any_cuda.xp.asarray(images), any_cuda.xp.asarray(labels)
    losses = [float(engine.loss_and_grads(x, targets))]
    once = engine.grads.flat.get()
    losses += [float(engine.loss_and_grads(x, targets)) for _ in range(3)]
    np.testing.assert_allclose(engine.grads.flat.get(), 4 * once, rtol=1e-5, atol=1e-7)
    assert losses == losses[:1] * 4
    engine.grads.flat.fill(np.nan)
    engine.loss_and_grads(x, targets, fresh=True)
    np.testing.assert_allclose(engine.grads.flat.get(), once, rtol=1e-5, atol=1e-7)


@precisions
def test_parameters_that_are_changed_from_outside_are_seen(any_cuda, precision):
    config = CASES["mean"]
    params, images, *_ = draw(config)
    there = params.to(any_cuda.xp)
    engine, x = CudaEngine(config, there, precision=precision), any_cuda.xp.asarray(images)
    for seed in (1, 2, 3, 4):
        restored = draw(config, seed=seed)[0]
        there.flat[...] = any_cuda.xp.asarray(restored.flat)
        expected = ReferenceEngine(config, restored).logits(images)
        assert distance(to_numpy(engine.logits(x)), expected) < TOLERANCE[precision]


@pytest.mark.parametrize("kept", [2, 16])
def test_batches_of_many_sizes_share_one_workspace(any_cuda, monkeypatch, kept):
    """A larger one moves it: what was captured before is then captured anew, as is a size that gave way."""
    monkeypatch.setattr(engine_module, "_MOST_PROGRAMS", kept)
    config = CASES["mean"]
    params, images, *_ = draw(config, count=12)
    reference, engine = ReferenceEngine(config, params), CudaEngine(config, params.to(any_cuda.xp))
    for count in (2, 5, 2, 2, 12, 5, 5, 2, 2, 12):
        found = engine.logits(any_cuda.xp.asarray(images[:count])).get()
        assert distance(found, reference.logits(images[:count])) < 1e-4
    assert len(engine._programs) == min(kept, 3)


def test_images_and_targets_that_do_not_fit_are_refused_as_by_the_reference(any_cuda):
    config = CASES["mean"]
    params, images, labels, _ = draw(config)
    engine, x = CudaEngine(config, params.to(any_cuda.xp)), any_cuda.xp.asarray(images)
    with pytest.raises(ValueError, match=r"expected \(B, 8, 8, 3\)"):
        engine.logits(x[:, :7])
    with pytest.raises(ValueError, match="targets have shape"):
        engine.loss_and_grads(x, any_cuda.xp.asarray(labels[:2]))
    with pytest.raises(ValueError, match="labels are float32, expected whole numbers"):
        engine.loss_and_grads(x, any_cuda.xp.asarray(labels.astype("float32") + 0.7))
