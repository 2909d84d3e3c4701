"""The wrong answers that can be planted: those in the lessons' mutants.py that spoil an operation."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, ModuleType

from lessons.mine.answers import LESSONS
from lessons.mine.operations import OPERATIONS, Operation
from lessons.mutation import wrong_answers
from lessons.start import load
from tinyvit.support.errors import UserError


@dataclass(frozen=True)
class Mutant:
    """A wrong answer to a lesson."""

    name: str  # by which it is planted, after which `pytest lessons/NN_topic --impl` calls it as well
    lesson: Path  # the folder of its lesson
    fault: str  # what is wrong with it, in a sentence
    module: ModuleType
    operations: list[Operation]  # that it spoils: those with a function that is not the solution's


@functools.cache
def mutants() -> list[Mutant]:
    """All that spoil an operation, in the order of the lessons."""
    found = []
    for lesson in sorted(LESSONS.glob("[0-9]*")):
        if own := [operation for operation in OPERATIONS if operation.lesson == int(lesson.name[:2])]:
            right = _codes(load(lesson / "solution.py"), own)
            for answer in wrong_answers(lesson).values():
                module = answer.module()
                wrong = _codes(module, own)
                spoiled = [each for each in own if any(wrong[name] != right[name] for name in each.functions)]
                if spoiled:
                    found.append(Mutant(answer.name, lesson, answer.fault, module, spoiled))
    return found


def find(name: str) -> Mutant:
    """The mutant of this name, or of 04/NAME where several lessons have one. Raises UserError."""
    number, _, stem = name.rpartition("/")
    fitting = [
        mutant
        for mutant in mutants()
        if mutant.name == stem and mutant.lesson.name.startswith(number.zfill(2) if number else "")
    ]
    if not fitting:
        raise UserError(f"there is no wrong answer {name!r} to an operation: see --plant list.")
    if len(fitting) > 1:
        choices = " or ".join(f"{mutant.lesson.name[:2]}/{mutant.name}" for mutant in fitting)
        raise UserError(f"several lessons have a wrong answer {name!r}: choose {choices}.")
    return fitting[0]


def listed() -> list[str]:
    """A line for each operation, and below it one for each of its wrong answers."""
    by_operation: dict[str, list[Mutant]] = {}
    for mutant in mutants():
        for operation in mutant.operations:
            by_operation.setdefault(operation.name, []).append(mutant)
    names = [mutant.name for mutant in mutants()]
    lines = []
    for operation in OPERATIONS:
        if operation.name in by_operation:
            lines.append(f"{operation.name} (lesson {operation.lesson})")
            for mutant in by_operation[operation.name]:
                number = f"{mutant.lesson.name[:2]}/" if names.count(mutant.name) > 1 else ""
                lines.append(f"    {number + mutant.name:42} {mutant.fault}")
    return lines


def _codes(module: ModuleType, operations: list[Operation]) -> dict[str, object]:
    """The code of the functions of these operations, without its lines and the file it stands in."""
    return {name: _text(getattr(module, name)) for each in operations for name in each.functions}


def _text(function: Callable) -> object:
    return _code(function.__code__) if hasattr(function, "__code__") else function


def _code(code: CodeType) -> tuple:
    constants = tuple(_code(c) if isinstance(c, CodeType) else repr(c) for c in code.co_consts[1:])
    return code.co_code, code.co_names, constants
