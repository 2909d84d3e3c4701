"""Known mistakes: is a wrong result, number for number, what a mistake gives that can be named?

A lesson's mutants/ hold plausible wrong answers, each of which says its fault in its first sentence; slips.py
makes others, with one thing wrong each. The check that has failed is run on them, and if one fails as the
learner's answer did, so are the lesson's other checks of the same functions. Where all of them end as they end
with the learner's answer, that has, for all one can see, this fault.
"""

from __future__ import annotations

import ast
import importlib.util
import inspect
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FunctionType, ModuleType
from typing import NamedTuple

import numpy as np

from lessons.referee.calls import Watched
from lessons.referee.fault import Fault
from lessons.referee.rerun import alike, rerun
from lessons.referee.slips import slips

SECONDS = 3.0  # for all mistakes together, when a check has failed
ALTOGETHER = 12.0  # for all checks of an answer
MOST = 2  # names of one fault that are told

Check = Callable[[ModuleType], None]
Mistake = tuple[float, str, ModuleType]  # how likely it is, what is wrong, and the answer itself


class Likeness(NamedTuple):
    """How like the learner's answer a mistake is; the greater of two is the likelier."""

    share: float  # of the checks that fail with either, how many fail alike with both
    in_failures: bool  # whether all that fail with the learner's are among them
    numbers: int  # how many numbers, round ones not counted, are the same in them

    def is_enough(self) -> bool:
        """Whether it can hardly be chance."""
        if self.numbers >= 6:
            return self.share >= 0.5
        return self.share >= (0.65 if self.in_failures else 0.8 if self.numbers else 2)


class Search:
    """The search for what is wrong with one answer, by the checks of its lesson, each under its name."""

    def __init__(self, lesson: Path, answer: ModuleType, checks: dict[str, Check]):
        self.lesson, self.answer, self.checks = lesson, answer, checks
        self.left = ALTOGETHER
        self.found: list[Mistake] = []  # what has been named is tried first
        self.ended: dict[tuple, Exception | None] = {}  # how a check of some functions ends for the answer

    def names(self, failed: str, error: Exception, functions: list[str]) -> list[str]:
        """What is wrong if this check has failed with this error, in words: one sentence, two, or none.

        functions are those that the check used, those first which are most likely at fault.
        """
        start = time.process_time()
        end = start + min(SECONDS, self.left)
        like: dict[str, tuple[Likeness, Mistake]] = {}
        for mistakes in (iter(self.found), self._planted(), self._slips(functions)):
            enough = None  # the rank of a mistake that is like the answer everywhere
            for mistake in mistakes:
                rank, sentence, module = mistake
                if time.process_time() > end or enough not in (None, rank):
                    break
                if sentence not in like and self._fails_like(failed, error, module):
                    likeness = self._likeness(failed, error, set(functions), module)
                    enough = rank if likeness.share == 1 and likeness.numbers else enough
                    if likeness.is_enough():
                        like[sentence] = likeness, mistake
            if enough is not None:
                break
        self.left -= time.process_time() - start
        best = max((likeness for likeness, _ in like.values()), default=None)
        alike = [mistake for likeness, mistake in like.values() if likeness == best]
        named = [mistake for mistake in alike if mistake[0] == min(rank for rank, *_ in alike)]
        if len(named) > MOST or (len(alike) > 1 and not best.numbers):  # words alone say little
            return []
        self.found += [mistake for mistake in named if mistake not in self.found]
        return [sentence for _, sentence, _ in named]

    def _planted(self) -> Iterator[Mistake]:
        for path in sorted(self.lesson.glob("mutants/*.py")):
            text = ast.get_docstring(ast.parse(path.read_text("utf-8"))) or ""
            yield 0, " ".join(text.split()), load(path)

    def _slips(self, functions: list[str]) -> Iterator[Mistake]:
        solution = load(self.lesson / "solution.py")
        for function in functions:
            names = _results(getattr(self.answer, function, None))
            for rank, says, module in slips(solution, function):
                yield rank, re.sub(r"number (\d) of the results", lambda m: names.get(m[1], m[0]), says), module

    def _fails_like(self, failed: str, error: Exception, module: ModuleType) -> bool:
        """Whether a wrong answer fails in this check as the learner's did."""
        check = self.checks[failed]
        return alike(error, failure(check, module, error)) and alike(error, failure(check, module))

    def _likeness(self, failed: str, error: Exception, functions: set[str], module: ModuleType) -> Likeness:
        """How like the learner's answer it is in the other checks of these functions."""
        alike_failures, failures, others = [error], 1, 0
        for name, check in self.checks.items():
            key = name, *sorted(functions)
            if key not in self.ended:
                self.ended[key] = failure(check, _Limited(self.answer, functions))
            end = self.ended[key]
            if name == failed or isinstance(end, NotImplementedError):
                continue
            is_alike = alike(end, failure(check, module, end)) and alike(end, failure(check, module))
            failures += bool(end)
            others += not end and not is_alike
            alike_failures += [end] if end and is_alike else []
        count = len(alike_failures)
        return Likeness(count / (failures + others), count == failures, _numbers(alike_failures))


class _Limited(Watched):
    """An answer of which only some functions are there; the others are to do."""

    def __init__(self, answer: ModuleType, functions: set[str]):
        super().__init__(answer)
        object.__setattr__(self, "functions", functions)

    def __getattr__(self, name: str):
        value = super().__getattr__(name)
        if isinstance(value, FunctionType) and name not in object.__getattribute__(self, "functions"):
            raise NotImplementedError
        return value


def failure(check: Check, module: ModuleType, wanted: Exception | None = None) -> Exception | None:
    """What a check raises for an answer, if anything; quickly, if a fault is looked for."""
    try:
        with rerun(wanted if isinstance(wanted, Fault) and wanted.got else None):
            check(module)
    except Exception as error:
        return error
    return None


def _results(function) -> dict[str, str]:
    """The names of what a function returns, by their number, as its docstring has them: dx (..., D), ..."""
    if not isinstance(function, FunctionType):
        return {}
    names = re.findall(r"(\w+) \(", function.__doc__ or "")
    names = [name for name in names if name not in inspect.signature(function).parameters]
    return {str(number): name for number, name in enumerate(names, start=1)}


def _numbers(errors: list[Exception]) -> int:
    """How many different numbers, not counting round ones, came out wrong."""
    arrays = [np.ravel(got).astype(float) for error in errors for got in getattr(error, "got", ())]
    sizes = np.unique(np.abs(np.concatenate([np.zeros(0), *arrays])).round(12))
    return int((np.abs(sizes * 100 - np.rint(sizes * 100)) > 1e-9).sum())


def load(path: Path) -> ModuleType:
    """The module in a file."""
    spec = importlib.util.spec_from_file_location(f"{path.parent.name}_{path.stem}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
