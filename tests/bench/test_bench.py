"""The benchmark: its command, the processes that it times, and that its numbers mean what they say."""

import importlib.util
import json
import os
import platform
import re
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from tests.engine.cuda.engine_cases import SIDE
from tests.stand_in_cuda import Stream
from tests.tiny_runs import assert_one_line, enter
from tinyvit import bench, ops
from tinyvit.bench import measure, timing
from tinyvit.bench.measure import breakdown, matmul_rate, timed_operations
from tinyvit.bench.timing import Case, Side, Timing, ratios, time_sides
from tinyvit.bench.tinyvit_side import ENGINES, make_step, peak_bytes, time_steps
from tinyvit.data import normalise
from tinyvit.engine.blas import blas_name
from tinyvit.model import Params, forward, initialise, preset
from tinyvit.model.cost import multiply_adds
from tinyvit.model.later.resnet import units_of
from tinyvit.optim.adam import Adam

SMALL = ("--model", "nano/8", "--batch-size", "4", "--rounds", "2", "--steps", "1", "--threads", "1")


@pytest.fixture(autouse=True)
def in_a_hurry(monkeypatch):
    """The rate of products, which takes seconds to measure well, does not matter here."""
    monkeypatch.setattr("tinyvit.bench.measure.matmul_rate", partial(matmul_rate, seconds=0.01))


@pytest.mark.parametrize(
    ("model", "size", "giga"),
    [
        ("Ti/16", 224, 1.25),
        ("S/16", 224, 4.60),
        ("B/16", 224, 17.56),
        ("L/16", 224, 61.6),
        ("Ti/4", 32, 0.365),
    ],
)
def test_multiply_adds_are_those_of_the_papers_models(model, size, giga):
    assert multiply_adds(preset(model, size, 1000)) / 1e9 == pytest.approx(giga, rel=0.005)


@pytest.mark.parametrize("mode", ["train", "infer"])
def test_the_table_and_the_json_say_the_same(mode, capsys, monkeypatch):
    status, out, err = enter(bench, capsys, monkeypatch, *SMALL, "--mode", mode, "--json")
    assert (status, err) == (0, "")
    (side,) = json.loads(out)["sides"]
    assert side["images_per_second"] == pytest.approx(4e3 / side["ms_per_step"])
    status, out, _ = enter(bench, capsys, monkeypatch, *SMALL, "--mode", mode, "--breakdown", "2")
    assert status == 0
    assert f"NumPy multiplies with {blas_name()}" in out and "tinyvit cpu" in out
    assert "linear" in out


@pytest.mark.skipif(
    not blas_name().startswith("OpenBLAS") or platform.machine() not in ("x86_64", "AMD64"),
    reason="needs OpenBLAS on x86-64",
)
def test_the_kernels_are_named_and_who_chose_them():
    command = [sys.executable, "-c", "from tinyvit.engine.blas import blas_name; print(blas_name())"]
    own = {name: value for name, value in os.environ.items() if name != "OPENBLAS_CORETYPE"}
    chosen = "OpenBLAS (kernels for Nehalem, chosen by OPENBLAS_CORETYPE)"
    for environment, name in (
        (own | {"OPENBLAS_CORETYPE": "Nehalem"}, chosen),
        (own, "OpenBLAS (kernels for "),
    ):
        said = subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout
        assert said.startswith(name)
        assert ("chosen by" in said) == (environment is not own)


