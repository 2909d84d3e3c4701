"""Edits of a learner's expressions, each of which would mend one kind of mistake, and the words for it.

Those that rules.py has as patterns are its rules the other way round: where the mistake of a pattern stands,
what is right is tried. {t} in the words stands for what the expression becomes.
"""

from __future__ import annotations

import ast
import functools
import itertools
import re
from collections.abc import Iterator
from typing import Any

from lessons.referee.rules import filled, match, parsed, rules
from lessons.referee.words import REDUCTIONS, inside, is_turned, method_of, number_of, word_of, words

SAME = {ast.Mult: (ast.Mult, ast.Div), ast.Div: (ast.Mult, ast.Div), ast.Add: (ast.Add, ast.Sub)}
SAME |= {ast.Sub: (ast.Add, ast.Sub)}  # to add to a part is to add to the whole
PAIRS = ("max", "min"), ("cos", "sin"), ("zeros", "ones"), ("maximum", "minimum"), ("abs", "square")
PAIRS += ("log", "exp"), ("std", "var"), ("dot", "inner"), ("repeat", "tile"), ("concatenate", "stack")
PAIRS += ("floor", "ceil"), ("mean", "sum"), ("norm", "vdot")
NUMBERS = 0, 1, -1, 2, -2, 3, 0.5, -0.5, 4, 1.5
AXES = "-1", "0", "None", "1", "-2", "(0, 1)", "(0, 2)", "(1, 2)", "(-2, -1)", "tuple(range({x}.ndim - 1))"
OPERATORS = ast.Add, ast.Sub, ast.Mult, ast.Div, ast.Pow, ast.MatMult, ast.FloorDiv, ast.Mod
COMPARISONS = ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Eq, ast.NotEq
MAKERS = "zeros", "ones", "eye", "empty", "full", "arange", "linspace", "array", "asarray"
# The groups in which edits are tried: another dtype, an exchange of what is there, another variable, and
# something of scope added.
FORM, EXCHANGE, NAME, ADD = -1, 0, 1, 2

Found = Iterator[tuple[float, str, Any]]  # how soon it is tried, what is wrong, and what stands there instead


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


def of_expression(node: ast.AST, scope: list[str], depth: int, kind: str, within: type | None) -> Found:
    """within is the operation that the expression is a part of, if it is one."""
    is_other = isinstance(
        node, ast.Slice | ast.keyword | ast.comprehension | ast.Starred | ast.Tuple | ast.List
    )
    is_other = is_other or isinstance(getattr(node, "ctx", None), ast.Store) or is_text(node)
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
    yield from of_kind(node, scope)


def _fits(new: ast.AST, node: ast.AST, within: type | None) -> bool:
    """True if it makes sense to transpose an expression, or to take a part or a copy of it."""
    if is_turned(new):
        return within in (None, ast.MatMult)
    if isinstance(new, ast.Subscript) or (isinstance(new, ast.Call) and method_of(new) == "copy"):
        return isinstance(node, ast.Name | ast.Subscript)
    return True


def _of_form(node: ast.AST, scope: list[str], kind: str) -> Found:
    """Edits that mend a wrong dtype or shape."""
    of = words(node)
    for name in scope if kind == "dtype" else ():
        dtype = parsed(f"{name}.dtype")
        if isinstance(node, ast.Call) and word_of(node) in MAKERS:
            told = [*node.keywords, ast.keyword("dtype", dtype)]
            says = f"{word_of(node)} is given no dtype for {{t}}, and makes float64"
            yield FORM, says, changed(node, keywords=told)
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


