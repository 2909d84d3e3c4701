"""The learner's functions: which lesson asks for each, and whether it is written."""

from __future__ import annotations

import ast
import contextlib
import difflib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import ModuleType

from lessons.start import LESSONS, file_of, load


def yours(*names: str) -> Callable | tuple[Callable, ...]:
    """The learner's function of each name if it is written, else the one of the lesson's solution.

    With one name, the function itself. A function counts as written as soon as its NotImplementedError is
    gone, right or wrong: `python -m lessons.mine` tells which. Raises KeyError if no lesson asks for a name.
    """
    modules: dict[Path, ModuleType] = {}
    found = []
    for name in names:
        lesson = asked_in(name)
        file = file_of(lesson, "exercise" if is_written(lesson, name) else "solution")
        if file not in modules:
            modules[file] = load(file)
        found.append(getattr(modules[file], name))
    return found[0] if len(found) == 1 else tuple(found)


def asked_in(name: str) -> Path:
    """The folder of the lesson that asks for the function of this name."""
    lessons = _asked()
    if name not in lessons:
        near = difflib.get_close_matches(name, lessons, n=1)
        hint = f": did you mean {near[0]!r}?" if near else ""
        raise KeyError(f"no lesson asks for a function named {name!r}{hint}")
    return lessons[name]


def is_written(lesson: Path, name: str) -> bool:
    """True if the function of this name in the lesson's exercise.py no longer raises NotImplementedError.

    Raises SyntaxError if the file is not Python.
    """
    node = _named(file_of(lesson)).get(name)
    return node is not None and not any(map(_is_to_do, ast.walk(node)))


@cache
def _asked() -> dict[str, Path]:
    """Every function that an exercise asks for, and its lesson; a later lesson never asks for the same.

    An exercise that is being written may not be Python for a moment, or import what it should define: the
    names in the solutions, which have further ones, stand in for those that are missing.
    """
    asked: dict[str, Path] = {}
    exercises = sorted(LESSONS.glob("[0-9]*/exercise.py"))
    for file in [*exercises, *(exercise.with_name("solution.py") for exercise in exercises)]:
        with contextlib.suppress(SyntaxError):
            for name in _named(file):
                asked.setdefault(name, file.parent)
    return asked


def _named(path: Path) -> dict[str, ast.stmt]:
    """The statements at the top of a file that define a function or give something a name."""
    named: dict[str, ast.stmt] = {}
    for node in ast.parse(path.read_bytes()).body:
        if isinstance(node, ast.FunctionDef):
            named[node.name] = node
        elif isinstance(node, ast.Assign):
            named |= {target.id: node for target in node.targets if isinstance(target, ast.Name)}
        elif isinstance(node, ast.ImportFrom) and path.stem == "solution":
            named |= {alias.asname or alias.name: node for alias in node.names}
    return named


def _is_to_do(node: ast.AST) -> bool:
    if not isinstance(node, ast.Raise):
        return False
    error = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
    return isinstance(error, ast.Name) and error.id == "NotImplementedError"
