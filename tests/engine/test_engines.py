"""Every engine gives what the reference engine gives: loss, every gradient, logits."""

import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.helpers import distance, random_batch, seeds, tiny_config
from tinyvit import model
from tinyvit.backend import Device, to_numpy
from tinyvit.checking import random_params
from tinyvit.engine import CpuEngine, ReferenceEngine, available_cores, make_engine
from tinyvit.engine import blas as blas_module
from tinyvit.engine.blas import one_blas_thread
from tinyvit.model import preset
from tinyvit.ops import Noise


def configs():
    """Random small models, dropout and stochastic depth on or off.

    The LayerNorm of two or three nearly equal numbers blows rounding up: hence a width of four or more.
    """
    rates = st.sampled_from([0.0, 0.3])
    return st.builds(
        lambda heads, head_width, **numbers: tiny_config(heads=heads, width=heads * head_width, **numbers),
        heads=st.integers(1, 3),
        head_width=st.integers(4, 6),
        mlp_width=st.integers(1, 20),
        layers=st.integers(1, 3),
        image_size=st.sampled_from([4, 8, (8, 4), (4, 12)]),
        pool=st.sampled_from(["token", "mean"]),
        pre_logits=st.sampled_from([0, 7]),
        gelu=st.sampled_from(["tanh", "exact"]),
        dropout=rates,
        attention_dropout=rates,
        drop_path=rates,
    )


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


@pytest.mark.parametrize("dtype, tolerance", [("float32", 1e-5), ("float64", 1e-12)])
@settings(max_examples=40)
@given(
    config=configs(),
    count=st.integers(1, 13),
    threads=st.integers(1, 3),
    micro_batch=st.integers(1, 5),
    smoothing=st.sampled_from([0.0, 0.1]),
    share=st.sampled_from([1.0, 0.3]),
    first=st.integers(0, 50),
    seed=seeds(),
)
def test_the_cpu_engine_gives_the_loss_and_every_gradient_of_the_reference(
    dtype, tolerance, config, count, threads, micro_batch, smoothing, share, first, seed
):
    params, images, labels = draw(config, seed, count, dtype)

    def results(engine, params, images):
        grads = params.zeros_like()
        loss = engine.loss_and_grads(params, images, labels, grads, Noise(seed, 3, first), share)
        return loss, grads

    reference = ReferenceEngine(config, smoothing)
    right, expected = results(reference, params, images)
    loss, grads = results(CpuEngine(config, smoothing, threads, micro_batch), params, images)
    if (
        dtype == "float32"
    ):  # two orders of summation may differ by what the reference itself loses to rounding
        _, exact = results(reference, params.astype("float64"), images.astype("float64"))
        tolerance += 4 * worst_gradient(expected.astype("float64"), exact)
    assert abs(loss - right) <= tolerance * abs(right)
    assert worst_gradient(grads, expected) < tolerance
    assert loss.dtype == dtype and loss.shape == ()


@settings(max_examples=15)
@given(
    config=configs(),
    count=st.integers(1, 13),
    threads=st.integers(1, 3),
    micro_batch=st.integers(1, 5),
    seed=seeds(),
)
def test_the_cpu_engine_gives_the_logits_of_the_reference_in_their_order(
    config, count, threads, micro_batch, seed
):
    params, images, _ = draw(config, seed, count, "float64")
    logits = CpuEngine(config, 0.0, threads, micro_batch).logits(params, images)
    assert distance(logits, ReferenceEngine(config).logits(params, images)) < 1e-12


def test_soft_targets_are_cut_like_the_images():
    config = tiny_config()
    params, images, _ = draw(config, 1, 7, "float64")
    targets = np.random.default_rng(2).dirichlet(np.ones(5), 7)
    expected, grads = params.zeros_like(), params.zeros_like()
    ReferenceEngine(config).loss_and_grads(params, images, targets, expected)
    CpuEngine(config, threads=2, micro_batch=2).loss_and_grads(params, images, targets, grads)
    assert worst_gradient(grads, expected) < 1e-12


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_the_same_batch_gives_the_same_bits_every_time(threads):
    config = tiny_config(dropout=0.2, attention_dropout=0.2, drop_path=0.3)
    params, images, labels = draw(config, 1, 11, "float32")
    first, second = (CpuEngine(config, 0.1, threads, micro_batch=2) for _ in range(2))
    results = []
    for engine in (first, first, second):
        grads = params.zeros_like()
        loss = engine.loss_and_grads(params, images, labels, grads, Noise(1, 2))
        results.append((loss.tobytes(), grads.flat.tobytes(), engine.logits(params, images).tobytes()))
    assert results[0] == results[1] == results[2]


