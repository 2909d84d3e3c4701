"""The benchmark's GPU side, on the stand-in for CuPy: it computes what it should, in the order it should."""

import ctypes
import json
from itertools import count
from types import SimpleNamespace

import numpy as np
import pytest

from tests.bfloat16 import from_bf16
from tests.engine.cuda.engine_cases import CASES, SIDE, instances
from tests.engine.cuda.on_gpu import RawModule
from tests.engine.cuda.run import compiled
from tests.stand_in_cuda import Stream
from tests.tiny_runs import assert_one_line
from tinyvit import bench
from tinyvit.benchmark import agreement, ceilings, compare, gpu_side, kernel_times, on_gpu, worker
from tinyvit.benchmark.case import Case
from tinyvit.benchmark.gpu_table import gpu_table
from tinyvit.benchmark.roofline import card_named, plan_of
from tinyvit.engine.cuda.engine import CudaEngine
from tinyvit.engine.cuda.support import unsupported

CASE = Case("mean", SIDE, 3, "train", 1, "bf16")


@pytest.fixture
def card(cuda, monkeypatch):
    """The stand-in with a clock, on which every event is a millisecond after the one before."""
    ticks = count()

    class Event:
        def record(self):
            self.at = next(ticks)

        def synchronize(self):
            assert self.at is not None

    cuda.xp.cuda.Event = Event
    cuda.xp.cuda.get_elapsed_time = lambda a, b: float(b.at - a.at)
    cuda.xp.get_default_memory_pool = lambda: SimpleNamespace(total_bytes=lambda: 123_000_000)
    cuda.xp.instances = instances()
    monkeypatch.setattr(Case, "config", property(lambda self: CASES[self.model]))
    return cuda.xp


@pytest.mark.parametrize("mode", ["train", "infer"])
@pytest.mark.parametrize("engine", gpu_side.ENGINES)
def test_both_engines_are_timed_by_the_cards_clock(card, engine, mode):
    step = gpu_side.make_step(Case("mean", SIDE, 3, mode, 1, "fp32"), engine)
    assert gpu_side.time_steps(step, 4) == pytest.approx([0.001] * 4)
    assert gpu_side.peak_bytes() == 123_000_000


def test_a_step_that_is_not_captured_is_not_timed_in_silence(card, monkeypatch, capsys):
    step = gpu_side.make_step(Case("mean", SIDE, 3, "infer", 1, "bf16"), "cuda")

    def fails(_):
        raise RuntimeError("cudaErrorStreamCaptureUnsupported")

    monkeypatch.setattr(Stream, "begin_capture", fails)
    for _ in range(4):
        step()
    assert capsys.readouterr().err.count("could not be captured as a CUDA graph (cudaErrorStream") == 1


def test_an_engine_that_there_is_not_is_refused(card):
    with pytest.raises(ValueError, match="nonsense"):
        gpu_side.make_step(CASE, "nonsense")


@pytest.mark.parametrize("mode", ["train", "infer"])
def test_every_kernel_is_timed_in_the_order_of_the_plan(card, mode):
    case = Case("mean", SIDE, 3, mode, 1, "bf16")
    found = kernel_times.kernel_seconds(case, rounds=2, ahead=0)
    predicted = plan_of(case.config, case.batch, case.precision, mode)
    assert [step.label for step, _ in found] == [step.label for step in predicted.steps]
    assert [seconds for _, seconds in found] == pytest.approx([0.001] * len(found))


def test_timing_the_kernels_one_by_one_takes_real_steps(card):
    engine, step = gpu_side.make_engine_and_step(CASE, "cuda")
    step()
    before = engine.params.flat.get()
    for _, call in engine.latest.calls():
        call()
    after = engine.params.flat.get()
    assert np.isfinite(after).all() and (after != before).mean() > 0.5


def test_kinds_of_kernels_are_summed_up_beside_their_roofline():
    case = Case("nano/8", 32, 16, "train", 1, "bf16")
    plan = plan_of(case.config, 16, "bf16", "train")
    rows = on_gpu.kernels(plan, "bf16", [1e-6] * plan.launches, card_named("H200"))
    assert sum(row["launches"] for row in rows) == plan.launches
    for row in rows:
        assert row["seconds"] == pytest.approx(1e-6 * row["launches"])
        assert row["least_seconds"] > 0
    with_unknown_card = on_gpu.kernels(plan, "bf16", [1e-6] * plan.launches, None)
    assert not any("least_seconds" in row for row in with_unknown_card)


