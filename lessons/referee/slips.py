"""Single slips: a right answer with one thing wrong in it, and what that is in words.

The function under test is taken from plainly.py if it is there, else from the lesson's solution, or from the
library where that imports it. Every slip is one change of its syntax tree: a term left out, a sum for a mean,
a transpose too few. What a slip says names the fault, and does not print the right line.
"""

from __future__ import annotations

import ast
import copy
import functools
import inspect
import re
import sys
import textwrap
from collections.abc import Iterator
from itertools import combinations
from types import FunctionType, ModuleType
from typing import Any, NamedTuple

from lessons.referee import plainly

# An expression, what stands there then, and what is wrong with the target {t}; a, b and c are anything. The
# first group is the likeliest: of several slips that give the same, only the likeliest is told.
RULES = (
    """
    a + b | a | the term {b} is left out of {t}
    a + b | b | the term {a} is left out of {t}
    a - b | a | the term {b} is left out of {t}
    a - b | -b | the term {a} is left out of {t}
    a + b + c | a | all terms but {a} are left out of {t}
    a - b - c | a | all terms but {a} are left out of {t}
    a + b | a - b | the term {b} has the wrong sign in {t}
    a - b | a + b | the term {b} has the wrong sign in {t}
    a - b | b - a | the difference in {t} is the wrong way round
    1 - b | b | {b} stands in {t} as it is, not taken off 1
    a * b | a | the factor {b} is missing in {t}
    a * b | b | the factor {a} is missing in {t}
    a * b / c | a | the factor {b} / {c} is missing in {t}
    1 / b | b | {t} is {b} itself, and not 1 over it
    a / b | a | {t} is not divided by {b}
    a ** b | a | {a} is taken without its exponent in {t}
    -a | a | a minus sign is missing in {t}
    ~a | a | a not is missing in {t}
    not a | a | a not is missing in {t}
    a @ b | a | the factor {b} is missing in {t}
    a @ b | b | the factor {a} is missing in {t}
    a @ b | (a @ b).swapaxes(-1, -2) | {t} is the transpose of what it should be
    a.T | a | the transpose of {a} is missing in {t}
    a.swapaxes(b, c) | a | the transpose of {a} is missing in {t}
    np.sqrt(a + b) | np.sqrt(a) + b | {b} stands outside the root in {t}, and belongs inside
    np.sqrt(a) + b | np.sqrt(a + b) | {b} stands inside the root in {t}, and belongs outside
    """,
    """
    a @ b | b @ a | the two factors of a product are in the wrong order in {t}
    a @ b | a.swapaxes(-1, -2) @ b | {a} is transposed in {t}, and should not be
    a @ b | a @ b.swapaxes(-1, -2) | {b} is transposed in {t}, and should not be
    a @ b | a @ b / a.shape[-1] | {t} takes a mean over the rows of {b}, not their sum
    a ** b | a ** (b + 1) | {a} has an exponent that is too large in {t}
    a ** b | a ** (b - 1) | {a} has an exponent that is too small in {t}
    a < b | a >= b | the comparison of {a} is the wrong way round in {t}
    a > b | a <= b | the comparison of {a} is the wrong way round in {t}
    a <= b | a > b | the comparison of {a} is the wrong way round in {t}
    a >= b | a < b | the comparison of {a} is the wrong way round in {t}
    a < b | a <= b | the comparison of {a} decides the border case wrongly in {t}
    a > b | a >= b | the comparison of {a} decides the border case wrongly in {t}
    a <= b | a < b | the comparison of {a} decides the border case wrongly in {t}
    a >= b | a > b | the comparison of {a} decides the border case wrongly in {t}
    len(a) | a.size | {t} counts the numbers of {a}, not the rows
    len(a) | a.shape[-1] | {t} counts the columns of {a}, not the rows
    range(a) | range(a - 1) | the loop ends one too early
    range(a) | range(1, a) | the loop begins one too late
    range(a, b) | range(a, b - 1) | the loop ends one too early
    range(a, b) | range(a + 1, b) | the loop begins one too late
    range(a, b) | range(a - 1, b - 1) | the loop counts from one less
    a[b] | a | {a} is taken whole in {t}, and only a part of it belongs there
    """,
    """
    a if b else c | a | {t} is {a} always, whatever {b}
    a if b else c | c | {t} is {c} always, whatever {b}
    a and b | a | a condition is missing in {t}
    a and b | b | a condition is missing in {t}
    a or b | a | a condition is missing in {t}
    a or b | b | a condition is missing in {t}
    """,
    """
    a * b | a * b * b | the factor {b} comes twice in {t}
    a * b | a * a * b | the factor {a} comes twice in {t}
    a * b | a / b | {t} is divided by {b}, and not multiplied by it
    a / b | a * b | {t} is multiplied by {b}, and not divided by it
    a / b | a / b / b | {t} is divided by {b} twice
    a / b | a / b ** 0.5 | {t} is divided by the root of {b} in its place
    a / b | b / a | {a} over {b} is upside down in {t}
    """,
)
LEFT_OUT, WRONG_WAY, WRONG_PLACE, RARE = range(len(RULES))
SLICES = {"[b:]": ("[:-b]", "[b - 1:]", "[b + 1:]"), "[:b]": ("[b:]", "[:b - 1]", "[:b + 1]")}

