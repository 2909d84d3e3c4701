"""Every engine gives what the reference engine gives: loss, every gradient, logits, features."""

import gc
import threading
import time
import weakref
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.helpers import any_models, distance, learnable, random_batch, seeds, tiny_config
from tinyvit import model
from tinyvit.backend import to_numpy
from tinyvit.data import plan_batch
from tinyvit.engine import CpuEngine, ReferenceEngine, Training, available_cores, make_engine
from tinyvit.engine import blas as blas_module
from tinyvit.engine.blas import one_blas_thread
from tinyvit.engine.cpu.engine import Threads, _fitting_micro_batch, on_this_thread
from tinyvit.gradcheck import random_params
from tinyvit.model import Params, initialise, layout, preset
from tinyvit.model.stage import Stage
from tinyvit.objectives import loss_and_grads
from tinyvit.ops import Noise
from tinyvit.optim import make_optimizer


def draw(config, seed, count, dtype):
    """Random parameters, images and labels."""
    rng = np.random.default_rng(seed)
    return random_params(config, rng, dtype), *random_batch(config, count, rng, dtype)


def worst_gradient(grads, expected):
    """The largest relative distance of a parameter's gradient (floor: a hundredth of the whole gradient)."""
    floor = 1e-2 * np.linalg.norm(expected.flat)
    return max(
        np.linalg.norm(grads[name] - expected[name]) / max(np.linalg.norm(expected[name]), floor)
        for name in expected
    )


@pytest.mark.parametrize("dtype, tolerance", [("float32", 5e-5), ("float64", 1e-12)])
@settings(max_examples=60)
@given(
    config=any_models(),
    count=st.integers(1, 13),
    threads=st.integers(1, 3),
    micro_batch=st.integers(1, 5),
    least=st.sampled_from([0, 10**6]),
    smoothing=st.sampled_from([0.0, 0.1]),
    share=st.sampled_from([1.0, 0.3]),
    first=st.integers(0, 50),
    seed=seeds(),
)
def test_the_cpu_engine_gives_the_loss_and_every_gradient_of_the_reference(
    dtype, tolerance, config, count, threads, micro_batch, least, smoothing, share, first, seed
):
    config, objective = learnable(config, smoothing)
    params, images, labels = draw(config, seed, count, dtype)

    def results(engine, images):
        loss = engine.loss_and_grads(images, labels, Noise(seed, 3, first), share)
        return loss, engine.grads

    right, expected = results(ReferenceEngine(config, params, objective), images)
    engine = CpuEngine(config, params, objective, threads=threads, micro_batch=micro_batch)
    engine.least_tokens_to_fold = least
    loss, grads = results(engine, images)
    if dtype == "float32":  # orders of summation may differ by what the reference itself loses to rounding
        exact_engine = ReferenceEngine(config, params.astype("float64"), objective)
        _, exact = results(exact_engine, images.astype("float64"))
        tolerance += 4 * worst_gradient(expected.astype("float64"), exact)
    assert abs(loss - right) <= tolerance * abs(right)
    assert worst_gradient(grads, expected) < tolerance
    assert loss.dtype == dtype and loss.shape == ()


@settings(max_examples=100)
@given(
    config=any_models(),
    count=st.sampled_from([1, 2, 7, 90]),  # 90 images are beyond every threshold of these models
    threads=st.integers(1, 3),
    micro_batch=st.sampled_from([None, 1, 3]),
    least=st.sampled_from([0, CpuEngine.least_tokens_to_infer_folded, 10**6]),
    seed=seeds(),
)
def test_the_cpu_engine_gives_logits_and_features_of_the_reference_in_their_order(
    config, count, threads, micro_batch, least, seed
):
    params, images, _ = draw(config, seed, count, "float64")
    engine = CpuEngine(config, params, threads=threads, micro_batch=micro_batch)
    engine.least_tokens_to_infer_folded = least
    reference = ReferenceEngine(config, params)
    assert distance(engine.logits(images), reference.logits(images)) < 1e-12
    assert distance(engine.features(images), reference.features(images)) < 1e-12