def test_gradients_are_added_to_what_is_there_and_nothing_is_left_over_from_the_last_batch():
    config = tiny_config()
    params, images, labels = draw(config, 1, 6, "float64")
    engine = CpuEngine(config, threads=3, micro_batch=1)
    fresh = params.zeros_like()
    engine.loss_and_grads(params, images[:2], labels[:2], fresh)
    grads = params.zeros_like()
    engine.loss_and_grads(params, images, labels, grads)
    before = grads.flat.copy()
    engine.loss_and_grads(params, images[:2], labels[:2], grads)  # fewer images than threads
    np.testing.assert_allclose(grads.flat - before, fresh.flat, atol=1e-13)


def test_an_engine_serves_another_dtype_after_the_first():
    config = tiny_config()
    engine = CpuEngine(config, threads=2, micro_batch=2)
    for dtype in ("float32", "float64"):
        params, images, labels = draw(config, 1, 5, dtype)
        grads, expected = params.zeros_like(), params.zeros_like()
        engine.loss_and_grads(params, images, labels, grads)
        ReferenceEngine(config).loss_and_grads(params, images, labels, expected)
        assert worst_gradient(grads, expected) < (1e-5 if dtype == "float32" else 1e-12)


def test_an_error_in_a_thread_reaches_the_caller():
    config = tiny_config()
    params, images, labels = draw(config, 1, 6, "float32")
    with pytest.raises(ValueError, match="cannot be cut into patches"):
        CpuEngine(config, threads=2).loss_and_grads(params, images[:, :7], labels, params.zeros_like())


@pytest.fixture
def blas():
    """OpenBLAS's (get, set) of its number of threads; the number is put back after the test."""
    functions = blas_module._openblas_thread_functions()
    if functions is None:
        pytest.skip("NumPy was not built with OpenBLAS here")
    get, set_ = functions
    before = get()
    yield functions
    set_(before)


def test_blas_has_one_thread_within_and_its_own_number_afterwards(blas):
    get, set_ = blas
    set_(2)
    with one_blas_thread():
        assert get() == 1
    assert get() == 2
    with pytest.raises(KeyError), one_blas_thread():
        raise KeyError
    assert get() == 2


@pytest.mark.parametrize("method", ["loss_and_grads", "forward"])
def test_the_cpu_engine_leaves_the_number_of_blas_threads_as_it_was(blas, monkeypatch, method):
    get, set_ = blas
    set_(2)
    within, real = set(), getattr(model, method)

    def spy(*args):
        within.add(get())
        return real(*args)

    monkeypatch.setattr(model, method, spy)
    config = tiny_config()
    params, images, labels = draw(config, 1, 6, "float32")
    engine = CpuEngine(config, threads=2, micro_batch=2)
    engine.loss_and_grads(params, images, labels, params.zeros_like())
    engine.logits(params, images)
    assert within == {1} and get() == 2


def test_the_engine_really_works_on_several_threads(monkeypatch):
    config, meeting = tiny_config(), threading.Barrier(3, timeout=20)
    params, images, labels = draw(config, 1, 3, "float32")
    one_step = model.loss_and_grads

    def meet_then_step(*args):
        meeting.wait()  # passes only when three threads have come here
        return one_step(*args)

    monkeypatch.setattr(model, "loss_and_grads", meet_then_step)
    engine = CpuEngine(config, threads=3, micro_batch=1)
    assert np.isfinite(engine.loss_and_grads(params, images, labels, params.zeros_like()))


def test_the_fastest_engine_of_the_cpu_uses_all_cores_unless_told():
    engine = make_engine(tiny_config(), Device(np, "NumPy"), 0.1)
    assert isinstance(engine, CpuEngine) and engine.smoothing == 0.1
    assert engine.threads == available_cores() >= 1
    assert make_engine(tiny_config(), Device(np, "NumPy"), threads=3).label == "3 threads"
    assert make_engine(tiny_config(), Device(np, "NumPy"), threads=1).label == "1 thread"


def test_micro_batches_are_smaller_for_larger_models_and_never_empty():
    sizes = [CpuEngine(preset(name, 32, 10), threads=1).micro_batch for name in ("nano/4", "ti/4", "h/1")]
    assert sizes[0] > sizes[1] >= sizes[2] == 1


@pytest.mark.parametrize("pool", ["token", "mean"])
def test_the_engine_of_the_gpu_gives_what_numpy_gives(gpu, pool):
    config = tiny_config(pool=pool, pre_logits=7, dropout=0.2, attention_dropout=0.2, drop_path=0.3)
    params, images, labels = draw(config, 1, 9, "float32")
    expected = params.zeros_like()
    right = ReferenceEngine(config, 0.1).loss_and_grads(params, images, labels, expected, Noise(1, 2))
    there, x = params.to(gpu.xp), gpu.xp.asarray(images)
    engine, grads = make_engine(config, gpu, 0.1), there.zeros_like()
    loss = engine.loss_and_grads(there, x, gpu.xp.asarray(labels), grads, Noise(1, 2))
    assert abs(float(loss) - right) < 1e-5 * right
    assert worst_gradient(grads.to(np), expected) < 1e-4
    logits = to_numpy(engine.logits(there, x))
    assert distance(logits, ReferenceEngine(config).logits(params, images)) < 1e-5
