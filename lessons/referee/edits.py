"""Single edits of a learner's function, each of which would mend one kind of mistake, and the words for it.

Those that rules.py has as patterns are its rules the other way round: where the mistake of a pattern stands,
what is right is tried. Words say what is wrong, in which variable: never what is to be written.
"""

from __future__ import annotations

import ast
import functools
import itertools
import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from lessons.referee.rules import filled, match, parsed, rules
from lessons.referee.words import (
    MODULES,
    REDUCTIONS,
    inside,
    is_turned,
    method_of,
    number_of,
    result_of,
    root_of,
    smoothed,
    target_of,
    word_of,
    words,
)

SAME = {ast.Mult: (ast.Mult, ast.Div), ast.Div: (ast.Mult, ast.Div), ast.Add: (ast.Add, ast.Sub)}
SAME |= {ast.Sub: (ast.Add, ast.Sub)}  # to add to a part is to add to the whole
PAIRS = ("max", "min"), ("cos", "sin"), ("zeros", "ones"), ("maximum", "minimum"), ("abs", "square")
PAIRS += ("log", "exp"), ("std", "var"), ("dot", "inner"), ("repeat", "tile"), ("concatenate", "stack")
PAIRS += ("floor", "ceil"), ("mean", "sum"), ("sum", "mean"), ("var", "std"), ("norm", "vdot")
NUMBERS = 0, 1, -1, 2, -2, 3, 0.5, -0.5, 4, 1.5
AXES = "-1", "0", "None", "1", "-2", "(0, 1)", "(0, 2)", "(1, 2)", "(-2, -1)", "tuple(range({x}.ndim - 1))"
OF_SIZES = "reshape", "eye", "zeros", "ones", "empty", "full", "range", "len", "arange"
OF_SIZES += "transpose", "swapaxes"
OPERATORS = ast.Add, ast.Sub, ast.Mult, ast.Div, ast.Pow, ast.MatMult, ast.FloorDiv, ast.Mod
COMPARISONS = ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Eq, ast.NotEq
MAKERS = "zeros", "ones", "eye", "empty", "full", "arange", "linspace", "array", "asarray"
# The groups in which edits are tried: another dtype, an exchange of what is there, another variable, and
# something of scope added.
FORM, EXCHANGE, NAME, ADD = -1, 0, 1, 2

LAP = ast.parse("_lap()").body[0]  # stands first in every loop, and is no part of the answer

Found = Iterator[tuple[float, str, Any]]


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
            keyword.belongs_to = word_of(each), words(_argument(each))
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
    """Whether a node is a variable that is given a value."""
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
        every = _of_expression(node, scope, depth, kind, within)
        if id(node) in plain:
            every = _of_kind(node, scope) if plain[id(node)] else iter(())
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


@functools.cache
def _reversed() -> list[tuple[float, ast.AST, ast.AST, str, str]]:
    """Every rule the other way round: rank, what stands there, what is tried, the missing letter, words."""
    found = []
    for right, wrong, says in rules():
        missing = "".join(_letters(right) - _letters(wrong))
        group = EXCHANGE if not isinstance(wrong, ast.Name) else NAME + 0.5 if not missing else ADD
        group += 0.5 * isinstance(right, ast.Name)  # before something is left out, it is exchanged
        group += 0.2 * isinstance(right, ast.Call)
        found.append((group, wrong, right, missing, says))
    return found


def _letters(pattern: ast.AST) -> set[str]:
    return {each.id for each in ast.walk(pattern) if isinstance(each, ast.Name) and len(each.id) == 1}