LAPS = 200_000  # of all loops of a slip together: some would never end
SHORT = 24  # characters of an expression that is told as it stands
MODULES = "np", "xp", "math", "ops"
REDUCTIONS = "sum", "mean", "max", "min", "var", "std"
PAIRS = ("sum", "mean"), ("max", "min"), ("cos", "sin"), ("zeros", "ones"), ("maximum", "minimum")
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
    for each in (right, *(getattr(solution, helper) for helper in helpers)):
        function, every = _every_slip(each)
        for slip in every:
            back = slip.exchange()
            try:
                tree = ast.fix_missing_locations(ast.Module([function], []))
                code = compile(tree, "<a slip>", "exec")
            except (SyntaxError, ValueError, TypeError):
                continue  # nobody could write that
            finally:
                back.exchange()
            yield slip.rank, _smoothed(slip.says), _with(solution, each, code)


def _with(solution: ModuleType, right: FunctionType, code) -> ModuleType:
    """The solution, with plainly's functions for its own, and one that is spoiled."""
    module = ModuleType(solution.__name__)
    names = vars(module)
    for name, value in vars(solution).items():
        names[name] = value if name.startswith("__") else getattr(plainly, name, value)
        if isinstance(value, FunctionType) and names[name] is value and value.__module__ == solution.__name__:
            names[name] = FunctionType(value.__code__, names, name, value.__defaults__, value.__closure__)
    own = right.__module__ == solution.__name__
    spoiled = names if own else vars(sys.modules[right.__module__]) | {"__name__": solution.__name__}
    spoiled["_lap"] = functools.partial(next, iter(range(LAPS)))
    exec(code, spoiled)
    names[right.__name__] = spoiled[right.__name__]
    return module


@functools.cache
def _every_slip(right: FunctionType) -> tuple[ast.FunctionDef, list[Slip]]:
    """The function's tree, and its slips, the likeliest first."""
    function = ast.parse(textwrap.dedent(inspect.getsource(right))).body[0]
    function.decorator_list = []
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
            for place, statement in enumerate(body if isinstance(body, list) else []):
                if ast.unparse(statement) == "_lap()":
                    continue
                names = [name for name, line in scope.items() if line < statement.lineno]
                for rank, says, new in _of_statement(statement, names):
                    found.append(Slip(rank, says, holder, field, [*body[:place], *new, *body[place + 1 :]]))
                for where, key, node, target, depth in _places(statement, _target(statement), 1):
                    for rank, says, new in _of_expression(node, names, target):
                        found.append(Slip(rank + depth / 20, says.replace("{t}", target), where, key, new))
    return function, sorted(found, key=lambda slip: slip.rank)


