"""A kernel's text, made ready for a C++ compiler: __shared__ arrays placed, included files gathered.

All that is special in CUDA C++ is supplied by headers, but for two things that no macro can do:
`__shared__ T x[4];` becomes a reference to a place that the scheduler gives, and `extern __shared__ T x[];` a
pointer to the memory whose size the launch decides. Line numbers stay as they are.
"""

from __future__ import annotations

import re
from pathlib import Path

COMMENT_OR_TEXT = re.compile(r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])'", re.DOTALL)
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*["<]([^">]+)[">]', re.MULTILINE)
SHARED = re.compile(r"(?:\b(?:extern|static|volatile)\s+)*(?<!\w)__shared__\b([^;]*);")
ALIGNMENT = re.compile(r"(?:__align__|alignas)\s*\(([^()]*(?:\([^()]*\)[^()]*)*)\)")
DECLARATOR = re.compile(r"(.*?)(\w+)\s*((?:\[.*\])?)\s*", re.DOTALL)
FIRST_VALUE = re.compile(r"^[^\[=]*(?:\[[^\]]*\]\s*)*=(?!=)")
BARE_KERNEL = re.compile(r'extern\s+"C"\s+(?:__global__\s+[^;{}()]*?|void\s+__global__\s+)(\w+)\s*\(')


def gather(code: str, name: str, folders: list[Path]) -> dict[str, str]:
    """The kernel file and all files that it includes from these folders, rewritten: a text for each name."""
    texts = {}
    waiting = [(name, code)]
    while waiting:
        key, text = waiting.pop()
        texts[key] = rewrite(text)
        for included in INCLUDE.findall(text):
            found = next((folder / included for folder in folders if (folder / included).is_file()), None)
            if found is not None and included not in texts:
                waiting.append((included, found.read_text(encoding="utf-8")))
    return texts


def bare_kernels(code: str) -> list[str]:
    """The kernels that are extern "C", which can be asked for without a name expression."""
    plain = re.sub(r"__launch_bounds__\s*\((?:[^()]|\([^()]*\))*\)", "", _without_comments(code))
    return BARE_KERNEL.findall(plain)


def rewrite(code: str) -> str:
    """The text with its __shared__ declarations replaced."""
    hidden = _without_comments(code)
    parts, end = [], 0
    for match in SHARED.finditer(hidden):
        parts.append(code[end : match.start()])
        parts.append(_declare(match[0], match[1]))
        parts.append("\n" * hidden[match.start() : match.end()].count("\n"))
        end = match.end()
    return "".join([*parts, code[end:]])


def _without_comments(code: str) -> str:
    """The text with comments and strings blanked, each character where it was."""

    def blank(match: re.Match) -> str:
        if match[0] == '"C"':
            return match[0]
        return re.sub(r"[^\n]", " ", match[0])

    return COMMENT_OR_TEXT.sub(blank, code)


def _parts(piece: str) -> tuple[str, str, str]:
    """Kind, name and extents of a declared variable."""
    found = DECLARATOR.fullmatch(piece)
    if found is None:
        raise ValueError(f"{piece!r} declares no variable")
    return found[1], found[2], found[3]


def _declare(whole: str, declared: str) -> str:
    is_extern = re.search(r"\bextern\b", whole[: whole.index("__shared__")]) is not None
    is_volatile = re.search(r"\bvolatile\b", whole[: whole.index("__shared__")]) is not None
    alignments = ALIGNMENT.findall(declared)
    pieces = _split(ALIGNMENT.sub(" ", declared).replace("\n", " "))
    if any(FIRST_VALUE.search(piece) for piece in pieces):
        return 'static_assert(false, "a __shared__ variable has no first value: let a thread set it");'
    kind, name, extents = _parts(pieces[0])
    kind = ("volatile " if is_volatile else "") + kind.strip()
    lines = []
    for piece in [f"{name} {extents}", *pieces[1:]]:
        _, name, extents = _parts(piece)
        if is_extern:
            lines.append(f"{kind}* const {name} = reinterpret_cast<{kind}*>(tinyvit::dynamic_shared);")
            continue
        array, place = f"tinyvit_type_{name}", f"tinyvit_place_{name}"
        alignment = " | ".join(["alignof(" + array + ")", *alignments])  # powers of two
        lines.append(
            f"typedef {kind} {array} {extents}; static tinyvit::SharedArray {place}; "
            f"{array}& {name} = *static_cast<{array}*>("
            f'tinyvit::shared_array({place}, sizeof({array}), tinyvit::highest({alignment}), "{name}"));'
        )
    return " ".join(lines)


def _split(declared: str) -> list[str]:
    """Cut at the commas that are in no brackets."""
    pieces, depth = [""], 0
    for character in declared:
        depth += {"<": 1, "(": 1, "[": 1, "{": 1, ">": -1, ")": -1, "]": -1, "}": -1}.get(character, 0)
        if character == "," and depth == 0:
            pieces.append("")
        else:
            pieces[-1] += character
    return [piece.strip() for piece in pieces]
