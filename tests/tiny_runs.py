"""Runs so small that a test can afford several: 40 images of 8 x 8 pixels, 4 steps an epoch."""

import json
import os
import signal
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from tinyvit.engine import ReferenceEngine
from tinyvit.engine.cuda.engine import CudaEngine
from tinyvit.support.files.npz import SEALED
from tinyvit.support.shell.command import run_command

REPOSITORY = Path(__file__).parents[1]
STOPPING = "\nstopping after this step; press Ctrl-C again to stop at once\n"
MOMENTARY = ("seconds", "images_per_second")  # what no two runs have in common


def make_photos(folder):
    """A folder data set: noise with a touch of red or of blue, 20 images each, of which 4 are for testing."""
    rng = np.random.default_rng(0)
    for channel, name in ((0, "red"), (2, "blue")):
        (folder / name).mkdir()
        for i in range(20):
            pixels = rng.integers(0, 160, (8, 8, 3), dtype=np.uint8)
            pixels[..., channel] += np.uint8(60)
            Image.fromarray(pixels).save(folder / name / f"{i}.png")
    return folder


def tiny(photos, out, *more):
    """Flags of a run of 3 epochs on them, at `out`; `more` come last and so win."""
    flags = {"dataset": "folder", "data-dir": photos, "image-size": 8, "model": "nano/4", "crop-padding": 1}
    flags |= {"layers": 1, "epochs": 3, "batch-size": 8, "threads": 1, "device": "cpu", "out": out}
    if {"--model", "--weights", "--config"} & set(more):  # which have layers of their own
        del flags["layers"]
    if "--steps" in more:
        del flags["epochs"]
    return [str(word) for name, value in flags.items() for word in (f"--{name}", value)] + [*map(str, more)]


def enter(command, capsys, monkeypatch, *argv):
    """Run a command (a module such as tinyvit.train) in this process: exit status, stdout, stderr."""
    monkeypatch.setattr(sys, "argv", [command.__name__, *map(str, argv)])
    capsys.readouterr()
    with pytest.raises(SystemExit) as leaving:
        run_command(command.parser(), command.main)
    return leaving.value.code or 0, *capsys.readouterr()


def spawn(name, *argv, encoding="utf-8", **more):
    """Start `python -m tinyvit.NAME` as a user does: the process, its output piped."""
    path = os.pathsep.join(filter(None, (str(REPOSITORY), os.environ.get("PYTHONPATH"))))
    return subprocess.Popen(
        [sys.executable, "-m", f"tinyvit.{name}", *map(str, argv)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding=encoding,
        env=os.environ | {"PYTHONPATH": path, "PYTHONIOENCODING": encoding},
        **more,
    )


@contextmanager
def interrupted_after(monkeypatch, step, number=signal.SIGINT):
    """Within this context, a run gets a signal, by default Ctrl-C's, after this many steps."""

    def interrupting(take_step):
        def interrupted(self, plan, lr):
            result = take_step(self, plan, lr)
            if plan.step == step:
                signal.raise_signal(number)
            return result

        return interrupted

    with monkeypatch.context() as patch:
        for engine in (ReferenceEngine, CudaEngine):  # all others take the first one's
            patch.setattr(engine, "step", interrupting(engine.step))
        yield


def arrays(path):
    """All arrays of a checkpoint, without its seal: what is written back with np.savez has none."""
    with np.load(path, allow_pickle=False) as file:
        return {name: file[name] for name in file.files if name != SEALED}


def numbers(path):
    """The arrays of a checkpoint that are parameters or the optimiser's state."""
    return {name: array for name, array in arrays(path).items() if "/" in name}


def metrics(run):
    """The records of metrics.jsonl without what is a matter of the moment."""
    lines = (run / "metrics.jsonl").read_text("utf-8").splitlines()
    return [{k: v for k, v in json.loads(line).items() if k not in MOMENTARY} for line in lines]


def assert_same_bits(one, other):
    """Two checkpoints hold the same parameters and the same state of the optimiser."""
    one, other = numbers(one), numbers(other)
    assert one.keys() == other.keys()
    for name in one:
        assert one[name].tobytes() == other[name].tobytes(), name


def assert_same_run(run, expected):
    """Two runs left the same behind, but for times, and nothing else."""
    names = {"config.json", "metrics.jsonl", "metrics.csv", "last.npz", "best.npz", "curves.png", "samples"}
    optional = {"previous.npz", "split.json"}  # which only images with names have
    assert {path.name for path in run.iterdir()} - optional == names
    assert metrics(run) == metrics(expected)
    for name in ("last.npz", "best.npz"):
        assert_same_bits(run / name, expected / name)


def assert_one_line(result, *parts):
    """A user's mistake ends with status 2 and one line on stderr, in which all parts occur."""
    status, _, err = result
    assert status == 2, result
    assert err.count("\n") == 1, err
    assert err.endswith("\n")
    assert err.startswith("tinyvit."), err
    assert ": error: " in err
    for part in parts:
        assert str(part) in err, (part, err)