def _of_statement(node: ast.stmt, known: list[str]) -> Found:
    """The slips that concern a statement as a whole; what stands there then is a list."""
    target = _target(node)
    if isinstance(node, ast.AugAssign):
        what = f"the {'factor' if isinstance(node.op, ast.Mult | ast.Div) else 'term'} {_words(node.value)}"
        yield LEFT_OUT, f"{what} is left out of {target}", []
        if isinstance(node.op, ast.Add | ast.Sub):
            other = ast.Sub() if isinstance(node.op, ast.Add) else ast.Add()
            yield LEFT_OUT, f"{what} has the wrong sign in {target}", [_copy(node, op=other)]
            over = ast.Assign([node.target], node.value)
            yield WRONG_WAY, f"{target} is written over where it has to be added up", [over]
    elif isinstance(node, ast.Assign):
        names = node.targets[0]
        if target in known or isinstance(names, ast.Subscript):
            yield WRONG_WAY, f"the step that sets {target} to {_words(node.value)} is left out", []
        if isinstance(names, ast.Tuple) and not isinstance(node.value, ast.Tuple):
            for one, two, swapped in _swaps(names):
                yield RARE, f"{one} and {two} are taken for each other", [_copy(node, targets=[swapped])]
    elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        yield LEFT_OUT, f"{_words(node.value)} is left out", []
    elif isinstance(node, ast.For):
        first = ast.parse(f"list({ast.unparse(node.iter)})[:1]", mode="eval").body
        says = f"the loop over {_words(node.target)} looks at the first one alone"
        yield WRONG_PLACE, says, [_copy(node, iter=first)]
    elif isinstance(node, ast.If):
        test = _words(node.test)
        turned = _copy(node, test=ast.UnaryOp(ast.Not(), node.test))
        yield WRONG_WAY, f"the condition {test} is the wrong way round", [turned]
        yield WRONG_PLACE, f"the case {test} is not told from the others", node.orelse or [ast.Pass()]
        yield WRONG_PLACE, f"what is done in the case {test} is always done", node.body
    elif isinstance(node, ast.Return) and isinstance(node.value, ast.Tuple):
        for one, two, swapped in _swaps(node.value, _result):
            yield LEFT_OUT, f"{one} and {two} are returned in the wrong order", [ast.Return(swapped)]


def _places(node: ast.AST, target: str, depth: int) -> Iterator[tuple[Any, Any, ast.AST, str, int]]:
    """Every expression in a statement: what holds it, where, itself, what becomes of it, and how deep."""
    if isinstance(node, ast.Assign | ast.Return) and isinstance(node.value, ast.Tuple):
        names = node.targets[0] if isinstance(node, ast.Assign) else node.value
        for index, each in enumerate(node.value.elts):
            its = _root(names.elts[index]) if isinstance(names, ast.Tuple) else target
            its = _result(index, each) if isinstance(node, ast.Return) else its
            yield node.value.elts, index, each, its, depth
            yield from _places(each, its, depth + 1)
        return
    fields = {ast.For: ["iter"], ast.If: ["test"], ast.While: ["test"], ast.FunctionDef: []}
    is_function = isinstance(node, ast.Call) and not isinstance(node.func, ast.Attribute)
    has_axes = isinstance(node, ast.Subscript | ast.Slice | ast.Tuple | ast.keyword) or _is_turned(node)
    for field in ["args", "keywords"] if is_function else fields.get(type(node), node._fields):
        value = getattr(node, field)
        for key, each in enumerate(value) if isinstance(value, list) else [(field, value)]:
            if has_axes and _number(each) is not None:
                continue  # an axis or an index, of which the slips are others
            if isinstance(each, ast.expr | ast.keyword | ast.comprehension):
                yield (value if isinstance(value, list) else node), key, each, target, depth
                yield from _places(each, target, depth + 1)


def _of_expression(node: ast.AST, names: list[str], target: str) -> Found:
    for rank, pattern, new, says in _rules():
        if (found := _match(pattern, node, {})) is not None:
            yield (
                rank,
                says.format(t="{t}", **{a: _words(each) for a, each in found.items()}),
                _filled(new, found),
            )
    if _is_turned(node) and len(getattr(node, "args", ())) > 2:
        yield LEFT_OUT, f"the transpose of {_words(_inside(node))} is missing in {{t}}", _inside(node)
        for _, _, swapped in _swaps(node):
            yield WRONG_WAY, "the axes of a transpose are in the wrong order in {t}", swapped
        cut = _inside(node)
        if isinstance(cut, ast.Call) and _method(cut) == "reshape" and len(cut.args) == len(node.args):
            says = f"{_words(cut)} is reshaped only, where it has to be cut and transposed for {{t}}"
            yield LEFT_OUT, says, _copy(cut, args=[cut.args[each.value] for each in node.args])
    elif isinstance(node, ast.Call):
        yield from _reduction(node) if _method(node) in REDUCTIONS else _call(node)
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
                yield WRONG_PLACE, f"{{t}} {says} {other} in the place of {node.id}", new