SPEEDS = {
    "gpu cuda": 2.0,
    "torch_gpu eager autocast": 5.0,
    "torch_gpu eager pure": 4.0,
    "torch_gpu reduce-overhead autocast": 2.2,
    "torch_gpu reduce-overhead pure": None,
}


class FakeWorker:
    """A side whose steps take as many milliseconds as SPEEDS says; one of them fails."""

    running = 0

    def __init__(self, case, side, variant):
        self.name = f"{side} {variant}"
        FakeWorker.running += 1

    def run(self, steps):
        if SPEEDS[self.name] is None:
            raise RuntimeError(f"the {self.name} process ended with status 1")
        return [1e-3 * SPEEDS[self.name]] * steps, 10**9

    def close(self):
        FakeWorker.running -= 1


@pytest.fixture
def fake_sides(cuda, monkeypatch):
    monkeypatch.setattr(compare, "Worker", FakeWorker)
    monkeypatch.setattr(cuda.xp.cuda.runtime, "getDeviceProperties", lambda number: {"name": b"NVIDIA H200"})
    launches = plan_of(Case("nano/8", 32, 16, "train", 1).config, 16, "bf16", "train").launches
    monkeypatch.setattr(on_gpu, "_kernel_seconds", lambda case, rounds: [1e-5] * launches)
    monkeypatch.setattr(bench.importlib.util, "find_spec", lambda name: name)


def test_pytorchs_best_of_each_kind_is_compared(fake_sides, go):
    flags = ("--device", "gpu", "--model", "nano/8", "--batch-size", "16", "--rounds", "2")
    status, out, err = go(bench, *flags, "--vs", "torch", "--compile", "--json")
    assert (status, err) == (0, "")
    result = json.loads(out)
    best = ["gpu cuda", "torch_gpu eager pure", "torch_gpu reduce-overhead autocast"]
    assert [side["name"] for side in result["sides"]] == best
    assert {name: np.median(values) for name, values in result["ratios"].items()} == pytest.approx(
        {best[1]: 2.0, best[2]: 1.1}
    )
    assert result["pytorch_trials_ms"]["reduce-overhead pure"] is None
    assert result["case"]["precision"] == "bf16" and result["share_of_roofline"] > 0
    assert FakeWorker.running == 0
    text = gpu_table(result)
    assert "2.00 times as fast as torch_gpu eager pure" in text and "pure: failed" in text
    assert "bias_gelu_backward" in text and "of the roofline" in text


def test_one_way_of_pytorch_is_compared_without_a_trial_or_a_table_of_kernels(fake_sides, go):
    flags = ("--device", "gpu", "--model", "nano/8", "--batch-size", "16", "--rounds", "2", "--json")
    status, out, err = go(bench, *flags, "--vs", "autocast")
    assert (status, err) == (0, "")
    result = json.loads(out)
    assert [side["name"] for side in result["sides"]] == ["gpu cuda", "torch_gpu reduce-overhead autocast"]
    assert result["ratios"] == {"torch_gpu reduce-overhead autocast": [pytest.approx(1.1)] * 2}
    assert result["pytorch_trials_ms"] == {} and "kernels" not in result
    assert_one_line(
        go(bench, *flags, "--vs", "pure", "--precision", "fp32"), "--vs pure is for bf16", "--compile"
    )
    assert_one_line(go(bench, *flags, "--vs", "pure", "--compile"), "--compile goes with --vs torch")


def test_the_ceilings_are_a_copy_and_a_right_product(card, monkeypatch):
    side, wrong, multiply = 96, [], ceilings.Cublas.multiply

    def checked(self, product, *places):
        multiply(self, product, *places)
        memory = ((ctypes.c_uint16 * side**2).from_address(place) for place in places)
        a, b, c = (from_bf16(np.frombuffer(each, "uint16").reshape(side, side)) for each in memory)
        assert 8 < c.std() < 12
        wrong.append(np.abs(c - a @ b).max())

    monkeypatch.setattr(ceilings.Cublas, "multiply", checked)
    assert list(ceilings.ceilings(card, 10**6, side).values()) == ["2 GB/s", "0 TFLOP/s"]
    assert len(wrong) == 40 and max(wrong) < 0.5


