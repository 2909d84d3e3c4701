"""The gradients are summed for all parts on all ranks, and the weights are gathered on top."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        (
            "    reduce_scatter(g, port)\n    own =",
            "    reduce_scatter(g, port)\n    all_gather(g, port)\n    own =",
        ),
    )
)
