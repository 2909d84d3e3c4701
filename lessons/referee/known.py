"""Known mistakes: is a wrong result, number for number, what a mistake gives that can be named?

A lesson's mutants/ hold plausible wrong answers, each of which says its fault in its first sentence; slips.py
makes others, with one thing wrong each. The check that has failed is run on them, and if one fails as the
learner's answer did, so are the lesson's other checks of the same functions. Where all of them end as they end
with the learner's answer, that has, for all one can see, this fault.
"""

from __future__ import annotations

import ast
import importlib.util
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

from lessons.referee.calls import Watched
from lessons.referee.fault import Fault
from lessons.referee.rerun import alike, rerun
from lessons.referee.slips import slips

SECONDS = 3.0  # for all mistakes together, when a check has failed
ALTOGETHER = 12.0  # for all checks of an answer
MOST = 2  # names of one fault that are told

Check = Callable[[ModuleType], None]
Mistake = tuple[int, str, ModuleType]  # how likely it is, what is wrong, and the answer itself


class Search:
    """The search for what is wrong with one answer, by the checks of its lesson, each under its name."""

    def __init__(self, lesson: Path, answer: ModuleType, checks: dict[str, Check]):
        self.lesson, self.answer, self.checks = lesson, answer, checks
        self.left = ALTOGETHER
        self.found: list[Mistake] = []  # what has been named is tried first
        self.ended: dict[str, tuple[set[str], Exception | None]] = {}  # the functions a check used, its error

    def names(self, failed: str, error: Exception, functions: list[str]) -> list[str]:
        """What is wrong if this check has failed with this error, in words: one sentence, two, or none.

        functions are those that the check used, those first which are most likely at fault.
        """
        start = time.process_time()
        end = start + min(SECONDS, self.left)
        for mistakes in (iter(self.found), self._planted(), self._slips(functions)):
            named: dict[str, Mistake] = {}
            for mistake in mistakes:
                rank, sentence, module = mistake
                if time.process_time() > end or any(other[0] != rank for other in named.values()):
                    break
                if sentence not in named and self._is_like(failed, error, set(functions), module):
                    named[sentence] = mistake
            if named:
                break
        self.left -= time.process_time() - start
        if len(named) > MOST:
            return []
        self.found = list({**{each[1]: each for each in self.found}, **named}.values())
        return list(named)

    def _planted(self) -> Iterator[Mistake]:
        for path in sorted(self.lesson.glob("mutants/*.py")):
            text = ast.get_docstring(ast.parse(path.read_text("utf-8"))) or ""
            yield 0, " ".join(text.split()), load(path)

    def _slips(self, functions: list[str]) -> Iterator[Mistake]:
        solution = load(self.lesson / "solution.py")
        for function in functions:
            yield from slips(solution, function)

    def _is_like(self, failed: str, error: Exception, functions: set[str], module: ModuleType) -> bool:
        """Whether a wrong answer fails in this check as the learner's did, and ends like it in the others."""
        check = self.checks[failed]
        if not alike(error, failure(check, module, error)) or not alike(error, failure(check, module)):
            return False
        for name, other in self.checks.items():
            if name not in self.ended:
                watched = Watched(self.answer)
                self.ended[name] = watched.used, failure(other, watched)
            used, end = self.ended[name]
            if name == failed or not used <= functions or isinstance(end, NotImplementedError):
                continue
            if not alike(end, failure(other, module, end)) or not alike(end, failure(other, module)):
                return False
        return True


def failure(check: Check, module: ModuleType, wanted: Exception | None = None) -> Exception | None:
    """What a check raises for an answer, if anything; quickly, if a fault is looked for."""
    try:
        with rerun(wanted if isinstance(wanted, Fault) and wanted.got else None):
            check(module)
    except Exception as error:
        return error
    return None


def load(path: Path) -> ModuleType:
    """The module in a file."""
    spec = importlib.util.spec_from_file_location(f"{path.parent.name}_{path.stem}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
