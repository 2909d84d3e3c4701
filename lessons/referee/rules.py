"""Mistakes as patterns: what is right, what stands in its place, and the words for it."""

from __future__ import annotations

import ast
import functools

from lessons.referee.words import MODULES

# An expression, the mistake, and what is wrong with the target {t}, or a part of it {s}; single letters are
# anything. A letter that the mistake lacks is something forgotten.
RULES = """
    a + b | a | the term {b} is left out of {t}
    a - b | a | the term {b} is left out of {t}
    a - b | -b | the term {a} is left out of {t}
    a + b | a - b | the term {b} has the wrong sign in {t}
    a - b | a + b | the term {b} has the wrong sign in {t}
    a - b | b - a | the difference in {t} is the wrong way round
    1 - b | b | {t} is made with {b}, not with 1 - {b}
    a * b | a | the factor {b} is missing in {t}
    1 / b | b | {t} is {b} itself, and not 1 over it
    a / b | a | {s} is not divided by {b}
    a ** b | a | {a} is taken without its exponent in {t}
    -a | a | a minus sign is missing in {t}
    a @ b | a | the factor {b} is missing in {t}
    a @ b | b | the factor {a} is missing in {t}
    a @ b | (a @ b).swapaxes(-1, -2) | {t} is the transpose of what it should be
    a.T | a | the transpose of {a} is missing in {t}
    a / np.sqrt(b) | a / b | {a} is divided by {b}, and not by its root, in {t}
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
    a * b | a * b * b | the factor {b} comes twice in {t}
    a * b | a * a * b | the factor {a} comes twice in {t}
    a * b | a / b | {s} is divided by {b}, and not multiplied by it
    a / b | a * b | {s} is multiplied by {b}, and not divided by it
    a / b | a / b / b | {s} is divided by {b} twice
    a / b | a / b ** 0.5 | {s} is divided by the root of {b} in its place
    a * (b - c) | a * (b - a * c) | the factor {a} comes twice with {c} in {t}
    a / b | b / a | the quotient of {a} and {b} is upside down in {t}
    max(a, b) | a + b | {b} is added in {t}, and is only the least that it may be
    a + b | a + b / 2 | only half of {b} is added in {t}
    a + b | a + b + b | the term {b} comes twice in {t}
    a - b | a - b / 2 | only half of {b} is taken off in {t}
    a - b | a - b - b | the term {b} comes twice in {t}
    a | -a | a minus sign is one too many in {t}
    a | a * b | the factor {b} is one too many in {t}
    a | b * a | the factor {b} is one too many in {t}
    a | a / b | {s} is divided by {b}, and should not be
    a | a + b | the term {b} is one too many in {t}
    a | b + a | the term {b} is one too many in {t}
    a | a - b | the term {b} is one too many in {t}
    a | a ** b | the exponent of {a} is one too many in {t}
    a | a.T | {a} is transposed in {t}, and should not be
    a | a[b] | only a part of {a} is taken in {t}, and all of it belongs there
    a | f(a) | {f} is called for {t}, and should not be
    a @ b | a * b | {a} and {b} are multiplied number by number, where a product of matrices belongs, in {t}
    a * b | a @ b | {a} and {b} are multiplied as matrices in {t}, and not number by number
    a.swapaxes(-1, -2) | a.T | .T turns all axes of {a} round in {t}, where the last two belong exchanged
    a.swapaxes(-1, -2) | a | the transpose of {a} is missing in {t}
    a.swapaxes(1, 2) | a | two axes of {a} have to be exchanged in {t}
    a ** 2 | a | {a} is not squared in {t}
    a ** 3 | a | {a} is taken without its exponent in {t}
    a ** 3 | a ** 2 | {a} has the wrong exponent in {t}
    a ** 2 | a ** 3 | {a} has the wrong exponent in {t}
    np.exp(a) | a | exp is left out in {t}
    np.log(a) | a | log is left out in {t}
    1 / a | a | {t} is {a} itself, and not 1 over it
    a / 2 | a | {t} is not divided by 2
    2 * a | a | the factor 2 is missing in {t}
    np.sqrt(a) | a | a root is left out in {t}
    a / 2 ** 0.5 | a | {s} is not divided by the root of 2
    a * b + c | a * (b + c) | {a} multiplies {c} too in {t}, and should not
    a * b - c | a * (b - c) | {a} multiplies {c} too in {t}, and should not
    a * (b + c) | a + b * c | brackets are missing in {t}
    a * (b - c) | a - b * c | brackets are missing in {t}
    (a - b) * c | a - b * c | brackets are missing in {t}
    (a + b) * c | a + b * c | brackets are missing in {t}
    (a - b) * c | a * c - b | brackets are missing in {t}
    a - b - c | a - (b - c) | brackets change the sign of {c} in {t}
    range(a) | range(a + 1) | the loop ends one too late
    range(a + 1) | range(a) | the loop ends one too early
    range(1, a) | range(a) | the loop begins one too early
    range(1, a + 1) | range(a) | the loop counts from 0, and has to count from 1
    range(a, b + 1) | range(a, b) | the loop ends one too early
    range(a, b - 1) | range(a, b) | the loop ends one too late
    reversed(range(a)) | range(a) | the loop runs in the wrong order
    a[:, None] | a | an axis of length 1 is missing for {a} in {t}
    a[..., None] | a | an axis of length 1 is missing for {a} in {t}
    a[:, 1:] | a | {a} is taken whole in {t}, and only a part of it belongs there
    a[:, 0] | a | {a} is taken whole in {t}, and only a part of it belongs there
    a.copy() | a | {a} is no copy of its own in {t}: the array itself is written over later
"""


@functools.cache
def rules() -> list[tuple[ast.AST, ast.AST, str]]:
    """Every line of RULES: both expressions as trees, and the words."""
    lines = [line.strip().split(" | ") for line in RULES.strip().split("\n")]
    return [(parsed(right), parsed(wrong), says) for right, wrong, says in lines]


@functools.cache
def parsed(text: str) -> ast.AST:
    """The tree of an expression, which many edits share: nobody changes it."""
    return ast.parse(text.strip(), mode="eval").body


def match(pattern, node, found: dict[str, ast.AST]) -> dict[str, ast.AST] | None:
    """The nodes that a, b and c of a pattern stand for in a node, or None if it is of another kind."""
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


def filled(template, found: dict[str, ast.AST]):
    """A template with what was found for its letters; it is itself left as it is."""
    if isinstance(template, list):
        return [filled(each, found) for each in template]
    if isinstance(template, ast.Name):
        return found.get(template.id, template)
    if not isinstance(template, ast.expr | ast.keyword):
        return template
    fields = {name: filled(getattr(template, name), found) for name in template._fields}
    return ast.copy_location(type(template)(**fields), template)
