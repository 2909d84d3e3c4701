"""Single slips: a right answer with one thing wrong in it, and what that is in words.

The function under test is taken from plainly.py if it is there, else from the lesson's solution, or from the
library where that imports it. Every slip is one change of its syntax tree: a term left out, a sum for a mean, a
transpose too few. What a slip says names the fault, and does not print the right line.
"""

from __future__ import annotations

import ast
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

# How likely a slip is: of several that give the same numbers, only the likeliest are told, and of these the
# outermost.
LEFT_OUT, WRONG_WAY, WRONG_PLACE, RARE = range(4)

LAPS = 200_000  # of all loops of a slip together: some would never end
SHORT = 24  # characters of an expression that is told as it stands
MODULES = "np", "xp", "math", "ops"
REDUCTIONS = "sum", "mean", "max", "min", "var", "std"
TURNS = "transpose", "swapaxes"
PAIRS = ("sum", "mean"), ("max", "min"), ("cos", "sin"), ("zeros", "ones"), ("maximum", "minimum")
ELSE = dict(PAIRS) | {b: a for a, b in PAIRS}
AXES = {"-1": "the last axis", "0": "the first axis", "None": "everything"}
MORE_AXES = {"1": "axis 1", "-2": "the last axis but one", "(0, 1)": "the first two axes"}
NEVER_FORGOTTEN = "len", "range", "zip", "enumerate", "list", "tuple", "items", "values", "append"
OTHER_WAY = {ast.Lt: ast.GtE, ast.Gt: ast.LtE, ast.LtE: ast.Gt, ast.GtE: ast.Lt}
BORDER = {ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt}

Found = Iterator[tuple[int, str, Any]]  # how likely, what it is, and what stands there then


class Slip(NamedTuple):
    """One thing wrong: in the list or node `holder`, `new` in the place `key`."""

    rank: float  # the smaller, the likelier
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
    helpers = [name for name in right.__code__.co_names if name.startswith("_") and hasattr(solution, name)]
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
            yield slip.rank, _spoken(slip.says), _with(solution, each, code)


def _with(solution: ModuleType, right: FunctionType, code) -> ModuleType:
    """The solution, with plainly's functions for its own, and one that is spoiled."""
    module = ModuleType(solution.__name__)
    names = vars(module)
    for name, value in vars(solution).items():
        if name.startswith("__"):
            continue
        names[name] = getattr(plainly, name, value)
        if isinstance(value, FunctionType) and names[name] is value and value.__module__ == solution.__name__:
            names[name] = FunctionType(value.__code__, names, name, value.__defaults__, value.__closure__)
            names[name].__kwdefaults__ = value.__kwdefaults__
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
    found: list[Slip] = []
    for loop in ast.walk(function):
        if isinstance(loop, ast.For | ast.While):
            loop.body.insert(0, ast.parse("_lap()").body[0])
    for holder in ast.walk(function):
        for field in ("body", "orelse"):
            body = getattr(holder, field, None)
            for place, statement in enumerate(body if isinstance(body, list) else []):
                if ast.unparse(statement) == "_lap()":
                    continue
                for rank, says, new in _of_statement(statement, body[:place]):
                    found.append(Slip(rank, says, holder, field, [*body[:place], *new, *body[place + 1 :]]))
                if place and isinstance(statement, ast.Assign) and isinstance(body[place - 1], ast.Assign):
                    says = f"{_target(statement)} is worked out before {_target(body[place - 1])}, not after it"
                    turned = [*body[: place - 1], statement, body[place - 1], *body[place + 1 :]]
                    found.append(Slip(RARE, says, holder, field, turned))
                names = [name for name, line in scope.items() if line < statement.lineno]
                for where, key, node, target, depth in _places(statement, _target(statement), 1):
                    for rank, says, new in _of_expression(node, names, target):
                        found.append(Slip(rank + depth / 20, says.replace("{t}", target), where, key, new))
    return function, sorted(found, key=lambda slip: slip.rank)


