"""What `python -m tinyvit.bench --device gpu --minutes M` measures and checks, the most important first.

The jobs up to the plain path take nine minutes at most; a second call comes to the others.
"""

import importlib.util
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from shlex import quote

import tinyvit
from tinyvit.benchmark.on_gpu import WAYS

MACHINE = "python -m tinyvit.benchmark.ceilings"  # 15 s, before all others
_AGREEMENT = "python -m tinyvit.benchmark.agreement"
_SANITIZER = "compute-sanitizer"


@dataclass(frozen=True)
class Job:
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
    others = [("train", 128), ("train", 2048), ("infer", 512)]
    lacks = "" if shutil.which(_SANITIZER) else "a part of the CUDA toolkit that is not on the PATH"
    return [
        Job("agreement with the reference", 60, [_AGREEMENT]),
        Job("train, batch 512", 60, _bench("train", 512)),
        _beside_torch("train", 512, 150),
        _tests(),
        Job("the plain path", 20, _bench("train", 512, "--engine reference")[:1]),
        *(Job(f"{mode}, batch {batch:,}", 60, _bench(mode, batch)) for mode, batch in others),
        *(_beside_torch(mode, batch, 200) for mode, batch in others),
        Job("every gradient by itself", 60, ["python -m tinyvit.gradcheck --device gpu"]),
        *(
            Job(
                f"{tool} of {_SANITIZER}",
                240,
                [f"{_SANITIZER} --error-exitcode 1 --tool {tool} {_AGREEMENT}"],
                lacks,
            )
            for tool in ("memcheck", "racecheck")
        ),
        Job("recipe gpu-300", 480, ["python -m tinyvit.train --device gpu --recipe gpu-300"]),
    ]


def _bench(mode: str, batch: int, *more: str) -> list[str]:
    """For both models, tinyvit alone and kernel by kernel, or as `more` says."""
    start = f"python -m tinyvit.bench --device gpu --json --mode {mode} --batch-size {batch} --model"
    return [" ".join((start, model, *more)) for model in ("Ti/4", "S/4")]


def _beside_torch(mode: str, batch: int, seconds: int) -> Job:
    """tinyvit in turn with each of the ways of PyTorch, of which the faster is its rival."""
    commands = [command for way in WAYS for command in _bench(mode, batch, f"--vs {way}")]
    missing = "" if importlib.util.find_spec("torch") else "PyTorch is not installed"
    return Job(f"{mode}, batch {batch:,}, beside PyTorch", seconds, commands, missing)


def _tests() -> Job:
    """The repository's tests that need a GPU."""
    root = Path(tinyvit.__file__).resolve().parents[1]
    missing = (
        "" if (root / "tests/conftest.py").is_file() else "they are in the repository, which is not here"
    )
    places = f"--rootdir {quote(str(root))} {quote(str(root / 'tests'))}"
    return Job(
        "tests that need a GPU", 200, [f"python -m pytest -m gpu -p no:cacheprovider {places}"], missing
    )
