"""Every operation begins as soon as it is launched."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("start = max(host, card_free)", "start = host"),
    )
)