def _of_statement(statement: ast.stmt, before: list[ast.stmt]) -> Found:
    """The slips that concern a statement as a whole; what stands there then is a list."""
    target = _target(statement)
    if isinstance(statement, ast.AugAssign):
        is_factor = isinstance(statement.op, ast.Mult | ast.Div)
        term = _words(statement.value)
        yield LEFT_OUT, f"the {'factor' if is_factor else 'term'} {term} is left out of {target}", []
        if isinstance(statement.op, ast.Add | ast.Sub):
            other = ast.Sub() if isinstance(statement.op, ast.Add) else ast.Add()
            yield LEFT_OUT, f"the term {term} has the wrong sign in {target}", [_copy(statement, op=other)]
            over = ast.Assign([statement.target], statement.value)
            yield WRONG_WAY, f"{target} is written over where it has to be added up", [over]
    elif isinstance(statement, ast.Assign):
        names = statement.targets[0]
        if target in map(_target, before) or isinstance(names, ast.Subscript):
            yield WRONG_WAY, f"the step that sets {target} to {_words(statement.value)} is left out", []
        if isinstance(names, ast.Tuple) and not isinstance(statement.value, ast.Tuple):
            for one, two, swapped in _swaps(names):
                yield RARE, f"{one} and {two} are taken for each other", [_copy(statement, targets=[swapped])]
    elif isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        yield LEFT_OUT, f"{_words(statement.value)} is left out", []
    elif isinstance(statement, ast.For):
        first = ast.parse(f"list({ast.unparse(statement.iter)})[:1]", mode="eval").body
        of = _words(statement.target)
        yield WRONG_PLACE, f"the loop over {of} looks at the first one alone", [_copy(statement, iter=first)]
    elif isinstance(statement, ast.If):
        test = _words(statement.test)
        turned = _copy(statement, test=ast.UnaryOp(ast.Not(), statement.test))
        yield WRONG_WAY, f"the condition {test} is the wrong way round", [turned]
        yield WRONG_PLACE, f"the case {test} is not told from the others", statement.orelse or [ast.Pass()]
        yield WRONG_PLACE, f"what is done in the case {test} is always done", statement.body
    elif isinstance(statement, ast.Return) and isinstance(statement.value, ast.Tuple):
        for one, two, swapped in _swaps(statement.value, returned=True):
            yield LEFT_OUT, f"{one} and {two} are returned in the wrong order", [ast.Return(swapped)]


def _places(node: ast.AST, target: str, depth: int) -> Iterator[tuple[Any, Any, ast.AST, str, int]]:
    """Every expression within a statement: what holds it, where, itself, what becomes of it, and how deep."""
    several = isinstance(node, ast.Assign | ast.Return) and isinstance(node.value, ast.Tuple)
    if several:
        names = node.targets[0] if isinstance(node, ast.Assign) else node.value
        for index, each in enumerate(node.value.elts):
            its = _root(names.elts[index]) if isinstance(names, ast.Tuple) else target
            its = _result(index, each) if isinstance(node, ast.Return) else its
            yield node.value.elts, index, each, its, depth
            yield from _places(each, its, depth + 1)
        return
    fields = {ast.For: ["iter"], ast.If: ["test"], ast.While: ["test"]}.get(type(node), node._fields)
    if isinstance(node, ast.Call) and not isinstance(node.func, ast.Attribute):
        fields = ["args", "keywords"]
    elif isinstance(node, ast.FunctionDef):
        return
    has_axes = isinstance(node, ast.Subscript | ast.Slice | ast.Tuple | ast.keyword) or _is_turned(node)
    for field in fields:
        value = getattr(node, field)
        for key, each in enumerate(value) if isinstance(value, list) else [(field, value)]:
            if has_axes and _number(each) is not None:
                continue  # an axis or an index, of which the slips are others
            if isinstance(each, ast.expr | ast.keyword | ast.comprehension | ast.slice):
                yield (value if isinstance(value, list) else node), key, each, target, depth
                yield from _places(each, target, depth + 1)


