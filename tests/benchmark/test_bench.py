"""The benchmark: its command, the two processes it talks to, and that its numbers mean what they say."""

import importlib.util
import json
import os
import platform
import re
import subprocess
import sys
from functools import partial

import numpy as np
import pytest

from tests.tiny_runs import enter
from tinyvit import bench, ops
from tinyvit.benchmark.breakdown import breakdown, timed_operations
from tinyvit.benchmark.case import Case
from tinyvit.benchmark.compare import Timing, ratios, time_sides
from tinyvit.benchmark.numpy_side import make_step
from tinyvit.benchmark.on_cpu import matmul_rate
from tinyvit.data import normalise
from tinyvit.engine.blas import blas_name
from tinyvit.model import forward, initialise, preset
from tinyvit.model.cost import multiply_adds
from tinyvit.model.later.resnet import units_of

SMALL = ("--model", "nano/8", "--batch-size", "4", "--rounds", "2", "--steps", "1", "--threads", "1")


@pytest.fixture(autouse=True)
def in_a_hurry(monkeypatch):
    """The rate of products, which takes seconds to measure well, does not matter here."""
    monkeypatch.setattr("tinyvit.benchmark.on_cpu.matmul_rate", partial(matmul_rate, seconds=0.01))


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
    assert f"NumPy multiplies with {blas_name()}" in out and "numpy cpu" in out
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


def test_both_engines_can_be_timed():
    for variant in ("cpu", "reference"):
        make_step(Case("nano/8", 32, 2, "train", 1), variant)()


def test_sides_run_in_turn_and_ratios_go_pair_by_pair():
    timings = time_sides(Case("nano/8", 32, 2, "infer", 1), [("numpy", "cpu"), ("numpy", "reference")], 2, 1)
    assert [len(timing.seconds) for timing in timings] == [2, 2]
    assert ratios(Timing("a", [1.0, 2.0]), Timing("b", [3.0, 3.0])).tolist() == [3.0, 1.5]


def test_a_side_that_cannot_run_is_an_error():
    with pytest.raises(RuntimeError, match="numpy nonsense"):
        time_sides(Case("nano/8", 32, 2, "infer", 1), [("numpy", "nonsense")], 1, 1)


def test_the_breakdown_leaves_the_operations_as_they_were_and_counts_each_by_itself():
    before = {name: getattr(ops, name) for name in ops.__all__}
    with timed_operations() as spent:
        ops.mlp(np.ones((2, 3)), np.ones((3, 4)), np.ones(4), np.ones((4, 3)), np.ones(3))
    assert {name: getattr(ops, name) for name in ops.__all__} == before
    assert {"mlp", "linear", "gelu"} <= set(spent)
    assert min(spent.values()) >= 0
    assert breakdown(Case("nano/8", 32, 2, "train", 1), images=2, rounds=1)["linear_backward"] > 0


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
    from tinyvit.benchmark.torch_side import ViT

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
