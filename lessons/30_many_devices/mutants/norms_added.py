"""The norms of the parts are added up."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("np.array([np.sum(g[own] * g[own])])", "np.array([np.linalg.norm(g[own])])"),
        ("math.sqrt(squares[0])", "squares[0]"),
    )
)
