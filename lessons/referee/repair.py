"""Repair: which single edit of the learner's own code makes the checks pass that have failed?

The edit is made in the syntax tree, and the checks judge it: the one that has failed, and then all others of
the same functions. What it changes is the fault, whatever the numbers look like. The learner is told what is
wrong, in which variable and line, never what to write there.

How many edits are tried is limited by the calls that their checks make, so that every machine says the same.
"""

from __future__ import annotations

import ast
import functools
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from types import CodeType, FunctionType, ModuleType
from typing import NamedTuple

import numpy as np

from lessons.referee.calls import LeftOut, Limited
from lessons.referee.edits import LAP, Edit, edits
from lessons.referee.rerun import failure, remembering, work
from lessons.referee.statics import functions_of, reached

WORK = 4_000_000  # calls that the checks of one fault may make
LAPS = 100_000  # of all loops of an answer together: with an edit, some would never end
HARMFUL = {"open", "os", "shutil", "subprocess", "sys", "Path", "exec", "eval", "input", "save", "tofile"}

Check = Callable[[ModuleType], None]


class Repaired(NamedTuple):
    """An edit that mends a fault: what was wrong, and where."""

    says: str
    line: int
    function: str


class Answer:
    """The learner's module, whose functions can be edited one at a time."""

    def __init__(self, module: ModuleType):
        self.module = module
        self.path = getattr(module, "__file__", None) or ""
        self.trees = functions_of(module)
        for each in (node for tree in self.trees.values() for node in ast.walk(tree)):
            if isinstance(each, ast.For | ast.While):
                each.body.insert(0, LAP)
        self.code = {name: self._compiled(tree) for name, tree in self.trees.items()}

    def is_harmless(self, name: str) -> bool:
        """True if nothing of a function reaches beyond the program, where an edit might do harm."""
        nodes = list(ast.walk(self.trees[name]))
        names = {each.id for each in nodes if isinstance(each, ast.Name)}
        return not HARMFUL & (names | {each.attr for each in nodes if isinstance(each, ast.Attribute)})

    def edited(self, name: str, edit: Edit) -> ModuleType | None:
        """The module with an edit in one of its functions; None if that is no Python."""
        back = edit.exchange()
        try:
            code = self._compiled(self.trees[name])
        except (SyntaxError, ValueError, TypeError, AttributeError, RecursionError):
            return None
        finally:
            back.exchange()
        new = ModuleType(self.module.__name__)
        vars(new).update(vars(self.module))
        vars(new)["_lap"] = functools.partial(next, iter(range(LAPS)))
        with suppress(Exception):  # a decorator, a default or a class may run what was edited
            for each in ({**self.code, name: code}).values():
                exec(each, vars(new))
            return new
        return None

    def _compiled(self, tree: ast.stmt) -> CodeType:
        return compile(
            ast.fix_missing_locations(ast.Module([tree], [])), "<edited>", "exec", dont_inherit=True
        )


def repair(
    answer: Answer,
    failed: str,
    error: Exception,
    checks: dict[str, Check],
    functions: list[str],
    most: int = WORK,
) -> tuple[Repaired | None, int]:
    """The likeliest edit of these functions with which all their checks pass, and the work of finding it.

    checks are all of the lesson that can be run, under their names; this one has failed with this error.
    """
    left = most = min(WORK, most)
    right, wrong = [], []  # the other checks: what they cost, and themselves
    with remembering() as differences, np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # whatever an edit does
        for name, check in checks.items():
            count, price = None, 0
            while count != len(differences) and price < most / 4:  # then the central differences are known
                count = len(differences)
                end, price = work(lambda check=check: failure(check, Limited(answer.module, functions)))
                left -= price
            if not isinstance(end, NotImplementedError):
                (wrong if end else right).append((price, name, check))
            if left < 0:
                return None, most - left
        if not any(name == failed for _, name, _ in wrong) or getattr(error, "kind", "") == "count":
            return None, most - left
        # One that fails judges first, unless it is far dearer: an edit of large arrays may take all memory.
        order = sorted([*right, *wrong], key=lambda each: each[0] / (10 if each in wrong else 1))
        for name, edit in _likeliest_first(answer, functions, error):
            if left < 0:
                break
            if (new := answer.edited(name, edit)) is None:
                continue
            for price, _, check in order:
                left -= price
                if _fails(check, Limited(new, functions)):
                    break
            else:
                return Repaired(edit.says, edit.line, name), most - left
    return None, most - left


def _fails(check: Check, module: ModuleType) -> bool:
    """True if a check fails; one that reaches a function that is left out has passed what it was to judge."""
    end = failure(check, module)
    return end is not None and not isinstance(end, LeftOut)


def _likeliest_first(answer: Answer, functions: list[str], error: Exception) -> Iterator[tuple[str, Edit]]:
    got, wrong = list(getattr(error, "got", ())), getattr(error, "wrong", ())
    are_right = [name not in wrong for name in got]
    names = vars(answer.module).items()
    callables = {name for name, value in names if isinstance(value, FunctionType) and name[0] != "_"}
    every = []
    for order, name in enumerate(reached(answer.trees, functions)):
        if answer.is_harmless(name):
            tree = answer.trees[name]
            methods = [tree] if isinstance(tree, ast.FunctionDef) else tree.body
            for each in methods:
                if isinstance(each, ast.FunctionDef):
                    known = are_right if name == functions[0] else ()
                    used = {node.id for node in ast.walk(each) if isinstance(node, ast.Name)}
                    of_it = edits(each, getattr(error, "kind", ""), known, sorted(callables - {name, *used}))
                    every += [(edit.rank + order * 0.4, name, edit) for edit in of_it]
    for _, name, edit in sorted(every, key=lambda each: each[0]):
        yield name, edit
