"""The squares are those of the rank's own gradients."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        (
            "    reduce_scatter(g, port)\n    own =",
            "    squares = np.array([np.sum(g * g)])\n    reduce_scatter(g, port)\n    own =",
        ),
        ("    squares = np.array([np.sum(g[own] * g[own])])\n", ""),
    )
)