def test_soft_targets_are_cut_like_the_images():
    config = tiny_config()
    params, images, _ = draw(config, 1, 7, "float64")
    targets = np.random.default_rng(2).dirichlet(np.ones(5), 7)
    reference, engine = ReferenceEngine(config, params), CpuEngine(config, params, threads=2, micro_batch=2)
    for each in (reference, engine):
        each.loss_and_grads(images, targets)
    assert worst_gradient(engine.grads, reference.grads) < 1e-12


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("dropout", [0.0, 0.2], ids=["blocks of its own", "blocks of the reference"])
def test_the_same_batch_gives_the_same_bits_every_time(monkeypatch, threads, dropout):
    monkeypatch.setattr(CpuEngine, "least_tokens_to_fold", 0)
    config = tiny_config(dropout=dropout, attention_dropout=dropout, drop_path=0.3)
    params, images, labels = draw(config, 1, 11, "float32")
    first, second = (CpuEngine(config, params, threads=threads, micro_batch=2) for _ in range(2))
    results = []
    for engine in (first, first, second):
        engine.grads.flat.fill(0)
        loss = engine.loss_and_grads(images, labels, Noise(1, 2))
        results.append((loss.tobytes(), engine.grads.flat.tobytes(), engine.logits(images).tobytes()))
    assert results[0] == results[1] == results[2]


def test_whoever_folds_and_sums_the_bits_are_the_same(monkeypatch):
    config = tiny_config()
    params, images, labels = draw(config, 1, 6, "float32")
    results = []
    for least in (0, 10**9):
        monkeypatch.setattr(CpuEngine, "least_bytes_to_spread", least)
        engine = CpuEngine(config, params, threads=2, micro_batch=1)
        loss = engine.loss_and_grads(images, labels)
        results.append((loss.tobytes(), engine.grads.flat.tobytes(), engine.logits(images).tobytes()))
    assert results[0] == results[1]


def test_no_parameters_of_a_small_model_are_handed_to_other_threads(monkeypatch):
    def refuse(*args):
        raise AssertionError("handed over")

    config = tiny_config()
    params, images, labels = draw(config, 1, 6, "float32")
    monkeypatch.setattr(CpuEngine, "least_bytes_to_spread", 2 * params.flat.nbytes + 1)
    monkeypatch.setattr(Threads, "do", refuse)
    engine = CpuEngine(config, params, threads=2, micro_batch=1)
    engine.loss_and_grads(images, labels)
    assert engine._blocks_to_infer(len(images)).folded
    with pytest.raises(AssertionError, match="handed over"):  # three workers have more to sum
        CpuEngine(config, params, threads=3, micro_batch=1).loss_and_grads(images, labels)


def test_gradients_are_added_to_what_is_there_and_nothing_is_left_over_from_the_last_batch():
    config = tiny_config()
    params, images, labels = draw(config, 1, 6, "float64")
    engine = CpuEngine(config, params, threads=3, micro_batch=1)
    engine.loss_and_grads(images[:2], labels[:2])  # fewer images than threads
    fresh = engine.grads.flat.copy()
    engine.loss_and_grads(images, labels)
    before = engine.grads.flat.copy()
    engine.loss_and_grads(images[:2], labels[:2])
    np.testing.assert_allclose(engine.grads.flat - before, fresh, atol=1e-13)


def test_gradients_are_added_where_only_some_are_there():
    config = tiny_config()
    params, images, labels = draw(config, 1, 6, "float64")
    engine = CpuEngine(config, params, threads=2, micro_batch=1)
    engine.loss_and_grads(images, labels)
    from_zero = engine.grads["head.bias"].copy()
    engine.grads.flat.fill(0)
    engine.grads["head.bias"] = np.ones(config.classes)
    engine.loss_and_grads(images, labels)
    np.testing.assert_allclose(engine.grads["head.bias"], 1 + from_zero, rtol=1e-13)


@pytest.mark.parametrize("make", [ReferenceEngine, partial(CpuEngine, threads=2, micro_batch=1)])
def test_fresh_gradients_replace_whatever_is_there(make):
    config = tiny_config()
    params, images, labels = draw(config, 1, 6, "float64")
    engine = make(config, params)
    engine.loss_and_grads(images, labels)
    from_zero = engine.grads.flat.copy()
    engine.grads.flat.fill(np.nan)
    engine.loss_and_grads(images, labels, fresh=True)
    np.testing.assert_array_equal(engine.grads.flat, from_zero)


def test_the_gradients_of_a_thread_that_has_no_images_are_not_added(monkeypatch):
    """It may begin last, and what it has is left over from another step."""
    monkeypatch.setattr(CpuEngine, "least_tokens_to_fold", 0)
    config = tiny_config()
    params, images, labels = draw(config, 1, 3, "float64")
    engine = CpuEngine(config, params, threads=3, micro_batch=1)
    engine.loss_and_grads(images, labels)
    engine.grads.flat.fill(0)
    submit = engine._threads._pool.submit

    def late(work, piece):
        return submit(lambda: (time.sleep(0.2 * (piece == 2)), work(piece))[1])

    monkeypatch.setattr(engine._threads._pool, "submit", late)
    engine.loss_and_grads(images[:2], labels[:2])
    reference = ReferenceEngine(config, params)
    reference.loss_and_grads(images[:2], labels[:2])
    assert worst_gradient(engine.grads, reference.grads) < 1e-12


