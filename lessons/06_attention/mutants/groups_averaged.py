"""The gradients of shared keys are averaged over the heads of a group."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("(dS.swapaxes(-1, -2) @ q).sum(axis=2)", "(dS.swapaxes(-1, -2) @ q).mean(axis=2)"),
        ("(A.swapaxes(-1, -2) @ dy).sum(axis=2)", "(A.swapaxes(-1, -2) @ dy).mean(axis=2)"),
    )
)
