"""The README's Python and commands, as they stand and in their order: `python -m tests.readme` in a clone.

Data and trainings are short here (see shorten), and CIFAR, MNIST and the reader's own photos are noise, made
in the current folder. One line of JSON for each block of Python and each command says what came of it: what
was run, its exit status, what went wrong; or why it was not run.
"""

import ast
import contextlib
import io
import json
import pickle
import re
import runpy
import shlex
import sys
import time
import traceback
import warnings
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from PIL import Image

from tinyvit.data import cifar, shapes
from tinyvit.training import fit as training_fit
from tinyvit.training import session

README = Path(__file__).parents[1] / "README.md"
BLOCK = re.compile(r"^```(python|bash|)\n(.*?)^```", re.DOTALL | re.MULTILINE)
COMMAND = re.compile(r"(python|mpiexec)\b")
NOT_HERE = {  # how a command begins, and why it is not run
    "python -m pip": "it needs the network",
    "python -m pytest": "these are the tests themselves",
    "python -m tinyvit.gradcheck": "it takes half a minute, and tests/gradcheck checks the same",
    "python -m tinyvit.finetune S_16-384": "it needs published weights",
    "python -m tinyvit.predict --weights Ti_16-384": "it needs published weights",
    "python -m tinyvit.predict clip-vit": "it needs published weights",
    "python -m tinyvit.train --dataset parquet": "it needs pyarrow",
    "python -m tinyvit.study": "it goes on for half an hour, and tests/training/studies carries studies out",
    "python -m tinyvit.bench --vs torch": "it needs PyTorch",
    "python -m lessons.30_many_devices.speed": "it takes half a minute",
    "python -m lessons.26_fast_cpu.tricks": "it takes minutes",
    "mpiexec": "it needs MPI",
}


def shorten():
    """Make the data sets small, every training one epoch with 8 images a step, and models nano/4."""
    shapes.make_shapes.__defaults__ = (1000, 20, 0)
    for source in cifar.SOURCES.values():
        source.images_per_file.update(dict.fromkeys(source.images_per_file, 100))
    train, fit = session.train, training_fit.fit
    training_fit.fit = lambda *args, epochs=None, **settings: fit(*args, epochs=1, **settings)

    def short(chosen, *args, resume=None, **named):
        if not resume:
            chosen = {name: value for name, value in chosen.items() if name != "steps"}
            chosen |= {"batch_size": 8, "epochs": 1, "validation": 0}
            if chosen.get("dataset", "shapes") in ("shapes", "cifar10"):
                chosen |= {"fraction": 0.04}
            if "weights" not in chosen:
                chosen = {"model": "nano/4"} | chosen
        return train(chosen, *args, resume=resume, **named)

    session.train = short


def make_data():
    """CIFAR and MNIST in data/, pictures in photos/, more-photos/ and new-photos/, arrays: all noise."""
    rng = np.random.default_rng(0)
    for name, key, count in (("cifar10", b"labels", 10), ("cifar100", b"fine_labels", 100)):
        source = cifar.SOURCES[name]
        for file in (Path("data", name) for name in source.python.members):
            file.parent.mkdir(parents=True, exist_ok=True)
            batch = {b"data": rng.integers(0, 256, (100, 3072), dtype=np.uint8)}
            batch[key] = [i % count for i in range(100)]
            file.write_bytes(pickle.dumps(batch, protocol=4))
    pixels, labels = rng.integers(0, 256, (100, 28, 28), dtype=np.uint8), np.arange(100, dtype=np.uint8) % 10
    Path("data/mnist").mkdir()
    for part in ("train", "t10k"):
        for kind, array in (("images-idx3", pixels), ("labels-idx1", labels)):
            header = np.array([0x800 + array.ndim, *array.shape], ">u4").tobytes()
            Path(f"data/mnist/{part}-{kind}-ubyte").write_bytes(header + array.tobytes())
    np.savez("digits.npz", x=pixels, y=labels)
    Path("train.csv").write_text(
        "".join(f"{name}/{i},{name}\n" for name in ("cat", "dog") for i in range(20))
    )
    for name in ("photos/cat", "photos/dog", "more-photos/cat", "more-photos/dog", "new-photos"):
        Path(name).mkdir(parents=True)
        for i in range(20):
            Image.fromarray(rng.integers(0, 256, (40, 50, 3), dtype=np.uint8)).save(f"{name}/{i}.png")


def commands(block):
    """The command at the start of each line, and the same with each ending that its explanation offers."""
    found = []
    for line in filter(COMMAND.match, block.splitlines()):
        command, *explanation = re.split("  +", line, maxsplit=1)
        endings = re.findall(r"(?<= )\.(?:npz|safetensors|onnx|html)\b", "".join(explanation))
        found += [command, *(command + ending for ending in endings)]
    return found


def run_command(command):
    """Run `python -m MODULE ...` in this process; its exit status, and what it printed if that is not 0."""
    words, said = shlex.split(command), io.StringIO()
    assert words[:2] == ["python", "-m"], command
    before = sys.argv
    sys.argv = words[2:]
    try:
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            runpy.run_module(words[2], run_name="__main__", alter_sys=True)
        status = 0
    except SystemExit as leaving:
        status = leaving.code or 0
    finally:
        sys.argv = before
    return {"status": status, "wrong": said.getvalue() if status else ""}


def run_python(block, names):
    """Run a block; what is wrong is an exception, or another result than a comment ends in."""
    wrong = ""
    try:
        for statement in ast.parse(block).body:
            source = ast.get_source_segment(block, statement)
            if not isinstance(statement, ast.Expr):
                exec(source, names)
                continue
            result = eval(source, names)
            comment = block.splitlines()[statement.end_lineno - 1].partition("  # ")[2]
            if result is not None and comment and not comment.endswith(described(result)):
                wrong += f"{source} is {described(result)}, not {comment}\n"
    except Exception:
        wrong += traceback.format_exc()
    return {"status": int(bool(wrong)), "wrong": wrong}


def described(result):
    """A result as a comment ends in it: the shape of an array; of names, which training decides, "]"."""
    if isinstance(result, np.ndarray):
        return "]" if result.dtype.kind == "U" else str(result.shape)
    if isinstance(result, tuple) and not isinstance(result[0], int):
        return ", ".join(map(described, result))
    return f"{result:.1f}" if isinstance(result, float) else str(result)


def main():
    warnings.simplefilter("ignore")
    shorten()
    make_data()
    names = {}
    for kind, block in BLOCK.findall(README.read_text("utf-8")):
        for each in [block] if kind == "python" else commands(block):
            started = time.monotonic()
            why = next((why for start, why in NOT_HERE.items() if each.startswith(start)), None)
            if each.endswith(".onnx") and find_spec("onnx") is None:
                why = "it needs onnx"
            if why:
                result = {"not run": why}
            else:
                result = run_python(each, names) if kind == "python" else run_command(each)
            print(json.dumps({"run": each} | result | {"seconds": time.monotonic() - started}), flush=True)


if __name__ == "__main__":
    main()
