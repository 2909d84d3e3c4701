"""A gradient buffer for each worker: where these would fill the memory, fewer workers do the same."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.helpers import distance, random_batch, tiny_config
from tinyvit.engine import CpuEngine
from tinyvit.engine.cpu import engine as cpu
from tinyvit.engine.cpu.engine import _workers
from tinyvit.gradcheck import random_params
from tinyvit.ops import Noise


@given(threads=st.integers(1, 256), buffer_bytes=st.integers(1, 10**12), memory=st.integers(1, 10**13))
def test_buffers_take_a_quarter_of_the_memory_at_most_and_no_thread_is_spared_needlessly(
    threads, buffer_bytes, memory
):
    workers = _workers(threads, buffer_bytes, memory)
    assert 1 <= workers <= threads
    assert (workers - 1) * buffer_bytes <= memory / 4
    if workers < threads:
        assert workers * buffer_bytes > memory / 4


@pytest.mark.parametrize(
    ("threads", "gigabytes", "workers"), [(64, 16, 2), (64, 512, 51), (64, 8, 1), (8, 512, 8)]
)
def test_the_largest_model_of_the_paper_on_machines_of_today(threads, gigabytes, workers):
    """ViT-H/14 has 632 million parameters: 2.5 GB a buffer."""
    assert _workers(threads, 4 * 632_045_800, gigabytes * 10**9) == workers


def test_where_the_memory_is_unknown_every_thread_works():
    assert _workers(7, 10**12, None) == 7


def engine_with(monkeypatch, workers, config, params, **more):
    """An engine with 4 threads on a machine with memory for this many workers."""
    monkeypatch.setattr(cpu, "available_memory", lambda: 4 * (workers - 1) * params.flat.nbytes + 3)
    engine = CpuEngine(config, params, threads=4, **more)
    assert (engine.threads, engine.workers) == (4, workers)
    return engine


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_fewer_workers_give_the_same_loss_and_gradients(monkeypatch, workers):
    config = tiny_config(dropout=0.2, attention_dropout=0.2, drop_path=0.3)
    rng = np.random.default_rng(0)
    params, (images, labels) = random_params(config, rng), random_batch(config, 11, rng)
    many = CpuEngine(config, params, threads=4, micro_batch=2)
    few = engine_with(monkeypatch, workers, config, params, micro_batch=2)
    losses = [engine.loss_and_grads(images, labels, Noise(1, 2)) for engine in (many, few)]
    assert losses[0] == pytest.approx(losses[1], rel=1e-12)
    assert distance(few.grads.flat, many.grads.flat) < 1e-12
    assert distance(few.logits(images), many.logits(images)) < 1e-12


def test_fewer_workers_have_more_threads_each_for_their_products(monkeypatch):
    seen, blas_threads = set(), cpu.blas_threads

    def watched(count):
        seen.add(count)
        return blas_threads(count)

    monkeypatch.setattr(cpu, "blas_threads", watched)
    config, rng = tiny_config(), np.random.default_rng(0)
    params, (images, labels) = random_params(config, rng), random_batch(config, 11, rng)
    for workers, threads in ((1, 4), (2, 2), (3, 1)):
        seen.clear()
        engine_with(monkeypatch, workers, config, params).loss_and_grads(images, labels)
        assert seen == {threads, 1}  # 1 for what is done for each block before and after


def test_the_memory_that_is_taken_is_that_of_the_workers(monkeypatch):
    """A model of one huge matrix and few activations: nearly all that is allocated is gradients."""
    config = tiny_config(image_size=32, patch_size=32, width=60, pool="mean")
    rng = np.random.default_rng(0)
    params, (images, labels) = random_params(config, rng), random_batch(config, 8, rng)
    peaks = []
    for workers in (1, 2, 4):
        engine = engine_with(monkeypatch, workers, config, params, micro_batch=2)
        tracemalloc.start()
        engine.loss_and_grads(images, labels)
        peaks.append(tracemalloc.get_traced_memory()[1] / params.flat.nbytes)
        tracemalloc.stop()
    # for each worker its buffer, and the gradient of the matrix before it is added to it
    assert all(workers <= peak < 2 * workers + 1 for workers, peak in zip((1, 2, 4), peaks, strict=True))
