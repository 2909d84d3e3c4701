"""Every command with --device gpu: nothing is left behind on the host, and the result is that of NumPy."""

import re
import signal

import numpy as np
import pytest

from tests.stand_in import DeviceArray
from tests.tiny_runs import interrupted_after, metrics, numbers, tiny
from tinyvit import evaluate, fewshot, finetune, gradcheck, predict, train, visualize
from tinyvit.engine import ReferenceEngine

GPU = ("--device", "gpu")
TRAIN = (*GPU, "--precision", "fp32")  # as NumPy; a card that has bfloat16 would use it


@pytest.fixture
def run(gpu, go, photos, tmp_path):
    """run(NAME, flags ...) trains on the GPU and returns the run folder."""

    def run(name, *more):
        status, out, err = go(train, *tiny(photos, tmp_path / name, *TRAIN, *more))
        assert (status, err) == (0, "")
        assert gpu.label in out
        return tmp_path / name

    return run


@pytest.mark.parametrize("optimizer", ["adamw", "adam", "sgd", "muon"])
def test_training_on_the_gpu_agrees_with_numpy(run, go, photos, tmp_path, optimizer):
    more = ("--dropout", "0.1", "--drop-path", "0.1", "--accumulate", "2", "--optimizer", optimizer)
    more += ("--smoothing", "0.1", "--mixup", "0.8", "--cutmix", "1", "--erase", "0.5")
    more += ("--augment", "autoaugment")
    if optimizer == "muon":
        more += ("--patch-dropout", "0.5")
    there = run("there", *more)
    assert go(train, *tiny(photos, tmp_path / "here", *more))[0] == 0
    for a, b in zip(metrics(there), metrics(tmp_path / "here"), strict=True):
        assert a["train_loss"] == pytest.approx(b["train_loss"], rel=1e-3)
    found, expected = numbers(there / "last.npz"), numbers(tmp_path / "here" / "last.npz")
    assert found.keys() == expected.keys()
    for name in found:
        assert found[name].dtype == np.float32
        np.testing.assert_allclose(found[name], expected[name], rtol=1e-2, atol=2e-3, err_msg=name)


def test_a_step_never_waits(stand_in, go, photos, tmp_path, monkeypatch):
    """Reading a number makes the host wait for the device; only the progress line does, now and then."""
    take_step, waits = ReferenceEngine.step, []

    def watched(*args):
        before = DeviceArray.waits
        result = take_step(*args)
        waits.append(DeviceArray.waits - before)
        return result

    monkeypatch.setattr(ReferenceEngine, "step", watched)
    assert go(train, *tiny(photos, tmp_path / "a", *GPU, "--epochs", "1"))[0] == 0
    assert waits == [0, 0, 0, 0]


def test_a_run_is_resumed_there(run, go, photos, tmp_path, monkeypatch):
    alone = run("alone")
    with interrupted_after(monkeypatch, 6):
        assert go(train, *tiny(photos, tmp_path / "cut", *TRAIN))[0] == 128 + signal.SIGINT
    assert go(train, "--resume", tmp_path / "cut")[0] == 0
    found, expected = numbers(tmp_path / "cut" / "last.npz"), numbers(alone / "last.npz")
    for name in found:
        np.testing.assert_allclose(found[name], expected[name], rtol=1e-2, atol=2e-3, err_msg=name)


def test_every_other_command_takes_it_too(run, gpu, go, photos, tmp_path):
    base, image = run("base"), next((photos / "red").iterdir())
    for command, *words in (
        (evaluate, base),
        (predict, base, image, "--attention", tmp_path / "a.png"),
        (predict, base, image, "--resolution", "16"),
        (visualize, base, "--images", "3"),
        (fewshot, base, "--dataset", "folder", "--data-dir", photos, "--shots", "2"),
        (gradcheck, "--only", "linear"),  # every check on a GPU: see tests/gradcheck
    ):
        here, there = go(command, *words, "--device", "cpu"), go(command, *words, *GPU)
        assert here[0] == there[0] == 0, (command, there)
        if command in (evaluate, fewshot, predict):
            assert words_of(here[1]) == words_of(there[1])
            np.testing.assert_allclose(numbers_of(here[1]), numbers_of(there[1]), atol=0.11)
    words = ("--dataset", "folder", "--data-dir", photos, "--steps", "3", "--out", tmp_path / "tuned")
    assert go(finetune, base, *words, *GPU)[0] == 0


def words_of(text):
    """A command's output without its numbers."""
    return re.sub(r"[\d.]+", "#", without_times(text))


def numbers_of(text):
    return [float(number) for number in re.findall(r"\d+(?:\.\d+)?", without_times(text))]


def without_times(text):
    """All but the lines that say how fast something was."""
    return "\n".join(line for line in text.splitlines() if "img/s" not in line)
