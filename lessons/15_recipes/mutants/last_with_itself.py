"""The last image is not mixed."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("    after = np.roll(own, -1, axis=0)", "    after = np.concatenate([own[1:], own[-1:]])"),
    )
)