def _of_expression(node: ast.AST, names: list[str], target: str) -> Found:
    if isinstance(node, ast.BinOp):
        yield from _operation(node)
    elif isinstance(node, ast.UnaryOp):
        what = "a minus sign" if isinstance(node.op, ast.USub) else "a not"
        yield LEFT_OUT, f"{what} is missing in {{t}}", node.operand
    elif _is_turned(node):
        yield LEFT_OUT, f"the transpose of {_words(_inside(node))} is missing in {{t}}", _inside(node)
        if isinstance(node, ast.Call) and len(node.args) > 2:
            for _, _, swapped in _swaps(node, "args"):
                yield WRONG_WAY, "the axes of a transpose are in the wrong order in {t}", swapped
            cut = _inside(node)
            if isinstance(cut, ast.Call) and _method(cut) == "reshape" and len(cut.args) == len(node.args):
                sizes = [cut.args[each.value] for each in node.args]
                says = f"{_words(cut)} is reshaped only, where it has to be cut and transposed for {{t}}"
                yield LEFT_OUT, says, _copy(cut, args=sizes)
    elif isinstance(node, ast.Call):
        yield from _reduction(node) if _method(node) in REDUCTIONS else _call(node)
    elif isinstance(node, ast.Subscript):
        yield from _part(node)
    elif isinstance(node, ast.Compare) and len(node.ops) == 1:
        for others, says in ((OTHER_WAY, "is the wrong way round"), (BORDER, "decides the border case wrongly")):
            if other := others.get(type(node.ops[0])):
                yield WRONG_WAY, f"the comparison of {_words(node.left)} {says} in {{t}}", _copy(node, ops=[other()])
    elif isinstance(node, ast.comprehension) and node.ifs:
        turned = [ast.UnaryOp(ast.Not(), each) for each in node.ifs]
        yield WRONG_WAY, "the condition is the wrong way round in {t}", _copy(node, ifs=turned)
    elif isinstance(node, ast.IfExp):
        for each in (node.body, node.orelse):
            yield WRONG_PLACE, f"{{t}} is {_words(each)} always, whatever {_words(node.test)}", each
    elif isinstance(node, ast.BoolOp):
        for each in node.values:
            yield WRONG_PLACE, "one of two conditions is missing in {t}", each
    elif isinstance(node, ast.Tuple | ast.List) and isinstance(node.ctx, ast.Load) and all(isinstance(each, ast.Name) for each in node.elts):
        for one, two, swapped in _swaps(node):
            yield LEFT_OUT, f"{one} and {two} are in the wrong order in {{t}}", swapped
    elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in names and node.id != target:
        says = "holds" if target == "the cache" else "is made with"
        for other in names:
            if other != node.id:
                where = ast.Name(other, ast.Load())
                yield WRONG_PLACE, f"{{t}} {says} {other} in the place of {node.id}", where
    elif isinstance(number := _number(node), int | float) and not isinstance(number, bool):
        for other in dict.fromkeys([1 - number, number + 1, number - 1, 2 * number, number / 2, -number]):
            yield RARE, f"{other:g} stands in {{t}}, and another number belongs there", ast.Constant(other)


