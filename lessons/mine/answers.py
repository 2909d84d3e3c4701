"""Where a learner's functions are found: which lesson asks for each, whether it is written, what stands in for it."""

from __future__ import annotations

import ast
import importlib.util
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import ModuleType

LESSONS = Path(__file__).parents[1]


def yours(*names: str) -> Callable | tuple[Callable, ...]:
    """The learner's function of each name if it is written, else the one of the lesson's solution.

    With one name, the function itself. A function counts as written as soon as its NotImplementedError is
    gone, right or wrong: `python -m lessons.mine` tells which. Raises KeyError if no lesson asks for a name.
    """
    found = tuple(_function(name) for name in names)
    return found[0] if len(found) == 1 else found


def asked_in(name: str) -> Path:
    """The folder of the lesson that asks for the function of this name."""
    lessons = _asked()
    if name not in lessons:
        raise KeyError(f"no lesson asks for a function named {name!r}; they ask for {', '.join(lessons)}")
    return lessons[name]


def is_written(lesson: Path, name: str) -> bool:
    """Whether the function of this name in the lesson's exercise.py no longer raises NotImplementedError."""
    function = _functions(lesson / "exercise.py")[name]
    return not any(isinstance(node, ast.Raise) and _is_to_do(node) for node in ast.walk(function))


def load(path: Path) -> ModuleType:
    """The module in a file, loaded afresh."""
    spec = importlib.util.spec_from_file_location(f"{path.parent.name}_{path.stem}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _function(name: str) -> Callable:
    lesson = asked_in(name)
    file = "exercise.py" if is_written(lesson, name) else "solution.py"
    return getattr(load(lesson / file), name)


@cache
def _asked() -> dict[str, Path]:
    """Every function that an exercise asks for, and its lesson; a later lesson never asks for the same."""
    asked: dict[str, Path] = {}
    for exercise in sorted(LESSONS.glob("[0-9]*/exercise.py")):
        for name in _functions(exercise):
            asked.setdefault(name, exercise.parent)
    return asked


def _functions(path: Path) -> dict[str, ast.FunctionDef]:
    body = ast.parse(path.read_text("utf-8")).body
    return {node.name: node for node in body if isinstance(node, ast.FunctionDef)}


def _is_to_do(node: ast.Raise) -> bool:
    error = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
    return isinstance(error, ast.Name) and error.id == "NotImplementedError"
