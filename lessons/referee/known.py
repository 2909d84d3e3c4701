"""Known mistakes: is a wrong result, number for number, what one of the lesson's planted mistakes gives?

A lesson's mutants/ hold plausible wrong answers, each of which says its fault in its first sentence. The
check that has failed is run on them. If one of them, and no other, gives the very numbers that the learner's
answer gave, then the learner's answer has, on these inputs, that fault, and the sentence can be shown.
"""

from __future__ import annotations

import ast
import importlib.util
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import numpy as np

from lessons.referee.fault import Fault
from lessons.referee.supposed import nothing_tried

SECONDS = 3.0  # for all mistakes together


def known_mistake(fault: Fault, check: Callable[[ModuleType], None], lesson: Path) -> str:
    """The sentence of the one planted mistake that gives the wrong result of this fault, or ""."""
    if fault.got is None or not _telling(fault.got):
        return ""
    start, found = time.process_time(), []
    for path in sorted(lesson.glob("mutants/*.py")):
        if time.process_time() - start > SECONDS:
            break
        try:
            with nothing_tried():
                check(load(path))
        except Fault as other:
            if other.name == fault.name and other.got is not None and _same(other.got, fault.got):
                found.append(" ".join((ast.get_docstring(ast.parse(path.read_text("utf-8"))) or "").split()))
        except Exception:
            continue  # a mistake that crashes here is not this one
    return found[0] if len(found) == 1 else ""


def load(path: Path) -> ModuleType:
    """The module in a file."""
    spec = importlib.util.spec_from_file_location(f"{path.parent.name}_{path.stem}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _same(a, b) -> bool:
    a, b = np.asarray(a, float), np.asarray(b, float)  # squares of large float32 numbers are infinite
    return a.shape == b.shape and bool(np.linalg.norm(a - b) <= 1e-9 * max(np.linalg.norm(b), 1e-12))


def _telling(got) -> bool:
    """Whether hardly two mistakes give these numbers by chance: three of them, or one that is not round."""
    sizes = np.unique(np.abs(np.asarray(got, float)).round(12))
    round_ones = np.abs(sizes * 100 - np.rint(sizes * 100)) < 1e-9
    return (sizes > 0).sum() >= 3 or not round_ones.all()
