"""Pieces of a syntax tree in words, as one would say them in a sentence about a mistake."""

from __future__ import annotations

import ast
import re

SHORT = 24  # characters of an expression that is told as it stands
ORDINALS = "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth"
MODULES = "np", "xp", "math", "ops"
REDUCTIONS = "sum", "mean", "max", "min", "var", "std"


def smoothed(says: str) -> str:
    """A sentence whose pieces fit each other."""
    says = re.sub(
        r"the (term|factor) (?=the )", r"the \1 with ", says.replace("the term what is", "the term")
    )
    says = re.sub(r"(stands (?:in|out)side) sqrt\b", r"\1 the root", says)
    says = re.sub(r"the term (\w+) is left out of \1$", r"\1 is replaced by what should be added to it", says)
    says = re.sub(r"the factor (\w+) is missing in \1$", r"\1 is replaced by its factor", says)
    return re.sub(r"(the slice of (\w+) .*) in \2$", r"\1", says)


def words(node: ast.AST) -> str:
    """An expression as one would say it, short enough for a sentence."""
    if isinstance(node, ast.Starred | ast.keyword):
        return words(node.value)
    if is_turned(node):
        return words(inside(node))
    text = re.sub(rf"\b(?:{'|'.join(MODULES)})\.(?:linalg\.)?", "", ast.unparse(node))
    calls = [each for each in ast.walk(node) if isinstance(each, ast.Call) or is_turned(each)]
    if isinstance(node, ast.Name | ast.Constant) or (len(text) <= SHORT and not calls):
        return text
    if isinstance(node, ast.Call):
        if method_of(node):
            of = words(node.func.value)
            return f"the {word_of(node)} of {of}" if word_of(node) in REDUCTIONS else of
        if word_of(node) == "sqrt":
            return f"the square root of {words(node.args[0])}"
        if word_of(node) in ("maximum", "max", "norm") and len(node.args) <= 2:
            *_, limit = node.args
            if word_of(node) == "norm" or isinstance(limit, ast.Constant):
                return f"{'the norm of ' * (word_of(node) == 'norm')}{words(node.args[0])}"
        return text if len(text) <= SHORT else f"what {word_of(node)} makes"
    if isinstance(node, ast.Subscript):
        return words(node.value)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult) and isinstance(node.left, ast.Name):
        return f"{node.left.id} times {words(node.right)}"
    names = [each.id for each in ast.walk(node) if isinstance(each, ast.Name) and each.id not in MODULES]
    *others, last = dict.fromkeys(names) or [text[:SHORT]]
    if len(others) > 2:
        others, last = others[:2], "more"
    return f"what is made of {', '.join(others)}{' and ' if others else ''}{last}"


def target_of(node: ast.stmt) -> str:
    """The target of a statement, to which it gives a value, in words."""
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        for each in node.value.keywords:
            if each.arg == "out":
                return root_of(each.value)
    if isinstance(node, ast.Assign | ast.AugAssign):
        target = node.targets[0] if isinstance(node, ast.Assign) else node.target
        return root_of(target.elts[0] if isinstance(target, ast.Tuple) else target)
    is_test = isinstance(node, ast.If | ast.While)
    return "the result" if isinstance(node, ast.Return) else "the condition" if is_test else "the loop"


def root_of(node: ast.AST) -> str:
    """The array that is written to, in words: dx of dx[:, 0], and of view(dx)[:, 0]."""
    if isinstance(node, ast.Subscript):
        return root_of(next(iter(getattr(node.value, "args", ())), node.value))
    return words(node)


def result_of(number: int, node: ast.AST) -> str:
    """The result that is returned at this place, in words."""
    if number and isinstance(node, ast.Tuple):
        return "the gradients" if getattr(node, "has_results", False) else "the cache"
    return f"the {ORDINALS[number]} result"


def word_of(node: ast.Call) -> str:
    """The name of the function or method that is called."""
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


def method_of(node: ast.Call) -> str:
    """The name of the method that is called; "" for a function, np.sqrt among them."""
    owner = getattr(node.func, "value", None)
    while isinstance(owner, ast.Attribute):  # np.linalg
        owner = owner.value
    is_module = isinstance(owner, ast.Name) and owner.id in MODULES
    return node.func.attr if isinstance(node.func, ast.Attribute) and not is_module else ""


def is_turned(node: ast.AST) -> bool:
    """True if an expression is a transpose."""
    is_call = isinstance(node, ast.Call) and method_of(node) in ("transpose", "swapaxes")
    return is_call or (isinstance(node, ast.Attribute) and node.attr == "T")


def inside(node):
    """The expression that is transposed."""
    return node.value if isinstance(node, ast.Attribute) else node.func.value


def number_of(node):
    """The number that an expression is, or None."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.operand, ast.Constant):
        return -node.operand.value if isinstance(node.op, ast.USub) else None
    return node.value if isinstance(node, ast.Constant) else None
