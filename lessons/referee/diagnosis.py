"""What a wrong array has in common with the right one, said in one sentence: no more than what is true."""

from __future__ import annotations

import numpy as np


def diagnose(got: np.ndarray, expected: np.ndarray, tolerance: float = 1e-6) -> str:
    """What is the matter with `got`, as the end of a sentence that begins with its name; "" if unknown."""
    got, expected = np.asarray(got), np.asarray(expected)
    if got.dtype.kind not in "fiu" or expected.dtype.kind not in "fiu" or got.size < 2:
        return ""
    norm = np.linalg.norm
    scale = norm(expected)
    if not np.any(got):
        return "is zero everywhere"
    if scale == 0:
        return ""
    ratio = float((got * expected).sum()) / float((expected * expected).sum())
    if norm(got - ratio * expected) <= tolerance * norm(got):
        if abs(ratio + 1) < tolerance:
            return "has the wrong sign everywhere"
        if ratio > 1 + tolerance:
            return f"is {ratio:.4g} times too large everywhere"
        if 0 < ratio < 1 - tolerance:
            return f"is {1 / ratio:.4g} times too small everywhere"
    return ""
