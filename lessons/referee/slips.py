"""Single slips: a right answer with one thing wrong in it, and what that is in words.

The function under test is taken from plainly.py if it is there, else from the lesson's solution, or from the
library where that imports it. Every slip is one change of its syntax tree: a term left out, a sum for a mean,
a transpose too few. What a slip says names the fault, and does not print the right line.
"""

from __future__ import annotations

import ast
import functools
import inspect
import sys
import textwrap
from collections.abc import Callable, Iterator
from itertools import combinations
from types import CodeType, FunctionType, ModuleType
from typing import Any, NamedTuple

from lessons.referee import plainly
from lessons.referee.held import Held, called
from lessons.referee.slip_rules import (
    LEFT_OUT,
    RARE,
    SLICES,
    WRONG_PLACE,
    WRONG_WAY,
    filled,
    index_of,
    match,
    rules,
)
from lessons.referee.slip_words import (
    REDUCTIONS,
    in_terms_of,
    inside,
    is_turned,
    method_of,
    number_of,
    place,
    result_of,
    root_of,
    smoothed,
    target_of,
    word_of,
    words,
)

LAPS = 200_000  # of all loops of a slip together: some would never end
PAIRS = (
    ("sum", "mean"),
    ("max", "min"),
    ("cos", "sin"),
    ("zeros", "ones"),
    ("maximum", "minimum"),
    ("log", "log2"),
)
ELSE = dict(PAIRS) | {b: a for a, b in PAIRS}
AXES = {"-1": "the last axis", "0": "the first axis", "None": "everything"}
MORE_AXES = {"1": "axis 1", "-2": "the last axis but one", "(0, 1)": "the first two axes"}
NEVER_FORGOTTEN = "len", "range", "zip", "enumerate", "list", "tuple", "items", "values", "append", "reshape"
NEVER_FORGOTTEN += "swapaxes", "transpose"  # of these, elsewhere

Found = Iterator[tuple[int, str, Any]]  # how likely, what it is, and what stands there then


class Slip(NamedTuple):
    """One thing wrong: in the list or node `holder`, `new` in the place `key`."""

    rank: float  # the smaller, the likelier; of one group, the outermost first
    says: str
    target: str  # the variable that it is in
    holder: Any
    key: Any
    new: Any

    def exchange(self) -> Slip:
        """Make it; what undoes it."""
        if isinstance(self.holder, list):
            old, self.holder[self.key] = self.holder[self.key], self.new
        else:
            old = getattr(self.holder, self.key)
            setattr(self.holder, self.key, self.new)
        return self._replace(new=old)


def slips(solution: ModuleType, name: str) -> Iterator[tuple[float, str, ModuleType]]:
    """Every slip in the function of this name: how likely, what it is, and the solution with it."""
    right = getattr(plainly, name, getattr(solution, name, None))
    if not isinstance(right, FunctionType):
        return
    helpers = [each for each in right.__code__.co_names if each.startswith("_") and hasattr(solution, each)]
    others = [each for other, each in vars(plainly).items() if other.startswith(f"{name}_by_")]
    for each in (right, *(getattr(solution, helper) for helper in helpers), *others):
        as_name = name if each in others else each.__name__
        for number, slip in enumerate(_every_slip(each)[1]):
            if code := _code(each, number):
                module = _with(solution, each, as_name, code)
                module.__slip__ = each, number, name
                yield slip.rank, slip.says, module


def in_words_of(module: ModuleType, yours: list[Held], other: list[Held]) -> tuple[str, int]:
    """What the slip in a module is, said with the variables of a learner, and the line it is in, or 0.

    yours is what they held in the learner's function, and other what they held in the module's.
    """
    right, number, _ = module.__slip__
    names, places = called(yours, other, _every_slip(right)[0])
    with in_terms_of(names, {name: text for name, (text, _) in places.items()}):
        slip = _every_slip.__wrapped__(right)[1][number]
    returned = next((each.line for each in yours if not each.name), 0)
    _, line = places.get(slip.target, ("", returned if " result" in slip.target else 0))
    return slip.says, line


