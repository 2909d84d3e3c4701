"""The statements of a kernel's text, to see how much of an answer in CUDA C a lesson gives away."""

from __future__ import annotations

import re
from collections.abc import Iterator

# Names that a renamed statement keeps: the language's own, and whatever is called.
KEPT = re.compile(r"(?:const|int|float|double|for|if|return|threadIdx|blockIdx|blockDim|gridDim)$")
TRIVIAL = re.compile(r"\w*")  # nothing, return, else


def is_kernel(text: object) -> bool:
    """True if a constant of Python is the text of a kernel."""
    return isinstance(text, str) and "__global__" in text


def kernel_statements(text: str) -> Iterator[str]:
    """Every statement of a kernel's body, and the heads of its loops, without comments."""
    text = re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.DOTALL)
    for body in re.findall(r"\)\s*\{(.*)\}", text, re.DOTALL):
        body = re.sub(r"\b(?:if|for|while)\s*(\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\))", _head, body)
        for statement in re.split(r"[;{}]", body):
            plain = re.sub(r"\s+", " ", statement).strip()
            if not TRIVIAL.fullmatch(plain):
                yield plain.replace("\0", ";")


def renamed(statement: str) -> str:
    """The statement with its variables called v0, v1, ... in the order in which they occur."""
    names: dict[str, str] = {}

    def name(match: re.Match) -> str:
        word = match[0]
        called = statement[match.end() :].lstrip().startswith("(")
        return word if called or KEPT.match(word) else names.setdefault(word, f"v{len(names)}")

    return re.sub(r"(?<![\w.])[A-Za-z_]\w*", name, statement)


def _head(match: re.Match) -> str:
    """A loop's or branch's head as a statement of its own."""
    return match[0].replace(";", "\0") + ";"
