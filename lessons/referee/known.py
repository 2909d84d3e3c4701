"""Known mistakes: is a wrong result, number for number, what a mistake gives that can be named?

A lesson's mutants.py has plausible wrong answers, each with its fault in a sentence; slips.py makes others,
with one thing wrong each. The check that has failed is run on them, and where one fails as the
learner's answer did, so are the lesson's other checks of the same functions. If these end alike as well, that
answer has, for all one can see, this fault.
"""

from __future__ import annotations

import ast
import copy
import functools
import importlib.util
import inspect
import linecache
import os
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FunctionType, ModuleType
from typing import NamedTuple

import numpy as np

from lessons.mutation import wrong_answers
from lessons.referee.calls import Watched
from lessons.referee.fault import Fault
from lessons.referee.held import held
from lessons.referee.rerun import alike, rerun, same
from lessons.referee.slip_words import ORDINALS
from lessons.referee.slips import in_words_of, slips

SECONDS = 3.0  # for all mistakes together, when a check has failed
ALTOGETHER = 12.0  # for all checks of an answer
MOST = 2  # names of one fault that are told
ELSEWHERE = r" in (what goes into|the result\b)"  # said of a variable that the learner has not
LONGEST = 100  # characters of a line that is quoted
PLANTED = 0  # the rank of a mistake of the lesson's own

Check = Callable[[ModuleType], None]
Mistake = tuple[float, str, ModuleType]  # how likely it is, what is wrong, and the answer itself


class Likeness(NamedTuple):
    """How like the learner's answer a mistake is; the greater of two is the likelier."""

    share: float  # of the checks that fail with either, how many fail alike with both
    is_whole: bool  # whether all results of the check that has failed are the same, the right ones too
    in_failures: bool  # whether all that fail with the learner's are among them
    numbers: int  # how many numbers are the same in them

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
        self.verdicts: dict[tuple, list[str]] = {}  # what the answer says in all calls of some functions

    def names(self, failed: str, error: Exception, functions: list[str]) -> list[str]:
        """What is wrong if this check has failed with this error, in words: one sentence, two, or none.

        functions are those that the check used, those first which are most likely at fault.
        """
        start, seconds = now(), min(SECONDS, self.left)
        like: list[tuple[Likeness, Mistake]] = []
        for mistakes in (iter(self.found), self._planted(), self._slips(functions)):
            for mistake in mistakes:
                best = max(like, default=None, key=lambda each: (each[0], -each[1][0]))
                is_sure = best and best[0].share == 1 and best[0].is_whole and best[0].numbers
                left = seconds - (now() - start)
                if left < 0 or (is_sure and int(mistake[0]) > best[1][0]):
                    break
                if other := self._fails_like(failed, error, mistake[2]):
                    is_whole = all(same(error, other, name) for name in getattr(error, "got", ()))
                    likeness = self._likeness(failed, error, set(functions), mistake[2], left, is_whole)
                    is_it = likeness.is_enough() and (likeness.numbers or self._agrees(mistake[2], functions))
                    like += [(likeness, mistake)] if is_it else []
            if any(likeness.share == 1 and likeness.is_whole for likeness, _ in like):
                break
        self.left -= now() - start
        named = _likeliest(like, lambda mistake: self._in_your_words(self.checks[failed], *mistake[1:]))
        self.found += [mistake for mistake in named if mistake not in self.found]
        return list(named.values())

    def _planted(self) -> Iterator[Mistake]:
        for wrong in wrong_answers(self.lesson).values():
            yield PLANTED, wrong.fault, wrong.module()

    def _slips(self, functions: list[str]) -> Iterator[Mistake]:
        for function in functions:
            yield from slips(_solution(self.lesson), function)

    def _in_your_words(self, check: Check, says: str, module: ModuleType) -> str:
        """What is wrong, with the names of the learner's variables, and the line where that can be told."""
        if not hasattr(module, "__slip__"):
            return says
        right, _, name = module.__slip__
        pair = (
            getattr(self.answer, name, None),
            getattr(module, right.__name__, None) or getattr(module, name),
        )
        if not isinstance(pair[0], FunctionType):
            return says
        yours, other = (
            held(lambda answer=answer: failure(check, Watched(answer)), function.__code__)
            for answer, function in zip((self.answer, module), pair, strict=True)
        )
        says, line = in_words_of(module, yours, other)
        for ordinal, result in zip(ORDINALS, _results(pair[0], self.lesson), strict=False):
            says = says.replace(f"the {ordinal} result", result)
        text = linecache.getline(pair[0].__code__.co_filename, line).strip() if line else ""
        is_telling = text and not re.fullmatch(r"return [\w\s,()]*", text)
        return f"{says}; see line {line}: {text[:LONGEST]}" if is_telling else says

    def _fails_like(self, failed: str, error: Exception, module: ModuleType) -> Exception | None:
        """What a wrong answer fails with in this check, if it is what the learner's did."""
        check, told = self.checks[failed], error
        if isinstance(error, Fault):  # the result that is told must be the same, not only another wrong one
            told = Fault(str(error), error.name, error.kind, error.got)
        if alike(told, failure(check, module, told)):
            other = failure(check, module)
            if alike(error, other) and (told is error or not error.got or same(error, other, error.name)):
                return other
        return None

    def _agrees(self, module: ModuleType, functions: list[str]) -> bool:
        """Whether a mistake gives all the learner's verdicts: a single one says little."""
        key = tuple(sorted(functions))
        if key not in self.verdicts:
            self.verdicts[key] = self._verdicts(self.answer, functions)
        return self.verdicts[key] == self._verdicts(module, functions)

    def _verdicts(self, module: ModuleType, functions: list[str]) -> list[str]:
        """What an answer says where that is True, False or a list, while the checks hear what is right."""
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
        self,
        failed: str,
        error: Exception,
        functions: set[str],
        module: ModuleType,
        seconds: float,
        whole: bool,
    ) -> Likeness:
        """How like the learner's answer it is in the other checks of these functions, while there is time."""
        start, alike_failures, failures, others = now(), [error], 1, 0
        for name, check in self.checks.items():
            if now() - start > seconds:
                break
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
        share = count / (failures + others)
        return Likeness(share, whole, count == failures, _numbers(alike_failures))