def of_kind(node: ast.AST, scope: list[str]) -> Found:
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
            yield EXCHANGE, "the condition is the wrong way round in {t}", changed(node, ifs=ifs)
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
                yield NAME, says, changed(node, op=operator())
    elif isinstance(node, ast.Compare) and len(node.ops) == 1:
        for operator in COMPARISONS:
            if not isinstance(node.ops[0], operator):
                says = f"the comparison of {words(node.left)} is not the right one in {{t}}"
                yield EXCHANGE, says, changed(node, ops=[operator()])
    elif isinstance(node, ast.IfExp):
        says = f"the condition {words(node.test)} is the wrong way round in {{t}}"
        yield EXCHANGE, says, changed(node, body=node.orelse, orelse=node.body)
    elif isinstance(node, ast.BoolOp):
        other = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        yield EXCHANGE, "and stands for or, or or for and, in {t}", changed(node, op=other)
    elif isinstance(node, ast.Subscript):
        yield from of_index(node, scope)
    elif isinstance(node, ast.Tuple | ast.List):
        for one, two, swapped in swaps(node):
            yield EXCHANGE, f"{one} and {two} are in the wrong order in {{t}}", swapped
    elif isinstance(node, ast.Call):
        yield from _call(node, scope)


def _call(node: ast.Call, scope: list[str]) -> Found:
    word = word_of(node)
    of = words(argument_of(node))
    for one, two in [pair for each in PAIRS for pair in (each, each[::-1])]:
        if word == one:
            says = f"{{t}} takes the {one} of {of}, and not the {two}"
            says = says if one in REDUCTIONS else f"{one} is the wrong function in {{t}}"
            name = "attr" if isinstance(node.func, ast.Attribute) else "id"
            yield EXCHANGE, says, changed(node, func=changed(node.func, **{name: two}))
    if is_turned(node):
        says = f"the axes of {of} are exchanged in the wrong order in {{t}}"
        for order in itertools.permutations(node.args) if len(node.args) <= 5 else ():
            yield EXCHANGE + 0.3, says, changed(node, args=list(order))
        yield EXCHANGE, f"{of} is transposed in {{t}}, and should not be", inside(node)
    else:
        for one, two, swapped in swaps(node):
            what = f"{one} and {two} are given to {word}"
            what = "the sizes of a reshape are" if word == "reshape" else what
            yield EXCHANGE, f"{what} in the wrong order in {{t}}", swapped
    if word == "reshape":
        yield EXCHANGE, f"{of} is reshaped in {{t}}, and should not be", node.func.value
    for each in node.keywords:
        others = [other for other in node.keywords if other is not each]
        if each.arg == "keepdims":
            says = f"keepdims is too much with the {word} of {of} in {{t}}"
            yield EXCHANGE, says, changed(node, keywords=others)
        yield NAME, f"{each.arg} is one too many for {word} in {{t}}", changed(node, keywords=others)
    if word in REDUCTIONS and method_of(node) and node.args and isinstance(number_of(node.args[0]), int):
        for axis in AXES[:5]:
            says = f"the {word} of {of} in {{t}} is taken over the wrong axis"
            yield EXCHANGE, says, changed(node, args=[parsed(axis), *node.args[1:]])
    if word in REDUCTIONS and not any(each.arg == "keepdims" for each in node.keywords):
        for more in ("keepdims=True", "axis=-1, keepdims=True", "axis=0", "axis=-1"):
            keywords = parsed(f"f({more})").keywords
            if more.startswith("axis") and any(each.arg == "axis" for each in node.keywords):
                continue
            missing = "keepdims" if more.startswith("keep") else "the axis"
            says = f"{missing} is missing with the {word} of {of} in {{t}}"
            yield EXCHANGE, says, changed(node, keywords=[*node.keywords, *keywords])
    if word == "mean" and method_of(node) and not node.keywords:
        says = f"{{t}} takes the mean of {of} over the last axis too, and not the sum"
        yield EXCHANGE, says, changed(node, func=changed(node.func, value=_sum(node.func.value, "axis=-1")))
    if method_of(node) and word not in ("reshape", "append"):
        yield NAME, f"the {word} of {of} is one too many in {{t}}", node.func.value
    for name in scope:
        more = changed(node, args=[*node.args, parsed(name)])
        if not method_of(node) and isinstance(node.func, ast.Name):
            yield ADD, f"{word} is not given {name} for {{t}}", more


