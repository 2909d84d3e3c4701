"""The stride of a window is counted for the window itself."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        (
            "        side += (k - 1) * step\n        step *= stride\n",
            "        step *= stride\n        side += (k - 1) * step\n",
        ),
    )
)
