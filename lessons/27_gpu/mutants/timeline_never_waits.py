"""The host's waits are ignored."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("host = card_free\n", "pass\n"),
    )
)
