"""Wrong answers: the tables in the lessons' mutants.py, and the answers that their rows stand for.

Each row of a table has one thing wrong. After "? NAME: " stands the fault, in a sentence that may continue in
lines indented by two. It is what a learner who has made this mistake is told first. Below it stands how the
answer differs from the lesson's solution.py:

    ? root_twice: dk is divided by the root of K although the cached queries are scaled already.
    - dk = dS.swapaxes(-1, -2) @ q
    + dk = dS.swapaxes(-1, -2) @ q * (1 / math.sqrt(q.shape[-1]))

    ? no_bias: The mean is taken for the whole answer: a bright template wins too often.
    def mean_templates(x, labels, classes):
        weight, bias = solution.mean_templates(x, labels, classes)
        return weight, np.zeros_like(bias)

A piece after "-", which must occur exactly once, is replaced by the lines after "+", or deleted if there are
none; a row may replace several. Functions take the place of the solution's, whose names they can use; the
solution itself is called `solution`.

"@ FILE" makes the rows below it replace pieces of that file of the repository, and take their functions from
there; "# WORDS" gives them a topic.
"""

from __future__ import annotations

import functools
import importlib
import linecache
import math
import re
import runpy
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

ROOT = Path(__file__).parents[1]
ROW = re.compile(r"^([?@#]) (.*(?:\n  .*)*)\n((?:(?![?@#] ).*\n?)*)", re.M)
CHANGE = re.compile(r"((?:^-(?: .*)?\n)+)((?:^\+(?: .*)?\n)+)", re.M)


@dataclass(frozen=True)
class WrongAnswer:
    """A row of a table."""

    lesson: Path  # its folder
    name: str
    fault: str  # a sentence
    body: str  # the lines below it
    file: Path  # whose pieces are replaced
    topic: str

    @property
    def path(self) -> Path:
        """Names the answer in tracebacks and messages: .../mutants.py:NAME, which is no file."""
        return self.lesson / f"mutants.py:{self.name}"

    def module(self) -> ModuleType:
        """The answer, made afresh. Raises ValueError if a piece does not occur exactly once."""
        solution = importlib.import_module(f"lessons.{self.lesson.name}.solution")
        answer = ModuleType(f"{self.lesson.name}_{self.name}")
        answer.__file__ = str(self.path)
        names = vars(answer)
        if pieces := changes(self.body):
            source = changed(self.file.read_text("utf-8"), pieces)
            if self.file.parent != self.lesson:
                names = dict(names)
        else:
            source = self.body
            names |= {"math": math, "np": np, **_public(vars(solution)), "solution": solution}
        linecache.cache[str(self.path)] = len(source), None, source.splitlines(keepends=True), str(self.path)
        exec(compile(source, self.path, "exec", dont_inherit=True), names)
        if names is not vars(answer):
            vars(answer).update({name: names.get(name, vars(solution)[name]) for name in solution.__all__})
        return answer


@functools.cache
def wrong_answers(lesson: Path) -> dict[str, WrongAnswer]:
    """The wrong answers to the lesson in this folder, by their names."""
    found: dict[str, WrongAnswer] = {}
    file, topic = lesson / "solution.py", ""
    for mark, head, body in ROW.findall(runpy.run_path(str(lesson / "mutants.py"))["WRONG"]):
        if mark == "@":
            file = ROOT / head
        elif mark == "#":
            topic = head
        else:
            name, _, fault = " ".join(head.split()).partition(": ")
            if name in found:
                raise ValueError(f"{lesson.name}/mutants.py has two rows {name!r}")
            found[name] = WrongAnswer(lesson, name, fault, body, file, topic)
    return dict(sorted(found.items()))


def changes(text: str) -> list[tuple[str, str]]:
    """The pieces after "-" in a text, each with the one after "+" that replaces it."""
    plain = lambda lines: re.sub(r"^[-+] ?", "", lines, flags=re.M).removesuffix("\n")
    return [(plain(right), plain(wrong)) for right, wrong in CHANGE.findall(text)]


def changed(source: str, pieces: list[tuple[str, str]]) -> str:
    """A source with pieces replaced, one after the other; ValueError if one does not occur exactly once."""
    for right, wrong in pieces:
        if source.count(right) != 1:
            raise ValueError(f"there are {source.count(right)} places with {right!r}, expected one")
        source = source.replace(right, wrong)
    return source


def _public(names: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in names.items() if not name.startswith("__")}
