"""The fault of an answer: a known mistake that gives the same, number for number, or an edit that mends it.

A lesson's mutants.py has plausible wrong answers, each with its fault in a sentence. The failed check is
run on them, and where one fails as the learner's answer did, so are the lesson's other checks of the same
functions. If these end alike, that answer has, for all one can see, this fault. If there is none, repair.py
looks for an edit of the answer with which the checks pass.
"""

from __future__ import annotations

import ast
import copy
import functools
import inspect
import linecache
import re
import textwrap
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from types import FunctionType, ModuleType
from typing import NamedTuple

import numpy as np

from lessons.mutation import wrong_answers
from lessons.referee.calls import Limited
from lessons.referee.fault import Fault
from lessons.referee.repair import Answer, Repaired, repair
from lessons.referee.rerun import alike, failure, same, work
from lessons.referee.statics import kept_outside, never_read, never_used, reached
from lessons.referee.words import ORDINALS
from lessons.start import load

WORK = 6_000_000  # calls that the known mistakes may make, when a check has failed
ALTOGETHER = 15_000_000  # for all checks of an answer, the repairs included
QUICKER = 10  # times a check is, if one fault alone is looked for
MOST = 2  # names of one fault that are told
LONGEST = 100  # characters of a line that is quoted

Check = Callable[[ModuleType], None]
Mistake = tuple[str, ModuleType]  # what is wrong, and the answer itself


class Likeness(NamedTuple):
    """The likeness of a mistake to the learner's answer; the greater of two is the likelier."""

    share: float  # of the checks that fail with either, how many fail alike with both
    is_whole: bool  # whether all results of the check that has failed are the same, the right ones too
    in_failures: bool  # whether all that fail with the learner's are among them
    numbers: int  # how many numbers are the same in them

    def is_enough(self) -> bool:
        """True if it can hardly be chance."""
        if self.numbers >= 6:
            return self.share >= 0.5
        return self.share >= (0.65 if self.in_failures else 0.8 if self.numbers else 2)


class Search:
    """The search for what is wrong with one answer, by the checks of its lesson, each under its name."""

    def __init__(self, lesson: Path, answer: ModuleType, checks: dict[str, Check]):
        self.lesson, self.answer, self.checks = lesson, answer, checks
        self.left = ALTOGETHER
        self.found: list[Mistake] = []  # what has been named is tried first
        self.ended: dict[tuple, tuple[Exception | None, int]] = {}  # how a check ends, and its work
        self.verdicts: dict[tuple, list[str]] = {}  # what the answer says in all calls of some functions
        self.mended: dict[tuple, Repaired | None] = {}  # what mends the functions that a check has used

    def names(self, failed: str, error: Exception, functions: list[str]) -> list[str]:
        """The fault if this check has failed with this error, in words: one sentence, two, or none.

        functions are those that the check used, those first which are most likely at fault. A known mistake
        that does in all checks what the answer does is believed at once; one that is only like it, if no
        edit mends the answer; and if there is none, the answer's text may tell.
        """
        like = self._like(failed, error, functions)
        is_sure = any(likeness.share == 1 and likeness.is_whole for likeness, _ in like)
        if not is_sure and (mended := self._mended(failed, error, functions)):
            return [mended]
        named = _likeliest(like)
        self.found += [mistake for mistake in named if mistake not in self.found]
        return [says for says, _ in named] or self._seen(error, functions)

    def _like(self, failed: str, error: Exception, functions: list[str]) -> list[tuple[Likeness, Mistake]]:
        """The known mistakes with which the checks end as with the answer, and how like it they are."""
        like: list[tuple[Likeness, Mistake]] = []
        left = min(WORK, self.left)
        for mistakes in (self.found, self._planted()):
            for says, module in mistakes:
                if left < 0:
                    break
                left -= self._end(failed, functions)[1] // QUICKER
                if other := self._fails_like(failed, error, module):
                    is_whole = all(same(error, other, name) for name in getattr(error, "got", ()))
                    likeness, spent = self._likeness(failed, error, functions, module, is_whole)
                    left -= spent
                    is_it = likeness.is_enough() and (likeness.numbers or self._agrees(module, functions))
                    like += [(likeness, (says, module))] if is_it else []
            if any(likeness.share == 1 and likeness.is_whole for likeness, _ in like):
                break
        self.left -= min(WORK, self.left) - left
        return like

    def _planted(self) -> Iterator[Mistake]:
        for wrong in wrong_answers(self.lesson).values():
            yield wrong.fault, wrong.module()

    def _mended(self, failed: str, error: Exception, functions: list[str]) -> str:
        """The fault that an edit of the answer reveals by mending it, or empty."""
        if getattr(error, "kind", "") == "kept":
            return self._at_line(*kept_outside(self.text.trees, reached(self.text.trees, functions)))
        if functions and functions[0].startswith("trust_"):  # its checks are too few to judge an edit
            return ""
        key = tuple(sorted(functions))
        if key not in self.mended:
            self.mended[key] = None
            with suppress(Exception):  # whatever a learner writes, the fault is to be reported
                self.mended[key], spent = repair(self.text, failed, error, self.checks, functions, self.left)
                self.left -= spent
        if not (found := self.mended[key]):
            return ""
        says, results = found.says, _results(found.function, self.lesson)
        for ordinal, result in zip(ORDINALS, results, strict=False):
            says = says.replace(f"the {ordinal} result", result)
        if len(results) == 1 and "backward" in found.function:
            says = says.replace("the result", results[0])
        return self._at_line(says, found.line)

    def _seen(self, error: Exception, functions: list[str]) -> list[str]:
        """The fault that the answer's text reveals: an argument or a variable that is never read."""
        right, trees = _solution(self.lesson), self.text.trees
        said = []
        for name in (
            reached(self.text.trees, functions) if getattr(error, "kind", "") in ("", "values") else ()
        ):
            function = getattr(right, name, None)
            if isinstance(function, FunctionType) and isinstance(trees[name], ast.FunctionDef):
                tree = ast.parse(textwrap.dedent(inspect.getsource(function))).body[0]
                said.append(never_read(trees[name], tree))
            said.append(never_used(trees[name]))
        return [self._at_line(*each) for each in said if each[0]][:1]

    def _at_line(self, says: str, line: int) -> str:
        text = linecache.getline(self.text.path, line).strip()
        return f"{says}; see line {line}: {text[:LONGEST]}" if says else ""

    @functools.cached_property
    def text(self) -> Answer:
        """The answer's functions as trees."""
        return Answer(self.answer)

    def _end(self, name: str, functions: list[str]) -> tuple[Exception | None, int]:
        """The outcome of a check for the answer with these functions alone, and the work it takes."""
        key = name, *sorted(functions)
        if key not in self.ended:
            self.ended[key] = work(lambda: failure(self.checks[name], Limited(self.answer, functions)))
        return self.ended[key]

    def _fails_like(self, failed: str, error: Exception, module: ModuleType) -> Exception | None:
        """The error of a wrong answer in this check, if it is the same as the learner's."""
        check, told = self.checks[failed], error
        if isinstance(error, Fault):  # the result that is told must be the same, not only another wrong one
            told = Fault(str(error), error.name, error.kind, error.got)
        if alike(told, failure(check, module, told)):
            other = failure(check, module)
            if alike(error, other) and (told is error or not error.got or same(error, other, error.name)):
                return other
        return None

    def _agrees(self, module: ModuleType, functions: list[str]) -> bool:
        """True if a mistake gives all the learner's verdicts: a single one says little."""
        key = tuple(sorted(functions))
        if key not in self.verdicts:
            self.verdicts[key] = self._verdicts(self.answer, functions)
        return self.verdicts[key] == self._verdicts(module, functions)

    def _verdicts(self, module: ModuleType, functions: list[str]) -> list[str]:
        """The verdicts of an answer, True, False or lists, while the checks hear the right ones."""
        said, right, asked = [], load(self.lesson / "solution.py"), ModuleType("asked")

        def ask(name: str, *args, **kwargs):
            given, truth = copy.deepcopy((args, kwargs)), getattr(right, name)(*args, **kwargs)
            if isinstance(truth, bool | list):
                try:
                    said.append(str(getattr(module, name)(*given[0], **given[1])))
                except Exception as error:  # any may be the mistake
                    said.append(str(type(error)))
            return truth

        vars(asked).update({name: functools.partial(ask, name) for name in functions})
        for check in self.checks.values():
            failure(check, asked)
        return said

    def _likeness(
        self, failed: str, error: Exception, functions: list[str], module: ModuleType, whole: bool
    ) -> tuple[Likeness, int]:
        """The likeness of a mistake in the other checks of these functions, and the work of telling it."""
        alike_failures, failures, others, spent = [error], 1, 0, 0
        for name, check in self.checks.items():
            end, price = self._end(name, functions)
            if name == failed or isinstance(end, NotImplementedError):
                continue
            if (spent := spent + price) > WORK:
                break
            is_alike = alike(end, failure(check, module, end)) and alike(end, failure(check, module))
            failures += bool(end)
            others += not end and not is_alike
            alike_failures += [end] if end and is_alike else []
        count = len(alike_failures)
        share = count / (failures + others)
        return Likeness(share, whole, count == failures, _numbers(alike_failures)), spent