def _with(solution: ModuleType, right: FunctionType, name: str, code) -> ModuleType:
    """The solution, with plainly's functions for its own, and one that is spoiled."""
    module = ModuleType(solution.__name__)
    names = vars(module)
    for each, value in vars(solution).items():
        names[each] = value if each.startswith("__") else getattr(plainly, each, value)
        if isinstance(value, FunctionType) and names[each] is value and value.__module__ == solution.__name__:
            names[each] = FunctionType(value.__code__, names, each, value.__defaults__, value.__closure__)
    own = right.__module__ == solution.__name__
    spoiled = names if own else vars(sys.modules[right.__module__]) | {"__name__": solution.__name__}
    spoiled["_lap"] = functools.partial(next, iter(range(LAPS)))
    exec(code, spoiled)
    names[name] = spoiled[right.__name__]
    return module


@functools.cache
def _code(right: FunctionType, number: int) -> CodeType | None:
    """The function with its slip of this number; None if nobody could write that."""
    function, every = _every_slip(right)
    back = every[number].exchange()
    try:
        return compile(ast.fix_missing_locations(ast.Module([function], [])), "<a slip>", "exec")
    except (SyntaxError, ValueError, TypeError):
        return None
    finally:
        back.exchange()


@functools.cache
def _every_slip(right: FunctionType) -> tuple[ast.FunctionDef, list[Slip]]:
    """The function's tree, and its slips, the likeliest first."""
    function = ast.parse(textwrap.dedent(inspect.getsource(right))).body[0]
    function.decorator_list = []
    has_cache = "cache" in (ast.get_docstring(function) or "cache")
    for each in ast.walk(function):
        if isinstance(each, ast.Return) and isinstance(each.value, ast.Tuple):
            for part in each.value.elts:
                part.has_results = not has_cache
    scope = {each.arg: 0 for each in ast.walk(function) if isinstance(each, ast.arg)}
    for each in ast.walk(function):
        if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store):
            scope[each.id] = min(each.lineno, scope.get(each.id, each.lineno))
        if isinstance(each, ast.For | ast.While):
            each.body.insert(0, ast.parse("_lap()").body[0])
    found: list[Slip] = []
    for holder in ast.walk(function):
        for field in {"body", "orelse"} & set(holder._fields):
            body = getattr(holder, field)
            for number, statement in enumerate(body if isinstance(body, list) else []):
                if ast.unparse(statement) == "_lap()":
                    continue
                names = [name for name, line in scope.items() if line < statement.lineno]
                for rank, says, new in _of_statement(statement, names):
                    after = [*body[:number], *new, *body[number + 1 :]]
                    found.append(Slip(rank, smoothed(says), target_of(statement), holder, field, after))
                for where, key, node, target, depth in _places(statement, target_of(statement), 1):
                    for rank, says, new in _of_expression(node, names, target, depth):
                        says = smoothed(says.replace("{t}", place(target)))
                        found.append(Slip(rank + depth / 20, says, target, where, key, new))
    for says, target, new in (*_all_over(function), *_before_the_step(function)):
        says = smoothed(says.replace("{t}", place(target)))
        found.append(Slip(WRONG_PLACE, says, target, function, "body", new.body))
    return function, sorted(found, key=lambda slip: slip.rank)


def _all_over(function: ast.FunctionDef) -> Iterator[tuple[str, str, ast.FunctionDef]]:
    """The same thing wrong in several places: what, the variable it is in (none here), and the function."""
    axes = [each for each in ast.walk(function) if isinstance(each, ast.keyword) and each.arg == "axis"]
    for axis, over in AXES.items() if len(axes) > 1 else ():
        new = ast.keyword("axis", ast.parse(axis, mode="eval").body)
        says = f"the sums, means and the like are all taken over {over}, and not all should be"
        yield says, "", _everywhere(function, lambda each: getattr(each, "arg", "") == "axis", new)
    for name in [each.arg for each in function.args.args]:
        reads = functools.partial(_reads, name)
        for sign, size in (("+", "large"), ("-", "small")):
            new = ast.parse(f"({name} {sign} 1)", mode="eval").body
            yield f"{name} is taken one too {size}", "", _everywhere(function, reads, new)


