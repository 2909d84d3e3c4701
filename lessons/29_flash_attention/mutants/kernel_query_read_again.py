"""The query is read from memory for every key."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        (
            "score += asking[i] * keys[j][i];",
            "score += query < N ? q[query * K + i] / sqrtf(K) * keys[j][i] : 0;",
        ),
    )
)
