"""The host waits for every operation before it launches the next."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("if each.host_waits:", "if True:"),
    )
)