def _operation(node: ast.BinOp) -> Found:
    a, b = node.left, node.right
    if isinstance(node.op, ast.Add | ast.Sub):
        is_sum = isinstance(node.op, ast.Add)
        yield LEFT_OUT, f"the term {_words(b)} is left out of {{t}}", a
        yield LEFT_OUT, f"the term {_words(a)} is left out of {{t}}", b if is_sum else ast.UnaryOp(ast.USub(), b)
        if isinstance(a, ast.BinOp) and isinstance(a.op, ast.Add | ast.Sub):
            yield LEFT_OUT, f"all terms but {_words(a.left)} are left out of {{t}}", a.left
        other = ast.Sub() if is_sum else ast.Add()
        yield LEFT_OUT, f"the term {_words(b)} has the wrong sign in {{t}}", _copy(node, op=other)
        if not is_sum:
            yield LEFT_OUT, "the difference in {t} is the wrong way round", _copy(node, left=b, right=a)
        if not is_sum and isinstance(a, ast.Constant):
            yield LEFT_OUT, f"{_words(b)} stands in {{t}} as it is, not taken off {_words(a)}", b
        if isinstance(a, ast.Call) and _word(a) == "sqrt":
            inside = _copy(a, args=[_copy(node, left=a.args[0])])
            yield LEFT_OUT, f"{_words(b)} stands inside the root in {{t}}, and belongs outside", inside
    elif isinstance(node.op, ast.Mult):
        for one, other in ((a, b), (b, a)):
            yield LEFT_OUT, f"the factor {_words(one)} is missing in {{t}}", other
            yield RARE, f"the factor {_words(one)} comes twice in {{t}}", _copy(node, left=_copy(node), right=one)
        yield RARE, f"{{t}} is divided by {_words(b)}, and not multiplied by it", _copy(node, op=ast.Div())
    elif isinstance(node.op, ast.Div | ast.FloorDiv):
        if isinstance(a, ast.Constant):
            yield LEFT_OUT, f"{{t}} is {_words(b)} itself, and not {a.value} over it", b
        else:
            yield LEFT_OUT, f"{{t}} is not divided by {_words(b)}", a
        yield RARE, f"{{t}} is multiplied by {_words(b)}, and not divided by it", _copy(node, op=ast.Mult())
        yield RARE, f"{{t}} is divided by {_words(b)} twice", _copy(node, left=_copy(node))
        yield RARE, f"{_words(a)} over {_words(b)} is upside down in {{t}}", _copy(node, left=b, right=a)
        if isinstance(a, ast.BinOp) and isinstance(a.op, ast.Mult):
            yield LEFT_OUT, f"the factor {_words(a.right)} / {_words(b)} is missing in {{t}}", a.left
        root = ast.BinOp(b, ast.Pow(), ast.Constant(0.5))
        yield RARE, f"{{t}} is divided by the root of {_words(b)} in its place", _copy(node, right=root)
    elif isinstance(node.op, ast.Pow):
        yield LEFT_OUT, f"{_words(a)} is taken without its exponent in {{t}}", a
        for more in (1, -1):
            other = _copy(node, right=ast.BinOp(b, ast.Add(), ast.Constant(more)))
            yield WRONG_WAY, f"{_words(a)} has an exponent that is {'too large' if more > 0 else 'too small'} in {{t}}", other
    elif isinstance(node.op, ast.MatMult):
        yield LEFT_OUT, f"the factor {_words(a)} is missing in {{t}}", b
        yield LEFT_OUT, f"the factor {_words(b)} is missing in {{t}}", a
        for side, each in (("left", a), ("right", b)):
            if not _is_turned(each):
                says = f"{_words(each)} is transposed in {{t}}, and should not be"
                yield WRONG_WAY, says, _copy(node, **{side: _turn(each)})
        yield LEFT_OUT, "{t} is the transpose of what it should be", _turn(node)
        yield WRONG_WAY, "the two factors of a product are in the wrong order in {t}", _copy(node, left=b, right=a)
        terms = ast.parse(f"({ast.unparse(a)}).shape[-1]", mode="eval").body
        yield WRONG_WAY, f"{{t}} takes a mean over the rows of {_words(b)}, not their sum", ast.BinOp(node, ast.Div(), terms)


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
        if each.arg == "axis":
            for axis, over in (AXES | MORE_AXES).items():
                if axis != ast.unparse(each.value):
                    value = ast.parse(axis, mode="eval").body
                    says = f"the {word} of {of} in {{t}} is taken over {over}, and should not be"
                    rank = WRONG_WAY if axis in AXES else RARE
                    yield rank, says, _copy(node, keywords=[*others, _copy(each, value=value)])
        else:
            yield LEFT_OUT, f"{each.arg} is missing with the {word} of {of} in {{t}}", _copy(node, keywords=others)