def argument_of(node: ast.Call) -> ast.AST:
    """The object that a method belongs to, or the first argument of a function."""
    return node.func.value if method_of(node) else node.args[0] if node.args else node.func


def _axis(node: ast.keyword) -> Found:
    word, of = node.belongs_to
    for axis in AXES:
        text = axis.format(x=of if of.isidentifier() else "dy")
        if text != ast.unparse(node.value):
            says = f"the {word} of {of} in {{t}} is taken over the wrong axis"
            yield EXCHANGE, says, changed(node, value=parsed(text))


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


def of_index(node: ast.Subscript, scope: list[str]) -> Found:
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
                yield rank, f"an index of {of} is not the right one in {{t}}", changed(node, slice=where)
    for _, _, swapped in swaps(node.slice) if several else ():
        yield EXCHANGE, f"two indices of {of} are exchanged in {{t}}", changed(node, slice=swapped)


def _slice(node: ast.Slice) -> Found:
    yield EXCHANGE, "a slice is at the wrong end in {t}", changed(node, lower=node.upper, upper=node.lower)
    for field in ("lower", "upper"):
        if bound := getattr(node, field):
            for sign in "+-":
                moved = parsed(f"({ast.unparse(bound)}) {sign} 1")
                says = "a slice begins or ends at the wrong place in {t}"
                yield EXCHANGE, says, changed(node, **{field: moved})
            yield EXCHANGE, "a slice is cut off in {t}, and should not be", changed(node, **{field: None})
    if node.lower is node.upper is None:
        yield ADD, "a slice begins too early in {t}", changed(node, lower=ast.Constant(1))
        yield ADD, "a slice ends too late in {t}", changed(node, upper=parsed("-1"))
    for field, other in (("lower", "upper"), ("upper", "lower")):
        if (bound := getattr(node, field)) and getattr(node, other) is None:
            turned = {field: None, other: ast.UnaryOp(ast.USub(), bound)}
            yield EXCHANGE, "a slice is at the wrong end in {t}", changed(node, **turned)
    if number_of(node.lower) == 1 and node.upper is None:
        yield EXCHANGE, "a slice is shifted in {t}", changed(node, lower=None, upper=parsed("-1"))
    if number_of(node.upper) == -1 and node.lower is None:
        yield EXCHANGE, "a slice is shifted in {t}", changed(node, upper=None, lower=parsed("1"))


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


def is_text(node: ast.AST) -> bool:
    value = node.value if isinstance(node, ast.Expr) else node
    return isinstance(value, ast.Constant) and isinstance(value.value, str)


def _matched(pattern: ast.AST, node: ast.AST) -> dict[str, ast.AST] | None:
    """The nodes that the letters of a pattern stand for; one that comes twice has to stand for the same."""
    if (found := match(pattern, node, {})) is None:
        return None
    letters = [each.id for each in ast.walk(pattern) if isinstance(each, ast.Name) and len(each.id) == 1]
    if len(letters) == len(set(letters)):
        return found
    return found if ast.unparse(filled(pattern, found)) == ast.unparse(node) else None


def _candidates(scope: list[str], new: ast.BinOp, depth: int) -> Iterator[tuple[float, str, ast.AST]]:
    """The candidates for a missing term, factor or exponent, and how much later each of them is tried.

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


def changed(node, **changes):
    """The node with some of its fields changed; the others are shared."""
    new = type(node)(**{**{field: getattr(node, field, None) for field in node._fields}, **changes})
    return ast.copy_location(new, node)


def swaps(node) -> Iterator[tuple[str, str, Any]]:
    """Each two elements of a tuple, or arguments of a call, in words, and the node with them exchanged."""
    field = "args" if isinstance(node, ast.Call) else "elts"
    for i, j in itertools.combinations(range(len(getattr(node, field))), 2):
        elements = list(getattr(node, field))
        one, two = words(elements[i]), words(elements[j])
        elements[i], elements[j] = elements[j], elements[i]
        yield one, two, changed(node, **{field: elements})
