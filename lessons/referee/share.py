"""The share of a lesson's answer that its text gives away: python -m lessons.referee.share

Counted are the statements of the functions that the exercise asks for, in solution.py or, where the solution
imports them, in the library: how many of them stand in a python block of README.md before "Your turn".
Literally: the right-hand side stands there, whatever it is assigned to, however it is spaced, with np or xp.
In other names: it differs in the names of variables alone. Docstrings, def, raise, tests of the input, and
the unpacking and returning of names are not counted. An answer that is the text of a kernel is counted by the
statements of CUDA C in it.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import re
import sys
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from lessons.referee import kernel_text

LESSONS = Path(__file__).parents[1]
BOUND = 0.25
SMALL = 2  # operations; of fewer, as in a + b, renamed is no likeness


@dataclass(frozen=True)
class Statement:
    """A statement of a solution, and whether the text shows it: literally, or in other names."""

    text: str
    literally: bool
    renamed: bool


def statements(lesson: Path) -> list[Statement]:
    """Every statement of the lesson's solution."""
    shown = list(_of_text(lesson / "README.md"))
    literal, renamed = {_literal(node) for node in shown}, {_renamed(node) for node in shown}
    found = []
    for node in _of_solution(lesson):
        literally = _literal(node) in literal
        similar = literally or (_operations(node) >= SMALL and _renamed(node) in renamed)
        found.append(Statement(ast.unparse(node), literally, similar))
    return found + list(_of_kernels(lesson))


def _of_kernels(lesson: Path) -> Iterator[Statement]:
    """The statements in CUDA C, if the answers are kernels."""
    texts = re.findall(r'"""(.*?)"""', _before_your_turn(lesson / "README.md"), re.S)
    shown = {each for text in texts for each in kernel_text.kernel_statements(text)}
    similar = {kernel_text.renamed(each) for each in shown}
    for function in _functions_of_solution(lesson):
        for node in ast.walk(ast.parse(textwrap.dedent(inspect.getsource(function)))):
            if isinstance(node, ast.Constant) and kernel_text.is_kernel(node.value):
                for each in kernel_text.kernel_statements(node.value):
                    yield Statement(each, each in shown, kernel_text.renamed(each) in similar)


def asked_for(lesson: Path) -> list[str]:
    """The names of the functions in exercise.py."""
    body = ast.parse((lesson / "exercise.py").read_text("utf-8")).body
    return [node.name for node in body if isinstance(node, ast.FunctionDef)]


def _of_solution(lesson: Path) -> Iterator[ast.expr]:
    """The statements of the functions asked for, and of their helpers."""
    for function in _functions_of_solution(lesson):
        yield from _values(ast.parse(textwrap.dedent(inspect.getsource(function))))


def _functions_of_solution(lesson: Path) -> Iterator[Callable]:
    """The functions asked for, and the helpers with an underscore that they call."""
    solution = importlib.import_module(f"lessons.{lesson.name}.solution")
    pending, seen = [getattr(solution, name) for name in asked_for(lesson)], set()
    while pending:
        function = inspect.unwrap(pending.pop(0))
        if function in seen or not inspect.isfunction(function):
            continue
        seen.add(function)
        yield function
        # a helper that the function was cut into is a part of the answer
        for node in ast.walk(ast.parse(textwrap.dedent(inspect.getsource(function)))):
            if (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Name)
                and node.func.id.startswith("_")
            ):
                pending.append(function.__globals__.get(node.func.id))


def _of_text(page: Path) -> Iterator[ast.expr]:
    for block in re.findall(r"^```python\n(.*?)^```", _before_your_turn(page), re.M | re.S):
        yield from _values(ast.parse(block))


def _before_your_turn(page: Path) -> str:
    return page.read_text("utf-8").split("\n## Your turn")[0]


def _values(tree: ast.AST) -> Iterator[ast.expr]:
    """The expressions that simple statements work out, one by one in a tuple, and the heads of loops."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign | ast.Return):
            value = node.value
        elif isinstance(node, ast.Expr):
            value = None if isinstance(node.value, ast.Constant) else node.value  # not a docstring
        elif isinstance(node, ast.For):
            value = node.iter
        elif isinstance(node, ast.If | ast.While):
            refuses = all(isinstance(each, ast.Raise) for each in node.body)
            value = None if refuses else node.test
        else:
            continue
        for part in value.elts if isinstance(value, ast.Tuple) else [value]:
            part = part.value if isinstance(part, ast.Starred) else part
            if part is not None and not isinstance(part, ast.Name | ast.Constant):
                yield part


def _literal(node: ast.expr) -> str:
    return re.sub(r"\bxp\.", "np.", ast.unparse(node))


def _renamed(node: ast.expr) -> str:
    """The expression with its variables called v0, v1, ... in the order in which they occur."""
    names: dict[str, str] = {}
    tree = ast.parse(_literal(node), mode="eval")
    called = {
        each.func.id
        for each in ast.walk(tree)
        if isinstance(each, ast.Call) and isinstance(each.func, ast.Name)
    }
    for each in ast.walk(tree):
        if isinstance(each, ast.Name) and each.id not in called | {"np", "math"}:
            each.id = names.setdefault(each.id, f"v{len(names)}")
    return ast.unparse(tree)


def _operations(node: ast.expr) -> int:
    kinds = ast.BinOp | ast.UnaryOp | ast.Call | ast.Attribute | ast.Subscript | ast.Compare
    return sum(isinstance(each, kinds) for each in ast.walk(node))


def main(arguments: list[str]) -> None:
    """Print the table; with names of lessons, their statements too."""
    print(f"{'lesson':28} literally      in other names")
    for readme in sorted(LESSONS.glob("[0-9]*/README.md")):
        lesson = readme.parent
        if arguments and lesson.name not in arguments:
            continue
        found = statements(lesson)
        literally, renamed = sum(each.literally for each in found), sum(each.renamed for each in found)
        total = max(len(found), 1)
        mark = "  more than a quarter" if renamed > BOUND * total else ""
        counts = "  ".join(f"{count:2} of {total:3} {count / total:5.0%}" for count in (literally, renamed))
        print(f"{lesson.name:28} {counts}{mark}")
        if arguments:
            for each in found:
                print("   ", "=" if each.literally else "~" if each.renamed else " ", each.text)


if __name__ == "__main__":
    main(sys.argv[1:])
