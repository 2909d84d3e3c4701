"""Single edits of a learner's function, each of which would mend one kind of mistake, and the words for it.

Here are those of statements, and where they and those of expressions (expressions.py) can be made. Words say
what is wrong, in which variable: never what is to be written.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from lessons.referee.expressions import (
    ADD,
    EXCHANGE,
    NAME,
    Found,
    argument_of,
    changed,
    is_text,
    of_expression,
    of_index,
    of_kind,
    swaps,
)
from lessons.referee.rules import parsed
from lessons.referee.words import MODULES, result_of, root_of, smoothed, target_of, word_of, words

OF_SIZES = "reshape", "eye", "zeros", "ones", "empty", "full", "range", "len", "arange"
OF_SIZES += "transpose", "swapaxes"
LAP = ast.parse("_lap()").body[0]  # stands first in every loop, and is no part of the answer


class Edit(NamedTuple):
    """One way to mend a function: in every place, given by its list or node and its key, something new."""

    rank: float  # the smaller, the sooner it is tried
    says: str  # what is wrong
    line: int
    places: tuple[tuple[Any, Any, Any], ...]

    def exchange(self) -> Edit:
        """Make it; what undoes it."""
        before = []
        for holder, key, new in self.places:
            before.append((holder, key, holder[key] if isinstance(holder, list) else getattr(holder, key)))
            if isinstance(holder, list):
                holder[key] = new
            else:
                setattr(holder, key, new)
        return self._replace(places=tuple(reversed(before)))


def edits(
    function: ast.FunctionDef, kind: str = "", are_right: Sequence[bool] = (), others: Sequence[str] = ()
) -> list[Edit]:
    """Every edit of a function, those first that are likeliest.

    kind is that of the fault. are_right says of each result whether it is right: nothing that those are made
    of is edited. others are functions that it may have to call.
    """
    right = _right_results(function, are_right)
    scope, spared = _scope(function), _made_of(right, function)
    has_cache = "cache" in (ast.get_docstring(function) or "cache")
    for each in ast.walk(function):
        for result in getattr(each.value, "elts", ()) if isinstance(each, ast.Return) else ():
            result.has_results = not has_cache
        for keyword in each.keywords if isinstance(each, ast.Call) else ():
            keyword.belongs_to = word_of(each), words(argument_of(each))
    steps = {each.id for each in ast.walk(function) if _is_stored(each)}
    found: list[Edit] = []
    last = max(getattr(each, "lineno", 0) for each in ast.walk(function))
    for holder in ast.walk(function):
        for field in {"body", "orelse"} & set(holder._fields):
            body = getattr(holder, field)
            for number, statement in enumerate(body if isinstance(body, list) else []):
                if isinstance(statement, ast.FunctionDef | ast.ClassDef) or statement is LAP:
                    continue
                names = {each.id for each in ast.walk(statement) if _is_stored(each)}
                if names and names <= spared:
                    continue
                there = [name for name, line in scope.items() if line < statement.lineno]
                there += _entries(statement, set(there), function)
                for rank, says, new in _of_statement(body, number, there):
                    found.append(Edit(rank, says, statement.lineno, ((holder, field, new),)))
                later = (last - statement.lineno) / 20  # what is missing is looked for at the end first
                for edit in _of_places(statement, there, kind, right, steps):
                    found.append(edit._replace(rank=edit.rank + later) if edit.rank >= ADD else edit)
                if isinstance(statement, ast.Assign | ast.Return) and others:
                    found += _not_called(statement, others, there)
    return sorted(found + _everywhere(found), key=lambda edit: edit.rank)


def _not_called(
    statement: ast.Assign | ast.Return, others: Sequence[str], scope: list[str]
) -> Iterator[Edit]:
    """A call of a function that is never called, of an expression near the top of a statement."""
    for holder, key, node, target, depth in places(statement, target_of(statement), 1):
        is_array = isinstance(node, ast.Name | ast.BinOp | ast.Call) and isinstance(holder, ast.AST)
        for name in others if depth <= 3 and is_array and not isinstance(holder, ast.keyword) else ():
            for more in ("", *(f", {each}" for each in scope)):
                for end in ("", "[0]") if not more else ("",):
                    new = parsed(f"{name}({ast.unparse(node)}{more}){end}")
                    says = f"{name} is not called for {target}"
                    yield Edit(ADD + depth / 20, says, node.lineno, ((holder, key, new),))


def _right_results(function: ast.FunctionDef, are_right: Sequence[bool]) -> list[ast.expr]:
    """The results that are right, if the function returns as many as there are in a single place."""
    returned = [each.value for each in ast.walk(function) if isinstance(each, ast.Return)]
    results = getattr(returned[0], "elts", []) if len(returned) == 1 else []
    is_each = len(results) == len(are_right)
    return [each for each, is_right in zip(results, are_right, strict=True) if is_right] if is_each else []


def _entries(statement: ast.stmt, names: set[str], function: ast.FunctionDef) -> list[str]:
    """In a loop over the entries of an array, the same entry of the others: dy[i] where dx[i] is written."""
    target = statement.targets[0] if isinstance(statement, ast.Assign) else getattr(statement, "target", None)
    if not isinstance(target, ast.Subscript):
        return []
    entries = [each for each in ast.walk(function) if isinstance(each, ast.Subscript)]
    arrays = {each.value.id for each in entries if isinstance(each.value, ast.Name)}
    arrays |= {each.arg for each in function.args.args}
    return [ast.unparse(ast.Subscript(ast.Name(name), target.slice)) for name in sorted(arrays & names)]


def _made_of(right: list[ast.expr], function: ast.FunctionDef) -> set[str]:
    """The variables that results are made of."""
    pending: list[ast.AST] = [*right]
    found: set[str] = set()
    steps = [each for each in ast.walk(function) if isinstance(each, ast.Assign | ast.AugAssign | ast.For)]
    while pending:
        names = {each.id for each in ast.walk(pending.pop()) if isinstance(each, ast.Name)} - found
        found |= names
        for step in steps:
            if any(_is_stored(each) and each.id in names for each in ast.walk(step)):
                pending.append(step)
    return found


def _is_stored(node: ast.AST) -> bool:
    """True if a node is a variable that is given a value."""
    return isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)


def _scope(function: ast.FunctionDef) -> dict[str, int]:
    """The variables that something may be made of, and the line from which on each is there."""
    nodes = list(ast.walk(function))
    scope = {each.arg: 0 for each in nodes if isinstance(each, ast.arg) and each.arg != "self"}
    for each in nodes:
        if _is_stored(each):
            scope[each.id] = min(each.lineno, scope.get(each.id, each.lineno))
    for each in nodes:  # what is taken apart, and words
        is_taken_apart = isinstance(each, ast.Assign) and isinstance(each.targets[0], ast.Tuple)
        parts = [each.value] if is_taken_apart else []
        if isinstance(each, ast.Compare) and isinstance(each.comparators[0], ast.Constant):
            parts += [each.left] if isinstance(each.comparators[0].value, str) else []
        for part in parts:
            scope.pop(getattr(part, "id", ""), None)
    return scope


def _of_places(
    statement: ast.stmt, scope: list[str], kind: str, right: list[ast.expr], steps: set[str]
) -> Iterator[Edit]:
    """The edits of the expressions of a statement; what a step gives a value to is mended there."""
    plain, seen = _no_arithmetic(statement), set()
    if isinstance(statement, ast.Return):
        results = getattr(statement.value, "elts", [statement.value])
        made = [each for each in results if isinstance(each, ast.Name) and each.id in steps]
        plain |= {id(node): False for each in [*right, *made] for node in ast.walk(each)}
    for holder, key, node, target, depth in places(statement, target_of(statement), 1):
        line = getattr(node, "lineno", statement.lineno)
        within = type(holder.op) if isinstance(holder, ast.BinOp) else None
        every = of_expression(node, scope, depth, kind, within)
        if id(node) in plain:
            every = of_kind(node, scope) if plain[id(node)] else iter(())
        for rank, says, new in sorted(every, key=lambda each: each[0]):
            text = ast.unparse(new), id(holder), key
            if text not in seen:
                seen.add(text)
                made = "holds" if target == "the cache" else "is made with"
                says = smoothed(says.replace("{t}", target).replace("{made}", made))
                yield Edit(rank + depth / 20, says, line, ((holder, key, new),))


def _no_arithmetic(statement: ast.stmt) -> dict[int, bool]:
    """The nodes, by their id, to which nothing can be added: sizes, indices, and (False) what is called."""
    found: dict[int, bool] = {}
    for node in ast.walk(statement):
        sizes: list[ast.AST] = []
        if isinstance(node, ast.Call):
            found[id(node.func)] = False
            sizes = [*node.args] if word_of(node) in OF_SIZES else list(node.keywords)
        elif isinstance(node, ast.Subscript):
            sizes = [node.slice]
        elif isinstance(node, ast.If | ast.While | ast.IfExp):
            sizes = [node.test]
        elif isinstance(node, ast.Name) and node.id in MODULES:
            found[id(node)] = False
        elif isinstance(node, ast.Attribute) and node.attr in ("shape", "ndim", "dtype", "size"):
            sizes = [node.value, node]
        for each in sizes:
            found |= {id(inner): found.get(id(inner), True) for inner in ast.walk(each)}
    return found


def _everywhere(single: list[Edit]) -> list[Edit]:
    """The same exchange in all places where the same expression stands: a mistake that was made twice."""
    groups: dict[tuple[str, str, str], list[Edit]] = {}
    for edit in single:
        holder, key, new = edit.places[0]
        old = holder[key] if isinstance(holder, list) else getattr(holder, key)
        if edit.rank < ADD and isinstance(new, ast.AST):
            groups.setdefault((ast.unparse(old), ast.unparse(new), type(new).__name__), []).append(edit)
    return [
        same[0]._replace(
            rank=same[0].rank + 0.5,
            says=f"{same[0].says}, and so in {len(same) - 1} more place{'s' * (len(same) > 2)}",
            places=tuple(place for edit in same for place in edit.places),
        )
        for same in groups.values()
        if len(same) > 1
    ]


def places(node: ast.AST, target: str, depth: int) -> Iterator[tuple[Any, Any, ast.AST, str, int]]:
    """Every expression in a statement: what holds it, where, itself, what becomes of it, and how deep."""
    if isinstance(node, ast.Assign | ast.Return) and isinstance(node.value, ast.Tuple):
        names = node.targets[0] if isinstance(node, ast.Assign) else node.value
        yield node, "value", node.value, target, depth
        for index, each in enumerate(node.value.elts):
            its = root_of(names.elts[index]) if isinstance(names, ast.Tuple) else target
            its = result_of(index, each) if isinstance(node, ast.Return) else its
            if its == "the gradients":
                for number, part in enumerate(each.elts):
                    yield each.elts, number, part, result_of(index + number, part), depth
                    yield from places(part, result_of(index + number, part), depth + 1)
                continue
            yield node.value.elts, index, each, its, depth
            yield from places(each, its, depth + 1)
        return
    statements = {ast.For: ["iter"], ast.If: ["test"], ast.While: ["test"]}
    statements |= {ast.FunctionDef: [], ast.With: ["items"], ast.Try: [], ast.ClassDef: []}
    for field in statements.get(type(node), node._fields):
        value = getattr(node, field)
        for key, each in enumerate(value) if isinstance(value, list) else [(field, value)]:
            if isinstance(each, ast.expr | ast.keyword | ast.comprehension):
                yield (value if isinstance(value, list) else node), key, each, target, depth
                yield from places(each, target, depth + 1)


def _of_statement(body: list[ast.stmt], number: int, scope: list[str]) -> Found:
    """The alternatives to a body in which this statement is wrong."""
    node, before, after = body[number], body[:number], body[number + 1 :]
    name = target_of(node)
    for rank, says, new in _instead(node, name, scope):
        yield rank, smoothed(says), [*before, *new, *after] or [ast.Pass()]
    if after and not isinstance(after[0], ast.Return) and not is_text(node):
        says = f"the steps that set {name} and {target_of(after[0])} are in the wrong order"
        yield NAME, says, [*before, after[0], node, *after[1:]]
    if after and isinstance(loop := after[0], ast.For | ast.While) and isinstance(node, ast.Assign):
        says = f"the step that sets {name} stands before the loop, and belongs inside"
        yield NAME, says, [*before, changed(loop, body=[LAP, node, *loop.body[1:]]), *after[1:]]
    if isinstance(node, ast.For | ast.While) and len(node.body) > 2:
        lap, first, *middle, last = node.body
        what = "the return" if isinstance(last, ast.Return) else f"the step that sets {target_of(last)}"
        shorter = changed(node, body=[lap, first, *middle])
        says = f"{what} stands inside the loop, and belongs behind it"
        yield EXCHANGE, says, [*before, shorter, last, *after]
        says = f"the step that sets {target_of(first)} stands inside the loop, and belongs before it"
        yield EXCHANGE, says, [*before, first, changed(node, body=[lap, *middle, last]), *after]
    if isinstance(node, ast.For | ast.While) and after and isinstance(after[0], ast.Assign | ast.AugAssign):
        says = f"the step that sets {target_of(after[0])} stands behind the loop, and belongs inside"
        yield NAME, says, [*before, changed(node, body=[*node.body, after[0]]), *after[1:]]


def _instead(node: ast.stmt, name: str, scope: list[str]) -> Found:
    """The alternatives to a statement, each of them a list."""
    if isinstance(node, ast.AugAssign):
        for one, two in ((ast.Add, ast.Sub), (ast.Sub, ast.Add), (ast.Mult, ast.Div), (ast.Div, ast.Mult)):
            if isinstance(node.op, one):
                says = f"the term {words(node.value)} has the wrong sign in {name}"
                if two in (ast.Mult, ast.Div):
                    says = f"{words(node.value)} multiplies {name} and should divide, or the other way round"
                yield EXCHANGE, says, [changed(node, op=two())]
        over = [ast.Assign([node.target], node.value)]
        yield EXCHANGE, f"{name} is added up where it has to be set anew", over
    if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name | ast.Subscript):
        added = ast.AugAssign(node.targets[0], ast.Add(), node.value)
        yield EXCHANGE, f"{name} is written over where it has to be added up", [added]
        if isinstance(target := node.targets[0], ast.Subscript):
            for rank, says, new in _places_written(target, name, scope):
                yield rank, says, [changed(node, targets=[new])]
    if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Tuple):
        for one, two, swapped in swaps(node.targets[0]):
            says = f"{one} and {two} are taken for each other"
            yield EXCHANGE + 0.5, says, [changed(node, targets=[swapped])]
    if isinstance(node, ast.If):
        test = words(node.test)
        turned = changed(node, test=ast.UnaryOp(ast.Not(), node.test))
        yield EXCHANGE, f"the condition {test} is the wrong way round", [turned]
        yield NAME, f"what is done in the case {test} should not be done", node.orelse or [ast.Pass()]
        yield NAME, f"what is done in the case {test} belongs to all cases", node.body
    if isinstance(node, ast.Assign | ast.AugAssign | ast.If | ast.Expr) and not is_text(node):
        yield NAME, f"the step that sets {name} is one too many", []


def _places_written(target: ast.Subscript, name: str, scope: list[str]) -> Found:
    """Other places of the same array."""
    indices = target.slice.elts if isinstance(target.slice, ast.Tuple) else [target.slice]
    for i, index in enumerate(indices):
        if isinstance(index, ast.Slice) and len(indices) > 1 and index.lower is index.upper is None:
            rows = parsed(f"np.arange({name}.shape[{i}])")
            where = ast.Tuple([rows if j == i else each for j, each in enumerate(indices)], ast.Load())
            says = f"{name} is written to in every row, where each row has an index of its own"
            yield EXCHANGE, says, changed(target, slice=where)
    for rank, _, new in of_index(target, scope):
        yield rank, f"{name} is written to at the wrong index", new