def _call(node: ast.Call) -> Found:
    word = _word(node)
    if word in NEVER_FORGOTTEN:
        pass
    elif _method(node):
        yield LEFT_OUT, f"{word} is left out in {{t}}", node.func.value
    elif node.args:
        yield LEFT_OUT, f"{'the square root' if word == 'sqrt' else word} is left out in {{t}}", node.args[0]
    if word == "sqrt" and isinstance(inner := node.args[0], ast.BinOp):
        outside = _copy(inner, left=_copy(node, args=[inner.left]))
        yield LEFT_OUT, f"{_words(inner.right)} stands outside the root in {{t}}, and belongs inside", outside
    if word in ELSE:
        func = ast.Attribute(ast.Name("np", ast.Load()), ELSE[word], ast.Load())
        yield WRONG_WAY, f"{ELSE[word]} stands for {word} in {{t}}", _copy(node, func=func)
    if word == "len":
        for size, what in (("size", "numbers"), ("shape[-1]", "columns")):
            other = ast.parse(f"({ast.unparse(node.args[0])}).{size}", mode="eval").body
            yield WRONG_WAY, f"{{t}} counts the {what} of {_words(node.args[0])}, not the rows", other
    if word == "range":
        first, last = node.args[:2] if len(node.args) > 1 else (ast.Constant(0), node.args[0])
        for begins, ends, says in ((0, -1, "ends one too early"), (1, 0, "begins one too late"), (-1, -1, "counts from one less")):
            bounds = [ast.BinOp(x, ast.Add(), ast.Constant(n)) for x, n in ((first, begins), (last, ends))]
            yield WRONG_WAY, f"the loop {says}", _copy(node, args=[*bounds, *node.args[2:]])
    if word not in ("reshape", *TURNS):
        for number, each in enumerate(node.args[1:], start=1):
            others = node.args[:number] + node.args[number + 1 :]
            yield WRONG_PLACE, f"{_words(each)} is not passed on to {word} for {{t}}", _copy(node, args=others)
        for each in node.keywords:
            others = [other for other in node.keywords if other is not each]
            yield WRONG_PLACE, f"{each.arg} is not passed on to {word} for {{t}}", _copy(node, keywords=others)
        for one, two, swapped in _swaps(node, "args"):
            yield WRONG_PLACE, f"{one} and {two} are taken for each other by {word} for {{t}}", swapped
    elif word == "reshape":
        for _, _, swapped in _swaps(node, "args"):
            yield WRONG_WAY, "the sizes of a reshape are in the wrong order in {t}", swapped


def _part(node: ast.Subscript) -> Found:
    of = _words(node.value)
    yield WRONG_WAY, f"{of} is taken whole in {{t}}, and only a part of it belongs there", node.value
    indices = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    for place, index in enumerate(indices):
        others: list[tuple[str, ast.AST]] = []
        if isinstance(index, ast.Slice):
            for field in ("lower", "upper"):
                if bound := getattr(index, field):
                    others += [
                        (f"the slice of {of} is shifted by one", _copy(index, **{field: ast.BinOp(bound, op, ast.Constant(1))}))
                        for op in (ast.Add(), ast.Sub())
                    ]
            if index.lower and not index.upper:
                other_end = ast.Slice(None, ast.UnaryOp(ast.USub(), index.lower))
                others.append((f"the slice of {of} leaves out the wrong end", other_end))
        elif isinstance(number := _number(index), int):
            wheres = {number + 1: "next", number - 1: "one before", 0: "first", -1: "last"}
            for other in sorted(wheres.keys() - {number}):
                says = f"the {wheres[other]} index of {of} is taken, not the right one,"
                others.append((says, ast.Constant(other)))
        for says, other in others:
            new = [other if i == place else each for i, each in enumerate(indices)]
            where = ast.Tuple(new, ast.Load()) if isinstance(node.slice, ast.Tuple) else new[0]
            yield WRONG_PLACE, f"{says} in {{t}}", _copy(node, slice=where)