def _of_expression(node: ast.AST, scope: list[str], depth: int, kind: str, within: type | None) -> Found:
    """within is the operation that the expression is a part of, if it is one."""
    is_other = isinstance(
        node, ast.Slice | ast.keyword | ast.comprehension | ast.Starred | ast.Tuple | ast.List
    )
    is_other = is_other or isinstance(getattr(node, "ctx", None), ast.Store) or _is_text(node)
    for rank, pattern, new, missing, says in () if is_other or number_of(node) is not None else _reversed():
        if (found := _matched(pattern, node)) is None:
            continue
        if missing and type(new.op) in SAME.get(within, ()):
            continue  # it is tried with the whole
        if isinstance(pattern, ast.Name) and not _fits(new, node, within):
            continue
        if (
            isinstance(new, ast.Name)
            and isinstance(node, ast.Call)
            and word_of(node).removesuffix("_like") in MAKERS
        ):
            continue  # then two names would be one array
        pieces = {letter: words(each) for letter, each in found.items()}
        part = "{t}" if depth == 1 else f"{pieces.get('a')} in {{t}}"
        for later, spoken, candidate in _candidates(scope, new, depth) if missing else [(0.0, "", None)]:
            told = says.format(**{"t": "{t}", "s": part, missing: spoken, **pieces})
            yield rank + later, told, filled(new, found | ({missing: candidate} if missing else {}))
    if not is_other and number_of(node) is None:
        yield from _of_form(node, scope, kind)
    yield from _of_kind(node, scope)


def _fits(new: ast.AST, node: ast.AST, within: type | None) -> bool:
    """Whether it makes sense to turn an expression, or to take a part or a copy of it."""
    if is_turned(new):
        return within in (None, ast.MatMult)
    if isinstance(new, ast.Subscript) or (isinstance(new, ast.Call) and method_of(new) == "copy"):
        return isinstance(node, ast.Name | ast.Subscript)
    return True


def _of_form(node: ast.AST, scope: list[str], kind: str) -> Found:
    """What mends a wrong dtype or shape."""
    of = words(node)
    for name in scope if kind == "dtype" else ():
        dtype = parsed(f"{name}.dtype")
        if isinstance(node, ast.Call) and word_of(node) in MAKERS:
            told = [*node.keywords, ast.keyword("dtype", dtype)]
            says = f"{word_of(node)} is given no dtype for {{t}}, and makes float64"
            yield FORM, says, _copy(node, keywords=told)
        if ast.unparse(node) in ("float", "np.float64", "'float64'", "np.float32"):
            yield FORM, f"{{t}} is made {of}, whatever the dtype of {name}", dtype
        says = f"{of} is not in the dtype of {name} in {{t}}"
        yield FORM + 0.5, says, ast.Call(parsed("np.asarray"), [node, dtype], [])
    if kind == "dtype" and isinstance(node, ast.Call) and ast.unparse(node.func) == "np.sqrt":
        says = "np.sqrt of a number is a float64 in {t}, and not a plain number"
        yield FORM, says, ast.Call(ast.Name("float", ast.Load()), [node], [])
    for keywords in ("axis=0", "axis=-1", "axis=-1, keepdims=True", "axis=(0, 1)") if kind == "shape" else ():
        yield ADD, f"a sum of {of} is missing in {{t}}", _sum(node, keywords)


def _sum(node: ast.AST, keywords: str) -> ast.Call:
    return ast.Call(ast.Attribute(node, "sum", ast.Load()), [], parsed(f"f({keywords})").keywords)


def _of_kind(node: ast.AST, scope: list[str]) -> Found:
    """Exchanges of what a node of this kind has."""
    if isinstance(getattr(node, "ctx", None), ast.Store):
        return
    if isinstance(node, ast.Slice):
        yield from _slice(node)
    elif isinstance(node, ast.keyword) and node.arg == "axis":
        yield from _axis(node)
    elif isinstance(node, ast.comprehension):
        for number, each in enumerate(node.ifs):
            ifs = [*node.ifs[:number], ast.UnaryOp(ast.Not(), each), *node.ifs[number + 1 :]]
            yield EXCHANGE, "the condition is the wrong way round in {t}", _copy(node, ifs=ifs)
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield EXCHANGE, f"{node.value} is not the right choice in {{t}}", ast.Constant(not node.value)
    elif isinstance(number_of(node), int | float):
        yield from _number(node)
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield from _letters_of_einsum(node)
    elif isinstance(node, ast.Name):
        for other in scope if node.id in scope else ():
            if other != node.id:
                says = f"{{t}} {{made}} {node.id} where another variable belongs"
                yield NAME, says, parsed(other)
    elif isinstance(node, ast.BinOp):
        for operator in OPERATORS:
            if not isinstance(node.op, operator):
                a, b = words(node.left), words(node.right)
                says = f"{a} and {b} are combined by the wrong operation in {{t}}"
                yield NAME, says, _copy(node, op=operator())
    elif isinstance(node, ast.Compare) and len(node.ops) == 1:
        for operator in COMPARISONS:
            if not isinstance(node.ops[0], operator):
                says = f"the comparison of {words(node.left)} is not the right one in {{t}}"
                yield EXCHANGE, says, _copy(node, ops=[operator()])
    elif isinstance(node, ast.IfExp):
        says = f"the condition {words(node.test)} is the wrong way round in {{t}}"
        yield EXCHANGE, says, _copy(node, body=node.orelse, orelse=node.body)
    elif isinstance(node, ast.BoolOp):
        other = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        yield EXCHANGE, "and stands for or, or or for and, in {t}", _copy(node, op=other)
    elif isinstance(node, ast.Subscript):
        yield from _index(node, scope)
    elif isinstance(node, ast.Tuple | ast.List):
        for one, two, swapped in _swaps(node):
            yield EXCHANGE, f"{one} and {two} are in the wrong order in {{t}}", swapped
    elif isinstance(node, ast.Call):
        yield from _call(node, scope)


