"""`python -m tests.faults.killed_writers`: kill -9 exports and unpacking, see what is left.

Whatever has its final name must then be whole, and the next attempt must leave nothing else behind. Processes
are forked, so this needs Linux or macOS.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tarfile
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from random import Random

from tests.faults.forks import command, ended, start
from tests.helpers import tiny_config
from tinyvit.model import initialise
from tinyvit.support.files.archive import unpack
from tinyvit.weights.checkpoint import Checkpoint, save_checkpoint

FORMATS = ("model.npz", "model.safetensors", "model.html", "model")
MEMBERS = ("set/one.bin", "set/two.bin", "set/three.bin")

Writer = Callable[[Path], Callable[[], object]]  # given a folder: what writes into it


def writers(work: Path, width: int, seed: int) -> dict[str, Writer]:
    """Everything that is killed, by name; what it starts from is made in the folder work."""
    found: dict[str, Writer] = {}
    for name in FORMATS:
        arithmetic = {"gelu": "exact", "eps": 1e-12} if name == "model.safetensors" else {}
        config = tiny_config(width=width, mlp_width=4 * width, **arithmetic)
        source = work / f"{name}-source.npz"
        save_checkpoint(source, Checkpoint(config, initialise(config, 1), classes=tuple("abcde")))
        found[f"export {name}"] = partial(_export, source, name)
    for i, name in enumerate(MEMBERS):
        (work / name).parent.mkdir(exist_ok=True)
        (work / name).write_bytes(Random(seed + i).randbytes(1000 * width))
    with tarfile.open(work / "set.tar.gz", "w:gz") as archive:
        archive.add(work / "set", "set")
    found["unpack"] = lambda out: partial(unpack, work / "set.tar.gz", MEMBERS, out)
    return found


def _export(source: Path, name: str, out: Path) -> Callable[[], object]:
    return command("export", [source, out / name])


def contents(folder: Path) -> dict[str, bytes | None]:
    """All files below a folder, and all folders, without content."""
    below = sorted(folder.rglob("*"))
    return {str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None for path in below}


def main() -> int:
    """Kill as often as asked; AssertionError if something half-written was taken for whole, or stayed."""
    p = argparse.ArgumentParser(description="Kill what writes files at random moments; look what is left.")
    p.add_argument("--times", type=int, default=200, metavar="N", help="number of kills (default: 200)")
    p.add_argument("--width", type=int, default=240, metavar="D", help="of the models (default: 240)")
    p.add_argument("--seed", type=int, default=0, metavar="N", help="seed of the moments (default: 0)")
    args = p.parse_args()
    random, kills, found = Random(args.seed), 0, Counter()
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        started = writers(work, args.width, args.seed)
        whole, seconds = {}, {}
        for name, writer in started.items():
            (out := work / f"whole {name}").mkdir()
            began = time.monotonic()
            assert ended(start(writer(out))) == 0, name
            seconds[name] = time.monotonic() - began
            whole[name] = contents(out)
        while kills < args.times:
            name, out = random.choice(list(started)), Path(tempfile.mkdtemp(dir=work))
            writer = started[name](out)
            killed = ended(start(writer), random.uniform(0.5, 1.2) * seconds[name]) is None
            left = _left(contents(out), whole[name], name == "unpack")
            seconds[name] *= {"nothing": 1.1, "all": 0.9}.get(left, 1)  # towards the moments of writing
            kills += killed
            if killed:
                found[f"{name}: {left}"] += 1
            if contents(out) != whole[name]:
                assert ended(start(writer)) == 0, f"{name} did not succeed after kill {kills}"
            assert contents(out) == whole[name], f"{name} left something behind after kill {kills}"
            shutil.rmtree(out)
    print(f"{kills} kills, all was whole or not there, and nothing was left by the next attempt; after them:")
    for where, count in sorted(found.items()):
        print(f"  {count:4}  {where}")
    return 0


def _left(content: dict[str, bytes | None], whole: dict[str, bytes | None], in_parts: bool) -> str:
    """The files that a kill left, in words. AssertionError if something visible is not what it should be."""
    visible = {name: content[name] for name in content if not name.startswith(".")}
    assert all(name in whole and whole[name] == visible[name] for name in visible), sorted(visible)
    if visible.keys() == whole.keys():
        return "all"
    assert in_parts or not visible, sorted(visible)
    return "some whole files" if visible else "a temporary file" if content else "nothing"


if __name__ == "__main__":
    sys.exit(main())