@functools.cache
def _solution(lesson: Path) -> ModuleType:
    """A lesson's solution, of which slips are made: those of one module are found once."""
    return load(lesson / "solution.py")


def now() -> float:
    """Seconds of this process and of those it has waited for, as a compiler."""
    return sum(os.times()[:4]) or time.process_time()  # some systems, as in a browser, count only the latter


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
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # pytest.skip raises one
        return error
    return None


def _likeliest(like: list[tuple[Likeness, Mistake]], in_words: Callable) -> dict[Mistake, str]:
    """One mistake and its words, or two between which nothing decides; none, if there are more.

    One that is in a variable of the learner's is likelier than one in what goes into it.
    """
    if not like:
        return {}
    best = max(likeness for likeness, _ in like)
    ones = {mistake[1]: mistake for likeness, mistake in like if likeness == best}
    if len(ones) > 1 and not best.numbers:
        ones = {says: mistake for says, mistake in ones.items() if mistake[0] == PLANTED}
    if not ones:
        return {}  # words alone say little
    said = {mistake: in_words(mistake) for mistake in ones.values()}
    ranks = {each: (bool(re.search(ELSEWHERE, said[each])), each[0]) for each in said}
    named = {mistake: said[mistake] for mistake in said if ranks[mistake] == min(ranks.values())}
    return named if len(named) <= MOST else {}


def _results(function: FunctionType, lesson: Path) -> list[str]:
    """The names of what a function returns, as the exercise's docstring has them: dx (..., D), ..."""
    tree = ast.parse((lesson / "exercise.py").read_text("utf-8"))
    asked = [each for each in tree.body if getattr(each, "name", "") == function.__name__]
    text, pattern = (ast.get_docstring(asked[0]) or "" if asked else ""), r"(\w+) \([^()]*,[^()]*\)"
    if several := re.search(r": (\w+), \(((?:\w+, )+\w+)\)\.", text):  # loss, (dimages, dtexts)
        return [several[1], *several[2].split(", ")]
    if "backward" in function.__name__:  # dx (B, N, D), dweight and dbias, from dy
        text, pattern = re.sub(r"\([^()]*\)", "", text), r"\b(d(?!ict\b)\w+)"
    names = dict.fromkeys(re.findall(pattern, text))
    return [name for name in names if name not in inspect.signature(function).parameters]


def _numbers(errors: list[Exception]) -> int:
    """How many different numbers came out wrong, not counting 0 and signs, or are in a crash's message."""
    words = [str(error) for error in errors if not isinstance(error, AssertionError)]
    faults = [error for error in errors if isinstance(error, Fault)]
    arrays = [
        np.ravel(each.got[name]).astype(float) for each in faults for name in each.wrong if name in each.got
    ]
    sizes = np.unique(np.abs(np.concatenate([np.zeros(0), *arrays])).round(9))
    return int((sizes[np.isfinite(sizes)] > 0).sum()) + len(re.findall(r"\d+", " ".join(words)))


def load(path: Path) -> ModuleType:
    """The module in a file."""
    spec = importlib.util.spec_from_file_location(f"{path.parent.name}_{path.stem}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
