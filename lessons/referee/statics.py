"""Faults that can be seen in the text of an answer, without running it."""

from __future__ import annotations

import ast
import linecache
from collections.abc import Iterable
from types import ModuleType


def functions_of(module: ModuleType) -> dict[str, ast.FunctionDef | ast.ClassDef]:
    """The functions and classes in a module's file, by name; of several by one name, the last."""
    path = getattr(module, "__file__", None) or ""
    linecache.checkcache(path)
    body = ast.parse("".join(linecache.getlines(path))).body
    return {each.name: each for each in body if isinstance(each, ast.FunctionDef | ast.ClassDef)}


def reached(trees: dict[str, ast.stmt], functions: Iterable[str]) -> list[str]:
    """These functions, and all others that they call."""
    found = [name for name in functions if name in trees]
    for name in found:  # it grows
        names = {each.id for each in ast.walk(trees[name]) if isinstance(each, ast.Name)}
        found += sorted((names & set(trees)) - set(found))
    return found


def kept_outside(trees: dict[str, ast.stmt], functions: list[str]) -> tuple[str, int]:
    """A value kept in a global variable or in an attribute of a function, in words, and its line; or ""."""
    for name in functions:
        function = trees[name]
        own = {each.arg for each in ast.walk(function) if isinstance(each, ast.arg)}
        stored = [each for each in ast.walk(function) if isinstance(getattr(each, "ctx", None), ast.Store)]
        shared = {each for node in ast.walk(function) if isinstance(node, ast.Global) for each in node.names}
        own |= {each.id for each in stored if isinstance(each, ast.Name)} - shared
        for each in stored:
            root = each
            while isinstance(root, ast.Subscript | ast.Attribute):
                root = root.value
            if isinstance(root, ast.Name) and root.id not in own:
                where = f"an attribute of {root.id}" if root.id in trees else "a global variable"
                return f"{ast.unparse(each)} is {where}, which the next forward overwrites", each.lineno
    return "", 0


def never_read(yours: ast.stmt, right: ast.stmt) -> tuple[str, int]:
    """An argument that the right function reads and yours does not, in words, and its line; or ""."""
    for mine, other in zip(yours.args.args, right.args.args, strict=False):
        if _is_read(other.arg, right) and not _is_read(mine.arg, yours):
            return f"the argument {mine.arg} is never read", yours.lineno
    return "", 0


def never_used(yours: ast.stmt) -> tuple[str, int]:
    """A variable that is worked out and never read, in words, and the line; or ""."""
    for each in ast.walk(yours):
        name = each.targets[0] if isinstance(each, ast.Assign) else None
        if isinstance(name, ast.Name) and not _is_read(name.id, yours):
            return f"{name.id} is worked out and never used", each.lineno
    return "", 0


def _is_read(name: str, tree: ast.stmt) -> bool:
    """True if more is read of a variable than its form."""
    form = [
        id(each.value)
        for each in ast.walk(tree)
        if isinstance(each, ast.Attribute) and each.attr in ("shape", "dtype", "ndim", "size")
    ]
    names = (each for each in ast.walk(tree) if isinstance(each, ast.Name) and id(each) not in form)
    return any(each.id == name and isinstance(each.ctx, ast.Load) for each in names)
