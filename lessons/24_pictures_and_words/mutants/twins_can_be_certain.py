"""Twins are no hindrance: the lowest loss is always zero."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("float(np.mean([np.log(twins[caption]) for caption in captions]))", "0.0 * len(twins)"),
    )
)
