"""The variance is the mean of the squares less the square of the mean."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        (
            "        sum += values[i];\n",
            "        sum += values[i];\n        squares += values[i] * values[i];\n",
        ),
        (
            "    float sum = 0;\n    for (int i = 0; i < 8; i++) {",
            "    float sum = 0, squares = 0;\n    for (int i = 0; i < 8; i++) {",
        ),
        ("    float squares = 0;\n    for", "    for"),
        ("        if (lane + 32 * i < D) squares += values[i] * values[i];\n", ""),
        ("warp_sum(squares) / D + eps", "warp_sum(squares) / D - centre * centre + eps"),
    )
)