def test_torch_that_is_not_installed_is_one_line(capsys, monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    status, _, err = enter(bench, capsys, monkeypatch, *SMALL, "--vs", "torch")
    assert status == 2
    assert err.count("\n") == 1
    assert "pip install torch" in err


def test_an_unknown_model_is_one_line(capsys, monkeypatch):
    status, _, err = enter(bench, capsys, monkeypatch, "--model", "giant/4")
    assert (status, err.count("\n")) == (2, 1)


@pytest.mark.parametrize(
    ("flags", "parts"),
    [
        (("--compile",), ("--compile goes with --vs torch",)),
        (("--precision", "bf16"), ("--precision needs --device gpu",)),
        (("--device", "gpu", "--breakdown", "8"), ("--breakdown is for the CPU",)),
        (("--engine", "cuda"), ("--device cpu has the engines cpu, reference",)),
        (("--device", "gpu", "--engine", "cpu"), ("--device gpu has the engines cuda, reference",)),
    ],
)
def test_flags_that_do_not_go_together_are_refused(go, flags, parts):
    assert_one_line(go(bench, *flags), *parts)


def test_without_a_gpu_one_line_says_so(go, monkeypatch):
    monkeypatch.setitem(sys.modules, "cupy", None)
    assert_one_line(go(bench, "--device", "gpu"), "no GPU can be used")


def test_both_engines_can_be_timed():
    for variant in ENGINES["cpu"]:
        make_step(Case("nano/8", 32, 2, "train", 1), variant)()
    with pytest.raises(ValueError, match="nonsense"):
        make_step(Case("nano/8", 32, 2, "train", 1), "nonsense")


# The processes.

INFERENCE = Case("nano/8", 32, 2, "infer", 1)


def test_sides_run_in_turn_and_ratios_go_pair_by_pair():
    timings = time_sides(INFERENCE, ["tinyvit cpu", "tinyvit reference"], 2, 1, 1)
    assert [(timing.name, len(timing.seconds)) for timing in timings] == [
        ("tinyvit cpu", 2),
        ("tinyvit reference", 2),
    ]
    assert ratios(Timing("a", [1.0, 2.0]), Timing("b", [3.0, 3.0])).tolist() == [3.0, 1.5]


def test_a_side_that_fails_is_left_out_unless_it_is_tinyvits(capfd):
    (timing,) = time_sides(INFERENCE, ["tinyvit cpu", "tinyvit nonsense"], 1, 1, 1)
    assert timing.name == "tinyvit cpu"
    assert "the tinyvit nonsense process ended with status 1: it is left out" in capfd.readouterr().err
    with pytest.raises(RuntimeError, match="tinyvit nonsense"):
        time_sides(INFERENCE, ["tinyvit nonsense"], 1, 1, 1)


PROGRAM = """
from tinyvit.bench.timing import Case
from tinyvit.bench.timing import Side

if __name__ == "__main__":
    side = Side(Case("nano/8", 32, 2, "infer", 1), "tinyvit cpu")
    side.run(1)
    print(side._process.pid, flush=True)
    input()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_a_process_ends_when_the_one_that_started_it_is_killed(tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM)
    command = [sys.executable, str(tmp_path / "program.py")]
    own = os.environ | {"PYTHONPATH": str(Path(bench.__file__).parents[2])}
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, env=own) as parent:
        child = Path(f"/proc/{int(parent.stdout.readline())}")
        assert child.exists()
        parent.kill()
    deadline = time.monotonic() + 20
    while is_running(child) and time.monotonic() < deadline:
        time.sleep(0.01)
    if is_running(child):
        os.kill(int(child.name), signal.SIGKILL)
        pytest.fail("the process went on alone")


def is_running(process):
    """True unless it has ended: one that nobody has asked for its status is still listed."""
    try:
        return (process / "stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_a_side_that_was_killed_has_had_too_little_memory():
    side = Side(INFERENCE, "tinyvit cpu")
    side.run(1)
    os.kill(side._process.pid, 9)
    with pytest.raises(MemoryError, match="the tinyvit cpu process was killed"):
        side.run(1)
    side.close()


# On a GPU: the stand-in for CuPy.

ON_GPU = Case("mean", SIDE, 3, "train", 1, "bf16", "gpu")


@pytest.mark.parametrize("mode", ["train", "infer"])
@pytest.mark.parametrize("engine", ENGINES["gpu"])
def test_both_engines_are_timed_by_the_cards_clock(card, engine, mode):
    case = Case("mean", SIDE, 3, mode, 1, "fp32", "gpu")
    assert time_steps(case, make_step(case, engine), 4) == pytest.approx([0.001] * 4)
    assert peak_bytes(case) == 123_000_000


def test_a_step_that_is_not_captured_is_not_timed_in_silence(card, monkeypatch, capsys):
    step = make_step(Case("mean", SIDE, 3, "infer", 1, "bf16", "gpu"), "cuda")

    def fails(_):
        raise RuntimeError("cudaErrorStreamCaptureUnsupported")

    monkeypatch.setattr(Stream, "begin_capture", fails)
    for _ in range(4):
        step()
    assert capsys.readouterr().err.count("could not be captured as a CUDA graph (cudaErrorStream") == 1


class HereSide(Side):
    """A side in this process, whose steps take the milliseconds in SPEEDS; if not there, it makes one."""

    def __init__(self, case, name):
        self.case, self.name = case, name

    def run(self, steps):
        if self.name not in SPEEDS:
            make_step(self.case, self.name.split()[1])()
        if SPEEDS[self.name] is None:
            raise RuntimeError(f"the {self.name} process ended with status 1")
        return [1e-3 * SPEEDS[self.name]] * steps, 10**9

    def close(self):
        pass


SPEEDS = {"tinyvit cuda": 2.0, "torch eager autocast": 5.0, "torch eager pure": 4.0}
SPEEDS |= {"torch compile autocast": 2.2, "torch compile pure": None}


def test_every_way_of_pytorch_is_compared_and_one_that_fails_is_left_out(cuda, go, monkeypatch):
    monkeypatch.setattr(timing, "Side", HereSide)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: name)
    flags = ("--device", "gpu", "--model", "nano/8", "--batch-size", "16", "--vs", "torch", "--compile")
    status, out, err = go(bench, *flags, "--json")
    assert (status, err.count("left out")) == (0, 1)
    result = json.loads(out)
    assert [side["name"] for side in result["sides"]] == list(SPEEDS)[:4]
    assert {name: np.median(values) for name, values in result["ratios"].items()} == pytest.approx(
        {"torch eager autocast": 2.5, "torch eager pure": 2.0, "torch compile autocast": 1.1}
    )
    assert (result["case"]["precision"], result["device"]) == ("bf16", cuda.label)
    text = measure.table(result)
    assert f"training step, bf16, {cuda.label}" in text and "2.00 times as fast as torch eager pure" in text
    assert "of bound" not in text and "GFLOP" not in text


@pytest.mark.parametrize(
    ("flags", "parts"),
    [
        (("--model", "R+Ti/16", "--image-size", "64", "--batch-size", "2"), ("convolutions", "--engine ref")),
        (("--model", "nano/8", "--batch-size", "65536"), ("65,536 blocks", "fewer")),
    ],
)
def test_what_the_kernels_do_not_have_is_one_line(cuda, go, monkeypatch, flags, parts):
    monkeypatch.setattr(timing, "Side", HereSide)
    monkeypatch.delitem(SPEEDS, "tinyvit cuda")
    assert_one_line(go(bench, "--device", "gpu", *flags), *parts)


# What is timed.


def test_the_breakdown_leaves_the_operations_as_they_were_and_counts_each_by_itself():
    before = {name: getattr(ops, name) for name in ops.__all__}
    methods = Params.add, Adam.step
    with timed_operations() as spent:
        ops.mlp(np.ones((2, 3)), np.ones((3, 4)), np.ones(4), np.ones((4, 3)), np.ones(3))
    assert {name: getattr(ops, name) for name in ops.__all__} == before
    assert (Params.add, Adam.step) == methods
    assert {"mlp", "linear", "gelu"} <= set(spent)
    assert min(spent.values()) >= 0
    spent = breakdown(Case("nano/8", 32, 2, "train", 1), images=2, rounds=1)
    beside = ["making the batch", "sums with skips", "adding up gradients", "clipping", "optimiser"]
    assert min(spent[name] for name in ["linear_backward", *(f"({name})" for name in beside)]) > 0


def in_tinyvit(name, config):
    """The name in tinyvit of a parameter of the model in PyTorch."""
    if found := re.fullmatch(r"resnet\.(root|units\.(\d+)\.\w+?(\d|_proj))\.(norm\.)?(\w+)", name):
        _, number, which, norm, kind = found.groups()
        part = "root" if number is None else "{}.{}".format(*units_of(config)[int(number)])
        return f"resnet.{part}.{'norm' if norm else 'conv'}{which or ''}.{kind}"
    for theirs, ours in {"embed": "patch", "token": "class_token"}.items():
        name = name.replace(theirs, ours)
    return re.sub(r"\.(fc\d)\.", r".mlp.\1.", re.sub(r"\.(qkv|out)\.", r".attn.\1.", name))


@pytest.mark.parametrize("name, size", [("nano/8", 32), ("R+Ti/16", 64), ("R26+S/32", 45), ("resnet-26", 45)])
def test_pytorch_computes_the_same_logits_with_the_same_weights(name, size):
    torch = pytest.importorskip("torch")
    from tinyvit.bench.torch_side import ViT

    case = Case(name, size, 2, "infer", 1)
    config, images = case.config, normalise(case.data()[0], "float32")
    params = initialise(config)
    params.flat += np.random.default_rng(0).normal(0, 0.1, params.count).astype("float32")
    model = ViT(config)
    assert {in_tinyvit(name, config) for name, _ in model.named_parameters()} == set(params)
    for name, tensor in model.named_parameters():
        array = params[in_tinyvit(name, config)]
        if tensor.ndim in (2, 4):  # PyTorch's matrices are output-by-input, and its kernels (O, I, k, k)
            array = array.transpose(3, 2, 0, 1) if tensor.ndim == 4 else array.T
        with torch.no_grad():
            tensor.copy_(torch.from_numpy(np.ascontiguousarray(array)).reshape(tensor.shape))
    expected = forward(config, params, images)[0]
    with torch.inference_mode():
        got = model(torch.from_numpy(images)).numpy()
    assert np.abs(got - expected).max() < 1e-5 * np.abs(expected).max() + 1e-6


@pytest.mark.parametrize("mode", ["train", "infer"])
def test_a_hybrid_is_timed(capsys, monkeypatch, mode):
    flags = ("--model", "R+Ti/16", "--image-size", "32", *SMALL[2:], "--mode", mode, "--json")
    status, out, err = enter(bench, capsys, monkeypatch, *flags)
    assert (status, err) == (0, "")
    (side,) = json.loads(out)["sides"]
    assert side["images_per_second"] == pytest.approx(4e3 / side["ms_per_step"])
