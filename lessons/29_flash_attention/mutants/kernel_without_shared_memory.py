"""Every thread reads every key and value from memory itself."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        (
            "score += asking[i] * keys[j][i];",
            "score += first + j < N ? asking[i] * k[(first + j) * K + i] : 0;",
        ),
        ("mix[i] += share * values[j][i];", "mix[i] += first + j < N ? share * v[(first + j) * K + i] : 0;"),
    )
)