def _before_the_step(function: ast.FunctionDef) -> Iterator[tuple[str, str, ast.FunctionDef]]:
    """A variable taken as it was before it was given a new value."""
    statements = [each for each in ast.walk(function) if isinstance(each, ast.Assign | ast.Return)]
    seen = {each.arg for each in function.args.args}
    for step in statements:
        names = [
            each.id
            for each in ast.walk(step)
            if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)
        ]
        for name in seen.intersection(names):
            keeping = [ast.parse(f"_old = {name}").body[0], step]
            uses = [(each, use) for each in statements if each.lineno > step.lineno for use in ast.walk(each)]
            for each, use in uses:
                if _reads(name, use):
                    says = f"{{t}} takes an earlier value, where {words(step.value)} belongs"
                    new = {id(step): keeping, id(use): ast.Name("_old", ast.Load())}
                    yield (
                        says,
                        target_of(each),
                        _everywhere(function, lambda node, new=new: id(node) in new, new),
                    )
        seen.update(names)


def _reads(name: str, node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load)


def _everywhere(node, which: Callable, new):
    """A copy of the tree with something new in some places: a node or, for each place by its id, its own."""
    if isinstance(node, list):
        pieces = [_everywhere(each, which, new) for each in node]
        return [each for piece in pieces for each in (piece if isinstance(piece, list) else [piece])]
    if not isinstance(node, ast.AST):
        return node
    if which(node):
        return new[id(node)] if isinstance(new, dict) else new
    fields = {field: _everywhere(value, which, new) for field, value in ast.iter_fields(node)}
    return ast.copy_location(type(node)(**fields), node)


def _of_statement(node: ast.stmt, known: list[str]) -> Found:
    """The slips that concern a statement as a whole; what stands there then is a list."""
    name = target_of(node)
    target = place(name)
    if isinstance(node, ast.AugAssign):
        what = f"the {'factor' if isinstance(node.op, ast.Mult | ast.Div) else 'term'} {words(node.value)}"
        yield LEFT_OUT, f"{what} is left out of {target}", []
        if isinstance(node.op, ast.Add | ast.Sub):
            other = ast.Sub() if isinstance(node.op, ast.Add) else ast.Add()
            yield LEFT_OUT, f"{what} has the wrong sign in {target}", [_copy(node, op=other)]
            over = ast.Assign([node.target], node.value)
            yield WRONG_WAY, f"{target} is written over where it has to be added up", [over]
    elif isinstance(node, ast.Assign):
        names = node.targets[0]
        if name in known or isinstance(names, ast.Subscript):
            what = f"the step that sets {target} to {words(node.value)} is left out"
            if isinstance(names, ast.Subscript) and isinstance(names.value, ast.Call):
                what = f"{words(node.value)} is not written to {target}"
            yield WRONG_WAY, what, []
        if isinstance(names, ast.Tuple) and not isinstance(node.value, ast.Tuple):
            for one, two, swapped in _swaps(names):
                yield RARE, f"{one} and {two} are taken for each other", [_copy(node, targets=[swapped])]
    elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        yield LEFT_OUT, f"{words(node.value)} is left out", []
    elif isinstance(node, ast.For):
        first = ast.parse(f"list({ast.unparse(node.iter)})[:1]", mode="eval").body
        says = f"the loop over {words(node.target)} looks at the first one alone"
        yield WRONG_PLACE, says, [_copy(node, iter=first)]
    elif isinstance(node, ast.If):
        test = words(node.test)
        turned = _copy(node, test=ast.UnaryOp(ast.Not(), node.test))
        yield WRONG_WAY, f"the condition {test} is the wrong way round", [turned]
        yield WRONG_PLACE, f"the case {test} is not told from the others", node.orelse or [ast.Pass()]
        yield WRONG_PLACE, f"what is done in the case {test} is always done", node.body
    elif isinstance(node, ast.Return) and isinstance(node.value, ast.Tuple):
        for one, two, swapped in _swaps(node.value, result_of):
            yield LEFT_OUT, f"{one} and {two} are returned in the wrong order", [ast.Return(swapped)]


