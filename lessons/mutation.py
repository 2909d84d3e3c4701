"""A wrong answer, told as the places in which it differs from a right one."""

from __future__ import annotations

from pathlib import Path
from typing import Any


def changed(answer: Path, *changes: tuple[str, str]) -> dict[str, Any]:
    """What the file `answer` defines, with each (right, wrong) piece of its text exchanged.

    Raises ValueError if a right piece does not stand in the file exactly once.
    """
    source = answer.read_text("utf-8")
    for right, wrong in changes:
        if source.count(right) != 1:
            raise ValueError(f"{answer.name} has {source.count(right)} places with {right!r}, expected one")
        source = source.replace(right, wrong)
    names: dict[str, Any] = {"__name__": answer.stem}
    exec(compile(source, str(answer), "exec", dont_inherit=True), names)
    return names