def test_the_machine_is_described_by_names_and_versions(card, monkeypatch):
    monkeypatch.setattr(card.cuda.runtime, "runtimeGetVersion", lambda: 12040, raising=False)
    monkeypatch.setenv("PATH", "")
    found = ceilings.machine(on_gpu.usable_gpu())
    assert (found["card"], found["CUDA"]) == ("no GPU at all", "12.4") and all(found.values())


def test_a_model_that_the_kernels_do_not_have_is_one_line(fake_sides, go):
    result = go(bench, "--device", "gpu", "--model", "R+Ti/16", "--image-size", "64", "--batch-size", "2")
    assert_one_line(result, "convolutions", "--engine reference")


@pytest.mark.parametrize(
    ("batch", "what"),
    [("65536", "65,536 blocks"), ("2000000000", "threads")],
)
def test_more_images_than_the_kernels_can_have_are_one_line_before_anything_is_timed(
    fake_sides, go, monkeypatch, batch, what
):
    monkeypatch.setattr(compare, "Worker", None)
    result = go(bench, "--device", "gpu", "--model", "nano/8", "--batch-size", batch)
    assert_one_line(result, what, "fewer")


def test_without_a_gpu_one_line_points_to_predictions(go, monkeypatch, tmp_path):
    monkeypatch.setitem(__import__("sys").modules, "cupy", None)
    monkeypatch.chdir(tmp_path)
    assert_one_line(go(bench, "--device", "gpu"), "no GPU", "--predict H200")
    assert not list(tmp_path.iterdir())


def test_the_worker_asks_the_side_for_its_clock(card, capsys, monkeypatch):
    monkeypatch.setattr("sys.stdin", ["2\n", "1\n"])
    time_steps = gpu_side.time_steps
    monkeypatch.setattr(gpu_side, "time_steps", lambda *args: print("tuning") or time_steps(*args))
    worker.main(["gpu", "cuda", json.dumps(CASE.as_dict())])
    answers = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [answer["seconds"] for answer in answers] == [pytest.approx([1e-3] * 2), pytest.approx([1e-3])]
    assert answers[0]["peak_bytes"] == 123_000_000


@pytest.mark.parametrize("precision", agreement.TOLERANCE)
def test_the_engine_agrees_with_the_reference_and_a_wrong_one_does_not(card, precision, monkeypatch):
    config = CASES["mean"]
    assert max(agreement.distances(config, precision, card)) < agreement.TOLERANCE[precision]
    right = CudaEngine.loss_and_grads
    monkeypatch.setattr(CudaEngine, "loss_and_grads", lambda *args, **more: right(*args, **more) * 1.05)
    assert max(agreement.distances(config, precision, card)) > agreement.TOLERANCE[precision]


def test_the_agreement_is_a_table_and_an_exit_status(card, capsys, monkeypatch):
    assert not any(unsupported(config) for config in agreement.cases().values())
    monkeypatch.setattr(agreement, "cases", lambda: {"mean": CASES["mean"]})
    assert agreement.main() == 0
    assert capsys.readouterr().out.rstrip().endswith("all agree")
    monkeypatch.setattr(agreement, "distances", lambda *args: (0.0, float("nan")))
    assert agreement.main() == 1
    assert "3 are WRONG" in capsys.readouterr().out


def test_tests_of_kernels_can_run_them_on_the_card(card):
    """Two arguments that are parts of one array stay so."""
    whole = np.arange(20, dtype=np.float32)
    kernel = RawModule(code=ADD, options=("-std=c++17",), name_expressions=("add",)).get_function("add")
    kernel((1,), (8,), (None, whole[:8], whole[4:12], np.int32(8)))
    assert (whole[8:12] == 1 + np.arange(8, 12)).all() and (whole[4:8] == 1 + np.arange(4, 8)).all()
    assert (whole[:4] == np.arange(4)).all() and (whole[12:] == np.arange(12, 20)).all()
    assert compiled  # the function of tests/engine/cuda/run.py that the RawModule is for


ADD = """extern "C" __global__ void add(float* none, const float* x, float* y, int n) {
    if (!none && threadIdx.x < n) y[threadIdx.x] += 1 + 0 * x[threadIdx.x];
}"""