def _places(node: ast.AST, target: str, depth: int) -> Iterator[tuple[Any, Any, ast.AST, str, int]]:
    """Every expression in a statement: what holds it, where, itself, what becomes of it, and how deep."""
    if isinstance(node, ast.Assign | ast.Return) and isinstance(node.value, ast.Tuple):
        names = node.targets[0] if isinstance(node, ast.Assign) else node.value
        for index, each in enumerate(node.value.elts):
            its = root_of(names.elts[index]) if isinstance(names, ast.Tuple) else target
            its = result_of(index, each) if isinstance(node, ast.Return) else its
            yield node.value.elts, index, each, its, depth
            if its == "the gradients":
                for number, part in enumerate(each.elts):
                    its = result_of(index + number, part)
                    yield each.elts, number, part, its, depth + 1
                    yield from _places(part, its, depth + 2)
                continue
            yield from _places(each, its, depth + 1)
        return
    fields = {ast.For: ["iter"], ast.If: ["test"], ast.While: ["test"], ast.FunctionDef: []}
    is_function = isinstance(node, ast.Call) and not isinstance(node.func, ast.Attribute)
    has_axes = isinstance(node, ast.Subscript | ast.Slice | ast.Tuple | ast.keyword) or is_turned(node)
    for field in ["args", "keywords"] if is_function else fields.get(type(node), node._fields):
        value = getattr(node, field)
        for key, each in enumerate(value) if isinstance(value, list) else [(field, value)]:
            if has_axes and number_of(each) is not None:
                continue  # an axis or an index, of which the slips are others
            if isinstance(each, ast.expr | ast.keyword | ast.comprehension):
                yield (value if isinstance(value, list) else node), key, each, target, depth
                yield from _places(each, target, depth + 1)


def _of_expression(node: ast.AST, names: list[str], target: str, depth: int) -> Found:
    for rank, pattern, new, says in rules():
        if (found := match(pattern, node, {})) is not None:
            pieces = {letter: words(each) for letter, each in found.items()}
            part = "{t}" if depth == 1 else f"{pieces.get('a')} in {{t}}"
            yield rank, says.format(t="{t}", s=part, **pieces), filled(new, found)
    if is_turned(node) and len(getattr(node, "args", ())) > 2:
        yield LEFT_OUT, f"the transpose of {words(inside(node))} is missing in {{t}}", inside(node)
        for _, _, swapped in _swaps(node):
            yield WRONG_WAY, "the axes of a transpose are in the wrong order in {t}", swapped
        cut = inside(node)
        if isinstance(cut, ast.Call) and method_of(cut) == "reshape" and len(cut.args) == len(node.args):
            says = f"{words(cut)} is reshaped only, where it has to be cut and transposed for {{t}}"
            yield LEFT_OUT, says, _copy(cut, args=[cut.args[each.value] for each in node.args])
    elif isinstance(node, ast.Call):
        yield from _reduction(node) if method_of(node) in REDUCTIONS else _call(node)
    elif isinstance(node, ast.Subscript):
        yield from _part(node)
    elif isinstance(node, ast.comprehension) and node.ifs:
        turned = [ast.UnaryOp(ast.Not(), each) for each in node.ifs]
        yield WRONG_WAY, "the condition is the wrong way round in {t}", _copy(node, ifs=turned)
    elif isinstance(node, ast.Tuple | ast.List) and all(isinstance(each, ast.Name) for each in node.elts):
        for one, two, swapped in _swaps(node) if isinstance(node.ctx, ast.Load) else ():
            yield LEFT_OUT, f"{one} and {two} are in the wrong order in {{t}}", swapped
    elif isinstance(node, ast.Name) and node.id in names and node.id != target:
        says = "holds" if target == "the cache" else "is made with"
        for other in names if isinstance(node.ctx, ast.Load) else ():
            if other != node.id:
                new = ast.Name(other, ast.Load())
                yield WRONG_PLACE, f"{{t}} {says} {words(new)} in the place of {words(node)}", new


