"""Slips as patterns: what stands in a right answer, what then stands there, and the words for it."""

from __future__ import annotations

import ast
import copy
import functools

from lessons.referee.slip_words import MODULES

# An expression, what stands there then, and what is wrong with the target {t}, or a part of it {s}; single
# letters are anything. The first group is the likeliest: of slips that give the same, only that is told.
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
    1 - b | b | {t} is made with {b}, not with 1 - {b}
    a * b | a | the factor {b} is missing in {t}
    a * b | b | the factor {a} is missing in {t}
    np.multiply(a, b, out=c) | np.positive(a, out=c) | the factor {b} is missing in {t}
    a * b / c | a | the factor {b} / {c} is missing in {t}
    1 / b | b | {t} is {b} itself, and not 1 over it
    a / b | a | {s} is not divided by {b}
    a ** b | a | {a} is taken without its exponent in {t}
    -a | a | a minus sign is missing in {t}
    ~a | a | a not is missing in {t}
    not a | a | a not is missing in {t}
    a @ b | a | the factor {b} is missing in {t}
    a @ b | b | the factor {a} is missing in {t}
    a @ b | (a @ b).swapaxes(-1, -2) | {t} is the transpose of what it should be
    a.T | a | the transpose of {a} is missing in {t}
    a.swapaxes(b, c) | a | the transpose of {a} is missing in {t}
    a / np.sqrt(b) | a / b | {a} is divided by {b}, not by its root, or by the root twice, in {t}
    f(a + b) | f(a) + b | {b} stands outside {f} in {t}, and belongs inside
    f(a - b) | f(a) - b | {b} stands outside {f} in {t}, and belongs inside
    f(a * b) | f(a) * b | {b} stands outside {f} in {t}, and belongs inside
    f(a / b) | f(a) / b | {b} stands outside {f} in {t}, and belongs inside
    f(a) + b | f(a + b) | {b} stands inside {f} in {t}, and belongs outside
    f(a) * b | f(a * b) | {b} stands inside {f} in {t}, and belongs outside
    f(a) / b | f(a / b) | {b} stands inside {f} in {t}, and belongs outside
    a * (b + c) | a * b + c | {a} multiplies only {b} in {t}, and not {c}: brackets are missing
    a * (b - c) | a * b - c | {a} multiplies only {b} in {t}, and not {c}: brackets are missing
    (a + b) / c | a + b / c | {c} divides only {b} in {t}, and not {a}: brackets are missing
    (a - b) / c | a - b / c | {c} divides only {b} in {t}, and not {a}: brackets are missing
    a / (b * c) | a / b * c | {c} is a factor in {t}, and has to divide: brackets are missing
    a / (b + c) | a / b + c | {c} is added to the quotient in {t}, and belongs into the denominator
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
    a * b | a / b | {s} is divided by {b}, and not multiplied by it
    a / b | a * b | {s} is multiplied by {b}, and not divided by it
    a / b | a / b / b | {s} is divided by {b} twice
    a / b | a / b ** 0.5 | {s} is divided by the root of {b} in its place
    a * b.sum(axis=-1, keepdims=True) / c | a * b.mean(axis=-1, keepdims=True) | {t} has a mean, no sum / {c}
    a * (b - c) | a * (b - a * c) | the factor {a} comes twice with {c} in {t}
    a ** 2 | abs(a) | {a} has only its sign taken off in {t}, and is to be squared
    max(a, b) | a + b | {b} is added in {t}, and is only the least that it may be
    a / b | b / a | the quotient of {a} and {b} is upside down in {t}
    a + b | a + b / 2 | only half of {b} is added in {t}
    a + b | a + b + b | the term {b} comes twice in {t}
    a - b | a - b / 2 | only half of {b} is taken off in {t}
    a - b | a - b - b | the term {b} comes twice in {t}
    """,
)
LEFT_OUT, WRONG_WAY, WRONG_PLACE, RARE = range(len(RULES))
SLICES = {"[b:]": ("[:-b]", "[b - 1:]", "[b + 1:]"), "[:b]": ("[b:]", "[:b - 1]", "[:b + 1]")}


@functools.cache
def rules() -> list[tuple[int, ast.AST, ast.AST, str]]:
    """Every line of RULES: its group, both expressions as trees, and the words."""
    lines = [(rank, line.split(" | ")) for rank, text in enumerate(RULES) for line in text.split("\n")]
    whole = [(rank, *parts) for rank, parts in lines if len(parts) == 3]
    return [(rank, _parsed(pattern), _parsed(new), says) for rank, pattern, new, says in whole]


def index_of(text: str) -> ast.AST:
    """The tree of an index, given with its brackets."""
    return _parsed(f"a{text}").slice


def _parsed(text: str) -> ast.AST:
    return ast.parse(text.strip(), mode="eval").body


def match(pattern, node, found: dict[str, ast.AST]) -> dict[str, ast.AST] | None:
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
        if (found := match(one, two, found)) is None:
            return None
    return found


def filled(template: ast.AST, found: dict[str, ast.AST]) -> ast.AST:
    """A template with what was found for its letters."""

    class Filled(ast.NodeTransformer):
        def visit_Name(self, node):
            return found.get(node.id, node)

    return Filled().visit(copy.deepcopy(template))
