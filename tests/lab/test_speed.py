"""The laboratory's measurements of a GPU, with the stand-in for CuPy."""

import ctypes
import json
from dataclasses import replace

import numpy as np
import pytest

from tests.bfloat16 import from_bf16
from tests.engine.cuda.engine_cases import CASES, SIDE
from tests.engine.cuda.on_gpu import RawModule
from tests.engine.cuda.run import compiled
from tests.lab import agreement, ceilings, speed
from tests.lab.roofline import plan_of
from tinyvit.bench.timing import Case
from tinyvit.bench.tinyvit_side import make_engine_and_step
from tinyvit.engine.cuda.engine import CudaEngine
from tinyvit.engine.cuda.support import unsupported

ON_GPU = Case("mean", SIDE, 3, "train", 1, "bf16", "gpu")


@pytest.mark.parametrize("mode", ["train", "infer"])
def test_every_kernel_is_timed_in_the_order_of_the_plan(card, mode):
    case = replace(ON_GPU, mode=mode)
    found = speed.kernel_seconds(case, rounds=2, ahead=0)
    assert [step.label for step, _ in found] == [step.label for step in plan_of(case).steps]
    assert [seconds for _, seconds in found] == pytest.approx([0.001] * len(found))


def test_timing_the_kernels_one_by_one_takes_real_steps(card):
    engine, step = make_engine_and_step(ON_GPU, "cuda")
    step()
    before = engine.params.flat.get()
    for _, call in engine.latest.calls():
        call()
    after = engine.params.flat.get()
    assert np.isfinite(after).all() and (after != before).mean() > 0.5


def test_the_speed_is_beside_the_roofline_or_beside_pytorch(monkeypatch, capsys):
    def measured(case, engine, rivals, rounds, steps):
        names = [f"tinyvit {engine}", *rivals]
        sides = [
            {"name": name, "ms_per_step": 4.0, "images_per_second": 128e3, "peak_bytes": 10**9}
            for name in names
        ]
        ratios = {name: [1.5, 1.7] for name in rivals}
        return {"case": case.as_dict(), "device": "CuPy on NVIDIA H200", "sides": sides, "ratios": ratios}

    times = lambda case, rounds: [(step, 1e-5) for step in plan_of(case).steps]
    monkeypatch.setattr(speed, "measure", measured)
    monkeypatch.setattr(speed, "kernel_seconds", times)
    speed.main([])
    alone = json.loads(capsys.readouterr().out)
    assert alone["share_of_roofline"] == pytest.approx(2.968 / 4, rel=1e-3)
    text = speed.speed_table(alone)
    assert "74 % of the roofline" in text and "bias_gelu_backward" in text
    speed.main(["--way", "pure"])
    beside = json.loads(capsys.readouterr().out)
    assert list(beside["ratios"]) == ["torch compile pure"] and "kernels" not in beside
    assert "1.60 times as fast as torch compile pure" in speed.speed_table(beside)
    speed.main(["--engine", "reference"])
    assert "kernels" not in json.loads(capsys.readouterr().out)


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
    found = ceilings.machine(ceilings.usable_gpu())
    assert (found["card"], found["CUDA"]) == ("no GPU at all", "12.4") and all(found.values())


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