def _reduction(node: ast.Call) -> Found:
    word, of = _method(node), _words(node.func.value)
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
    word = _word(node)
    if word not in NEVER_FORGOTTEN and (_method(node) or node.args):
        left = node.func.value if _method(node) else node.args[0]
        yield LEFT_OUT, f"{'the square root' if word == 'sqrt' else word} is left out in {{t}}", left
    if word in ELSE:
        func = ast.Attribute(ast.Name("np", ast.Load()), ELSE[word], ast.Load())
        yield WRONG_WAY, f"{ELSE[word]} stands for {word} in {{t}}", _copy(node, func=func)
    for one, two, swapped in _swaps(node):
        if word == "reshape":
            yield WRONG_WAY, "the sizes of a reshape are in the wrong order in {t}", swapped
        else:
            yield WRONG_PLACE, f"{one} and {two} are taken for each other by {word} for {{t}}", swapped
    for field in ("args", "keywords"):
        for place, each in enumerate(getattr(node, field)):
            others = [other for other in getattr(node, field) if other is not each]
            if field == "keywords" or (place and word != "reshape"):
                says = f"{getattr(each, 'arg', '') or _words(each)} is not passed on to {word} for {{t}}"
                yield WRONG_PLACE, says, _copy(node, **{field: others})


def _part(node: ast.Subscript) -> Found:
    of = _words(node.value)
    indices = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    for place, index in enumerate(indices):
        others: list[tuple[str, ast.AST]] = []
        for pattern, texts in SLICES.items() if isinstance(index, ast.Slice) else ():
            if (found := _match(_index(pattern), index, {})) is not None:
                for text, says in zip(
                    texts, ("leaves out the wrong end", *["is shifted by one"] * 2), strict=True
                ):
                    others.append((f"the slice of {of} {says}", _filled(_index(text), found)))
        if isinstance(number := _number(index), int):
            wheres = {number + 1: "next", number - 1: "one before", 0: "first", -1: "last"}
            for other in sorted(wheres.keys() - {number}):
                says = f"the {wheres[other]} index of {of} is taken, not the right one,"
                others.append((says, ast.Constant(other)))
        for says, other in others:
            new = [other if i == place else each for i, each in enumerate(indices)]
            where = ast.Tuple(new, ast.Load()) if isinstance(node.slice, ast.Tuple) else new[0]
            yield WRONG_PLACE, f"{says} in {{t}}", _copy(node, slice=where)


# Patterns


@functools.cache
def _rules() -> list[tuple[int, ast.AST, ast.AST, str]]:
    lines = [(rank, line.split(" | ")) for rank, text in enumerate(RULES) for line in text.split("\n")]
    parsed = [(rank, *parts) for rank, parts in lines if len(parts) == 3]
    return [(rank, _parsed(pattern), _parsed(new), says) for rank, pattern, new, says in parsed]


def _parsed(text: str) -> ast.AST:
    return ast.parse(text.strip(), mode="eval").body


def _index(text: str) -> ast.AST:
    return _parsed(f"a{text}").slice


def _match(pattern, node, found: dict[str, ast.AST]) -> dict[str, ast.AST] | None:
    """What a, b and c of a pattern are in a node, or None if it is of another kind."""
    if isinstance(pattern, ast.Name) and len(pattern.id) == 1:
        return found | {pattern.id: node} if isinstance(node, ast.expr) else None
    if isinstance(pattern, ast.Name) and pattern.id in MODULES:
        return found if isinstance(node, ast.Name) and node.id in MODULES else None
    if type(pattern) is not type(node):
        return None
    if isinstance(pattern, list):
        if len(pattern) != len(node):
            return None
        pairs = zip(pattern, node, strict=True)
    elif isinstance(pattern, ast.AST):
        pairs = ((getattr(pattern, f, None), getattr(node, f, None)) for f in pattern._fields if f != "ctx")
    else:
        return found if pattern == node else None
    for one, two in pairs:
        if (found := _match(one, two, found)) is None:
            return None
    return found


def _filled(template: ast.AST, found: dict[str, ast.AST]) -> ast.AST:
    """A template with what was found for its letters."""

    class Filled(ast.NodeTransformer):
        def visit_Name(self, node):
            return found.get(node.id, node)

    return Filled().visit(copy.deepcopy(template))


