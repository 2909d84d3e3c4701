"""Nothing decays."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("(slice(params.decayed), weight_decay)", "(slice(params.decayed), 0.0)"),
    )
)
