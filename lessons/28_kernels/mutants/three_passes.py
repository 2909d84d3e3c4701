"""The largest, the sum and the gradient take a pass each."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        (
            "    float largest = -1e30f, sum = 0;\n",
            "    float largest = -1e30f, sum = 0;\n"
            "    for (int c = lane; c < classes; c += 32)\n"
            "        largest = fmaxf(largest, z[c]);\n",
        ),
    )
)
