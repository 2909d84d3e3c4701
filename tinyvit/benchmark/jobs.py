"""What `python -m tinyvit.bench --device gpu --minutes M` measures and checks, the most important first.

The jobs up to the plain path take nine minutes at most; a second call comes to the others.
"""

import shutil
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from shlex import quote
from typing import NamedTuple

import tinyvit
from tinyvit.benchmark.on_gpu import WAYS

MACHINE = "python -m tinyvit.benchmark.ceilings"  # 15 s, before all others
_AGREEMENT = "python -m tinyvit.benchmark.agreement"


class Job(NamedTuple):
    """Commands that may take so many seconds together; missing says why, if they cannot be run here.

    Each prints a JSON object, or text of which the last line says what came of it.
    """

    name: str
    seconds: int
    commands: Sequence[str]
    missing: str = ""

    def left(self, records: Mapping[str, dict]) -> list[str]:
        """The commands of which these records, by commands, do not say that they have ended well."""
        return [each for each in self.commands if records.get(each, {}).get("status") != "ok"]


def all_jobs() -> list[Job]:
    """The jobs after MACHINE."""
    tests, tool = Path(tinyvit.__file__).resolve().parents[1] / "tests", "compute-sanitizer"
    no_torch = "" if find_spec("torch") else "PyTorch is not installed"
    no_tests = "" if (tests / "conftest.py").is_file() else "they are in the repository, which is not here"
    no_tool = "" if shutil.which(tool) else f"{tool}, a part of the CUDA toolkit, is not on the PATH"
    ways, others = [f"--vs {way}" for way in WAYS], [("train", 128), ("train", 2048), ("infer", 512)]
    return [
        Job("agreement with the reference", 60, [_AGREEMENT]),
        Job("train, batch 512", 60, _bench("train", 512)),
        Job("train, batch 512, beside PyTorch", 150, _bench("train", 512, *ways), no_torch),
        Job("tests", 200, [f"python -m pytest -m gpu -p no:cacheprovider {quote(str(tests))}"], no_tests),
        Job("the plain path", 20, _bench("train", 512, "--engine reference")[:1]),
        *(Job(f"{mode}, batch {n:,}", 60, _bench(mode, n)) for mode, n in others),
        *(
            Job(f"{mode}, batch {n:,}, beside PyTorch", 200, _bench(mode, n, *ways), no_torch)
            for mode, n in others
        ),
        Job("gradients", 120, ["python -m tinyvit.gradcheck --device gpu"]),
        Job("memory", 240, [f"{tool} --error-exitcode 1 {_AGREEMENT}"], no_tool),
        Job("races", 240, [f"{tool} --error-exitcode 1 --tool racecheck {_AGREEMENT}"], no_tool),
        Job("accuracy", 240, ["python -m tinyvit.train --device gpu --recipe gpu-2-minutes"]),
    ]


def _bench(mode: str, batch: int, *more: str) -> list[str]:
    """For both models, tinyvit alone and kernel by kernel, or in each of the ways that `more` has."""
    start = f"python -m tinyvit.bench --device gpu --mode {mode} --batch-size {batch} --json"
    return [
        f"{start} {each} --model {model}"
        for each in more or ("--precision bf16",)
        for model in ("Ti/4", "S/4")
    ]
