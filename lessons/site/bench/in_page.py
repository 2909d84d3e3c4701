"""The work of Python in a page of the course: check an exercise, run listings, train what was written.

Everything is reported through `tell`, which takes a line of JSON, as soon as it is known.
"""

from __future__ import annotations

import base64
import io
import json
import linecache
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest

from lessons.faults import blocks

ROOT = Path(__file__).parents[3]
LESSONS = ROOT / "lessons"
OPTIONS = [
    "--capture=sys",
    *(f"-pno:{name}" for name in ("cacheprovider", "faulthandler", "hypothesispytest")),
]
NO_THREADS = "can't start new thread"
NO_COMPILER = "a C++ compiler is needed"

Tell = Callable[[str], None]

if np.intp(0).itemsize == 4:  # in a page
    # np.bincount refuses labels of 64 bits, as the data sets have them.
    _bincount = np.bincount
    np.bincount = lambda x, *rest, **named: _bincount(np.asarray(x).astype(np.intp), *rest, **named)


class Verdicts:
    """A plugin for pytest that tells every verdict when it falls, and keeps what the course counts.

    It stands in for pytest's cache, where the course puts how far a learner is. With a wrong check it tells
    all faults that are known by then.
    """

    def __init__(self, tell: Tell):
        self.tell = tell
        self.kept: dict[str, dict] = {}
        self.results: list[dict] = []  # of all checks, as the course's conftest.py lists them

    def pytest_configure(self, config: pytest.Config) -> None:
        """Take the place of the cache."""
        config.cache = self

    def get(self, key: str, default: object) -> object:
        """Nothing: each run starts afresh."""
        return default

    def set(self, key: str, value: dict) -> None:
        """Keep the counts of the lessons that have run."""
        self.kept = value

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Tell how many checks there are."""
        self.tell(json.dumps({"checks": len(session.items)}))
        self.results = session.config.lesson_results

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Tell the verdict of a check."""
        state = getattr(report, "lesson_state", None)
        if state is None and not (report.skipped and report.when == "call"):
            return
        told = {"state": state or "not here"}
        if state == "wrong" and NO_THREADS in self.results[-1]["text"]:
            self.results[-1]["state"] = "to do"  # for the counts: it is not wrong
            told = {"state": "not here", "text": "a page has no threads"}
        elif state == "wrong":
            found = blocks(self.results)
            told["faults"] = [{"lines": each.lines(), "printed": each.lead["printed"]} for each in found]
        elif state != "done":
            text = report.longrepr[2].removeprefix("Skipped: ")
            told["text"] = "a page has no compiler" if NO_COMPILER in text else text
        self.tell(json.dumps(told))


def write(files: dict[str, str]) -> None:
    """Put the learner's files where the course looks for them, by their paths in lessons/."""
    for name, text in files.items():
        file = LESSONS / name
        if not file.exists() or file.read_text("utf-8") != text:
            file.write_text(text, "utf-8")
            _RAN.clear()  # their listings may have used what has changed
    linecache.checkcache()


def check(lesson: str, tell: Tell) -> str:
    """Run the checks of a lesson on its exercise.py. JSON: done, total and said, or what went wrong."""
    verdicts = Verdicts(tell)
    printed = _pytest(verdicts, [lesson])
    return json.dumps(verdicts.kept.get(lesson) or {"failed": printed})


def _pytest(verdicts: Verdicts, lessons: list[str], *options: str) -> str:
    """Run the checks of lessons; what pytest prints."""
    for name in [name for name in sys.modules if name.endswith((".conftest", ".test_lesson"))]:
        del sys.modules[name]  # they keep what they have read of an exercise
    printed = io.StringIO()
    words = ["-c", str(ROOT / "pyproject.toml"), f"--rootdir={ROOT}", *OPTIONS, *options]
    with redirect_stdout(printed), redirect_stderr(printed):
        pytest.main([*words, *(str(LESSONS / lesson) for lesson in lessons)], plugins=[verdicts])
    return printed.getvalue()


class _Telling(io.TextIOBase):
    """A stream that tells what is printed at once."""

    def __init__(self, tell: Tell):
        self.tell = tell

    def write(self, text: str) -> int:
        self.tell(json.dumps({"printed": text}))
        return len(text)


_RAN: dict[str, tuple[list[str], dict]] = {}  # by page: its listings that have run, and the names they gave


def run(page: str, listings: list[str], tell: Tell) -> str:
    """Run the last of these listings of a page, after those above it that have not run. JSON: whether it did.

    Only what the last one prints is told, or the first error. A listing that has run already starts the
    page afresh, since it may have changed what it stands on. On "LESSON#bench" they are the lesson's exercise
    and lines that try it.
    """
    folder = page.endswith("#bench") and str(LESSONS / page.removesuffix("#bench"))
    if folder and folder not in sys.path:
        sys.path.append(folder)  # `import suspects` finds the lesson's own
    ran, names = _RAN.get(page, ([], {}))
    if listings[: len(ran)] != ran or len(ran) == len(listings):
        ran, names = [], {"__name__": "__main__"}
    _RAN[page] = ran, names
    for code in listings[len(ran) :]:
        title = f"listing {len(ran) + 1}"
        if folder:
            title = "the lines to try" if ran else "exercise.py"
        linecache.cache[title] = len(code), None, code.splitlines(True), title
        out = _Telling(tell) if len(ran) == len(listings) - 1 else io.StringIO()
        try:
            with redirect_stdout(out):
                exec(compile(code, title, "exec"), names)
        except Exception as error:
            error.__traceback__ = error.__traceback__ and error.__traceback__.tb_next  # without this file
            tell(json.dumps({"printed": "".join(traceback.format_exception(error))}))
            return json.dumps({"ran": False})
        ran.append(code)
    return json.dumps({"ran": True})


def climb(impl: str, tell: Tell) -> str:
    """`python -m lessons.mine --quick --impl IMPL`, with the loss of every step told beside what is printed.

    JSON: what the ladder has reached, to be kept, and the map as a PNG in base64.
    """
    from lessons.mine import __main__ as mine
    from lessons.mine import exercises, loop

    fit = loop.fit

    def fit_and_tell(own, *arguments, **options):
        def cross_entropy(*inputs):
            loss, cache = own["cross_entropy"](*inputs)
            tell(json.dumps({"loss": float(loss)}))
            return loss, cache

        return fit({**own, "cross_entropy": cross_entropy}, *arguments, **options)

    with (
        redirect_stdout(_Telling(tell)),
        patch.object(loop, "fit", fit_and_tell),
        patch.object(exercises, "_entries_of_a_run", _entries_of_a_run),  # which starts a process
    ):
        mine.main(mine.parser().parse_args(["--quick", "--impl", impl]))
    reached = mine.REACHED.read_text("utf-8") if mine.REACHED.exists() else ""
    return json.dumps({"reached": reached, "map": base64.b64encode(mine.PICTURE.read_bytes()).decode()})


def _entries_of_a_run(folders: list[Path], file: str) -> Iterator[dict]:
    """The results of the checks of lessons, as lessons.mine.exercises asks for them."""
    verdicts = Verdicts(lambda line: None)
    printed = _pytest(verdicts, [folder.name for folder in folders], "--impl", file)
    if not verdicts.results:
        raise RuntimeError(printed)
    yield from verdicts.results
