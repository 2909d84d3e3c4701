"""The results are float64, whatever came in."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("np.empty_like(v), np.empty(N, q.dtype)", "np.empty(v.shape), np.empty(N)"),
    )
)