def _call(node: ast.Call, scope: list[str]) -> Found:
    word = word_of(node)
    of = words(_argument(node))
    for one, two in [pair for each in PAIRS for pair in (each, each[::-1])]:
        if word == one:
            says = f"{{t}} takes the {one} of {of}, and not the {two}"
            says = says if one in REDUCTIONS else f"{one} is the wrong function in {{t}}"
            name = "attr" if isinstance(node.func, ast.Attribute) else "id"
            yield EXCHANGE, says, _copy(node, func=_copy(node.func, **{name: two}))
    if is_turned(node):
        says = f"the axes of {of} are exchanged in the wrong order in {{t}}"
        for order in itertools.permutations(node.args) if len(node.args) <= 5 else ():
            yield EXCHANGE + 0.3, says, _copy(node, args=list(order))
        yield EXCHANGE, f"{of} is transposed in {{t}}, and should not be", inside(node)
    else:
        for one, two, swapped in _swaps(node):
            what = f"{one} and {two} are given to {word}"
            what = "the sizes of a reshape are" if word == "reshape" else what
            yield EXCHANGE, f"{what} in the wrong order in {{t}}", swapped
    if word == "reshape":
        yield EXCHANGE, f"{of} is reshaped in {{t}}, and should not be", node.func.value
    for each in node.keywords:
        others = [other for other in node.keywords if other is not each]
        if each.arg == "keepdims":
            says = f"keepdims is too much with the {word} of {of} in {{t}}"
            yield EXCHANGE, says, _copy(node, keywords=others)
        yield NAME, f"{each.arg} is one too many for {word} in {{t}}", _copy(node, keywords=others)
    if word in REDUCTIONS and method_of(node) and node.args and isinstance(number_of(node.args[0]), int):
        for axis in AXES[:5]:
            says = f"the {word} of {of} in {{t}} is taken over the wrong axis"
            yield EXCHANGE, says, _copy(node, args=[parsed(axis), *node.args[1:]])
    if word in REDUCTIONS and not any(each.arg == "keepdims" for each in node.keywords):
        for more in ("keepdims=True", "axis=-1, keepdims=True", "axis=0", "axis=-1"):
            keywords = parsed(f"f({more})").keywords
            if more.startswith("axis") and any(each.arg == "axis" for each in node.keywords):
                continue
            missing = "keepdims" if more.startswith("keep") else "the axis"
            says = f"{missing} is missing with the {word} of {of} in {{t}}"
            yield EXCHANGE, says, _copy(node, keywords=[*node.keywords, *keywords])
    if word == "mean" and method_of(node) and not node.keywords:
        says = f"{{t}} takes the mean of {of} over the last axis too, and not the sum"
        yield EXCHANGE, says, _copy(node, func=_copy(node.func, value=_sum(node.func.value, "axis=-1")))
    if method_of(node) and word not in ("reshape", "append"):
        yield NAME, f"the {word} of {of} is one too many in {{t}}", node.func.value
    for name in scope:
        more = _copy(node, args=[*node.args, parsed(name)])
        if not method_of(node) and isinstance(node.func, ast.Name):
            yield ADD, f"{word} is not given {name} for {{t}}", more