def _likeliest(like: list[tuple[Likeness, Mistake]]) -> list[Mistake]:
    """One mistake, or two between which nothing decides; none, if there are more."""
    best = max((likeness for likeness, _ in like), default=None)
    ones = {mistake[0]: mistake for likeness, mistake in like if likeness == best}
    return list(ones.values()) if len(ones) <= MOST else []


def _results(function: str, lesson: Path) -> list[str]:
    """The names of what a function returns, as the exercise's docstring has them: dx (..., D), ..."""
    tree = ast.parse((lesson / "exercise.py").read_bytes())
    asked = [each for each in tree.body if getattr(each, "name", "") == function]
    text, pattern = (ast.get_docstring(asked[0]) or "" if asked else ""), r"(\w+) \([^()]*,[^()]*\)"
    if several := re.search(r": (\w+), \(((?:\w+, )+\w+)\)\.", text):  # loss, (dimages, dtexts)
        return [several[1], *several[2].split(", ")]
    if "backward" in function:  # dx (B, N, D), dweight and dbias, from dy
        text, pattern = re.sub(r"\([^()]*\)", "", text), r"\b(d(?!ict\b|type\b)\w+)"
    elif "cache" in text:
        return ["y"]
    arguments = [each.arg for tree in asked for each in ast.walk(tree) if isinstance(each, ast.arg)]
    return [name for name in dict.fromkeys(re.findall(pattern, text)) if name not in arguments]


@functools.cache
def _solution(lesson: Path) -> ModuleType:
    return load(lesson / "solution.py")


def _numbers(errors: list[Exception]) -> int:
    """Number of different wrong values, not counting 0 and signs, and of numbers in a crash's message."""
    words = [str(error) for error in errors if not isinstance(error, AssertionError)]
    faults = [error for error in errors if isinstance(error, Fault)]
    arrays = [
        np.ravel(each.got[name]).astype(float) for each in faults for name in each.wrong if name in each.got
    ]
    sizes = np.unique(np.abs(np.concatenate([np.zeros(0), *arrays])).round(9))
    return int((sizes[np.isfinite(sizes)] > 0).sum()) + len(re.findall(r"\d+", " ".join(words)))