def _reduction(node: ast.Call) -> Found:
    word, of = method_of(node), words(node.func.value)
    if word in ELSE:
        other = _copy(node, func=_copy(node.func, attr=ELSE[word]))
        yield LEFT_OUT, f"{{t}} takes the {ELSE[word]} of {of}, not the {word}", other
    yield LEFT_OUT, f"the {word} of {of} is left out in {{t}}", node.func.value
    first = ast.Subscript(node.func.value, ast.Constant(0), ast.Load())
    yield WRONG_PLACE, f"{{t}} takes {of} of the first alone, not the {word} over all", first
    for each in node.keywords:
        others = [other for other in node.keywords if other is not each]
        if each.arg != "axis":
            says = f"{each.arg} is missing with the {word} of {of} in {{t}}"
            yield LEFT_OUT, says, _copy(node, keywords=others)
        for axis, over in (AXES | MORE_AXES).items() if each.arg == "axis" else ():
            if axis != ast.unparse(each.value):
                value = _copy(each, value=ast.parse(axis, mode="eval").body)
                says = f"the {word} of {of} in {{t}} is taken over {over}, and should not be"
                yield WRONG_WAY if axis in AXES else RARE, says, _copy(node, keywords=[*others, value])


def _call(node: ast.Call) -> Found:
    word = word_of(node)
    if word not in NEVER_FORGOTTEN and (method_of(node) or node.args):
        left = node.func.value if method_of(node) else node.args[0]
        says = "the square root is left out in {t}" if word == "sqrt" else f"{word} is not called for {{t}}"
        yield LEFT_OUT, says, left
    if word in ELSE:
        func = ast.Attribute(ast.Name("np", ast.Load()), ELSE[word], ast.Load())
        yield WRONG_WAY, f"{ELSE[word]} stands for {word} in {{t}}", _copy(node, func=func)
    for one, two, swapped in _swaps(node):
        if word == "reshape":
            yield WRONG_WAY, "the sizes of a reshape are in the wrong order in {t}", swapped
        else:
            yield WRONG_PLACE, f"{one} and {two} are taken for each other by {word} for {{t}}", swapped
    for field in ("args", "keywords"):
        for number, each in enumerate(getattr(node, field)):
            others = [other for other in getattr(node, field) if other is not each]
            if field == "keywords" or (number and word != "reshape"):
                says = f"{getattr(each, 'arg', '') or words(each)} is not passed on to {word} for {{t}}"
                yield WRONG_PLACE, says, _copy(node, **{field: others})


def _part(node: ast.Subscript) -> Found:
    of = words(node.value)
    indices = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    for which, index in enumerate(indices):
        others: list[tuple[str, ast.AST]] = []
        for pattern, texts in SLICES.items() if isinstance(index, ast.Slice) else ():
            if (found := match(index_of(pattern), index, {})) is not None:
                for text, says in zip(
                    texts, ("is at the wrong end", *["is shifted by one"] * 2), strict=True
                ):
                    others.append((f"the slice of {of} {says}", filled(index_of(text), found)))
        if isinstance(number := number_of(index), int):
            wheres = {number + 1: "next", number - 1: "one before", 0: "first", -1: "last"}
            for other in sorted(wheres.keys() - {number}):
                says = f"the {wheres[other]} index of {of} is taken, not the right one,"
                others.append((says, ast.Constant(other)))
        for says, other in others:
            new = [other if i == which else each for i, each in enumerate(indices)]
            where = ast.Tuple(new, ast.Load()) if isinstance(node.slice, ast.Tuple) else new[0]
            yield WRONG_PLACE, f"{says} in {{t}}", _copy(node, slice=where)


# Pieces of trees


def _copy(node, **changes):
    """The node with some of its fields changed; the others are shared."""
    return type(node)(**{**{field: getattr(node, field, None) for field in node._fields}, **changes})


def _swaps(node, name=lambda place, each: words(each)) -> Iterator[tuple[str, str, Any]]:
    """Each two elements of a tuple, or arguments of a call, by name, and the node with them exchanged."""
    field = "args" if isinstance(node, ast.Call) else "elts"
    for i, j in combinations(range(len(getattr(node, field))), 2):
        elements = list(getattr(node, field))
        one, two = (name(k, elements[k]) for k in (i, j))
        elements[i], elements[j] = elements[j], elements[i]
        yield one, two, _copy(node, **{field: elements})