def _argument(node: ast.Call) -> ast.AST:
    """What a method belongs to, or the first argument of a function."""
    return node.func.value if method_of(node) else node.args[0] if node.args else node.func


def _axis(node: ast.keyword) -> Found:
    word, of = node.belongs_to
    for axis in AXES:
        text = axis.format(x=of if of.isidentifier() else "dy")
        if text != ast.unparse(node.value):
            says = f"the {word} of {of} in {{t}} is taken over the wrong axis"
            yield EXCHANGE, says, _copy(node, value=parsed(text))


def _number(node: ast.AST) -> Found:
    value = number_of(node)
    near = value * 2, value / 2, value + 1, value - 1, -value, value + 0.5, value * 10, value / 10
    for other in dict.fromkeys((*NUMBERS, *near)):
        is_float = isinstance(other, float) and other == int(other)
        if other != value and not (isinstance(value, int) and is_float):
            says = f"the number {value} is not the right one in {{t}}"
            yield EXCHANGE + 0.8, says, parsed(str(other))
    yield EXCHANGE, "a sign is wrong in {t}", parsed(str(-value))
    if value == 0:
        yield NAME, "0 is not the right number to begin with in {t}", parsed("-np.inf")


def _index(node: ast.Subscript, scope: list[str]) -> Found:
    of = words(node.value)
    several = isinstance(node.slice, ast.Tuple)
    indices = node.slice.elts if several else [node.slice]
    for which, index in enumerate(indices):
        others: list[tuple[float, ast.AST]] = []
        if isinstance(number := number_of(index), int):
            others = [(EXCHANGE, parsed(str(other))) for other in (number + 1, number - 1, 0, -1)]
            others += [(ADD, parsed(name)) for name in scope]
        elif isinstance(index, ast.Slice) and index.lower is index.upper is None:
            others = [(ADD, parsed(name)) for name in scope]
            others += [(ADD, parsed(str(number))) for number in (0, -1)]
        elif isinstance(index, ast.Name | ast.BinOp):
            others = [(EXCHANGE, parsed(f"({ast.unparse(index)}) {sign} 1")) for sign in "+-"]
        for rank, other in others:
            if ast.unparse(other) != ast.unparse(index):
                new = [other if i == which else each for i, each in enumerate(indices)]
                where = ast.Tuple(new, ast.Load()) if several else new[0]
                yield rank, f"an index of {of} is not the right one in {{t}}", _copy(node, slice=where)
    for _, _, swapped in _swaps(node.slice) if several else ():
        yield EXCHANGE, f"two indices of {of} are exchanged in {{t}}", _copy(node, slice=swapped)


def _slice(node: ast.Slice) -> Found:
    yield EXCHANGE, "a slice is at the wrong end in {t}", _copy(node, lower=node.upper, upper=node.lower)
    for field in ("lower", "upper"):
        if bound := getattr(node, field):
            for sign in "+-":
                moved = parsed(f"({ast.unparse(bound)}) {sign} 1")
                says = "a slice begins or ends at the wrong place in {t}"
                yield EXCHANGE, says, _copy(node, **{field: moved})
            yield EXCHANGE, "a slice is cut off in {t}, and should not be", _copy(node, **{field: None})
    if node.lower is node.upper is None:
        yield ADD, "a slice begins too early in {t}", _copy(node, lower=ast.Constant(1))
        yield ADD, "a slice ends too late in {t}", _copy(node, upper=parsed("-1"))
    for field, other in (("lower", "upper"), ("upper", "lower")):
        if (bound := getattr(node, field)) and getattr(node, other) is None:
            turned = {field: None, other: ast.UnaryOp(ast.USub(), bound)}
            yield EXCHANGE, "a slice is at the wrong end in {t}", _copy(node, **turned)
    if number_of(node.lower) == 1 and node.upper is None:
        yield EXCHANGE, "a slice is shifted in {t}", _copy(node, lower=None, upper=parsed("-1"))
    if number_of(node.upper) == -1 and node.lower is None:
        yield EXCHANGE, "a slice is shifted in {t}", _copy(node, upper=None, lower=parsed("1"))


