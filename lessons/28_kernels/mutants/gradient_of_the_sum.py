"""The gradient is that of the sum of the losses, not of their mean."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("/ rows;\n    }", ";\n    }"),
    )
)