@pytest.mark.parametrize("name", ["adamw", "muon"])
def test_an_engine_ends_with_its_last_user(name):
    """Its buffers are as large as the model: they may not wait until Python looks for cycles."""
    config = tiny_config()
    params, images, labels = draw(config, 1, 6, "float32")
    optimizer = make_optimizer(name, params, 0.1)
    engine = CpuEngine(config, params, training=Training(images, labels, optimizer, 1.0), threads=2)
    engine.loss_and_grads(images, labels)
    optimizer.step(engine.grads, 0.1, 1)
    gone = weakref.ref(engine)
    gc.disable()
    try:
        del engine
        assert gone() is None
    finally:
        gc.enable()


def test_an_engine_for_inference_allocates_no_gradients():
    config = tiny_config()
    params, images, _ = draw(config, 1, 4, "float32")
    engine = CpuEngine(config, params, threads=3)
    engine.logits(images)
    engine.features(images)
    assert engine._grads is None and not engine._other_grads


def test_an_error_in_a_thread_reaches_the_caller():
    config = tiny_config()
    params, images, labels = draw(config, 1, 6, "float32")
    with pytest.raises(ValueError, match="labels range from"):
        CpuEngine(config, params, threads=2).loss_and_grads(images, labels + 100)


def test_wrong_images_and_targets_are_refused_before_the_batch_is_cut():
    config = tiny_config()
    params, images, labels = draw(config, 1, 6, "float32")
    engine = CpuEngine(config, params, threads=2, micro_batch=1)
    for wrong in (images[:, :7], images[:0]):
        for compute in (engine.logits, engine.features, lambda x: engine.loss_and_grads(x, labels[: len(x)])):
            with pytest.raises(ValueError, match=r"expected \(B, 8, 8, 3\)"):
                compute(wrong)
    for targets in (labels[:5], np.append(labels, 9), np.ones((7, 5), dtype="float32") / 5):
        with pytest.raises(ValueError, match=f"{len(targets)} targets for 6 images"):
            engine.loss_and_grads(images, targets)


@pytest.mark.parametrize("least", [0, 10**6], ids=["folded", "not folded"])
def test_images_of_another_dtype_are_taken_in_that_of_the_parameters(monkeypatch, least):
    monkeypatch.setattr(CpuEngine, "least_tokens_to_fold", least)
    config = tiny_config()
    params, images, labels = draw(config, 1, 6, "float32")
    engine = CpuEngine(config, params, threads=2)
    loss, logits = engine.loss_and_grads(images, labels), engine.logits(images)
    assert engine.loss_and_grads(images.astype("float64"), labels) == loss
    assert np.array_equal(engine.logits(images.astype("float64")), logits)


@pytest.fixture
def blas():
    """BLAS's (get, set) of its number of threads; the number is put back after the test."""
    functions = blas_module._thread_functions()
    if functions is None:
        pytest.skip("NumPy was built with neither OpenBLAS nor MKL here")
    get, set_ = functions
    before = get()
    yield functions
    set_(before)


def test_work_on_the_calling_thread_wakes_no_threads_of_blas(blas):
    get, set_ = blas
    set_(2)
    assert on_this_thread(lambda piece: (piece, get()), iter("abc")) == [("a", 1), ("b", 1), ("c", 1)]
    assert get() == 2


def test_blas_has_one_thread_within_and_its_own_number_afterwards(blas):
    get, set_ = blas
    set_(2)
    with one_blas_thread():
        assert get() == 1
    assert get() == 2
    with pytest.raises(KeyError), one_blas_thread():
        raise KeyError
    assert get() == 2


@pytest.mark.parametrize("method", ["loss_and_grads", "logits", "features"])
def test_the_cpu_engine_leaves_the_number_of_blas_threads_as_it_was(blas, monkeypatch, method):
    get, set_ = blas
    set_(2)
    within = set()

    def spy(real):
        def forward(params, x):
            within.add(get())
            return x, None

        return lambda *args, **more: [Stage("spy", forward, lambda dy, *_: dy), *real(*args, **more)]

    for name in ("stages", "feature_stages"):
        monkeypatch.setattr(model, name, spy(getattr(model, name)))
    config = tiny_config()
    params, images, labels = draw(config, 1, 6, "float32")
    engine = CpuEngine(config, params, threads=2, micro_batch=2)
    getattr(engine, method)(*(images, labels)[: 1 + (method == "loss_and_grads")])
    assert within == {1} and get() == 2