def _letters_of_einsum(node: ast.Constant) -> Found:
    if not re.fullmatch(r"[\w.]+(,[\w.]+)*->[\w.]*", node.value):
        return
    says = "the letters of the einsum are not the right ones for {t}"
    letters = sorted(set(re.sub(r"\W", "", node.value)))
    parts = re.split(r"(,|->)", node.value)
    for number, part in enumerate(parts[::2]):
        core = part.replace("...", "")
        others = {"".join(order) for order in itertools.permutations(core)} if len(core) <= 4 else set()
        for i, letter in itertools.product(range(len(core)), letters):
            others |= {core[:i] + letter + core[i + 1 :], core[:i] + core[i + 1 :]}
        for other in sorted(others - {core}):
            new = [part.replace(core, other) if i == 2 * number else each for i, each in enumerate(parts)]
            yield EXCHANGE + 0.2, says, ast.Constant("".join(new))


def _of_statement(body: list[ast.stmt], number: int, scope: list[str]) -> Found:
    """What may stand in the place of a body in which this statement is wrong."""
    node, before, after = body[number], body[:number], body[number + 1 :]
    name = target_of(node)
    for rank, says, new in _instead(node, name, scope):
        yield rank, smoothed(says), [*before, *new, *after] or [ast.Pass()]
    if after and not isinstance(after[0], ast.Return) and not _is_text(node):
        says = f"the steps that set {name} and {target_of(after[0])} are in the wrong order"
        yield NAME, says, [*before, after[0], node, *after[1:]]
    if after and isinstance(loop := after[0], ast.For | ast.While) and isinstance(node, ast.Assign):
        says = f"the step that sets {name} stands before the loop, and belongs inside"
        yield NAME, says, [*before, _copy(loop, body=[LAP, node, *loop.body[1:]]), *after[1:]]
    if isinstance(node, ast.For | ast.While) and len(node.body) > 2:
        lap, first, *middle, last = node.body
        what = "the return" if isinstance(last, ast.Return) else f"the step that sets {target_of(last)}"
        shorter = _copy(node, body=[lap, first, *middle])
        says = f"{what} stands inside the loop, and belongs behind it"
        yield EXCHANGE, says, [*before, shorter, last, *after]
        says = f"the step that sets {target_of(first)} stands inside the loop, and belongs before it"
        yield EXCHANGE, says, [*before, first, _copy(node, body=[lap, *middle, last]), *after]
    if isinstance(node, ast.For | ast.While) and after and isinstance(after[0], ast.Assign | ast.AugAssign):
        says = f"the step that sets {target_of(after[0])} stands behind the loop, and belongs inside"
        yield NAME, says, [*before, _copy(node, body=[*node.body, after[0]]), *after[1:]]


def _instead(node: ast.stmt, name: str, scope: list[str]) -> Found:
    """What may stand in the place of a statement: a list."""
    if isinstance(node, ast.AugAssign):
        for one, two in ((ast.Add, ast.Sub), (ast.Sub, ast.Add), (ast.Mult, ast.Div), (ast.Div, ast.Mult)):
            if isinstance(node.op, one):
                says = f"the term {words(node.value)} has the wrong sign in {name}"
                if two in (ast.Mult, ast.Div):
                    says = f"{words(node.value)} multiplies {name} and should divide, or the other way round"
                yield EXCHANGE, says, [_copy(node, op=two())]
        over = [ast.Assign([node.target], node.value)]
        yield EXCHANGE, f"{name} is added up where it has to be set anew", over
    if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name | ast.Subscript):
        added = ast.AugAssign(node.targets[0], ast.Add(), node.value)
        yield EXCHANGE, f"{name} is written over where it has to be added up", [added]
        if isinstance(target := node.targets[0], ast.Subscript):
            for rank, says, new in _places_written(target, name, scope):
                yield rank, says, [_copy(node, targets=[new])]
    if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Tuple):
        for one, two, swapped in _swaps(node.targets[0]):
            says = f"{one} and {two} are taken for each other"
            yield EXCHANGE + 0.5, says, [_copy(node, targets=[swapped])]
    if isinstance(node, ast.If):
        test = words(node.test)
        turned = _copy(node, test=ast.UnaryOp(ast.Not(), node.test))
        yield EXCHANGE, f"the condition {test} is the wrong way round", [turned]
        yield NAME, f"what is done in the case {test} should not be done", node.orelse or [ast.Pass()]
        yield NAME, f"what is done in the case {test} belongs to all cases", node.body
    if isinstance(node, ast.Assign | ast.AugAssign | ast.If | ast.Expr) and not _is_text(node):
        yield NAME, f"the step that sets {name} is one too many", []


