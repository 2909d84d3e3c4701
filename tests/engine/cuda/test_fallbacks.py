"""Failures on a GPU only: captures that fail, copies under way, changed files that were included."""

import pytest

from tests.engine.cuda.engine_cases import CASES, draw, trained
from tests.stand_in import DeviceArray
from tests.stand_in_cublas import FakeCublas
from tests.stand_in_cuda import Stream
from tests.tiny_runs import tiny
from tinyvit import train
from tinyvit.engine.cuda import compiled
from tinyvit.engine.cuda.engine import CudaEngine

LOST = "cudaErrorStreamCaptureInvalidated: operation failed due to a previous error during capture"


@pytest.fixture
def failing_captures(monkeypatch):
    """Every capture fails when it ends; the list grows by one for each that was begun."""
    begun, begin, end = [], Stream.begin_capture, Stream.end_capture

    def fails(stream):
        end(stream)
        raise RuntimeError(f"{LOST}\nand a second line")

    monkeypatch.setattr(Stream, "begin_capture", lambda stream: begun.append(stream) or begin(stream))
    monkeypatch.setattr(Stream, "end_capture", fails)
    return begun


def test_after_a_failed_capture_kernels_are_launched_and_no_other_capture_is_tried(cuda, failing_captures):
    config, results, engines = CASES["mean"], [], []

    def make(*args, **keywords):
        engines.append(CudaEngine(*args, graphs=len(engines) == 0, **keywords))
        return engines[-1]

    for _ in range(2):
        results.append(trained(make, config, draw(config)[0].to(cuda.xp), cuda.xp, accumulate=2, steps=3))
    assert len(failing_captures) == 1 and not DeviceArray.capturing
    assert engines[0].note.startswith(f"steps could not be captured as a CUDA graph ({LOST}): kernels are")
    assert "\n" not in engines[0].note and engines[1].note == ""
    (found, weights, _), (plain, plain_weights, _) = results
    assert found.tobytes() == plain.tobytes() and weights.tobytes() == plain_weights.tobytes()


def test_a_capture_is_ended_when_cublas_refuses_to_take_part(cuda, monkeypatch):
    multiply = FakeCublas.cublasGemmEx
    monkeypatch.setattr(
        FakeCublas, "cublasGemmEx", lambda *args: 14 if DeviceArray.capturing else multiply(*args)
    )
    config = CASES["mean"]
    params, images, *_ = draw(config)
    engine, x = CudaEngine(config, params.to(cuda.xp)), cuda.xp.asarray(images)
    first, second = (engine.logits(x).get() for _ in range(2))
    assert first.tobytes() == second.tobytes()
    assert "failed with status 14" in engine.note


def test_cublas_is_not_left_on_the_stream_of_the_capture(cuda, monkeypatch):
    library, config = FakeCublas(cuda.xp.queue), CASES["mean"]
    monkeypatch.setattr("tinyvit.engine.cuda.cublas.load_library", lambda: library)
    params, images, *_ = draw(config)
    engine, x = CudaEngine(config, params.to(cuda.xp)), cuda.xp.asarray(images)
    for _ in range(2):
        engine.logits(x)
    assert [handle["stream"] for handle in library.handles.values()] == [0]


def test_a_run_says_once_that_a_capture_has_failed(cuda, go, photos, tmp_path, failing_captures):
    flags = ("--device", "gpu", "--width", "24", "--heads", "3", "--mlp-width", "40", "--epochs", "1")
    status, out, err = go(train, *tiny(photos, tmp_path / "a", *flags, "--precision", "bf16"))
    assert (status, err) == (0, "") and len(failing_captures) == 1
    assert out.count("steps could not be captured as a CUDA graph") == 1


def test_places_on_the_host_are_given_up_only_when_their_copies_are_done(cuda):
    config = CASES["mean"]
    params, images, labels, _ = draw(config, count=4)
    engine, asarray = CudaEngine(config, params.to(cuda.xp)), cuda.xp.asarray
    engine.loss_and_grads(asarray(images[:2]), asarray(labels[:2]))
    before = DeviceArray.waits
    engine.logits(asarray(images))  # tells the device nothing, and so needs no larger places
    assert DeviceArray.waits == before
    engine.loss_and_grads(asarray(images), asarray(labels))
    assert DeviceArray.waits == before + 1


def test_after_too_large_a_batch_a_smaller_one_goes_on(cuda, monkeypatch):
    config, empty = CASES["mean"], cuda.xp.empty
    params, images, *_ = draw(config, count=40)
    engine, x = CudaEngine(config, params.to(cuda.xp)), cuda.xp.asarray(images)
    expected = engine.logits(x[:2]).get()

    def full(size, dtype):
        if dtype == "uint8" and size > 40_000:
            raise MemoryError("out of memory")
        return empty(size, dtype=dtype)

    monkeypatch.setattr(cuda.xp, "empty", full, raising=False)
    with pytest.raises(MemoryError):
        engine.logits(x)
    assert engine.logits(x[:2]).get().tobytes() == expected.tobytes()


def test_a_kernel_is_compiled_again_if_a_file_that_it_includes_has_changed(monkeypatch, tmp_path):
    header = tmp_path / "numbers.cuh"
    monkeypatch.setattr(compiled, "FOLDER", tmp_path)
    found = []
    for text in ("one", "two", "one"):
        header.write_text(text, "utf-8")
        found.append(compiled._options.__wrapped__())
    assert found[0] == found[2] != found[1]
