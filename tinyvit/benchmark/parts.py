"""What `python -m tinyvit.bench --device gpu --all` runs: a list of commands, the most important first."""

from __future__ import annotations

import importlib.util
import shutil
import sys
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path

import tinyvit

MODELS, BATCHES = ("Ti/4", "S/4"), (128, 512, 2048)
ON_GPU = (
    "TINYVIT_KERNEL_TESTS"  # set to gpu, the tests of kernels run them on a GPU: see tests/engine/cuda/run.py
)
_ROOT = Path(tinyvit.__file__).resolve().parents[1]
_SANITIZERS = ("compute-sanitizer", "/usr/local/cuda/bin/compute-sanitizer")


@dataclass(frozen=True)
class Part:
    """One command, run in a process of its own for at most `limit` seconds.

    Its standard output goes to a file NAME.json if it is JSON, otherwise NAME.txt. left_out, if not empty,
    says why it is not run.
    """

    name: str
    title: str
    command: tuple[str, ...]
    limit: int
    is_json: bool = False
    left_out: str = ""
    environment: dict[str, str] = field(default_factory=dict)


def all_parts(out: Path, data_dir: Path | None) -> list[Part]:
    """All parts, for results in the folder `out`."""
    return [
        Part("machine", "machine and versions", _module("tinyvit.benchmark.facts"), 120, is_json=True),
        Part("agreement", "CUDA engine and reference", _module("tinyvit.benchmark.agreement"), 300),
        *_speeds("train", "bf16"),
        _tests("kernels", "every kernel against the reference", ("tests/engine/cuda",), {ON_GPU: "gpu"}),
        _tests("gpu-tests", "tests that need a GPU", ("-m", "gpu", "tests"), {}),
        Part("gradcheck", "gradient check", _module("tinyvit.gradcheck", "--device", "gpu"), 300),
        *_against_torch("train", "bf16"),
        *_speeds("infer", "bf16"),
        _recipe(out, data_dir),
        *_against_torch("train", "bf16", "--compile"),
        *_against_torch("infer", "bf16", "--compile"),
        *(
            each
            for mode, numbers in product(("train", "infer"), ("tf32", "fp32"))
            for each in _speeds(mode, numbers)
        ),
        *_against_torch("train", "tf32"),
        *(part for tool in ("memcheck", "racecheck") for part in _sanitizer(tool, out)),
    ]


def _module(name: str, *flags: str) -> tuple[str, ...]:
    return (sys.executable, "-m", name, *flags)


def _speeds(mode: str, precision: str) -> list[Part]:
    """tinyvit alone, for all sizes."""
    return [
        Part(
            f"{mode}-{precision}-{model.replace('/', '-')}-{batch}",
            f"{mode}, {model}, batch {batch:,}, {precision}",
            _bench(mode, precision, model, batch),
            180,
            is_json=True,
        )
        for model, batch in product(MODELS, BATCHES)
    ]


def _against_torch(mode: str, precision: str, *more: str) -> list[Part]:
    """tinyvit and PyTorch, for all sizes; with --compile also torch.compile, which takes minutes to start."""
    missing = "" if importlib.util.find_spec("torch") else "PyTorch is not installed"
    return [
        Part(
            f"{'compile' if more else 'torch'}-{mode}-{precision}-{model.replace('/', '-')}-{batch}",
            f"{mode}, {model}, batch {batch:,}, {precision}, beside {'torch.compile' if more else 'PyTorch'}",
            _bench(mode, precision, model, batch, "--vs", "torch", *more),
            600 if more else 240,
            is_json=True,
            left_out=missing,
        )
        for model, batch in product(MODELS, BATCHES)
    ]


def _bench(mode: str, precision: str, model: str, batch: int, *more: str) -> tuple[str, ...]:
    flags = {
        "--device": "gpu",
        "--mode": mode,
        "--precision": precision,
        "--model": model,
        "--batch-size": batch,
    }
    return _module("tinyvit.bench", *(str(word) for pair in flags.items() for word in pair), "--json", *more)


def _tests(name: str, title: str, which: tuple[str, ...], environment: dict[str, str]) -> Part:
    missing = "" if (_ROOT / "tests").is_dir() else "the tests are in the repository, which is not here"
    if not missing and importlib.util.find_spec("pytest") is None:
        missing = "pytest is not installed"
    places = (str(_ROOT / word) if word.startswith("tests") else word for word in which)
    command = _module("pytest", "-q", "-rfEs", "-p", "no:cacheprovider", "--rootdir", str(_ROOT), *places)
    return Part(name, title, command, 300, left_out=missing, environment=environment)


def _recipe(out: Path, data_dir: Path | None) -> Part:
    """The CIFAR-10 recipe."""
    command = _training(out / "cifar10", "--dataset", "cifar10", "--data-dir", str(data_dir))
    missing = "" if data_dir else "--data-dir, the folder with CIFAR-10, is not given"
    return Part("recipe", "the CIFAR-10 recipe", command, 900, left_out=missing)


def _training(run: Path, *flags: str) -> tuple[str, ...]:
    """A training run on the GPU; one that was interrupted is continued."""
    where = ("--resume", str(run)) if (run / "last.npz").exists() else (*flags, "--out", str(run))
    return _module("tinyvit.train", "--device", "gpu", *where)


def _sanitizer(tool: str, out: Path) -> list[Part]:
    """compute-sanitizer on the kernels of forward and backward, and on those of a few whole steps."""
    found = next(filter(None, map(shutil.which, _SANITIZERS)), "")
    command: tuple[str, ...] = (found or _SANITIZERS[0], "--tool", tool, "--error-exitcode", "1")
    missing = "" if found else "compute-sanitizer, a part of the CUDA toolkit, is not found"
    flags = (
        "--steps 4 --optimizer muon --augment randaugment --mixup 0.8 --cutmix 1 --erase 0.25 --dropout 0.1"
    )
    steps = _training(out / f"sanitizer-{tool}-steps", *flags.split())
    parts = {
        f"sanitizer-{tool}": (f"compute-sanitizer, {tool}", _module("tinyvit.benchmark.agreement")),
        f"sanitizer-{tool}-steps": (f"compute-sanitizer, {tool}, training steps", steps),
    }
    return [Part(name, title, command + what, 600, left_out=missing) for name, (title, what) in parts.items()]
