"""trust_layer_norm never tries more than two axes."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("((4, 5), (3, 2, 5), (2, 3, 2, 4))", "((4, 5), (3, 4))"),
    )
)
