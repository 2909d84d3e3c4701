"""What the variables of a function held, line by line: which of the learner's is the solution's S or mix?"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable
from types import CodeType
from typing import Any, NamedTuple

import numpy as np

from lessons.referee.calls import kept
from lessons.referee.rerun import same_numbers


class Held(NamedTuple):
    """One value of one variable, and the line that gave it; without a name, a part of what was returned."""

    name: str
    value: Any
    line: int


class _Enough(BaseException):
    """The first call has ended."""


def held(run: Callable[[], object], code: CodeType) -> list[Held]:
    """All that the variables of a function held in the first call, in the order in which they were set."""
    found: list[Held] = []

    def calls(frame, event, argument):
        before: dict[str, Any] = {}
        line = frame.f_lineno

        def lines(frame, event, returned):
            nonlocal line
            for name, value in frame.f_locals.items():
                was, copy = before.get(name, (found, None))
                if was is not value or (
                    isinstance(value, np.ndarray) and not np.array_equal(value, copy, True)
                ):
                    before[name] = value, kept(value)
                    found.append(Held(name, before[name][1], line))
            line = frame.f_lineno
            if event == "return":
                parts = returned if isinstance(returned, tuple | list) else (returned,)
                found.extend(Held("", kept(part), line) for part in parts)
                raise _Enough
            return lines

        return lines if frame.f_code is code else None

    tracing = sys.gettrace()
    sys.settrace(calls)
    try:
        run()
    except BaseException as error:  # pytest.skip raises one, and the answer is a wrong one
        if isinstance(error, KeyboardInterrupt | SystemExit):
            raise
    finally:
        sys.settrace(tracing)
    return found


def called(
    yours: list[Held], other: list[Held], tree: ast.FunctionDef
) -> tuple[dict[str, str | ast.AST], dict[str, tuple[str, int]]]:
    """What to call the variables of another answer to somebody who wrote yours, and where to look for each.

    A variable of the same value has your name. One that you have not is told as what is assigned to it; and
    what is wrong with it is to be looked for in the next that is made of it: its name, and the line.
    """
    names: dict[str, str | ast.AST] = {}
    places: dict[str, tuple[str, int]] = {}
    mine = {each.name for each in yours}
    stored = [each.id for each in _names(tree) if isinstance(each.ctx, ast.Store)]
    stored += [each.arg for each in ast.walk(tree) if isinstance(each, ast.arg)]
    for name, value in {each.name: each.value for each in other if each.name}.items():
        alike = [each for each in yours if each.name not in names.values() and _same(each.value, value)]
        if name in mine and stored.count(name) > 1:  # of several values, the last is not all that it is
            alike = [each for each in alike if each.name == name]
        alike.sort(key=lambda each: (each.name != name, not each.name))
        is_sure = (isinstance(value, np.ndarray) and value.size > 1) or len(
            {each.name for each in alike}
        ) == 1
        if alike and (is_sure or alike[0].name == name):
            names[name] = alike[0].name or name
            places[name] = names[name], alike[0].line
    results = [
        each for step in ast.walk(tree) if isinstance(step, ast.Return) for each in _results(step.value)
    ]
    own = mine | {each.id for each in results}
    steps = [pair for each in ast.walk(tree) if isinstance(each, ast.Assign) for pair in _pairs(each)]
    for target, value in reversed(steps):
        for name in {each.id for each in _names(target)} - {*places}:
            users = [
                each.id for other, of in steps if name in {n.id for n in _names(of)} for each in _names(other)
            ]
            users = [places[user] for user in users if user in places and name not in own]
            places[name] = users[0] if users else (name if name in own else "the result", 0)
            if users and not users[0][0].startswith(("what", "the")):
                places[name] = f"what goes into {users[0][0]}", users[0][1]
        if isinstance(target, ast.Name) and stored.count(target.id) == 1 and target.id not in {*names, *mine}:
            names[target.id] = value
    return names, places


def _pairs(step: ast.Assign) -> list[tuple[ast.AST, ast.AST]]:
    """What is assigned, and to what: for x, y = 1, 2 one by one."""
    target = step.targets[0]
    if isinstance(target, ast.Tuple) and isinstance(step.value, ast.Tuple):
        return list(zip(target.elts, step.value.elts, strict=False))
    return [(target, step.value)]


def _results(value: ast.AST | None) -> list[ast.Name]:
    """The variables that are returned as they are: y and x of y, (x, 2 * w)."""
    if isinstance(value, ast.Tuple):
        return [name for each in value.elts for name in _results(each)]
    return [value] if isinstance(value, ast.Name) else []


def _names(tree: ast.AST) -> list[ast.Name]:
    return [each for each in ast.walk(tree) if isinstance(each, ast.Name)]


def _same(a, b) -> bool:
    try:
        return type(a) is type(b) and same_numbers(a, b)
    except (TypeError, ValueError):
        return False
