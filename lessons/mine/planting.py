"""The wrong answers that can be planted: the files in lessons/NN_topic/mutants/ that spoil an operation."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import CodeType, ModuleType

from lessons.mine.answers import LESSONS, load
from lessons.mine.operations import OPERATIONS, Operation
from tinyvit.errors import UserError


@dataclass(frozen=True)
class Mutant:
    """A file with a wrong answer to a lesson."""

    path: Path

    @property
    def name(self) -> str:
        """The name by which it is planted, after which `pytest lessons/NN_topic --impl` calls it as well."""
        return self.path.stem

    @property
    def lesson(self) -> Path:
        """The folder of its lesson."""
        return self.path.parents[1]

    @cached_property
    def module(self) -> ModuleType:
        """The file, loaded."""
        return load(self.path)

    @property
    def fault(self) -> str:
        """What is wrong with it, in a sentence."""
        docstring = ast.get_docstring(ast.parse(self.path.read_text("utf-8"))) or self.name
        return " ".join(docstring.split("\n\n")[0].split())

    @cached_property
    def operations(self) -> list[Operation]:
        """The operations that it spoils: those with a function that is not the solution's."""
        right = load(self.lesson / "solution.py")
        return [
            operation
            for operation in OPERATIONS
            if operation.lesson == int(self.lesson.name[:2])
            and any(
                hasattr(self.module, name)
                and _text(getattr(self.module, name)) != _text(getattr(right, name))
                for name in operation.functions
            )
        ]


def mutants() -> list[Mutant]:
    """All that spoil an operation, in the order of the lessons."""
    numbers = {operation.lesson for operation in OPERATIONS}
    paths = sorted(LESSONS.glob("[0-9]*/mutants/*.py"))
    found = [Mutant(path) for path in paths if int(path.parents[1].name[:2]) in numbers]
    return [mutant for mutant in found if mutant.operations]


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


def _text(function: Callable) -> object:
    """What a function does: its code without the lines and the file it stands in."""
    return _code(function.__code__) if hasattr(function, "__code__") else function


def _code(code: CodeType) -> tuple:
    constants = tuple(_code(c) if isinstance(c, CodeType) else repr(c) for c in code.co_consts[1:])
    return code.co_code, code.co_names, constants