# Words, and pieces of trees


def _spoken(says: str) -> str:
    """A sentence with its names for terms and factors joined on."""
    return re.sub(r"the (term|factor) (?=the )", r"the \1 with ", says.replace("the term what is", "the term"))


def _words(node: ast.AST) -> str:
    """An expression as one would say it, short enough for a sentence."""
    if isinstance(node, ast.Starred | ast.keyword):
        return _words(node.value)
    if _is_turned(node):
        return _words(_inside(node))
    text = ast.unparse(node)
    calls = [each for each in ast.walk(node) if isinstance(each, ast.Call) or _is_turned(each)]
    text = re.sub(r"\b(?:np|xp|math|ops)\.", "", text)
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


def _target(statement: ast.stmt) -> str:
    """What a statement gives a value to, in words."""
    if isinstance(statement, ast.Assign | ast.AugAssign):
        target = statement.targets[0] if isinstance(statement, ast.Assign) else statement.target
        return _root(target.elts[0] if isinstance(target, ast.Tuple) else target)
    if isinstance(statement, ast.Return):
        return "the result"
    return "the condition" if isinstance(statement, ast.If | ast.While) else "the loop"


def _root(node: ast.AST) -> str:
    """The array that is written to, in words: dx of dx[:, 0]."""
    return _root(node.value) if isinstance(node, ast.Subscript) else _words(node)


def _word(node: ast.Call) -> str:
    """The name of the function or method that is called."""
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


def _method(node: ast.Call) -> str:
    """The name of the method that is called; "" for a function, np.sqrt among them."""
    owner = getattr(node.func, "value", None)
    is_module = isinstance(owner, ast.Name) and owner.id in MODULES
    return node.func.attr if isinstance(node.func, ast.Attribute) and not is_module else ""


def _is_turned(node: ast.AST) -> bool:
    is_call = isinstance(node, ast.Call) and _method(node) in TURNS
    return is_call or (isinstance(node, ast.Attribute) and node.attr == "T")


def _inside(node):
    """What is transposed."""
    return node.value if isinstance(node, ast.Attribute) else node.func.value


def _turn(node) -> ast.Call:
    ends = [ast.Constant(-1), ast.Constant(-2)]
    return ast.Call(ast.Attribute(node, "swapaxes", ast.Load()), ends, [])


def _number(node):
    """The number that an expression is, or None."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant):
        return -node.operand.value
    return node.value if isinstance(node, ast.Constant) else None


def _copy(node, **changes):
    """The node with some of its fields changed; the others are shared."""
    return type(node)(**{**{field: getattr(node, field, None) for field in node._fields}, **changes})


def _swaps(node, field: str = "elts", returned: bool = False) -> Iterator[tuple[str, str, Any]]:
    """Each two elements of a list in a node, in words, and the node with the two exchanged."""
    for i, j in combinations(range(len(getattr(node, field))), 2):
        elements = list(getattr(node, field))
        elements[i], elements[j] = elements[j], elements[i]
        names = [_result(k, elements[k]) if returned else _words(elements[k]) for k in (j, i)]
        yield *names, _copy(node, **{field: elements})


def _result(place: int, node: ast.AST) -> str:
    """What is returned at this place, in words."""
    if isinstance(node, ast.Name):
        return node.id
    return "the cache" if place and isinstance(node, ast.Tuple) else f"number {place + 1} of the results"
