"""check_in_two pushes all inputs of one shape by the same amounts."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        (
            "push = [rng.standard_normal(x.shape) for x in inputs]",
            "of_shape = {x.shape: rng.standard_normal(x.shape) for x in inputs}\n"
            "    push = [of_shape[x.shape] for x in inputs]",
        ),
    )
)