def _places_written(target: ast.Subscript, name: str, scope: list[str]) -> Found:
    """Other places of the same array."""
    indices = target.slice.elts if isinstance(target.slice, ast.Tuple) else [target.slice]
    for i, index in enumerate(indices):
        if isinstance(index, ast.Slice) and len(indices) > 1 and index.lower is index.upper is None:
            rows = parsed(f"np.arange({name}.shape[{i}])")
            where = ast.Tuple([rows if j == i else each for j, each in enumerate(indices)], ast.Load())
            says = f"{name} is written to in every row, where each row has an index of its own"
            yield EXCHANGE, says, _copy(target, slice=where)
    for rank, _, new in _index(target, scope):
        yield rank, f"{name} is written to at the wrong index", new


def _is_text(node: ast.AST) -> bool:
    value = node.value if isinstance(node, ast.Expr) else node
    return isinstance(value, ast.Constant) and isinstance(value.value, str)


def _matched(pattern: ast.AST, node: ast.AST) -> dict[str, ast.AST] | None:
    """What the letters of a pattern are in a node; one that comes twice has to be the same."""
    found = match(pattern, node, {})
    letters = [each.id for each in ast.walk(pattern) if isinstance(each, ast.Name) and len(each.id) == 1]
    if found is None or len(letters) == len(set(letters)):
        return found
    return found if ast.unparse(filled(pattern, found)) == ast.unparse(node) else None


def _candidates(scope: list[str], new: ast.BinOp, depth: int) -> Iterator[tuple[float, str, ast.AST]]:
    """What a missing term, factor or exponent may be, and how much later it is tried.

    A variable, 1 less a variable, its rows, its width, the root of these, and the product of two.
    """
    if isinstance(new.op, ast.Pow):
        yield from ((0.0, str(number), ast.Constant(number)) for number in (2, 3))
        return
    for name in scope:
        yield 0.0, name, parsed(name)
        if isinstance(new.op, ast.Mult):
            yield 0.0, f"1 - {name}", parsed(f"1 - {name}")
        if isinstance(new.op, ast.Div):
            yield 0.3, f"the number of rows of {name}", parsed(f"len({name})")
            yield 0.3, f"the width of {name}", parsed(f"{name}.shape[-1]")
            yield 0.4, f"the root of {name}", parsed(f"{name} ** 0.5")
            yield 0.4, f"the root of the width of {name}", parsed(f"{name}.shape[-1] ** 0.5")
        if isinstance(new.op, ast.MatMult):
            yield 0.2, name, parsed(f"{name}.swapaxes(-1, -2)")
            yield 0.2, name, parsed(f"{name}.T")
    if depth > 2:
        return
    for one, two in itertools.permutations(scope, 2) if isinstance(new.op, ast.Mult) else ():
        yield 0.9, f"{one} / {two}", parsed(f"{one} / {two}")
    for one, two in itertools.combinations(scope, 2) if isinstance(new.op, ast.Add) else ():
        yield 0.9, f"{one} * {two}", parsed(f"{one} * {two}")


def _copy(node, **changes):
    """The node with some of its fields changed; the others are shared."""
    new = type(node)(**{**{field: getattr(node, field, None) for field in node._fields}, **changes})
    return ast.copy_location(new, node)


def _swaps(node) -> Iterator[tuple[str, str, Any]]:
    """Each two elements of a tuple, or arguments of a call, in words, and the node with them exchanged."""
    field = "args" if isinstance(node, ast.Call) else "elts"
    for i, j in itertools.combinations(range(len(getattr(node, field))), 2):
        elements = list(getattr(node, field))
        one, two = words(elements[i]), words(elements[j])
        elements[i], elements[j] = elements[j], elements[i]
        yield one, two, _copy(node, **{field: elements})
