"""A query is read for every thread, also beyond the last."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("query < N ? q[query * K + i] / sqrtf(K) : 0", "q[query * K + i] / sqrtf(K)"),
    )
)