def test_a_step_has_the_same_bits_however_many_threads_blas_may_use(blas):
    """The gradient's norm is a product of two vectors, which BLAS cuts into a part for each thread."""
    _, set_ = blas
    config = tiny_config(width=96, mlp_width=384)
    bits = []
    for threads in (1, 2, 3):
        set_(threads)
        params, images, labels = draw(config, 1, 8, "float64")
        pixels = (images * 50 % 256).astype("uint8")
        training = Training(pixels, labels, make_optimizer("adam", params), clip=0.1)
        engine = CpuEngine(config, params, training=training, threads=1)
        norms = [engine.step(plan_batch(0, step, np.arange(8)), 1e-3)[1] for step in range(1, 9)]
        bits.append((np.array(norms).tobytes(), params.flat.tobytes()))
    assert bits[0] == bits[1] == bits[2]


def test_when_a_thread_fails_the_others_have_ended_before_the_caller_hears_of_it(blas):
    get, set_ = blas
    set_(2)
    began, seen = threading.Barrier(2, timeout=60), []

    def objective(config, params, images, targets, grads, **more):
        began.wait()
        if targets[0] == 0:
            raise ValueError("the first thread fails")
        time.sleep(0.2)
        seen.append(get())
        return np.zeros(())

    config = tiny_config()
    params, images, _ = draw(config, 1, 2, "float32")
    engine = CpuEngine(config, params, objective, threads=2, micro_batch=1)
    with pytest.raises(ValueError, match="the first thread fails"):
        engine.loss_and_grads(images, np.arange(2))
    assert seen == [1] and get() == 2


def test_the_engine_really_works_on_several_threads():
    config, meeting = tiny_config(), threading.Barrier(3, timeout=60)
    params, images, labels = draw(config, 1, 3, "float32")

    def meet_then_learn(*args, **more):
        meeting.wait()  # passes only when three threads have come here
        return loss_and_grads(*args, **more)

    engine = CpuEngine(config, params, meet_then_learn, threads=3, micro_batch=1)
    assert np.isfinite(engine.loss_and_grads(images, labels))


def test_the_fastest_engine_on_the_cpu_uses_all_cores_by_default():
    config = tiny_config()
    params = initialise(config)
    engine = make_engine(config, params)
    assert isinstance(engine, CpuEngine) and engine.params is params
    assert engine.threads == available_cores() >= 1
    assert make_engine(config, params, threads=3).label == "3 threads"
    assert make_engine(config, params, threads=1).label == "1 thread"


def test_micro_batches_are_smaller_for_larger_models_and_never_empty():
    sizes = [_fitting_micro_batch(preset(name, 32, 10), 300) for name in ("nano/4", "ti/4", "h/1")]
    assert sizes[0] > sizes[1] >= sizes[2] == 1


def test_inference_takes_more_images_at_a_time_but_not_through_a_resnet():
    """Without caches they take little memory; the windows that a convolution reads take much."""
    engines = []
    for name in ("S/4", "R5+nano/4"):
        config = preset(name, 32, 10)
        engines.append(CpuEngine(config, Params.zeros(layout(config)), threads=1))
    plain, hybrid = engines
    assert plain.micro_batch * 2 < plain.micro_batch_to_infer <= 40
    assert hybrid.micro_batch == hybrid.micro_batch_to_infer


@pytest.mark.parametrize("pool", ["token", "mean"])
def test_the_engine_on_the_gpu_agrees_with_numpy(gpu, pool):
    config = tiny_config(pool=pool, pre_logits=7, dropout=0.2, attention_dropout=0.2, drop_path=0.3)
    params, images, labels = draw(config, 1, 9, "float32")
    smoothed = partial(loss_and_grads, smoothing=0.1)
    here = ReferenceEngine(config, params, smoothed)
    right = here.loss_and_grads(images, labels, Noise(1, 2))
    there = make_engine(config, params.to(gpu.xp), smoothed)
    x = gpu.xp.asarray(images)
    loss = there.loss_and_grads(x, gpu.xp.asarray(labels), Noise(1, 2))
    assert abs(float(loss) - right) < 1e-5 * right
    assert worst_gradient(there.grads.to(np), here.grads) < 1e-4
    assert distance(to_numpy(there.logits(x)), here.logits(images)) < 1e-5
    assert distance(to_numpy(there.features(x)), here.features(images)) < 1e-5
