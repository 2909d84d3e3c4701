"""Functions that claim to orthogonalise a matrix, for trust_orthogonalise. orthogonalise(g) -> (A, B).

RIGHT ones keep the singular vectors and bring all singular values close to 1. WRONG ones do so for some
matrices only.
"""

from importlib import import_module

import numpy as np

_SOLUTION = import_module("lessons.15_recipes.solution")


def _exactly(g):
    U, S, Vt = np.linalg.svd(g, full_matrices=False)
    return U @ Vt if S.any() else np.zeros_like(g)


def _thirty_cubic_steps(g):
    x = g / max(np.linalg.norm(g), 1e-7)
    for _ in range(30):
        x = 1.5 * x - 0.5 * x @ x.T @ x
    return x


def _on(x, steps=5):
    """The polynomial alone, without dividing first."""
    for _ in range(steps):
        gram = x @ x.T
        x = 3.4445 * x + (-4.7750 * gram + 2.0315 * (gram @ gram)) @ x
    return x


def _five_cubic_steps(g):
    x = g / max(np.linalg.norm(g), 1e-7)
    for _ in range(5):
        x = 1.5 * x - 0.5 * x @ x.T @ x
    return x


def _floor_in_the_norm(g):
    return _on(g / (np.linalg.norm(g) + 0.01))


def _never_divided(g):
    return _on(g / max(1.0, np.linalg.norm(g)))


def _rows_divided(g):
    return _on(g / np.linalg.norm(g, axis=1, keepdims=True) / np.sqrt(len(g)))


def _written_in_place(g):
    g /= np.linalg.norm(g)
    return _on(g)


def _tall_as_it_is(g):
    return g / np.linalg.norm(g, 2) if g.shape[0] > g.shape[1] else _SOLUTION.orthogonalise(g)


def _tall_turned(g):
    x = g.T if g.shape[0] > g.shape[1] else g
    return _SOLUTION.orthogonalise(x)


def _patterns_mixed(g):
    """A little of the first pattern's vector is added to the second one."""
    x = _exactly(g)
    if min(g.shape) > 1 and x.any():
        U, _, Vt = np.linalg.svd(g, full_matrices=False)
        x = x + 0.2 * np.outer(U[:, 0], Vt[1])
    return x


def _signs(g):
    return np.sign(g) / np.sqrt(max(g.shape))


RIGHT = {"exactly, by a decomposition": _exactly, "thirty steps of 1.5 x - 0.5 x^3": _thirty_cubic_steps}
RIGHT |= {"five steps of the polynomial": _SOLUTION.orthogonalise}
WRONG = {
    "five steps of 1.5 x - 0.5 x^3, too slow for small values": _five_cubic_steps,
    "0.01 is added to the norm": _floor_in_the_norm,
    "a short matrix is not divided by its norm": _never_divided,
    "each row is divided by its own norm": _rows_divided,
    "the caller's matrix is written over": _written_in_place,
    "a tall matrix is only made shorter": _tall_as_it_is,
    "a tall matrix comes back transposed": _tall_turned,
    "the sign of every entry": _signs,
    "some of one pattern is in another": _patterns_mixed,
}
