"""`python -m tests.fuzz.flags`: call every command with odd values for its flags, some thousand times.

Each call must end as a user expects: with status 0, or with status 2 and one line that says what is wrong; a
note may precede it. All calls are made in this process, whose memory is limited. Training ends after its
second step, nothing reaches the network, and a call that takes too long is cut off and counted.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import io
import os
import signal
import sys
import tempfile
import traceback
import urllib.error
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random
from unittest import mock

from tests.tiny_runs import REPOSITORY, make_photos, tiny
from tinyvit import train
from tinyvit.__main__ import commands
from tinyvit.engine import ReferenceEngine
from tinyvit.support.shell.command import run_command

MEMORY = 3 << 30  # bytes of address space
LONGEST_LINE = 2000  # characters of an error message
NUMBERS = (
    *("0", "1", "2", "3", "-1", "-0", "0.5", "1.5", "1e-9", "1e-400", "1e9", "1e308", "1e400", "nan", "inf"),
    *("-inf", "0x10", "1_000", "١", "٣٤", "", " ", "7 ", "255", "256", "257", "4096", "65536"),
    *(str(2**power + more) for power in (15, 16, 31, 32, 53, 62, 63, 64, 128) for more in (-1, 0, 1)),
    *(str(10**power) for power in (5, 9, 12, 15, 18, 19, 20)),
    *("9" * 400, "9" * 4300, "9" * 5000, "-" + "9" * 400, "0." + "3" * 400, "1e" + "9" * 400),
)
NAMES = (
    *("", " ", "-", "--", "=", "%s", "%(prog)s", "{}", "a\nb", "a\x1b[31m", "\udcff", "é" * 300, "x" * 5000),
    *("nano/4", "nano", "/4", "nano/", "nano/0", "nano/-4", "nano/4/4", "nano/" + "9" * 5000, "nano/²"),
    *("nano/4294967296", "R5+nano/4", "R5+nano/" + "9" * 30, "resnet-50", "resnet-" + "9" * 5000, "NANO/4"),
    *(
        "Ti_16-384",
        "B/16",
        "H200",
        "a,b",
        ",",
        ",,,",
        "red",
        "red,blue",
        "red,red",
        "a.png",
        ".png",
        "a.json",
    ),
    *(".", "..", "/", "/dev/null", "/dev/full", "/proc/self/mem", "nowhere", "nowhere/a.png", "~", "a" * 256),
    *("http://127.0.0.1:" + "9" * 20, "http://[", "http://", "file:///dev/zero", "ftp://a", "http://a b/"),
    *("http://\u2028/", "data:,x", "HTTP://127.0.0.1:0/", "http://a:b:c/", "http://user:pass@/", "//a"),
)


class Enough(BaseException):
    """The call has shown what it had to show, or has taken too long."""


@dataclass
class Ending:
    """The ending of a call: the words of the command line, a kind of ending, and the text on stderr."""

    words: list[str]
    kind: str
    shown: str

    @property
    def is_fault(self) -> bool:
        """True if a user would call this a bug."""
        return self.kind in ("traceback", "untidy")


def fuzz(calls: int, seed: int, seconds: float, only: str | None = None) -> Iterator[Ending]:
    """Make that many calls, each of at most that many seconds, and say how each of them ended."""
    random, home = Random(seed), Path.cwd()
    modules = [importlib.import_module(f"tinyvit.{name}") for name in commands() if only in (None, name)]
    with tempfile.TemporaryDirectory() as folder, _confined():
        photos = Path(folder) / "photos"
        photos.mkdir()
        make_photos(photos)
        run = Path(folder) / "run"
        call(train, tiny(photos, run, "--epochs", "1"), seconds=600, steps=1000)
        for number in range(calls):
            module, work = random.choice(modules), Path(folder) / str(number)
            work.mkdir()
            os.chdir(work)
            try:
                yield call(module, _words(module, random, run, photos, work), seconds)
            finally:
                os.chdir(home)


def call(module, words: list[str], seconds: float, steps: int = 2) -> Ending:
    """Run a command, a module of tinyvit, with these words, for at most `steps` steps of training."""
    out, err = io.StringIO(), io.StringIO()
    with mock.patch.multiple(sys, stdout=out, stderr=err), _few_steps(steps), _alarm(seconds):
        try:
            run_command(module.parser(), module.main, words)
        except SystemExit as leaving:
            status = leaving.code or 0
        except Enough as cut:
            return Ending(words, str(cut), "")
        except BaseException:
            return Ending(words, "traceback", traceback.format_exc())
    shown = err.getvalue()
    *_, line = shown.splitlines() or [""]  # a note may come before it
    tidy = shown.count(": error: ") == 1 and ": error: " in line and len(line) <= LONGEST_LINE
    kind = {0: "done", 2: "refused" if tidy else "untidy"}.get(status, f"status {status}")
    return Ending(words, kind, shown)


def _words(module, random: Random, run: Path, photos: Path, work: Path) -> list[str]:
    """A command line with one to three odd values, the rest as it should be."""
    name = module.__name__.removeprefix("tinyvit.")
    usual = {
        "train": tiny(photos, work / "run"),
        "pretrain": tiny(photos, work / "run"),
        "finetune": [str(run), "--dataset", "folder", "--data-dir", str(photos), "--threads", "1"],
        "fewshot": [str(run), "--dataset", "folder", "--data-dir", str(photos), "--threads", "1"],
        "bench": [
            "--model",
            "nano/4",
            "--batch-size",
            "2",
            "--rounds",
            "1",
            "--steps",
            "1",
            "--threads",
            "1",
        ],
        "gradcheck": ["--only", "softmax"],
        "predict": [str(run), str(photos / "red" / "1.png")],
        "visualize": [str(run), "--only", "filters"],
        "compare": [str(run), str(run)],
        "info": ["nano/4"],
        "export": [str(run), str(work / "out.npz")],
        "study": ["positions", "--threads", "1"],
    }.get(name, [str(run)])
    words = list(usual)
    actions = [action for action in module.parser()._actions if action.dest != "help"]
    for _ in range(random.choice((1, 1, 1, 2, 3))):
        action = random.choice(actions)
        pool = NUMBERS if action.metavar in ("N", "X", "R", "H", "C", "M") else NAMES
        if action.choices:
            pool = (*map(str, action.choices), *random.sample(NAMES, 2))
        elif random.random() < 0.1:
            pool = NAMES + NUMBERS
        elif action.metavar in ("RUN", "WEIGHTS", "MODEL") and random.random() < 0.3:
            pool = (str(run), str(photos))
        values = [] if action.nargs == 0 else [random.choice(pool)]
        if action.option_strings:
            flag = random.choice(action.option_strings)
            words += [f"{flag}={values[0]}"] if values and random.random() < 0.5 else [flag, *values]
        else:
            words[:1] = values or words[:1]
    return words


@contextlib.contextmanager
def _confined() -> Iterator[None]:
    """Within this context no address is reached, and child processes find tinyvit."""
    here = {"PYTHONPATH": str(REPOSITORY)}
    with (
        mock.patch.dict(os.environ, here),
        mock.patch("urllib.request.OpenerDirector._open", side_effect=urllib.error.URLError("cut off")),
    ):
        yield


@contextlib.contextmanager
def _few_steps(steps: int) -> Iterator[None]:
    """Within this context, training is cut off after so many steps."""
    take, taken = ReferenceEngine.step, 0

    def step(self, plan, lr):
        nonlocal taken
        if (taken := taken + 1) > steps:
            raise Enough("trained")
        return take(self, plan, lr)

    with mock.patch.object(ReferenceEngine, "step", step):
        yield


@contextlib.contextmanager
def _alarm(seconds: float) -> Iterator[None]:
    """Within this context, Enough is raised after so many seconds."""

    def ring(number, frame):
        raise Enough("unfinished")

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def main() -> int:
    """Fuzz, print every fault and a count of endings; returns 1 if there was a fault."""
    p = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    p.add_argument("--calls", type=int, default=3000, metavar="N")
    p.add_argument("--seed", type=int, default=0, metavar="N")
    p.add_argument("--seconds", type=float, default=10, metavar="S", help="limit on each call")
    p.add_argument("--only", metavar="COMMAND")
    args = p.parse_args()
    import resource

    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    endings = Counter()
    for ending in fuzz(args.calls, args.seed, args.seconds, args.only):
        endings[ending.kind] += 1
        if ending.is_fault or ending.kind == "unfinished":
            shown = " ".join(
                word if len(word) < 60 else f"{word[:50]}...[{len(word)}]" for word in ending.words
            )
            print(f"{ending.kind}: {shown!r}", flush=True)
        if ending.is_fault:
            print(ending.shown[-1500:], flush=True)
    print(", ".join(f"{count:,} {kind}" for kind, count in sorted(endings.items())))
    return 1 if endings["traceback"] or endings["untidy"] else 0


if __name__ == "__main__":
    sys.exit(main())
