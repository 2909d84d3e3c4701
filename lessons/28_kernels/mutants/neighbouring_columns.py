"""Each lane adds up neighbouring columns, so that the warp reads from 32 places at once."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        (
            "for (int column = lane; column < D; column += 32)\n        sum += x[row * D + column];",
            "const int share = (D + 31) / 32;\n"
            "    for (int column = lane * share; column < D && column < (lane + 1) * share; column++)\n"
            "        sum += x[row * D + column];",
        ),
    )
)