# Words, and pieces of trees


def _smoothed(says: str) -> str:
    """A sentence whose pieces fit each other."""
    says = re.sub(
        r"the (term|factor) (?=the )", r"the \1 with ", says.replace("the term what is", "the term")
    )
    return re.sub(r"the term (\w+) is left out of \1$", r"\1 is replaced by what should be added to it", says)


def _words(node: ast.AST) -> str:
    """An expression as one would say it, short enough for a sentence."""
    if isinstance(node, ast.Starred | ast.keyword):
        return _words(node.value)
    if _is_turned(node):
        return _words(_inside(node))
    text = re.sub(rf"\b(?:{'|'.join(MODULES)})\.", "", ast.unparse(node))
    calls = [each for each in ast.walk(node) if isinstance(each, ast.Call) or _is_turned(each)]
    if isinstance(node, ast.Name | ast.Constant) or (len(text) <= SHORT and not calls):
        return text
    if isinstance(node, ast.Call):
        if _method(node):
            of = _words(node.func.value)
            return f"the {_word(node)} of {of}" if _word(node) in REDUCTIONS else of
        if _word(node) == "sqrt":
            return f"the square root of {_words(node.args[0])}"
        return text if len(text) <= SHORT else f"what {_word(node)} makes"
    if isinstance(node, ast.Subscript):
        return _words(node.value)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult) and isinstance(node.left, ast.Name):
        return f"{node.left.id} times {_words(node.right)}"
    names = [each.id for each in ast.walk(node) if isinstance(each, ast.Name) and each.id not in MODULES]
    *others, last = dict.fromkeys(names) or [text[:SHORT]]
    return f"what is made of {', '.join(others)}{' and ' if others else ''}{last}"


def _target(node: ast.stmt) -> str:
    """What a statement gives a value to, in words."""
    if isinstance(node, ast.Assign | ast.AugAssign):
        target = node.targets[0] if isinstance(node, ast.Assign) else node.target
        return _root(target.elts[0] if isinstance(target, ast.Tuple) else target)
    is_test = isinstance(node, ast.If | ast.While)
    return "the result" if isinstance(node, ast.Return) else "the condition" if is_test else "the loop"


def _root(node: ast.AST) -> str:
    """The array that is written to, in words: dx of dx[:, 0]."""
    return _root(node.value) if isinstance(node, ast.Subscript) else _words(node)


def _result(place: int, node: ast.AST) -> str:
    """What is returned at this place, in words."""
    if isinstance(node, ast.Name):
        return node.id
    return "the cache" if place and isinstance(node, ast.Tuple) else f"number {place + 1} of the results"


def _word(node: ast.Call) -> str:
    """The name of the function or method that is called."""
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


def _method(node: ast.Call) -> str:
    """The name of the method that is called; "" for a function, np.sqrt among them."""
    owner = getattr(node.func, "value", None)
    is_module = isinstance(owner, ast.Name) and owner.id in MODULES
    return node.func.attr if isinstance(node.func, ast.Attribute) and not is_module else ""


def _is_turned(node: ast.AST) -> bool:
    is_call = isinstance(node, ast.Call) and _method(node) in ("transpose", "swapaxes")
    return is_call or (isinstance(node, ast.Attribute) and node.attr == "T")


def _inside(node):
    """What is transposed."""
    return node.value if isinstance(node, ast.Attribute) else node.func.value


def _number(node):
    """The number that an expression is, or None."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.operand, ast.Constant):
        return -node.operand.value if isinstance(node.op, ast.USub) else None
    return node.value if isinstance(node, ast.Constant) else None


def _copy(node, **changes):
    """The node with some of its fields changed; the others are shared."""
    return type(node)(**{**{field: getattr(node, field, None) for field in node._fields}, **changes})


def _swaps(node, name=lambda place, each: _words(each)) -> Iterator[tuple[str, str, Any]]:
    """Each two elements of a tuple, or arguments of a call, by name, and the node with them exchanged."""
    field = "args" if isinstance(node, ast.Call) else "elts"
    for i, j in combinations(range(len(getattr(node, field))), 2):
        elements = list(getattr(node, field))
        one, two = (name(k, elements[k]) for k in (i, j))
        elements[i], elements[j] = elements[j], elements[i]
        yield one, two, _copy(node, **{field: elements})
